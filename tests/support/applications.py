# SPDX-License-Identifier: Apache-2.0
"""Applications that use all that A2A has, and break no rule: the callers of ``tests.support.callers`` with more to do.

Their agents make artifacts piece by piece, their cards cannot always be had, they say why they cancel and look what
became of it, they record what they are told, refer to what has ended, and repeat what certainly did not arrive.
"""

from __future__ import annotations

import math
from functools import partial
from random import Random
from typing import Any

from otel_a2a.observations import (
    SENDS,
    TERMINAL,
    ArtifactSeen,
    CallStarted,
    Channel,
    Decision,
    Hints,
    Method,
    SentMessage,
    TaskSeen,
)
from tests.support.callers import Caller, play
from tests.support.lives import HORIZON, Agent, Served, Timeline
from tests.support.whole import Whole, artifact
from tests.support.world import CANCELED, FAILED, WORKING, message

TROUBLES = ("outage", "hedged", "sibling", "not allowed", "extended", "confirmed")
CHAT = "https://chat.example/a2a"


class Author(Agent):
    """An agent whose artifacts grow, in streams piece by piece."""

    def __init__(self, line: Timeline, endpoint: str, tenant: str) -> None:
        super().__init__(line, endpoint, tenant)
        self.names = line.random.choice(("a{}", "result-{}", "{:032x}"))
        self._contents: dict[tuple[Served, int], list[str]] = {}

    def move(self, task: Served, state: str) -> None:
        """What the agent has made goes out before the state that follows it."""
        for number in range(len(task.made)):
            if (task, number) not in self._contents or (number == len(task.made) - 1 and state == WORKING):
                self._writes(task, number)
        super().move(task, state)

    def _writes(self, task: Served, number: int) -> None:
        written = self._contents.setdefault((task, number), [])
        for _ in range(self.line.random.randint(1, 3)):
            piece = f"piece {len(written)} of {number} for {task.task_id} in {task.context_id} "
            written.append(piece)
            chunk = ArtifactSeen(
                call=None,
                channel=Channel.STREAM,
                task_id=task.task_id,
                context_id=task.context_id,
                artifact=artifact(self._name(task, number), piece),
                append=len(written) > 1,
            )
            for tell in tuple(task.listeners):
                tell(chunk, task.wait)

    def _name(self, task: Served, number: int) -> str:
        return self.names.format(number)

    def shows(self, task: Served, **other: Any) -> TaskSeen:
        """The task with what is written by now."""
        held = [
            artifact(self._name(task, number), "".join(self._contents.get((task, number), ())))
            for number in range(len(task.made))
        ]
        return super().shows(task, **({"artifacts": tuple(held)} | other))


