# SPDX-License-Identifier: Apache-2.0
"""The built-in rules, by the boundaries between Card state and Task state; a large one has several modules.

``RULES`` is what the engine loads. Order matters only where several rules of one level raise at one step: the first
gives the exception its class.
"""

from __future__ import annotations

from otel_a2a.engine.rules import Rule
from otel_a2a_policies import (
    admission,
    artifact_owners,
    artifacts,
    card_information,
    continuity,
    delivery,
    delivery_information,
    disposition,
    ends,
    identity,
    lifecycle,
    offers,
    progress,
    task_information,
)

RULES: tuple[Rule, ...] = (
    *lifecycle.RULES,
    *progress.RULES,
    *identity.RULES,
    *continuity.RULES,
    *artifacts.RULES,
    *artifact_owners.RULES,
    *disposition.RULES,
    *ends.RULES,
    *admission.RULES,
    *offers.RULES,
    *delivery.RULES,
    *card_information.RULES,
    *delivery_information.RULES,
    *task_information.RULES,
)
