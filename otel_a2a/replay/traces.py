# SPDX-License-Identifier: Apache-2.0
"""Judges recorded spans: by the engine and the rules of an application, on a clock that shows the trace's time.

A span shows little of what was on the wire, so most rules cannot be decided by it; ``undecided`` says which, and why. A
span that names a task says so at its end: whether the request named it, or the answer created it, only a link to the
task's origin shows. Where there is none, the call is taken for one whose task is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from otel_a2a import semconv
from otel_a2a.config import Settings
from otel_a2a.engine.rules import Rule
from otel_a2a.observations import READS, TERMINAL, CallStarted, Method, SpanRef, TaskSeen
from otel_a2a.replay.agents import places
from otel_a2a.replay.player import Observer, Played
from otel_a2a.replay.script import ScriptSettings
from otel_a2a.replay.spans import RecordedSpan, by_id
from otel_a2a.telemetry.told import JUDGED, answer_of, call_of

_NAMED: Final = READS | {Method.CANCEL_TASK, Method.CREATE_PUSH_CONFIG}
"""Calls that always name their task."""
_END, _BEGIN, _END_AT_ONCE = range(3)

DECIDED: Final = frozenset(
    (
        "backward-transition",
        "cancel-unconfirmed",
        "interrupted-unanswered",
        "message-resent-after-regression",
        "poisoned-task-used",
        "task-lost",
        "task-orphaned",
        "task-stuck",
        "terminal-state-changed",
        "terminal-state-ignored",
        "terminal-task-reused",
        "unknown-state",
    )
)
"""Rules for which a span shows all that is needed."""
UNDECIDED: Final[dict[str, tuple[str, ...]]] = {
    "what a card says": (
        "cancel-after-card-failure",
        "card-changed-under-same-version",
        "card-fetched-per-poll",
        "card-modes-changed",
        "card-revision-changed",
        "continued-across-revisions",
        "created-from-stale-card",
        "created-without-card",
        "discovery-downgrade",
        "discovery-unavailable",
        "input-mode-not-advertised",
        "not-an-agent-card",
        "operation-not-advertised",
        "orphan-unresolved",
        "skill-not-advertised",
        "stale-after-rejection",
        "task-reaffirmed",
        "waiting-on-withdrawn-webhook",
        "webhook-denied-by-card",
        "webhook-from-stale-card",
    ),
    "artifacts": (
        "artifact-after-seal",
        "artifact-after-terminal",
        "artifact-crossed-tasks",
        "artifact-merged-into-other-task",
        "artifact-replaced",
        "artifact-truncated",
        "artifacts-partial-unverified",
        "snapshot-rolled-back",
        "task-flapping",
    ),
    "the events of a stream": (
        "final-flag-on-live-task",
        "input-required-without-working",
        "state-skipped",
    ),
    "which error an agent meant, but for a task that is not found": ("live-operation-refused",),
    "what a message holds": (
        "duplicate-send",
        "reply-without-task-id",
    ),
    "the ids that a request names, apart from those in its answer": (
        "client-chosen-task-id",
        "context-changed",
        "context-mismatch",
        "continuation-diverged",
        "task-id-reused",
    ),
    "what the application decides and says": (
        "card-decided-task-fate",
        "expectation-downgraded",
        "expected-state-missed",
        "failure-inferred-from-missing-poll",
        "phantom-terminal-state",
        "retry-of-live-task",
        "stream-end-as-task-end",
        "unprobed-wait",
    ),
    "webhooks and their deliveries": (
        "late-notification",
        "task-unwatched",
        "unverified-notification",
        "webhook-for-terminal-task",
    ),
}
"""What spans do not show, and the rules that need it. They are not asked: what they would say is a guess."""
_SILENT: Final = frozenset(name for names in UNDECIDED.values() for name in names)


@dataclass(slots=True)
class Recording:
    """A file of spans. ``settings``: a trace states none, so those of the profile are in force."""

    id: str
    spans: list[RecordedSpan]
    title: str = ""
    settings: ScriptSettings = field(default_factory=ScriptSettings)

    def calls(self) -> list[RecordedSpan]:
        """The spans of A2A calls, in the order in which they began."""
        found = [
            span
            for span in self.spans
            if span.is_call and span.name in JUDGED and span.attributes.get(semconv.A2A_METHOD_NAME) == span.name
        ]
        return sorted(found, key=lambda span: (span.start, span.end))

    def reported(self) -> dict[str, int]:
        """What the application itself had found: names of violation and improvement spans, and how many there are."""
        counts: dict[str, int] = {}
        for span in self.spans:
            if span.name.startswith(semconv.SPAN_FINDING_PREFIXES):
                counts[span.name] = counts.get(span.name, 0) + 1
        return counts


def play(recording: Recording, settings: Settings, rules: Sequence[Rule]) -> Played:
    """Judge the calls of ``recording`` in the order in which they began and ended, each process for itself: between two
    there is no order but that of their clocks (rules.md, G2).

    ``Found.step`` is the place of a span among ``recording.calls()``, ``Found.t`` seconds since the first began.
    """
    calls = recording.calls()
    at_host = places(calls, recording.spans)
    known = by_id(recording.spans)
    asked = [rule for rule in rules if rule.name not in _SILENT]
    whole = Played()
    for process in dict.fromkeys(span.process for span in calls):
        observer = Observer(settings, asked)
        player = _Player(observer, known)
        for at, act, step in sorted(_acts(calls, process)):
            observer.come_to((at - calls[0].start) / 1e9, step)
            if act == _BEGIN:
                player.begin(step, calls[step], at_host[step])
            else:
                player.end(step, calls[step])
        whole.found += observer.played.found
        whole.faults += observer.played.faults
    whole.found.sort(key=lambda found: found.t)
    return whole


def _acts(calls: Sequence[RecordedSpan], process: str) -> Iterator[tuple[int, int, int]]:
    """When which call of a process begins and ends. In one instant ends come first, but for a call that took no time
    at all."""
    for step, span in enumerate(calls):
        if span.process != process:
            continue
        yield span.start, _BEGIN, step
        yield max(span.end, span.start), _END if span.end > span.start else _END_AT_ONCE, step


class _Player:
    """What happens when a call begins and when it ends."""

    def __init__(self, observer: Observer, known: dict[str, RecordedSpan]) -> None:
        self._observer = observer
        self._known = known
        self._begun: dict[int, CallStarted] = {}
        self._states: dict[tuple[str, str], str] = {}
        """Endpoint and task id to the state that an answer gave it last."""

    def begin(self, step: int, span: RecordedSpan, at_host: str) -> None:
        call = call_of(span.name, span.attributes, SpanRef(_number(span.trace_id), _number(span.span_id)))
        call.endpoint, call.is_traced = f"{call.endpoint} {at_host}".strip(), bool(span.parent)
        task_id = str(span.attributes.get(semconv.A2A_TASK_ID, ""))
        if self._names_task(span, call.endpoint, task_id):
            call.task_id = task_id
        elif call.is_send:
            call.judged = False
        call.seq = self._observer.engine.tick()
        self._begun[step] = call

    def end(self, step: int, span: RecordedSpan) -> None:
        call = self._begun.pop(step)
        self._observer.engine.observe(call, enforce=False)
        for seen in answer_of(call, span.attributes):
            self._observer.engine.observe(seen, enforce=False)
            if isinstance(seen, TaskSeen):
                self._states[call.endpoint, seen.task_id] = seen.raw_state

    def _names_task(self, span: RecordedSpan, endpoint: str, task_id: str) -> bool:
        if span.name in _NAMED or any(self._known[link].name in JUDGED for link in span.links if link in self._known):
            return True
        # A live task that was seen before: a reply to it looks so, and nothing that is right looks otherwise.
        state = self._states.get((endpoint, task_id))
        return state is not None and state not in TERMINAL


def _number(identifier: str) -> int:
    try:
        return int(identifier or "0", 16)
    except ValueError:  # of another form, and as good a name
        return int.from_bytes(identifier.encode(), "big")


def undecided(rules: Sequence[Rule]) -> dict[str, list[str]]:
    """The rules in force that no span decides, by what is missing. Of third parties' rules nothing is known here."""
    loaded = {rule.name for rule in rules}
    left = {reason: [name for name in names if name in loaded] for reason, names in UNDECIDED.items()}
    told = DECIDED.union(*UNDECIDED.values())
    others = sorted(loaded - told)
    return left | ({"what rules of other packs need": others} if others else {})
