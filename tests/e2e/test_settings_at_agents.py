# SPDX-License-Identifier: Apache-2.0
"""Two agents on real sockets and one client: what is set for the one does not hold for the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from otel_a2a import AgentCardStalenessError, semconv
from tests.support.agents import CARD_PATH, HEADERS, ScriptedAgent, envelope, send, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry


class Pair:
    """Two agents of one kind, and a client of both. ``one`` is the agent that something is set for."""

    def __init__(self, one: ScriptedAgent, other: ScriptedAgent, bases: tuple[str, str], client: httpx.Client) -> None:
        self.one, self.other = one, other
        self.bases = bases
        self._client = client

    def fetch_cards(self) -> None:
        for base in self.bases:
            self._client.get(base + CARD_PATH)

    def call(self, base: str, method: str, params: dict[str, Any]) -> Any:
        return self._client.post(f"{base}/rpc", json=envelope(method, params), headers=HEADERS).json()["result"]


def host(base: str) -> str:
    return base.removeprefix("http://")


@contextmanager
def pair(telemetry: Telemetry, folder: Path, changes: str, answer: Any, **settings: Any) -> Iterator[Pair]:
    """Two agents that answer by ``answer``, the first of them with ``changes`` in a policy file."""
    agents = ScriptedAgent(answer), ScriptedAgent(answer)
    with ExitStack() as stack:
        bases = stack.enter_context(serve(agents[0].app)), stack.enter_context(serve(agents[1].app))
        file = folder / "policy.toml"
        file.write_text(f'[[agents]]\nhost = "{host(bases[0])}"\n[agents.settings]\n{changes}\n', "utf-8")
        stack.enter_context(telemetry.instrumented(profile=str(file), **settings))
        yield Pair(*agents, bases, stack.enter_context(httpx.Client()))


def findings(telemetry: Telemetry) -> list[tuple[str, str]]:
    """Rule and agent of each violation, in order."""
    told = [event.attributes for event in telemetry.events()]
    return [
        (each[semconv.SECURITY_RULE_NAME], f"{each['server.address']}:{each['server.port']}")
        for each in told
        if each[semconv.FINDING_LEVEL] == "violation"
    ]


def works(method: str, params: dict[str, Any]) -> Any:
    return {"task": task("t-1", "WORKING")} if method == "SendMessage" else task("t-1", "WORKING")


def another_task(method: str, params: dict[str, Any]) -> Any:
    """Every message makes a task of its own, whichever it names."""
    return {"task": task(f"of-{params['message']['messageId']}", "WORKING", "")}


def test_a_pinned_card_admits_work_at_that_agent_alone(telemetry: Telemetry, tmp_path: Path) -> None:
    """Both cards are down. Where the operator has pinned one, work goes out; at the other agent it never leaves."""
    with pair(telemetry, tmp_path, "pinned = true", works, strictness="raise") as two:
        two.one.card = two.other.card = 503
        two.fetch_cards()
        two.call(two.bases[0], "SendMessage", send("x", "m1"))
        with pytest.raises(AgentCardStalenessError):
            two.call(two.bases[1], "SendMessage", send("x", "m2"))
        assert (two.one.methods(), two.other.methods()) == (["SendMessage"], [])
    assert findings(telemetry) == [("created-without-card", host(two.bases[1]))]


def test_cards_can_be_pinned_by_the_environment(
    telemetry: Telemetry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``OTEL_PYTHON_A2A_PINNED_CARDS`` names agents by host and port; what a file says of one agent wins."""
    monkeypatch.setenv("OTEL_PYTHON_A2A_PINNED_CARDS", "127.0.0.1")
    with pair(telemetry, tmp_path, "pinned = false", works) as two:
        two.one.card = two.other.card = 503
        two.fetch_cards()
        for number, base in enumerate(two.bases):
            two.call(base, "SendMessage", send("x", f"m{number}"))
    assert findings(telemetry) == [("created-without-card", host(two.bases[0]))]


