# SPDX-License-Identifier: Apache-2.0
"""What is known of tasks, cards and findings, and what of a request is news. Bounded: the oldest is forgotten."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from otel_a2a.cli.watch.facts import CallSeen, CardSeen, Fact, Finding, Place, StateLeft, Transition

TASKS: Final = 500
AGENTS: Final = 100
FINDINGS: Final = 200
STATES: Final = 6
"""How many of a task's states are remembered."""
REMEMBERED: Final = 4096
"""How many findings are recognised when they come a second time, as a span after a log event."""

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(slots=True)
class Task:
    """A task as it was last seen. ``states`` are the newest, in order; times in ns since the epoch."""

    place: Place
    task_id: str
    states: list[str] = field(default_factory=list)
    since: int = 0
    revision: str = ""
    """Of the card under which the task was created, or first seen."""
    newest_revision: str = ""
    disposition: str = ""
    findings: dict[str, int] = field(default_factory=dict)
    """How many of each level."""
    left: dict[str, int] = field(default_factory=dict)
    """When a state was last left, as the spans of states tell."""
    told_by_events: bool = False
    told_by_spans: tuple[str, ...] = ()
    """The states that were told before the first event came."""
    spans_until: int = 0
    """Up to when those are."""

    @property
    def state(self) -> str:
        """The newest state; empty where none was told."""
        return self.states[-1] if self.states else ""


@dataclass(slots=True)
class Agent:
    """An agent and its public card. ``error`` is why the newest fetch failed."""

    place: Place
    name: str = ""
    version: str = ""
    revision: str = ""
    previous_revision: str = ""
    changes: int = 0
    error: str = ""


@dataclass(slots=True, frozen=True)
class StateChanged:
    """A task is in another state than before, or is seen for the first time."""

    at: int
    agent: str
    task_id: str
    previous: str
    state: str


@dataclass(slots=True, frozen=True)
class RevisionChanged:
    """A card has another revision than before, or is seen for the first time."""

    at: int
    agent: str
    version: str
    previous: str
    revision: str


@dataclass(slots=True, frozen=True)
class Found:
    """A finding, with the agent as people know it."""

    finding: Finding
    agent: str


News = StateChanged | RevisionChanged | Found


class Known:
    """Not thread-safe: whoever shares it has a lock."""

    def __init__(self, tasks: int = TASKS, agents: int = AGENTS, findings: int = FINDINGS) -> None:
        self.tasks: dict[tuple[str, str], Task] = {}
        """By host and id, because spans of states name no port; the one with the newest news is last."""
        self.agents: dict[Place, Agent] = {}
        self.findings: deque[Found] = deque(maxlen=findings)
        self.counts: dict[str, int] = {}
        """Findings by level, also those that are forgotten."""
        self._max_tasks = tasks
        self._max_agents = agents
        self._remembered: dict[tuple[int, str, str], None] = {}

    def learn(self, facts: Iterable[Fact]) -> list[News]:
        """Takes the facts in, and tells what of them is new."""
        return [news for fact in facts for news in self._learn(fact)]

    def name_of(self, place: Place) -> str:
        """The agent at ``place`` as people know it; where only the host is known, the one agent there."""
        here = self.agents.get(place)
        if here is None and not place.port:
            there = [agent for agent in self.agents.values() if agent.place.address == place.address]
            here = there[0] if len(there) == 1 else None
        return here.name if here is not None and here.name else str(place)

    def _learn(self, fact: Fact) -> list[News]:
        if isinstance(fact, CardSeen):
            return self._card(fact)
        if isinstance(fact, Finding):
            return self._finding(fact)
        if isinstance(fact, CallSeen) and fact.agent and fact.place not in self.agents:
            self.agents[fact.place] = Agent(fact.place, fact.agent, fact.version)
            _bound(self.agents, self._max_agents)
        if not fact.task_id:
            return []
        task = self._task(fact.place, fact.task_id)
        if isinstance(fact, Transition):
            return self._transition(task, fact)
        task.revision = fact.task_revision or task.revision
        return self._left(task, fact) if isinstance(fact, StateLeft) else self._call(task, fact)

    # --- cards and findings

    def _card(self, seen: CardSeen) -> list[News]:
        agent = _newest(self.agents, seen.place, Agent(seen.place), self._max_agents)
        agent.error = seen.error
        agent.name, agent.version = seen.agent or agent.name, seen.version or agent.version
        if seen.error or seen.revision in ("", agent.revision):
            return []
        agent.changes += bool(agent.revision)
        agent.previous_revision, agent.revision = agent.revision, seen.revision
        name = self.name_of(seen.place)
        return [RevisionChanged(seen.at, name, agent.version, agent.previous_revision, agent.revision)]

    def _finding(self, finding: Finding) -> list[News]:
        key = (finding.at, finding.rule, finding.task_id)
        if key in self._remembered:
            return []
        self._remembered[key] = None
        _bound(self._remembered, REMEMBERED)
        self.counts[finding.level] = self.counts.get(finding.level, 0) + 1
        if finding.task_id:
            task = self._task(finding.place, finding.task_id)
            task.findings[finding.level] = task.findings.get(finding.level, 0) + 1
        found = Found(finding, self.name_of(finding.place))
        self.findings.append(found)
        return [found]

    # --- tasks

    def _task(self, place: Place, task_id: str) -> Task:
        task = _newest(self.tasks, (place.address, task_id), Task(place, task_id), self._max_tasks)
        if place.port:
            task.place = place
        return task

    def _transition(self, task: Task, fact: Transition) -> list[News]:
        """Events are exact, and begin the path anew; those that spans had told before come in without a word."""
        if not task.told_by_events:
            task.told_by_events = True
            task.told_by_spans, task.spans_until, task.states = tuple(task.states), task.since, []
        told_before = fact.at <= task.spans_until and fact.state in task.told_by_spans
        changed = self._enter(task, fact.state, fact.at)
        return [] if told_before else changed

    def _left(self, task: Task, fact: StateLeft) -> list[News]:
        task.left[fact.state] = fact.end
        _bound(task.left, STATES)
        if task.told_by_events or fact.start < task.since:
            return []
        return self._enter(task, fact.state, fact.start)

    def _call(self, task: Task, call: CallSeen) -> list[News]:
        task.newest_revision = call.revision or task.newest_revision
        task.disposition = call.disposition or task.disposition
        if task.told_by_events or _is_outdated(task, call):
            return []
        return self._enter(task, call.state, call.end)

    def _enter(self, task: Task, state: str, at: int) -> list[News]:
        if not state or state == task.state:
            return []
        news = StateChanged(at, self.name_of(task.place), task.task_id, task.state, state)
        task.states = [*task.states, state][-STATES:]
        task.since = at
        return [news]


def _is_outdated(task: Task, call: CallSeen) -> bool:
    """Whether the task left the state while the call ran, as another call saw, and did not come back in this one."""
    left = task.left.get(call.state, 0)
    came_back = task.left.get(call.previous_state, 0) > left
    return left >= call.start and not came_back


def _newest(known: dict[Key, Value], key: Key, new: Value, limit: int) -> Value:
    """The value of ``key``, moved to the end; ``new`` where there is none, for which the oldest may have to go."""
    value = known.pop(key, new)
    known[key] = value
    _bound(known, limit)
    return value


def _bound(known: dict[Key, Value], limit: int) -> None:
    while len(known) > limit:
        del known[next(iter(known))]
