# SPDX-License-Identifier: Apache-2.0
"""A finding as attributes: flat scalars, the same on spans and log events."""

from __future__ import annotations

from otel_a2a import semconv
from otel_a2a.engine.clock import utc
from otel_a2a.engine.findings import Finding

RULE_VERSION = "1"

Value = str | bool | int | float


def finding_attributes(finding: Finding) -> dict[str, Value]:
    """What a person searches for, and nothing of what was said: no message, part or artifact ever gets here."""
    attributes: dict[str, Value] = {
        semconv.SECURITY_RULE_NAME: finding.rule,
        semconv.SECURITY_RULE_CATEGORY: finding.boundary,
        semconv.SECURITY_RULE_VERSION: RULE_VERSION,
        semconv.SECURITY_RULE_RULESET_NAME: finding.ruleset,
        semconv.FINDING_LEVEL: finding.level.value,
        semconv.FINDING_ACTION: finding.action.value,
        semconv.FINDING_PHASE: finding.phase.value,
        semconv.FINDING_PARTY: finding.party.value,
        semconv.FINDING_MESSAGE: finding.message,
        semconv.FINDING_COUNT: finding.count,
        semconv.FINDING_WOULD_RAISE: finding.would_raise,
    }
    optional: dict[str, str] = {
        semconv.SECURITY_RULE_REFERENCE: finding.reference,
        semconv.A2A_TASK_ID: finding.task_id,
        semconv.GEN_AI_CONVERSATION_ID: finding.context_id,
        semconv.A2A_MESSAGE_ID: finding.message_id,
        semconv.A2A_TASK_STATE: finding.state,
        semconv.TASK_PREVIOUS_STATE: finding.previous_state,
        semconv.CARD_REVISION_ID: finding.card_revision,
        semconv.CARD_REVISION_SINCE: utc(finding.card_since_ns, "milliseconds") if finding.card_since_ns else "",
        semconv.TASK_CARD_REVISION_ID: finding.task_card_revision,
        semconv.SERVER_ADDRESS: finding.server_address,
    }
    attributes.update((name, value) for name, value in optional.items() if value)
    if finding.server_port is not None:
        attributes[semconv.SERVER_PORT] = finding.server_port
    return attributes
