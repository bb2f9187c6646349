# SPDX-License-Identifier: Apache-2.0
"""What the panels ask Tempo, and what they ask Jaeger. The names are those of ``otel_a2a/semconv.py``.

A variable of several values arrives in TraceQL as ``a|b``, hence ``:pipe`` and ``=~``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from grafana.promql import STUCK

_AT_AGENT: Final = 'span.server.address =~ "${agent:pipe}"'

_FINDING: Final = (
    "select(span.security_rule.name, span.server.address, span.a2a.task.id, span.otel_a2a.task.previous_state,"
    " span.a2a.task.state, span.otel_a2a.task.card_revision.id, span.otel_a2a.card.revision.id,"
    " span.otel_a2a.card.revision.since, span.otel_a2a.finding.message)"
)

NEWEST_VIOLATIONS: Final = (
    f'{{ name =~ "violation .*" && span.security_rule.name =~ "${{rule:pipe}}" && {_AT_AGENT} }}'
    f" | {_FINDING} with (most_recent=true)"
)
STUCK_TASKS: Final = (
    f'{{ name =~ "(violation|improvement) .*" && span.security_rule.name =~ "{STUCK}" && {_AT_AGENT} }}'
    f" | {_FINDING} with (most_recent=true)"
)
CARD_CHANGES: Final = (
    f"{{ span.otel_a2a.card.revision.changed = true && {_AT_AGENT} }}"
    " | select(span.server.address, span.gen_ai.agent.name, span.gen_ai.agent.version,"
    " span.otel_a2a.card.revision.previous_id, span.otel_a2a.card.revision.id) with (most_recent=true)"
)
CALLS_BY_REVISION: Final = (
    '{ kind = client && span.a2a.method.name != "GetAgentCard" && span.otel_a2a.card.revision.id != nil'
    f" && {_AT_AGENT} }}"
    " | count_over_time() by (span.server.address, span.otel_a2a.card.revision.id)"
)
TIME_IN_STATE: Final = (
    f'{{ name =~ "task TASK_STATE_.*" && {_AT_AGENT} }}'
    " | quantile_over_time(duration, 0.5, 0.95) by (span.a2a.task.state)"
)


@dataclass(slots=True, frozen=True)
class Search:
    """A search in Jaeger, which finds an attribute by its exact value only. An empty operation means all."""

    tags: str
    operation: str = ""


JAEGER_VIOLATIONS: Final = Search("otel_a2a.finding.level=violation")
JAEGER_CARD_CHANGES: Final = Search("otel_a2a.card.revision.changed=true", "GetAgentCard")
JAEGER_STUCK_TASKS: Final = Search("security_rule.name=task-stuck")
