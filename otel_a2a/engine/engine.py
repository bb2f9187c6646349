# SPDX-License-Identifier: Apache-2.0
"""The engine: takes observations one at a time, lets the rules see the ledger, keeps the ledger, and says what to do.

Under its lock there is only dictionary work and rules: no I/O, no logging, no telemetry, no await. Findings are
exported after the lock is released, on the caller's thread. ``observe`` never raises.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Final, Protocol

from otel_a2a.config import Settings
from otel_a2a.engine.apply import apply
from otel_a2a.engine.apply.calls import answer_withheld
from otel_a2a.engine.cards import governing, held_version
from otel_a2a.engine.clock import Clock, SystemClock
from otel_a2a.engine.deadlines import Deadlines, settle
from otel_a2a.engine.findings import Finding, Strictness
from otel_a2a.engine.fork import renew_after_fork
from otel_a2a.engine.judge import Judge
from otel_a2a.engine.ledger import Ledger
from otel_a2a.engine.places import Places
from otel_a2a.engine.records import Agent, Disposition, Task
from otel_a2a.engine.revisions import drift
from otel_a2a.engine.rules import Rule
from otel_a2a.engine.verdict import Judged, Verdict, policy_error, request_sent
from otel_a2a.engine.view import view_of
from otel_a2a.observations import (
    STATES,
    TERMINAL,
    ArtifactSeen,
    CallFailed,
    CallStarted,
    DeadlineReached,
    MessageSeen,
    Method,
    Observation,
    TaskSeen,
)

NO_STATE: Final = "TASK_STATE_UNSPECIFIED"
"""A2A's own name for a state that nobody has told yet."""


class FindingExporter(Protocol):
    """Where findings go. ``context`` is what the observer passed along: an OpenTelemetry context, or None."""

    def export(self, finding: Finding, context: Any) -> None: ...