class Application(Caller):
    """All that one process does at one agent, with care."""

    def __init__(self, line: Timeline, endpoint: str, tenant: str) -> None:
        super().__init__(Author(line, endpoint, tenant))
        self._next: dict[str, Any] = {}
        """What the next message without a task id says besides."""
        self._settled: set[Served] = set()
        for _ in range(self._chance.randint(0, 3)):
            line.later(self._chance.uniform(0, HORIZON), self._has_trouble)

    @property
    def _world(self) -> Whole:
        assert isinstance(self.line.world, Whole)
        return self.line.world

    @property
    def _where(self) -> dict[str, Any]:
        return {"endpoint": self.agent.endpoint, "tenant": self.agent.tenant}

    # --- cards

    def _has_trouble(self) -> None:
        """The card is asked for, and something is odd about it, but nothing is wrong."""
        trouble = self._chance.choice(TROUBLES)
        if not self.line.is_watched:
            return
        base, world = f"{self.agent.endpoint}/.well-known", self._world
        url = f"{base}/agent-card.json"
        if trouble == "outage":
            for _ in range(self._chance.randint(1, 3)):
                world.card_fails(self._chance.choice((503, 404, "ConnectError", "invalid_agent_card")), url=url)
            self.agent.card.is_down = True
            self.line.later(self._chance.uniform(1, 40), self.agent.show_card)
        elif trouble == "hedged":
            slow, fast = world.asks_for_card(url=url), world.asks_for_card(url=url)
            self.agent.show_card(request=fast)
            world.card_fails("ReadTimeout", request=slow)
        elif trouble == "extended":
            world.card_fails(503, url=url, extended=True)
        else:
            self.agent.show_card()
            if trouble == "sibling":
                world.card_fails(404, url=f"{base}/agent.json")
            elif trouble == "not allowed":
                world.card_fails(405, url=url)

    def begins(self) -> None:
        """New work waits for the card."""
        if self.agent.card.is_down:
            self.line.later(3, self.begins)
        else:
            super().begins()

    def _sends_first(self, task_id: str, context_id: str, words: SentMessage, *, push: bool) -> None:
        if self.agent.card.is_down:
            self.line.later(3, lambda: self._sends_first(task_id, context_id, words, push=push))
        else:
            super()._sends_first(task_id, context_id, words, push=push)

    # --- calls

    def _leaves(self, method: str, task: str = "", **request: Any) -> CallStarted | None:
        if method == Method.CANCEL_TASK:
            request["hints"] = Hints(reason="user")
            for seconds in (20, 45, 70, 95):
                self.line.later(seconds, lambda: self._looks_again(task))
        elif method in SENDS and "context" not in request:
            request["hints"] = Hints(skill="pay", side_effect=True)
            request |= self._next
            self._next = {}
        return super()._leaves(method, task, **request)

    def _looks_again(self, task_id: str) -> None:
        """A cancel is a request: one looks what became of it."""
        if task_id not in self.ended:
            task, call = self.agent.tasks[task_id], self._leaves(Method.GET_TASK, task_id)
            self._soon(lambda: self._is_looked_at(task, call, Method.GET_TASK))

    # --- what comes back

    def _receives(self, task: Served, seen: TaskSeen | ArtifactSeen, wait: int) -> None:
        super()._receives(task, seen, wait)
        if not self.line.is_watched or isinstance(seen, ArtifactSeen) or seen.call is None or seen.state is None:
            return
        if self._chance.random() < 0.3:
            self._world.records(seen.state, "server", task=task.task_id, **self._where)
        if seen.state in TERMINAL and task not in self._settled and self.agent.version != "0.1":
            self._settled.add(task)
            self._settles(task, seen)

    def _settles(self, task: Served, seen: TaskSeen) -> None:
        """The end is known: what there is is kept, and what comes next refers to it."""
        if seen.state != CANCELED:
            for each in seen.artifacts:
                told: dict[str, Any] = {"artifact_id": each.artifact_id, "source_task_id": task.task_id}
                self._world.decides(Decision.ARTIFACT_MERGED, task=task.task_id, **told, **dict[str, Any](self._where))
        if self.line.now > HORIZON or self._chance.random() < 0.5:
            return
        retried = task.task_id if seen.state in (FAILED, CANCELED) else ""
        hints = Hints(skill="pay", side_effect=True, retry_of=retried)
        words = message(f"next after {task.task_id}", f"m{next(self.line.numbers)}", references=(task.task_id,))
        self.line.later(self._chance.uniform(0, 20), partial(self._goes_on, task, words, hints))

    def _goes_on(self, task: Served, words: SentMessage, hints: Hints) -> None:
        if self.agent.card.is_down:
            return
        self._next = {"context": task.context_id, "hints": hints}
        self._sends_first(f"t{next(self._ids)}", task.context_id, words, push=False)


def chats(line: Timeline) -> None:
    """An agent that only answers with messages, whose card is not always there; and a message without a connection."""
    world = line.world
    assert isinstance(world, Whole)
    if not line.is_watched:
        return
    words = message("hello", f"m{next(line.numbers)}")
    world.breaks(world.leaves(Method.SEND_MESSAGE, endpoint=CHAT, sent=words), "ConnectError")
    again = world.leaves(Method.SEND_MESSAGE, endpoint=CHAT, sent=words, hints=Hints(side_effect=True))
    world.says(again)
    world.card_fails(503, url=f"{CHAT}/.well-known/agent-card.json")


def play_all(random: Random, world: Whole, until: float = math.inf) -> list[Caller]:
    """Play some legal lives with everything in them, as ``callers.play`` does."""
    lines: list[Timeline] = []

    def caller_of(line: Timeline, endpoint: str, tenant: str) -> Caller:
        if not lines:
            lines.append(line)
            for _ in range(random.randint(0, 3)):
                line.later(random.uniform(0, HORIZON), lambda: chats(line))
        return Application(line, endpoint, tenant)

    return play(random, world, until, caller_of)
