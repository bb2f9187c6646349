# SPDX-License-Identifier: Apache-2.0
"""Agents that break no rule, and the lives of their tasks, on a time line of chance.

What a client sees of them is in ``tests.support.callers``. All chance comes from one ``Random``: a seed tells all.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from otel_a2a.observations import INTERRUPTED, TERMINAL, ArtifactSeen, Channel, Form, Observation, TaskSeen
from tests.support.world import AUTH, COMPLETED, FAILED, INPUT, REJECTED, SUBMITTED, WORKING, World, artifacts

ENDS = (COMPLETED, FAILED, REJECTED, COMPLETED)
SETTLES = 4.0
"""Seconds within which a store that is slow has what was pushed."""
MOVES = 12
"""Moves after which an agent ends a task, if it has not before."""
HORIZON = 200.0
"""Seconds after which nobody begins anything new."""
EPOCH = 1_700_000_000.0


class Timeline:
    """What happens when. ``begin``: seconds after which the observer observes."""

    def __init__(self, random: Random, world: World, begin: float = 0.0) -> None:
        self.random = random
        self.world = world
        self.begin = begin
        self.now = 0.0
        self._start = world.clock.now
        self._queue: list[tuple[float, int, Callable[[], object]]] = []
        self.numbers = itertools.count(1)
        self.cards: dict[str, Card] = {}
        """By the endpoint of their agents."""

    def at(self, time: float, act: Callable[[], object]) -> None:
        heapq.heappush(self._queue, (time, next(self.numbers), act))

    def later(self, seconds: float, act: Callable[[], object]) -> None:
        self.at(self.now + seconds, act)

    def play(self, until: float = math.inf) -> None:
        """Let everything happen, or what happens by ``until``; what is under way then never arrives."""
        while self._queue and self._queue[0][0] <= until:
            self.now, _, act = heapq.heappop(self._queue)
            self.world.clock.now = self._start + self.now
            act()

    @property
    def is_watched(self) -> bool:
        return self.now >= self.begin

    def observe(self, observation: Observation) -> None:
        if self.is_watched:
            self.world.observe(observation)


@dataclass(eq=False)
class Served:
    """A task as its agent knows it."""

    task_id: str
    context_id: str
    state: str = SUBMITTED
    since: float = 0.0
    wait: int = 0
    """Which question of the task this is, or the last one was."""
    made: list[str] = field(default_factory=list)
    moves: int = 0
    pushed: bool = False
    forgotten: bool = False
    listeners: list[Callable[[TaskSeen | ArtifactSeen, int], None]] = field(default_factory=list)
    webhook: Callable[[TaskSeen, int], None] | None = None
    stored: TaskSeen | None = None
    """What reads are answered with."""

    @property
    def has_ended(self) -> bool:
        return self.state in TERMINAL


@dataclass
class Card:
    """The card of all tenants of an agent."""

    narrows: bool
    """It loses skills now and then."""
    seen_at: float = 0.0
    is_down: bool = False
    """It could not be had when it was last asked for."""


class Agent:
    """An agent of some habits, all of them legal."""

    def __init__(self, line: Timeline, endpoint: str, tenant: str = "") -> None:
        chance = line.random
        self.line = line
        self.endpoint = endpoint
        self.tenant = tenant
        self.version = chance.choice(("1.0", "1.0", "0.3", "0.1"))
        self.resubmits = chance.random() < 0.5
        """It submits a task anew for every turn."""
        self.stamps = chance.random() < 0.5
        self.reads_are_slow = chance.random() < 0.3
        """Its pushes are ahead of the store from which it answers reads."""
        self.closes_when_interrupted = chance.random() < 0.5
        self.forgets_canceled = chance.random() < 0.5
        self.lag = chance.choice((0.5, 5.0, 40.0))
        self.card = line.cards.setdefault(endpoint, Card(narrows=chance.random() < 0.3))
        self.tasks: dict[str, Served] = {}
        for _ in range(chance.randint(0, 6)):
            line.later(chance.uniform(0, HORIZON), self.show_card)

    def show_card(self, **asked: Any) -> None:
        """The card is fetched: one of two revisions answers, of which neither takes anything away unless it narrows."""
        chance = self.line.random
        interfaces = (self.endpoint, f"{self.endpoint}/two") if chance.random() < 0.5 else (self.endpoint,)
        skills = ("pay", "refund", "ship")[: chance.randint(1, 3)] if self.card.narrows else ("pay", "refund")
        if self.line.is_watched:
            self.card.seen_at, self.card.is_down = self.line.now, False
            url = f"{self.endpoint}/.well-known/agent-card.json"
            self.line.world.card(interfaces=interfaces, skills=skills, url=url, name=self.endpoint, **asked)

    def creates(self, task_id: str, context_id: str, *, pushed: bool) -> Served:
        """A task begins, or in 0.1 begins anew."""
        task = self.tasks[task_id] = Served(task_id, context_id, pushed=pushed, since=self.line.now)
        return task

    def begins(self, task: Served) -> None:
        self.move(task, SUBMITTED if self.line.random.random() < 0.8 else WORKING)

    def is_answered(self, task: Served, wait: int) -> None:
        """A message came that answers a question; if the task still waits with it, it goes on."""
        if task.state == INPUT and task.wait == wait:
            self.move(task, SUBMITTED if self.resubmits else WORKING)

    def is_canceled(self, task: Served) -> None:
        self.move(task, "TASK_STATE_CANCELED")
        task.forgotten = self.forgets_canceled

    def move(self, task: Served, state: str) -> None:
        task.state, task.since, task.moves = state, self.line.now, task.moves + 1
        if state in INTERRUPTED:
            task.wait += 1
        if task.pushed and self.reads_are_slow and not task.listeners and task.stored is not None:
            self.line.later(self.line.random.uniform(0, SETTLES), lambda: self.stores(task))
        else:
            self.stores(task)
        for tell in tuple(task.listeners):
            tell(self.shows(task, form=Form.UPDATE, artifacts=()), task.wait)
        if task.pushed and task.webhook is not None:
            for _ in range(self.line.random.randint(0, 2)):
                task.webhook(self.shows(task, channel=Channel.WEBHOOK), task.wait)
        if not task.has_ended:
            moves = task.moves
            self.line.later(self.line.random.expovariate(0.2), lambda: self._go_on(task, moves))

    def _go_on(self, task: Served, moves: int) -> None:
        """What the agent does next of itself."""
        if task.moves != moves or task.has_ended:
            return
        chance = self.line.random
        luck = chance.random()
        if self.line.now > HORIZON or task.moves > MOVES or luck < 0.1:
            self.move(task, chance.choice(ENDS))
        elif task.state == INPUT:
            # Somebody else may answer; an agent that submits anew then would go back in the eyes of this process.
            if not self.resubmits and luck < 0.3:
                self.move(task, WORKING)
            else:
                self.line.later(chance.expovariate(0.1), lambda: self._go_on(task, moves))
        elif task.state in (AUTH, SUBMITTED):
            self.move(task, WORKING)
        else:
            task.made.append(f"a{len(task.made)}")
            self.move(task, chance.choice((WORKING, WORKING, INPUT, AUTH, COMPLETED)))

    def stores(self, task: Served) -> None:
        """From now on reads show no less than this."""
        task.stored = self.shows(task)

    def reads(self, task: Served, **other: Any) -> TaskSeen:
        """The task as reads show it."""
        return self.shows(task, **other) if task.stored is None else replace(task.stored, **other)

    def shows(self, task: Served, **other: Any) -> TaskSeen:
        """The task as it is now."""
        members: dict[str, Any] = {
            "call": None,
            "channel": Channel.RESPONSE,
            "form": Form.SNAPSHOT,
            "task_id": task.task_id,
            "context_id": task.context_id,
            "state": task.state,
            "raw_state": task.state,
            "timestamp": EPOCH + task.since if self.stamps else None,
            "artifacts": artifacts(*task.made),
        }
        return TaskSeen(**(members | other))