class Engine:
    """One per process, unless one is passed. All methods are safe from any thread, task and finaliser."""

    def __init__(
        self,
        settings: Settings,
        rules: Sequence[Rule],
        exporters: Sequence[FindingExporter] = (),
        clock: Clock | None = None,
        on_internal_error: Callable[[str, Exception], None] = lambda where, error: None,
    ) -> None:
        self.settings = settings
        self.rules: tuple[Rule, ...] = tuple(rules)
        self.places = Places(settings)
        self._judge = Judge(settings, self.places, self.rules, self._report)
        self.exporters: tuple[FindingExporter, ...] = tuple(exporters)
        self.clock: Clock = clock or SystemClock()
        self.ledger = Ledger(
            settings.max_tasks,
            settings.max_agents,
            lambda agent: self._settings_of(agent).clock_skew,
            lambda agent: self._settings_of(agent).gateway_rewrites_ids,
        )
        self._on_internal_error = on_internal_error
        self._sequence = itertools.count(1)
        self._deadlines = Deadlines(self._settings_of)
        self.on_schedule: Callable[[], None] = lambda: None
        """Told, after the lock is released, that something may be due earlier than was known."""
        self.watchers: tuple[list[Finding], ...] = ()
        """Lists that get every finding, repeats included (``engine.watching``)."""
        self._now = (0.0, 0)
        self._renew()
        renew_after_fork(self._forked)

    def _renew(self) -> None:
        self._lock = threading.RLock()
        self._owner = 0
        self._inbox: SimpleQueue[tuple[Observation, Any]] = SimpleQueue()

    def _forked(self) -> None:
        self._renew()
        self._deadlines.clear()
        for task in self.ledger.tasks():
            # The parent goes on with these tasks; the child sees only a part of what happens to them.
            task.born_here = False
            task.scheduled.clear()

    # --- asked by the wire and by telemetry, without the lock: single dictionary reads

    def knows(self, endpoint: str) -> bool:
        """Whether ``endpoint`` is an agent's interface as far as this process has seen."""
        return endpoint in self.ledger.by_endpoint

    def endpoint_of(self, task_id: str) -> str:
        """An interface over which a task is known, if only one agent has that id; else the empty string."""
        task = self.ledger.find(task_id)
        return next(iter(task.endpoints), "") if task is not None else ""

    @property
    def live_tasks(self) -> int:
        """Tasks not known to have ended."""
        return self.ledger.live_count

    def live_states(self) -> dict[str, int]:
        """How many tasks not known to have ended are in each state, 0 where none is. For a metric."""
        with self._lock:
            tasks = self.ledger.live_tasks()
        # Counting takes milliseconds where there are many, and needs no lock.
        return dict.fromkeys(sorted(STATES - TERMINAL), 0) | Counter(task.state or NO_STATE for task in tasks)

    def tick(self) -> int:
        """A place in the order of observations, for something whose meaning is only known later."""
        return next(self._sequence)

    @property
    def next_due(self) -> float | None:
        """Seconds until something is due by itself; None where nothing is."""
        at = self._deadlines.next_at
        return None if at is None else max(0.0, at - self.clock.monotonic())

    # --- the one way in

    def observe(self, observation: Observation, context: Any = None, *, enforce: bool = True) -> Verdict:
        """Judge an observation and remember it. Never raises; the caller raises ``Verdict.error`` where there is one.

        ``enforce=False``: the caller cannot stop anything (a span that has ended), so no finding is one that raises.
        """
        if self._owner == threading.get_ident():
            # A finaliser that runs inside our own lock, on our own thread: the ledger is in the middle of something.
            self._inbox.put((observation, context))
            return Verdict()
        verdict = Verdict()

        def take(exports: list[tuple[Finding, Any]]) -> None:
            nonlocal verdict
            verdict = self._take(observation, context, exports, enforce)

        self._locked(take)
        return verdict

    def ask(self, observation: Observation) -> tuple[Finding, ...]:
        """What would be found, without remembering, counting or exporting anything."""
        found: tuple[Finding, ...] = ()

        def judge(exports: list[tuple[Finding, Any]]) -> None:
            nonlocal found
            observation.seq, observation.at = next(self._sequence), self._read_clock()
            view = view_of(self.ledger, observation)
            judged = self._judge(observation, view, self._now[1], enforce=True, counts=False)
            found = tuple(each.finding for each in judged)

        self._locked(judge)
        return found

    def pass_time(self) -> tuple[Finding, ...]:
        """Judge what has become due. For the timer, and for clocks that are moved by hand. Returns the new findings."""
        found: list[tuple[Finding, Any]] = []
        self._locked(found.extend)
        return tuple(finding for finding, _ in found)

    def _locked(self, work: Callable[[list[tuple[Finding, Any]]], None]) -> None:
        """Do ``work`` under the lock, after what has waited or become due; then export the findings of all of it."""
        if self._owner == threading.get_ident():
            return
        exports: list[tuple[Finding, Any]] = []
        due_before = self._deadlines.next_at
        with self._lock:
            self._owner = threading.get_ident()
            try:
                for step in (self._drain, self._judge_deadlines, work):
                    self._attempt("engine", step, exports)
            finally:
                self._owner = 0
        for finding, where in exports:
            self._export(finding, where)
        if self._deadlines.next_at != due_before:
            self._attempt("schedule", self.on_schedule)

    def _attempt(self, where: str, step: Callable[..., None], *arguments: Any) -> None:
        """A fault in one step keeps none of the others from being taken."""
        try:
            step(*arguments)
        except Exception as error:
            self._report(where, error)

    def _judge_deadlines(self, exports: list[tuple[Finding, Any]]) -> None:
        if self._deadlines.next_at is None:
            return
        now = self._read_clock()
        for kind, task in self._deadlines.reached(now):
            self._take(DeadlineReached(kind=kind, task=task), None, exports, enforce=False)
            settle(kind, task, now)
            self._deadlines.schedule(task)

    def _drain(self, exports: list[tuple[Finding, Any]]) -> None:
        while not self._inbox.empty():
            try:
                observation, context = self._inbox.get_nowait()
            except Empty:
                return
            self._take(observation, context, exports, enforce=False)

    def _take(
        self, observation: Observation, context: Any, exports: list[tuple[Finding, Any]], enforce: bool
    ) -> Verdict:
        if not observation.seq:
            observation.seq = next(self._sequence)
        observation.at = self._read_clock()
        view = view_of(self.ledger, observation)
        judged = self._judge(observation, view, self._now[1], enforce=enforce)
        verdict = Verdict()
        if judged:
            verdict.findings = tuple(each.finding for each in judged)
            verdict.error = policy_error(judged, request_sent=request_sent(observation))
            exports += [(each.finding, context) for each in judged if each.fresh]
            for watcher in self.watchers:
                watcher.extend(verdict.findings)
        refused = verdict.error is not None and not request_sent(observation)
        if not refused:
            try:
                self._apply(observation, verdict)
            except Exception as error:
                # What was judged stands, whatever becomes of the ledger.
                self._report("ledger", error)
        if isinstance(observation, CallStarted):
            verdict.task = view.task
            agent = self.ledger.agent(observation.endpoint)
            verdict.document = governing(agent, observation.endpoint, observation.tenant, observation.credential)
            verdict.held = held_version(agent, observation, verdict.document)
        elif verdict.error is not None:
            self._withhold(judged, observation, verdict)
        return verdict

    def _read_clock(self) -> float:
        try:
            self._now = (self.clock.monotonic(), self.clock.time_ns())
        except Exception as error:
            # The last time known will do: no order depends on it.
            self._report("clock", error)
        return self._now[0]

    def _settings_of(self, agent: Agent) -> Settings:
        return self.places.at(agent.address, agent.label)

    # --- remembering

    def _apply(self, observation: Observation, verdict: Verdict) -> None:
        effect = apply(self.ledger, observation, self._now[1])
        verdict.task, verdict.transition, verdict.card = effect.task, effect.transition, effect.card
        if effect.task is not None and (effect.transition is not None or _may_be_due(observation)):
            self._deadlines.schedule(effect.task)
        if effect.card is not None and effect.card.changed:
            fenced = self._settings_of(effect.card.agent).fenced
            for task in effect.card.agent.tasks.values():
                if task.pushed or fenced:
                    self._deadlines.schedule(task)

    def _withhold(self, judged: list[Judged], observation: Observation, verdict: Verdict) -> None:
        if not isinstance(observation, TaskSeen | ArtifactSeen | MessageSeen | CallFailed):
            return
        for each in judged:
            task = verdict.task or each.hit.task
            if each.finding.action is Strictness.RAISE and task is not None:
                answer_withheld(self.ledger, task, observation)

    def _export(self, finding: Finding, context: Any) -> None:
        for exporter in self.exporters:
            try:
                exporter.export(finding, context)
            except Exception as error:
                self._report(f"exporter {type(exporter).__name__}", error)

    def _report(self, where: str, error: Exception) -> None:
        with contextlib.suppress(Exception):
            self._on_internal_error(where, error)


def _may_be_due(observation: Observation) -> bool:
    # What most answers tell brings nothing nearer, and there are many of them.
    if isinstance(observation, TaskSeen):
        return observation.call is not None and observation.call.method == Method.CANCEL_TASK
    return not isinstance(observation, ArtifactSeen)


def disposition(task: Task) -> str:
    """What is to be thought of a task, the cards of its agent included."""
    own = task.disposition
    if own in (Disposition.ACTIVE, Disposition.INTERRUPTED) and drift(task, narrowing_only=True) is not None:
        return Disposition.UNAFFIRMED
    return own
