# SPDX-License-Identifier: Apache-2.0
"""Why a verdict may be another one in another dialect: all reasons there are, each with its source.

The other verdict is worked out from what is found in the original, never skipped. What is not named here must be equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from tests.replay.dialects import HTTP_JSON, Dialect, Shape, calls, refuses_by_a_cut
from tests.replay.dialects.calls import Call

Document = dict[str, Any]


class Verdict(NamedTuple):
    """What is compared of a finding."""

    step: int
    rule: str
    level: str
    task_id: str


@dataclass(frozen=True, slots=True)
class Translation:
    """One translation of a script, and the profile by which it is judged."""

    document: Document
    origin: Dialect
    target: Dialect
    profile: str

    def call(self, step: int) -> Call | None:
        """The call at a step of the original."""
        return next((call for at, call, _ in self.calls() if at == step), None)

    def calls(self) -> Iterator[tuple[int, Call, Document]]:
        """Step, call and answer, for all calls of the original."""
        for step in self.document["exchanges"]:
            call = calls.read(step["request"]) if step["type"] in ("http", "sse") else None
            if call is not None:
                yield step["step"], call, step["response"] or {}

    @property
    def declares_history(self) -> bool:
        """Whether the card states ``stateTransitionHistory: true``, and the target has the flag."""
        answers = [step.get("response") or {} for step in self.document["exchanges"]]
        bodies = [answer["body"] for answer in answers if isinstance(answer.get("body"), dict)]
        flags = [(body.get("capabilities") or {}) for body in bodies if "skills" in body]
        stated = any(isinstance(each, dict) and each.get("stateTransitionHistory") is True for each in flags)
        return stated and not self.target.is_1_0


@dataclass(frozen=True, slots=True)
class Change:
    """A finding that is another one in some dialects. ``becomes``: its level there; None where nothing is found."""

    rules: tuple[str, ...]
    why: str
    becomes: Callable[[Verdict, Translation], str | None]


def _lost_in_1_0(verdict: Verdict, into: Translation) -> str | None:
    return None if into.target.is_1_0 else verdict.level


def _diverged(verdict: Verdict, into: Translation) -> str | None:
    binding = into.target.is_1_0 or into.declares_history or into.profile == "spec"
    return "violation" if binding else "information"


def _context(verdict: Verdict, into: Translation) -> str | None:
    call = into.call(verdict.step)
    asked_anew = call is not None and call.operation in calls.SENDS and "taskId" not in call.params["message"]
    return None if asked_anew and not into.target.is_1_0 else verdict.level


def _without_timestamps(verdict: Verdict, into: Translation) -> str | None:
    return None if into.target.shape == Shape.PROTO_0_3 and into.target.sdk != "js" else verdict.level


def _cut(verdict: Verdict, into: Translation) -> str | None:
    call = into.call(verdict.step)
    return None if call is not None and refuses_by_a_cut(call, into.target) else verdict.level


def _without_references(verdict: Verdict, into: Translation) -> str | None:
    return "information" if into.target.shape == Shape.PROTO_0_3 else verdict.level


CHANGES: Final = (
    Change(("final-flag-on-live-task",), "1.0 has no `final` (a2a-wire §2.6)", _lost_in_1_0),
    Change(
        ("state-skipped", "input-required-without-working"),
        "the rules ask for `stateTransitionHistory: true`, which 1.0 does not have (rules.md; a2a-wire §1.2)",
        _lost_in_1_0,
    ),
    Change(
        ("continuation-diverged",),
        "binding in 1.x, and in 0.x where the card declares history; else information (rules.md). The profile `spec` "
        "holds 0.x to the later word",
        _diverged,
    ),
    Change(
        ("context-changed",),
        "1.0: from the request's context, else the task's; 0.x: only from the task's (rules.md)",
        _context,
    ),
    Change(
        ("snapshot-rolled-back",),
        "it is told by timestamps (rules.md), and a2a-sdk 0.3 writes none over HTTP+JSON (a2a-wire §3.3)",
        _without_timestamps,
    ),
    Change(
        ("task-lost", "live-operation-refused"),
        "a2a-sdk 0.3 refuses a stream over HTTP+JSON by cutting it: the reason is not on the wire (a2a-wire §4)",
        _cut,
    ),
    Change(
        ("reply-without-task-id",),
        "a reply without references accuses (rules.md); the ProtoJSON of 0.3 has no `referenceTaskIds`, so that it may "
        "have had them",
        _without_references,
    ),
)


@dataclass(frozen=True, slots=True)
class Addition:
    """A finding that there is only in some dialects."""

    why: str
    finds: Callable[[Translation], Iterator[Verdict]]


def _no_state(into: Translation) -> Iterator[Verdict]:
    if into.target.shape == Shape.KIND or into.target.sdk == "js":
        return
    for step, call, answer in into.calls():
        result = (answer.get("body") or {}).get("result") or {}
        if (result.get("status") or {}).get("state") in ("unknown", "TASK_STATE_UNSPECIFIED"):
            yield Verdict(step, "unknown-state", "improvement", call.task_id)
            return


def _chosen_id(into: Translation) -> Iterator[Verdict]:
    known: set[str] = set()
    for step, call, _ in into.calls():
        task_id = call.params.get("message", {}).get("taskId", "")
        if into.origin.version == "0.1" and task_id not in known:
            yield Verdict(step, "client-chosen-task-id", "information", task_id)
        known.add(task_id)


def _unanswered(into: Translation) -> Iterator[Verdict]:
    crashes = into.target.binding == HTTP_JSON and (into.target.is_1_0 or into.target.sdk != "js")
    doubtful: set[str] = set()
    for step, call, answer in into.calls():
        if call.operation not in calls.SENDS:
            continue
        if call.params["message"]["messageId"] in doubtful:
            yield Verdict(step, "duplicate-send", "information", "")
        refused = (answer.get("body") or {}).get("error")
        if refused and ((crashes and refused["code"] == -32603) or refuses_by_a_cut(call, into.target)):
            doubtful.add(call.params["message"]["messageId"])


def _unreferenced(into: Translation) -> Iterator[Verdict]:
    if into.target.shape != Shape.PROTO_0_3:
        return
    waiting: set[str] = set()
    for step, call, answer in into.calls():
        message = call.params.get("message", {})
        for task_id in waiting.intersection(message.get("referenceTaskIds", ())):
            yield Verdict(step, "reply-without-task-id", "information", task_id)
        task = ((answer.get("body") or {}).get("result") or {}).get("task") or {}
        if task and task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED":
            waiting.add(task["id"])


ADDITIONS: Final = (
    Addition(
        "a state that says nothing is a value in 0.3 over JSON-RPC; ProtoJSON leaves it out, and then it is missing "
        "(rules.md, unknown-state)",
        _no_state,
    ),
    Addition("the same: a reply by reference arrives as one without", _unreferenced),
    Addition("0.1 lets clients choose ids, and nothing later does (rules.md, client-chosen-task-id)", _chosen_id),
    Addition(
        "a cut stream, and a 5xx that any gateway could have written, answer nothing (rules.md, duplicate-send); over "
        "JSON-RPC the same faults are answers",
        _unanswered,
    ),
)


def expected(found: Counter[Verdict], into: Translation) -> Counter[Verdict]:
    """What is to be found in a translation, where ``found`` is found in the original."""
    wanted: Counter[Verdict] = Counter()
    for verdict, times in found.items():
        level: str | None = verdict.level
        for change in CHANGES:
            if verdict.rule in change.rules:
                level = change.becomes(verdict, into)
        if level is not None:
            wanted[verdict._replace(level=level)] += times
    for addition in ADDITIONS:
        wanted.update(addition.finds(into))
    return wanted
