# SPDX-License-Identifier: Apache-2.0
"""For the tests of ``examples/seeds``: a real agent that shows what a test says, and what a program raises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from examples.seeds.remote import Remote
from otel_a2a import A2AInstrumentor, A2APolicyError
from otel_a2a_policies import RULES
from tests.support.agents import ScriptedAgent, card, task
from tests.support.world import World

Raises = type[A2APolicyError] | None

SERVED = ScriptedAgent(lambda method, params: None)
BASE: list[str] = []


class Agent:
    """A real agent with one mind: it shows what the test says, and mints ids."""

    def __init__(self, base: str, served: ScriptedAgent, world: World, remote: Remote) -> None:
        self.base, self.served, self.world, self.remote = base, served, world, remote
        self.shows: dict[str, str] = {}
        """The state that each task is in."""
        self.begins_as = "working"
        self.answers_with = ""
        """The task that answers a message into another one; empty: that other one."""
        self.silent = False
        self.deploy()

    def deploy(self, **changes: Any) -> None:
        """Serve a card: all capabilities and the skill ``export``, save for ``changes``."""
        offered: dict[str, Any] = {"push": True, "skills": ("export",)} | changes
        url = f"{self.base}/rpc"
        if self.remote.version == "1.0":
            self.served.card = card(url, **offered)
        else:
            history = {"streaming": True, "stateTransitionHistory": changes.get("history", True)}
            more = {"url": url, "protocolVersion": "0.3.0", "capabilities": history, "supportedInterfaces": None}
            self.served.card = card(url) | more

    def undeploy(self) -> None:
        """The card cannot be had."""
        self.served.card = 503

    def passes(self, seconds: float) -> None:
        """Time passes, for the engine."""
        self.world.passes(seconds)

    def answer(self, method: str, params: dict[str, Any]) -> Any:
        """What the agent says to a call."""
        if method in ("SendMessage", "message/send"):
            named = params["message"].get("taskId", "")
            shown = (self.answers_with or named) if named else f"t-{len(self.shows) + 1}"
            self.shows.setdefault(shown, self.begins_as)
            return {"task": self._task(shown)} if method == "SendMessage" else self._task(shown)
        if method == "message/stream":
            states = self.shows.pop("stream").split()
            self.shows["t-1"] = states[-1]
            first = self._task("t-1", states[0])
            return [first, *(self._update(state, last=state is states[-1]) for state in states[1:])]
        if method in ("GetTask", "tasks/get"):
            return None if self.silent else self._task(params["id"])
        if method in ("CancelTask", "tasks/cancel"):
            return self._task(params["id"], "canceled")
        return {"taskId": params["taskId"], "id": "c-1", "url": params["url"]}

    def _task(self, task_id: str, state: str = "") -> dict[str, Any]:
        state = state or self.shows[task_id]
        if self.remote.version == "1.0":
            return task(task_id, state.upper().replace("-", "_"))
        return {"kind": "task", "id": task_id, "contextId": "ctx-1", "status": {"state": state}}

    def _update(self, state: str, *, last: bool) -> dict[str, Any]:
        update = {"kind": "status-update", "taskId": "t-1", "contextId": "ctx-1", "final": last}
        return update | {"status": {"state": state}}


@contextmanager
def running(profile: str, version: str = "1.0", **settings: Any) -> Iterator[Agent]:
    """An agent, and this process instrumented in mode raise, with a clock that a test can move."""
    world = World(rule_set=RULES, profile=profile, strictness="raise", **settings)
    SERVED.received.clear()
    # Neither certificates nor kept connections, on which small answers wait for each other: both only cost time.
    with httpx.Client(verify=False, limits=httpx.Limits(max_keepalive_connections=0)) as http:
        agent = Agent(BASE[0], SERVED, world, Remote(http, BASE[0], version))
        SERVED.answer = agent.answer
        A2AInstrumentor().instrument(engine=world.engine)
        try:
            yield agent
        finally:
            A2AInstrumentor().uninstrument()
    assert world.internal_errors == []


@contextmanager
def outcome(raises: Raises) -> Iterator[None]:
    """The block raises exactly this, or returns."""
    if raises is None:
        yield
        return
    with pytest.raises(A2APolicyError) as caught:
        yield
    assert type(caught.value) is raises
