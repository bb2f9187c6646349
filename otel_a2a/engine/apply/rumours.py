# SPDX-License-Identifier: Apache-2.0
"""Deliveries whose word nobody can check: they move nothing and accuse nobody, but they are no silence."""

from __future__ import annotations

from otel_a2a.engine.apply.effects import NOTHING, Effect
from otel_a2a.engine.ledger import Ledger
from otel_a2a.observations import TERMINAL, ArtifactSeen, TaskSeen


def rumoured(ledger: Ledger, seen: TaskSeen | ArtifactSeen) -> Effect:
    """A webhook that was registered without a token brought something: somebody was told, and the task may have ended.

    Where a token was registered and another one came, or none, a stranger spoke: that excuses nothing.
    """
    task = ledger.may_be_of(seen)
    if task is None:
        return NOTHING
    task.delivered_at = task.changed_at = seen.at
    if isinstance(seen, TaskSeen):
        task.expectations = [each for each in task.expectations if each.state != seen.state]
        if seen.state in TERMINAL:
            task.rumoured_end_seq = seen.seq
    return NOTHING
