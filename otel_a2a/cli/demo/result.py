# SPDX-License-Identifier: Apache-2.0
"""What came of the demo: the agent's ledger beside what otel-a2a exported about it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from otel_a2a import semconv
from otel_a2a.cli.demo.receiver import Receiver
from otel_a2a.cli.demo.scenario import Outcome
from otel_a2a.cli.otlp.records import LogEvent
from otel_a2a.engine.findings import Level, Phase, Strictness


@dataclass(slots=True, frozen=True)
class FindingSeen:
    """A finding as its log event tells it; ``call`` are the trace and span id of the call in which it was found."""

    rule: str
    level: str
    action: str
    phase: str
    task_id: str
    message: str
    call: tuple[str, str]

    @property
    def is_refusal(self) -> bool:
        """The call was stopped before a byte left."""
        return self.action == Strictness.RAISE.value and self.phase == Phase.REQUEST.value


@dataclass(slots=True, frozen=True)
class Result:
    """``blocked`` counts calls, not findings: one call may be refused for several reasons."""

    strictness: str
    side_effects: int
    blocked: int
    findings: tuple[FindingSeen, ...]
    spans: dict[str, int]

    def document(self) -> dict[str, Any]:
        """The result as ``--format json`` prints it."""
        fields = ("rule", "level", "action", "phase", "task_id")
        return {
            "strictness": self.strictness,
            "side_effects": self.side_effects,
            "blocked": self.blocked,
            "findings": [{field: getattr(finding, field) for field in fields} for finding in self.findings],
            "spans": self.spans,
        }


def result_of(strictness: str, outcome: Outcome, receiver: Receiver) -> Result:
    """Reads the result from the ledger and from what the receiver got.

    Findings are read from the log events, because those also come where the trace is not sampled. Those that accuse
    nobody (a card changed, a fetch failed) are left out: how many fetches fail while the agent restarts is a matter of
    luck.
    """
    told = (_finding(event) for event in receiver.logs if event.name == semconv.EVENT_FINDING)
    findings = tuple(finding for finding in told if finding.level != Level.INFORMATION.value)
    return Result(
        strictness=strictness,
        side_effects=len(outcome.charges),
        blocked=len({finding.call for finding in findings if finding.is_refusal}),
        findings=findings,
        spans=dict(Counter(span.name for span in receiver.spans)),
    )


def _finding(event: LogEvent) -> FindingSeen:
    def text(name: str) -> str:
        return str(event.attributes.get(name, ""))

    return FindingSeen(
        rule=text(semconv.SECURITY_RULE_NAME),
        level=text(semconv.FINDING_LEVEL),
        action=text(semconv.FINDING_ACTION),
        phase=text(semconv.FINDING_PHASE),
        task_id=text(semconv.A2A_TASK_ID),
        message=text(semconv.FINDING_MESSAGE),
        call=(event.trace_id, event.span_id),
    )
