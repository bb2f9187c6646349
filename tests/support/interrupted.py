# SPDX-License-Identifier: Apache-2.0
"""Legal lives that are broken off, and one task that is alive then: what comes next may be wrong."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from otel_a2a.observations import CallStarted, Method, SentMessage
from tests.support.applications import play_all
from tests.support.callers import Caller
from tests.support.lives import Served
from tests.support.whole import Whole
from tests.support.world import WORKING, message

NEW: Final = message("something new", "a new one")


class Case:
    """A task that is alive after a legal past, and all that is needed to do it wrong."""

    def __init__(self, world: Whole, caller: Caller, task: Served) -> None:
        agent = caller.agent
        self.world, self.agent, self.task, self.task_id = world, agent, task, task.task_id
        self.where: dict[str, Any] = {"endpoint": agent.endpoint, "tenant": agent.tenant}
        self.held = agent.shows(task).artifacts

    def leaves(self, method: str, task: str = "", **request: Any) -> CallStarted:
        members: dict[str, Any] = {"version": self.agent.version} | self.where | request
        return self.world.leaves(method, task, **members)

    def shows(self, call: CallStarted, state: str | None, **told: Any) -> None:
        known = {"task_id": self.task_id, "context_id": self.task.context_id}
        held = told.pop("held", self.held)
        self.world.shows(call, state, *held, **known | told)

    def reads(self, state: str | None, **told: Any) -> None:
        self.shows(self.leaves(Method.GET_TASK, self.task_id), state, **told)

    def sends(self, task: str = "", sent: SentMessage = NEW, **request: Any) -> CallStarted:
        return self.leaves(Method.SEND_MESSAGE, task, sent=sent, **request)

    def records(self, state: str, reason: str = "") -> None:
        self.world.records(state, reason, task=self.task_id, **self.where)

    def card_fails(self) -> None:
        self.world.card_fails(503, url=f"{self.agent.endpoint}/.well-known/agent-card.json")

    def offers(self, **card: Any) -> None:
        """The card, as it has been all along but for what is said."""
        url = f"{self.agent.endpoint}/.well-known/agent-card.json"
        self.world.card(interfaces=(self.agent.endpoint,), url=url, name=self.agent.endpoint, **card)


def _has_open_stream(world: Whole, caller: Caller, task: Served) -> bool:
    ledger = world.engine.ledger
    record = ledger.task(ledger.agent(caller.agent.endpoint), caller.agent.tenant, task.task_id)
    return record is not None and bool(record.open_streams)


def case_of(seed: int, world: Whole) -> Case | None:
    """Legal lives that are broken off at some time; a task that is then alive is read, and its agent's card fetched.

    Nothing was canceled, and no stream of it is open: somebody would have to look, or would be told, what becomes of
    it. The read leaves when it can no longer be behind a push.
    """
    random = Random(seed)
    callers = play_all(random, world, until=random.uniform(20, 150))
    if any(caller.canceled for caller in callers):
        return None
    alive = [
        (caller, task)
        for caller in callers
        for task in caller.agent.tasks.values()
        if caller.line.is_watched
        and not task.has_ended
        and caller.agent.version != "0.1"
        and not _has_open_stream(world, caller, task)
    ]
    if not alive:
        return None
    case = Case(world, *random.choice(alive))
    world.passes(world.engine.settings.clock_skew + 1)
    case.agent.show_card()
    case.reads(WORKING)
    return case
