# SPDX-License-Identifier: Apache-2.0
"""Clients that do what clients may, over a network that does not care.

A request takes its time to the agent, is answered by what is true when it arrives, and the answer takes its time back:
so answers overtake each other, and each shows a state that was true at some time between its request and its receipt.
Streams keep their own order, lag, repeat themselves and are cut; webhooks come late, twice, out of order or not at all;
some answers are lost.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from otel_a2a.observations import (
    INTERRUPTED,
    TERMINAL,
    A2AError,
    ArtifactSeen,
    CallFailed,
    CallStarted,
    Channel,
    Delivery,
    Form,
    Method,
    SentMessage,
    StreamEnded,
    TaskSeen,
)
from tests.support.lives import HORIZON, Agent, Served, Timeline
from tests.support.world import ENDPOINT, INPUT, World, message

LOOKS = (Method.GET_TASK,) * 7 + (Method.SUBSCRIBE_TO_TASK,) * 2 + (Method.LIST_TASKS, Method.CANCEL_TASK)
AGENTS = ((ENDPOINT, ""), ("https://b.example/a2a", ""), (ENDPOINT, "acme"))


class Caller:
    """All that one process does at one agent. Its clients share what they know, as they share the ledger."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.line = agent.line
        self._ids = itertools.count(1)
        self.answered: set[tuple[Served, int]] = set()
        """Questions that have been answered, each once."""
        self.known: set[str] = set()
        """Tasks that an answer has told of."""
        self.canceled: set[str] = set()
        """Tasks that a cancel was sent to."""
        self.ended: set[str] = set()
        """Tasks whose end has been received: nothing is sent into them."""

    @property
    def _chance(self) -> Random:
        return self.line.random

    def _soon(self, act: Callable[[], None]) -> None:
        self.line.later(self._chance.random() ** 3 * self.agent.lag, act)

    def _leaves(self, method: str, task: str = "", **request: Any) -> CallStarted | None:
        """A request leaves; None where nobody observes yet."""
        if not self.line.is_watched:
            return None
        agent = self.agent
        return self.line.world.leaves(
            method, task, endpoint=agent.endpoint, tenant=agent.tenant, version=agent.version, **request
        )

    # --- what clients do

    def begins(self) -> None:
        """A message without a task id, or in 0.1 under one of the client's own."""
        task_id, context_id = f"t{next(self._ids)}", f"c{next(self.line.numbers)}"
        words = message(self._chance.choice(("hello", "charge")), f"m{next(self.line.numbers)}")
        self._sends_first(task_id, context_id, words, push=self._chance.random() < 0.3)

    def _sends_first(self, task_id: str, context_id: str, words: SentMessage, *, push: bool) -> None:
        agent, named = self.agent, self.agent.version == "0.1"
        if push:
            agent.show_card()
        streaming = self._chance.random() < 0.5
        method = Method.SEND_STREAMING_MESSAGE if streaming else Method.SEND_MESSAGE
        call = self._leaves(method, task_id if named else "", sent=words, push=push)
        self.ended.discard(task_id)

        def arrives() -> None:
            task = agent.creates(task_id, context_id, pushed=push)
            task.webhook = partial(self._delivers, task)
            if streaming:
                self._stream(task, call)
            agent.begins(task)
            if not streaming:
                self._answer(task, call)
            for _ in range(self._chance.randint(0, 12)):
                self.line.later(self._chance.uniform(0, HORIZON), lambda: self._looks(task))
            if named and self._chance.random() < 0.5:
                self.line.later(self._chance.uniform(50, HORIZON), lambda: self._begins_anew(task))

        self._soon(arrives)

    def _begins_anew(self, task: Served) -> None:
        """0.1: another message under the id of a task whose end is known."""
        if task.task_id in self.ended and self.agent.tasks[task.task_id] is task:
            words = message("again", f"m{next(self.line.numbers)}")
            self._sends_first(task.task_id, task.context_id, words, push=task.pushed)

    def _looks(self, task: Served) -> None:
        """A poll, a subscription, a list, or a cancel, while the end is not known."""
        if task.task_id in self.ended:
            return
        method = self._chance.choice(LOOKS)
        if method == Method.CANCEL_TASK and task.task_id not in self.known:
            return
        if method == Method.CANCEL_TASK:
            self.canceled.add(task.task_id)
        call = self._leaves(method, "" if method == Method.LIST_TASKS else task.task_id)
        self._soon(lambda: self._is_looked_at(task, call, method))

    def _reads(self, task: Served) -> None:
        call = self._leaves(Method.GET_TASK, task.task_id)
        self._soon(lambda: self._is_looked_at(task, call, Method.GET_TASK))

    def _is_looked_at(self, task: Served, call: CallStarted | None, method: str) -> None:
        task = self.agent.tasks[task.task_id]
        if task.forgotten and method != Method.LIST_TASKS:
            self._fails(call, A2AError.TASK_NOT_FOUND)
        elif method == Method.LIST_TASKS:
            self._answer(task, call, form=Form.LISTED, artifacts=())
        elif method == Method.SUBSCRIBE_TO_TASK and not task.has_ended:
            self._stream(task, call, self.agent.shows(task))
        elif method != Method.GET_TASK and task.has_ended:
            is_cancel = method == Method.CANCEL_TASK
            self._fails(call, A2AError.TASK_NOT_CANCELABLE if is_cancel else A2AError.UNSUPPORTED_OPERATION)
            if is_cancel:
                # Not cancelable may mean that it runs on: a look tells.
                self.line.later(self.agent.lag, lambda: self._leaves(Method.GET_TASK, task.task_id))
        else:
            if method == Method.CANCEL_TASK:
                self.agent.is_canceled(task)
            self._answer(task, call)

    def _replies(self, task: Served, wait: int) -> None:
        """The answer to a question: once for each, and to no task whose end is known."""
        if (task, wait) in self.answered or task.task_id in self.ended:
            return
        if not self.agent.card.narrows:
            self._sends_reply(task, wait)
            return
        # The card may have lost what the task uses: one read, sent after that was seen, makes sure of the task.
        read, left = self._leaves(Method.GET_TASK, task.task_id), self.line.now

        def arrives() -> None:
            if task.forgotten:
                self._fails(read, A2AError.TASK_NOT_FOUND)
            else:
                seen = self.agent.reads(task, call=read)
                self._soon(lambda: self._reads_before_reply(task, wait, seen, left))

        self._soon(arrives)

    def _reads_before_reply(self, task: Served, wait: int, seen: TaskSeen, left: float) -> None:
        self._receives(task, seen, 0)
        if self.agent.card.seen_at < left and seen.state == INPUT and (task, wait) not in self.answered:
            self._sends_reply(task, wait)

    def _sends_reply(self, task: Served, wait: int) -> None:
        if task.task_id in self.ended:
            return
        self.answered.add((task, wait))
        streaming = self._chance.random() < 0.5
        named = self.agent.version == "0.1" or self._chance.random() < 0.8
        method = Method.SEND_STREAMING_MESSAGE if streaming else Method.SEND_MESSAGE
        references = () if named else (task.task_id,)
        words = message("yes", f"m{next(self.line.numbers)}", references=references)
        call = self._leaves(method, task.task_id if named else "", context=task.context_id, sent=words)

        def arrives() -> None:
            if task.has_ended:
                self._fails(call, A2AError.UNSUPPORTED_OPERATION)
                return
            if streaming:
                self._stream(task, call)
            self.agent.is_answered(task, wait)
            if not streaming:
                self._answer(task, call)

        self._soon(arrives)

    # --- what comes back

    def _fails(self, call: CallStarted | None, error: str, *, from_agent: bool = True) -> None:
        if call is not None:
            failed = CallFailed(call=call, error=error, from_agent=from_agent)
            self._soon(lambda: self.line.observe(failed))

    def _answer(self, task: Served, call: CallStarted | None, **other: Any) -> None:
        if self._chance.random() < 0.1:
            self._fails(call, "ReadTimeout", from_agent=False)
            return
        if call is not None and call.method == Method.GET_TASK:
            seen = self.agent.reads(task, call=call)
        else:
            self.agent.stores(task)
            seen = self.agent.shows(task, call=call, **other)
        self._soon(partial(self._receives, task, seen, task.wait))

    def _delivers(self, task: Served, seen: TaskSeen, wait: int) -> None:
        seen = dataclasses.replace(seen, delivery=Delivery(verified=True))
        self.line.later(self._chance.random() * 3 * self.agent.lag, partial(self._receives, task, seen, wait))

    def _receives(self, task: Served, seen: TaskSeen | ArtifactSeen, wait: int) -> None:
        """Something arrives at the client, which may have something to say."""
        if not self.line.is_watched or (seen.call is None and seen.channel != Channel.WEBHOOK):
            return
        self.line.observe(dataclasses.replace(seen))
        if isinstance(seen, ArtifactSeen):
            return
        if self.agent.tasks[task.task_id] is not task:
            return
        if seen.call is not None:
            self.known.add(task.task_id)
        elif task.task_id not in self.known:
            return
        if seen.call is None and self._chance.random() < 0.5:
            # What a push is for: to fetch what it tells of.
            self._reads(task)
        if seen.state in TERMINAL:
            self.ended.add(task.task_id)
        elif seen.state == INPUT and wait and self._chance.random() < 0.8:
            self.line.later(self._chance.random() * 10, lambda: self._replies(task, wait))

    def _stream(self, task: Served, call: CallStarted | None, first: TaskSeen | None = None) -> None:
        """Events in their order, each after the one before it, some twice, until the stream ends or is cut."""
        free_at = self.line.now
        is_over = False

        def ends(reason: str) -> None:
            nonlocal is_over
            if not is_over and call is not None:
                self.line.observe(StreamEnded(call=call, reason=reason))
            is_over = True

        def arrives(seen: TaskSeen | ArtifactSeen, wait: int) -> None:
            if not is_over:
                self._receives(task, seen, wait)

        def tell(seen: TaskSeen | ArtifactSeen, wait: int) -> None:
            nonlocal free_at
            seen = dataclasses.replace(seen, call=call, channel=Channel.STREAM)
            for _ in range(1 + (self._chance.random() < 0.1)):
                free_at = max(free_at, self.line.now + self._chance.random() ** 3 * self.agent.lag)
                self.line.at(free_at, partial(arrives, seen, wait))
            if isinstance(seen, ArtifactSeen):
                return
            if seen.state in TERMINAL or (seen.state in INTERRUPTED and self.agent.closes_when_interrupted):
                task.listeners.remove(tell)
                self.line.at(free_at, partial(ends, "eof"))

        task.listeners.append(tell)
        self.agent.stores(task)
        if first is not None:
            tell(first, task.wait)
        if self._chance.random() < 0.3:
            self.line.later(self._chance.uniform(0, 60), partial(ends, "ReadError"))


def play(
    random: Random,
    world: World,
    until: float = math.inf,
    caller_of: Callable[[Timeline, str, str], Caller] = lambda line, *where: Caller(Agent(line, *where)),
) -> list[Caller]:
    """Play some legal lives to their ends, or ``until`` then, before the eyes of ``world``, which may open late."""
    line = Timeline(random, world, begin=random.choice((0.0, 0.0, 0.0, 50.0)))
    callers = [caller_of(line, *where) for where in AGENTS[: random.randint(1, 3)]]
    for caller in callers:
        for _ in range(random.randint(1, 3)):
            line.later(random.uniform(0, 100), caller.begins)
    line.play(until)
    return callers