def test_a_deadline_holds_at_that_agent_alone(telemetry: Telemetry, tmp_path: Path) -> None:
    """Without traffic, the timer finds the task of the agent that has a deadline, under the span that created it."""
    with pair(telemetry, tmp_path, "task_deadline = 0.2", works) as two:
        for number, base in enumerate(two.bases):
            two.call(base, "SendMessage", send(f"x{number}", f"m{number}"))
        telemetry.wait_for_finding("task-stuck", seconds=10)
        # Another look after the deadline, so that the other agent's task would be found too.
        two.call(two.bases[1], "GetTask", {"id": "t-1"})
    assert findings(telemetry) == [("task-stuck", host(two.bases[0]))]
    created = [span for span in telemetry.spans if span.name == "SendMessage"]
    stuck = telemetry.span("violation task-stuck")
    assert stuck.parent is not None and stuck.parent.span_id == created[0].context.span_id


def test_a_gateway_rewrites_ids_at_that_agent_alone(telemetry: Telemetry, tmp_path: Path) -> None:
    """Behind the declared gateway another task id in an answer is agreed; elsewhere it is another task."""
    with pair(telemetry, tmp_path, "gateway_rewrites_ids = true", another_task) as two:
        for base in two.bases:
            two.call(base, "SendMessage", send("x", "m1"))
            two.call(base, "SendMessage", send("y", "m2", task_id="of-m1"))
    assert findings(telemetry) == [("continuation-diverged", host(two.bases[1]))]


def test_ids_that_a_gateway_rewrites_everywhere(telemetry: Telemetry, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable holds for all agents."""
    monkeypatch.setenv("OTEL_PYTHON_A2A_GATEWAY_REWRITES_IDS", "true")
    agent = ScriptedAgent(another_task)
    with serve(agent.app) as base, telemetry.instrumented(), httpx.Client() as client:
        two = Pair(agent, agent, (base, base), client)
        two.call(base, "SendMessage", send("x", "m1"))
        two.call(base, "SendMessage", send("y", "m2", task_id="of-m1"))
    assert findings(telemetry) == []


@pytest.mark.parametrize(("conversations", "diverged"), [(("c-1", "c-1"), False), (("c-1", "c-2"), True)])
def test_a_gateways_own_correlation_counts_instead_of_the_ids(
    conversations: tuple[str, str], diverged: bool, telemetry: Telemetry
) -> None:
    """Two task ids of one conversation are one task; an answer out of another one is another task (seed 001)."""

    def answer(method: str, params: dict[str, Any]) -> Any:
        told = another_task(method, params)
        told["task"]["metadata"] = {"X-Conversation": conversations[len(agent.received) - 1]}
        return told

    agent = ScriptedAgent(answer)
    settings = {"gateway_rewrites_ids": True, "correlation_key": "X-Conversation"}
    with serve(agent.app) as base, telemetry.instrumented(**settings), httpx.Client() as client:
        for params in (send("x", "m1"), send("y", "m2", task_id="of-m1")):
            client.post(f"{base}/rpc", json=envelope("SendMessage", params), headers=HEADERS)
    assert findings(telemetry) == ([("continuation-diverged", host(base))] if diverged else [])


def test_a_correlation_counts_at_that_agent_alone(telemetry: Telemetry, tmp_path: Path) -> None:
    """Both gateways rewrite ids and answer out of another conversation; only of one is it known how it says so."""
    answered = {"m1": "c-1", "m2": "c-2"}

    def answer(method: str, params: dict[str, Any]) -> Any:
        told = another_task(method, params)
        told["task"]["metadata"] = {"X-Conversation": answered[params["message"]["messageId"]]}
        return told

    with pair(telemetry, tmp_path, 'correlation_key = "X-Conversation"', answer, gateway_rewrites_ids=True) as two:
        for base in two.bases:
            two.call(base, "SendMessage", send("x", "m1"))
            two.call(base, "SendMessage", send("y", "m2", task_id="of-m1"))
    assert findings(telemetry) == [("continuation-diverged", host(two.bases[0]))]


def test_trace_context_goes_to_the_named_hosts_alone(telemetry: Telemetry, tmp_path: Path) -> None:
    """Both calls are seen; a partner that is not named learns nothing of the trace."""
    agents = ScriptedAgent(works), ScriptedAgent(works)
    with ExitStack() as stack:
        bases = stack.enter_context(serve(agents[0].app)), stack.enter_context(serve(agents[1].app))
        stack.enter_context(telemetry.instrumented(propagate=[host(bases[0])]))
        two = Pair(*agents, bases, stack.enter_context(httpx.Client()))
        for base in two.bases:
            two.call(base, "SendMessage", send("x", "m1"))
    assert ["traceparent" in headers for agent in agents for headers in agent.headers] == [True, False]
    assert telemetry.names()["SendMessage"] == 2
