# SPDX-License-Identifier: Apache-2.0
"""Deadlines: what is due when. Judged at each observation, and by the timer where nothing is observed any more.

An entry in the queue is only a reminder: whether it still holds, and until when, is computed from the records when its
time comes. So progress of a task costs nothing here.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable

from otel_a2a.config import Settings
from otel_a2a.engine import cards, revisions
from otel_a2a.engine.card_records import CardDocument
from otel_a2a.engine.records import Agent, Task
from otel_a2a.observations import INTERRUPTED

CANCEL_WINDOW = 60.0
"""Seconds within which a cancel is confirmed or looked after."""
WITHDRAWN_WINDOW = 60.0
"""Seconds after which a card that dropped push has decided so, and is not being deployed."""
ORPHAN_WINDOW = 60.0
"""Seconds within which an orphaned task is cancelled or abandoned."""


REMINDERS = 4096
"""Reminders from which on those of ended tasks are looked for."""


class Kind:
    """Kinds of deadlines, named as the rules that judge them."""

    STUCK = "task-stuck"
    UNPROBED = "unprobed-wait"
    EXPECTED = "expected-state-missed"
    CANCEL = "cancel-unconfirmed"
    WITHDRAWN = "waiting-on-withdrawn-webhook"
    UNWATCHED = "task-unwatched"
    UNANSWERED = "interrupted-unanswered"
    ORPHANED = "orphan-unresolved"


def expected_duration(task: Task) -> float | None:
    """Seconds that the task is expected to take: hinted, else as its hinted skill declares."""
    hints = task.hints
    if hints is None:
        return None
    if hints.expected_duration is not None or not hints.skill:
        return hints.expected_duration
    for document in task.agent.documents.values():
        for skill, seconds in document.current.card.durations:
            if skill == hints.skill:
                return seconds
    return None


def _is_missed(task: Task) -> bool:
    """Whether somebody may still wait for it: it is live as far as anybody said, its agent knows it, and the
    client has not abandoned it."""
    return task.is_live and not (task.lost_seq or task.rumoured_end_seq or task.abandoned)


def _stuck(task: Task, settings: Settings) -> float | None:
    limit = expected_duration(task)
    limit = settings.task_deadline if limit is None else limit
    if limit is None or not _is_missed(task) or task.state in INTERRUPTED:
        return None
    return max(task.created_at, task.changed_at) + limit


def _unprobed(task: Task, settings: Settings) -> float | None:
    limit = expected_duration(task)
    if limit is None or not _is_missed(task) or task.state in INTERRUPTED:
        return None
    if task.read_at or task.asked_at or task.streamed or task.delivered_at:
        return None
    return task.created_at + limit


def _expected(task: Task, settings: Settings) -> float | None:
    if not _is_missed(task):
        # An end that is not the expected one is an end: the agent has said so.
        return None
    return min((each.due_at for each in task.expectations), default=None)


def _cancel(task: Task, settings: Settings) -> float | None:
    if not task.cancel_at or not _is_missed(task) or task.open_streams:
        return None
    if max(task.read_at, task.asked_at, task.delivered_at) >= task.cancel_at:
        return None
    return task.cancel_at + CANCEL_WINDOW


def _withdrawn(task: Task, settings: Settings) -> float | None:
    if not task.pushed or not _is_missed(task) or task.state in INTERRUPTED:
        # An interrupted task waits for the client: nothing is to be delivered.
        return None
    document = cards.governing(task.agent, next(iter(task.endpoints), ""), task.tenant)
    dropped_at = _withdrawn_at(document) if document is not None else None
    if dropped_at is None or max(task.delivered_at, task.read_at, task.asked_at) > dropped_at or task.open_streams:
        return None
    return max(dropped_at, task.created_at) + WITHDRAWN_WINDOW


def _withdrawn_at(document: CardDocument) -> float | None:
    """When the document last ceased to offer push, whatever changed since; None where it offers it or never did."""
    at = None
    for version in reversed(document.history):
        if version.card.push_notifications:
            return at
        at = version.at
    return None


def _unwatched(task: Task, settings: Settings) -> float | None:
    if not task.pushed or not _is_missed(task) or task.open_streams or task.state in INTERRUPTED:
        # An interrupted task waits for the client: nothing is to be delivered.
        return None
    if settings.webhook_silence is not None:
        return max(task.created_at, task.delivered_at, task.read_at, task.asked_at) + settings.webhook_silence
    limit = expected_duration(task)
    if limit is None or task.delivered_at or task.read_at or task.asked_at:
        return None
    return task.created_at + limit


def _unanswered(task: Task, settings: Settings) -> float | None:
    limit = settings.task_deadline
    if limit is None or task.state not in INTERRUPTED or not _is_missed(task) or task.message_seq > task.state_seq:
        return None
    return task.changed_at + limit


def _orphaned(task: Task, settings: Settings) -> float | None:
    if not settings.fenced or not _is_missed(task):
        return None
    drift = revisions.drift(task, narrowing_only=False, fenced=True)
    if drift is None or task.cancel_seq > drift.document.current.seq:
        return None
    return drift.document.current.at + ORPHAN_WINDOW


DUE: dict[str, Callable[[Task, Settings], float | None]] = {
    Kind.STUCK: _stuck,
    Kind.UNPROBED: _unprobed,
    Kind.EXPECTED: _expected,
    Kind.CANCEL: _cancel,
    Kind.WITHDRAWN: _withdrawn,
    Kind.UNWATCHED: _unwatched,
    Kind.UNANSWERED: _unanswered,
    Kind.ORPHANED: _orphaned,
}
_AGAIN = (Kind.EXPECTED, Kind.CANCEL)
"""Kinds that may be due again in the same task."""


class Deadlines:
    """Reminders in the order of their time. One per task and kind. ``settings_of``: those at an agent."""

    def __init__(self, settings_of: Callable[[Agent], Settings]) -> None:
        self._settings_of = settings_of
        self._heap: list[tuple[float, int, str, Task]] = []
        self._count = itertools.count()
        self._limit = REMINDERS

    @property
    def next_at(self) -> float | None:
        """When the next reminder is due, in seconds of the engine's clock. Asked without the lock."""
        first = self._heap[:1]
        return first[0][0] if first else None

    def schedule(self, task: Task) -> None:
        """Set the reminders that ``task`` needs and does not have."""
        settings = self._settings_of(task.agent)
        for kind, due in DUE.items():
            if kind in task.scheduled and kind != Kind.EXPECTED:
                continue
            at = due(task, settings)
            if at is not None and at < task.scheduled.get(kind, math.inf):
                self._remind(at, kind, task)
        if len(self._heap) > self._limit:
            self._tidy()

    def _remind(self, at: float, kind: str, task: Task) -> None:
        task.scheduled[kind] = at
        heapq.heappush(self._heap, (at, next(self._count), kind, task))

    def _tidy(self) -> None:
        """Drop the reminders of tasks that have ended or left: until they are due they would hold the records."""
        held = []
        for entry in self._heap:
            at, _, kind, task = entry
            if task.scheduled.get(kind) != at:
                continue
            if _is_held(task) and self._due(kind, task) is not None:
                held.append(entry)
            else:
                del task.scheduled[kind]
        heapq.heapify(held)
        self._heap = held
        self._limit = max(REMINDERS, 2 * len(held))

    def _due(self, kind: str, task: Task) -> float | None:
        return DUE[kind](task, self._settings_of(task.agent))

    def reached(self, now: float) -> list[tuple[str, Task]]:
        """What is due by ``now``; each once."""
        due: list[tuple[str, Task]] = []
        while self._heap and self._heap[0][0] <= now:
            reminder, _, kind, task = heapq.heappop(self._heap)
            if task.scheduled.get(kind) != reminder:
                # Another one, for something that is due earlier, has taken its place.
                continue
            at = self._due(kind, task)
            if at is None:
                del task.scheduled[kind]
            elif at > now:
                self._remind(at, kind, task)
            else:
                due.append((kind, task))
                if kind in _AGAIN:
                    del task.scheduled[kind]
        return due

    def clear(self) -> None:
        """Forget all reminders: after a fork the parent keeps them."""
        self._heap.clear()


def _is_held(task: Task) -> bool:
    return task.agent.tasks.get((task.tenant, task.task_id)) is task


def settle(kind: str, task: Task, now: float) -> None:
    """A deadline was judged: note what that makes of the task."""
    if kind == Kind.STUCK:
        task.diverged = True
    elif kind == Kind.EXPECTED:
        task.diverged = True
        task.expectations = [each for each in task.expectations if each.due_at > now]
    elif kind == Kind.CANCEL:
        task.cancel_at = 0.0
