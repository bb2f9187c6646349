# SPDX-License-Identifier: Apache-2.0
"""Every name that leaves this house: attributes, spans, events, metrics.

``a2a.*`` and ``gen_ai.*`` follow the pending A2A conventions (open-telemetry/semantic-conventions-genai, PR #195) to
the letter; rule identity uses the registered ``security_rule.*``; what is ours is ``otel_a2a.*``. No name is both an
attribute and a namespace, and what a person searches for is a short scalar.
"""

from __future__ import annotations

from typing import Final

SCOPE: Final = "otel_a2a"
SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.44.0"

# --- pending A2A conventions
A2A_METHOD_NAME: Final = "a2a.method.name"
A2A_TASK_ID: Final = "a2a.task.id"
A2A_TASK_STATE: Final = "a2a.task.state"
A2A_MESSAGE_ID: Final = "a2a.message.id"
A2A_MESSAGE_REFERENCE_TASK_IDS: Final = "a2a.message.reference_task_ids"
A2A_PROTOCOL_VERSION: Final = "a2a.protocol.version"
A2A_TENANT: Final = "a2a.tenant"
GEN_AI_CONVERSATION_ID: Final = "gen_ai.conversation.id"
"""The A2A contextId."""
GEN_AI_AGENT_NAME: Final = "gen_ai.agent.name"
GEN_AI_AGENT_VERSION: Final = "gen_ai.agent.version"

# --- stable conventions
SERVER_ADDRESS: Final = "server.address"
SERVER_PORT: Final = "server.port"
ERROR_TYPE: Final = "error.type"
URL_FULL: Final = "url.full"
HTTP_RESPONSE_STATUS_CODE: Final = "http.response.status_code"

# --- rule identity
SECURITY_RULE_NAME: Final = "security_rule.name"
SECURITY_RULE_CATEGORY: Final = "security_rule.category"
SECURITY_RULE_VERSION: Final = "security_rule.version"
SECURITY_RULE_REFERENCE: Final = "security_rule.reference"
SECURITY_RULE_RULESET_NAME: Final = "security_rule.ruleset.name"

# --- ours: findings
FINDING_LEVEL: Final = "otel_a2a.finding.level"
FINDING_ACTION: Final = "otel_a2a.finding.action"
FINDING_PHASE: Final = "otel_a2a.finding.phase"
FINDING_PARTY: Final = "otel_a2a.finding.party"
FINDING_MESSAGE: Final = "otel_a2a.finding.message"
FINDING_COUNT: Final = "otel_a2a.finding.count"
FINDING_WOULD_RAISE: Final = "otel_a2a.finding.would_raise"

# --- ours: cards and tasks
CARD_REVISION_ID: Final = "otel_a2a.card.revision.id"
CARD_REVISION_PREVIOUS_ID: Final = "otel_a2a.card.revision.previous_id"
CARD_REVISION_CHANGED: Final = "otel_a2a.card.revision.changed"
CARD_REVISION_CONFIRMED: Final = "otel_a2a.card.revision.confirmed"
CARD_REVISION_SINCE: Final = "otel_a2a.card.revision.since"
"""When the card was first seen at that revision: UTC, as RFC 3339 writes it."""
CARD_DIGEST: Final = "otel_a2a.card.digest"
CARD_CANONICAL: Final = "otel_a2a.card.canonical"
CARD_AGE: Final = "otel_a2a.card.age"
"""Seconds since the card in force was last fetched or confirmed."""
TASK_CARD_REVISION_ID: Final = "otel_a2a.task.card_revision.id"
"""The revision under which the task was created, or first seen."""
TASK_PREVIOUS_STATE: Final = "otel_a2a.task.previous_state"
TASK_STATE_SOURCE: Final = "otel_a2a.task.state_source"
TASK_DISPOSITION: Final = "otel_a2a.task.disposition"
REQUEST_JUDGED: Final = "otel_a2a.request.judged"
"""False: the request's body could not be read, so rules about its content stayed silent."""
RESPONSE_JUDGED: Final = "otel_a2a.response.judged"
"""False: the answer was too large or in an encoding that cannot be read here."""
LINK_TYPE: Final = "otel_a2a.link.type"
LINK_CARD_FETCH: Final = "card_fetch"
LINK_TASK_ORIGIN: Final = "task_origin"

# --- spans, events, metrics
SPAN_STATE_PREFIX: Final = "task "
SPAN_FINDING_PREFIXES: Final = ("violation ", "improvement ")
EVENT_FINDING: Final = "otel_a2a.policy.finding"
EVENT_TRANSITION: Final = "otel_a2a.task.transition"
METRIC_FINDINGS: Final = "otel_a2a.policy.findings"
METRIC_OPERATION_DURATION: Final = "otel_a2a.operation.duration"
METRIC_TASK_DURATION: Final = "otel_a2a.task.duration"
METRIC_TASK_ACTIVE: Final = "otel_a2a.task.active"
METRIC_CARD_FETCHES: Final = "otel_a2a.card.fetches"
METRIC_CARD_CHANGES: Final = "otel_a2a.card.changes"
METRIC_INTERNAL_ERRORS: Final = "otel_a2a.internal.errors"

POLICY_LOGGER: Final = "otel_a2a.policy"
"""Name of the stdlib logger of strictness ``log``."""
