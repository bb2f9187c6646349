# SPDX-License-Identifier: Apache-2.0
"""python-a2a: states that its client makes up are noticed, those that an agent told are not."""

from __future__ import annotations

import inspect
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
import requests
from python_a2a import (
    A2AClient,
    A2AServer,
    AgentCard,
    AgentSkill,
    Message,
    MessageRole,
    TaskState,
    TextContent,
)
from python_a2a.server.http import create_flask_app
from werkzeug.serving import make_server

from otel_a2a import local
from otel_a2a.errors import CardTaskBoundaryError
from tests.hooks.libraries.old_agent import OldAgent, found, request, served, task
from tests.support.telemetry import Telemetry

METHODS = ("get_task", "cancel_task", "send_message")
PHANTOM = "phantom-terminal-state"
NOT_FOUND = {"error": {"code": -32001, "message": "Task not found"}}


class Charging(A2AServer):
    """python-a2a's own server, which does the work of every message that reaches it, in whatever format."""

    def __init__(self, url: str) -> None:
        skill = AgentSkill(id="charge", name="Charge", description="charges", tags=[])
        card = AgentCard(name="Charging", description="charges", url=url, version="1", skills=[skill])
        super().__init__(agent_card=card, google_a2a_compatible=False)
        self.charged: list[str] = []

    def handle_message(self, message: Message) -> Message:
        """Do it."""
        self.charged.append(message.content.text)
        return Message(content=TextContent(text="charged"), role=MessageRole.AGENT)


@contextmanager
def charging(telemetry: Telemetry, **settings: Any) -> Iterator[tuple[Charging, A2AClient]]:
    """Such an agent, and a client that has fetched its card."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    agent = Charging(f"http://127.0.0.1:{port}")
    server = make_server("127.0.0.1", port, create_flask_app(agent), threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with telemetry.instrumented(**settings):
            yield agent, A2AClient(agent.agent_card.url)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def working(telemetry: Telemetry, **settings: Any) -> Iterator[tuple[OldAgent, A2AClient]]:
    """An agent whose task t-1 this process knows to be working, and python-a2a's client to it."""
    agent = OldAgent(lambda method, params: task("working"))
    with served(agent, telemetry, **settings) as base:
        httpx.post(base, json=request("message/send"))
        yield agent, A2AClient(base)


@pytest.mark.parametrize(
    ("method", "state"), [("get_task", TaskState.FAILED), ("cancel_task", TaskState.CANCELED)], ids=lambda each: each
)
def test_an_end_that_the_client_makes_up_is_noticed(method: str, state: TaskState, telemetry: Telemetry) -> None:
    """The agent is not there, or its proxy fails: no A2A answer, so no state. The result stays what it was, in mode
    raise too."""
    with working(telemetry, strictness="raise", raise_on="improvement") as (agent, client):
        agent.answer = lambda method, params: 503
        returned = getattr(client, method)("t-1")
        assert (returned.id, returned.status.state) == ("t-1", state)
    assert found(telemetry) == [(PHANTOM, "improvement", "client")]


def test_a_read_that_was_answered_alive_makes_it_information(telemetry: Telemetry) -> None:
    """As for any record after a transport failure (seed 000)."""
    with working(telemetry) as (agent, client):
        httpx.post(client.endpoint_url, json=request("tasks/get", id="t-1"))
        agent.answer = lambda method, params: 503
        assert client.get_task(task_id="t-1").status.state == TaskState.FAILED
    assert found(telemetry) == [(PHANTOM, "information", "client")]


@pytest.mark.parametrize("state", ["working", "TASK_STATE_WORKING"])
def test_an_answer_that_the_client_cannot_parse_is_no_completion(state: str, telemetry: Telemetry) -> None:
    """It knows no such state, and returns a COMPLETED task; the next read that this process sees says that it works."""
    with working(telemetry) as (agent, client):
        agent.answer = lambda method, params: task(state)
        assert client.get_task("t-1").status.state == TaskState.COMPLETED
        assert found(telemetry) == [(PHANTOM, "improvement", "client")]
        httpx.post(client.endpoint_url, json=request("tasks/get", id="t-1"))
    assert found(telemetry) == [(PHANTOM, "improvement", "client"), (PHANTOM, "violation", "client")]


@pytest.mark.parametrize(
    "answer",
    [
        task("input-required"),
        task("failed"),
        {**task("completed"), "artifacts": [{"parts": [{"type": "text", "text": "{'id': 'another'}"}]}]},
        {**task("completed"), "artifacts": [{"parts": [{"type": "text", "text": '{"id": "t-1"}'}]}]},
        NOT_FOUND,
    ],
    ids=["asking", "failed", "completed", "json", "not-found"],
)
@pytest.mark.parametrize("method", ["get_task", "cancel_task"])
def test_what_the_agent_answered_is_its_own_word(method: str, answer: Any, telemetry: Telemetry) -> None:
    """Also where nothing else here has seen that answer: this library may be one that is not watched."""
    with working(telemetry) as (agent, client):
        agent.answer = lambda method, params: answer
        getattr(client, method)("t-1")
    assert not found(telemetry)


def test_a_task_that_nobody_has_seen_accuses_nobody(telemetry: Telemetry) -> None:
    """Whether the agent ever told of it, nobody here knows."""
    with working(telemetry) as (agent, client):
        agent.answer = lambda method, params: 503
        client.get_task("t-2")
    assert not found(telemetry)


@pytest.mark.parametrize("before", [[], ["charge it"]], ids=["at-first", "after-a-success"])
def test_a_refused_message_is_not_posted_in_another_format(before: list[str], telemetry: Telemetry) -> None:
    """The client would post it once more, as no A2A or, once it has seen parts, as half an A2A, and the agent would do
    the work. Its user gets our exception."""
    with charging(telemetry, strictness="raise") as (agent, client):
        for text in before:
            assert client.ask(text) == "charged"
        with local.hints(skill="refund"), pytest.raises(CardTaskBoundaryError) as refused:
            client.ask("refund it")
        assert agent.charged == before
    assert not refused.value.request_sent
    assert found(telemetry) == [("skill-not-advertised", "violation", "client")]


def test_a_refusal_ends_one_call_only(telemetry: Telemetry) -> None:
    """The same words again are a new call, which is judged by itself; what the application posts by itself is its."""
    with charging(telemetry, strictness="raise") as (agent, client):
        with local.hints(skill="refund"), pytest.raises(CardTaskBoundaryError):
            client.ask("charge it")
        words = Message(content=TextContent(text="by hand"), role=MessageRole.USER).to_dict()
        requests.post(client.endpoint_url, json=words, timeout=10).raise_for_status()
        assert client.ask("charge it") == "charged"
        assert agent.charged == ["by hand", "charge it"]


def test_a_message_that_nobody_refused_is_posted_as_ever(telemetry: Telemetry) -> None:
    """In mode annotate, at an agent that fails at tasks: the client's last way is its own."""
    with charging(telemetry) as (agent, client), local.hints(skill="refund"):
        agent.handle_task = None
        assert client.ask("charge it") == "charged"
        assert agent.charged == ["charge it"]
    assert ("skill-not-advertised", "violation", "client") in found(telemetry)


def test_methods_stay_what_they_were(telemetry: Telemetry) -> None:
    """The same signature while they are watched, and the originals again afterwards."""
    before = [A2AClient.__dict__[name] for name in METHODS]
    with telemetry.instrumented():
        during = [A2AClient.__dict__[name] for name in METHODS]
        assert [inspect.signature(method) for method in during] == [inspect.signature(method) for method in before]
        assert not set(map(id, before)) & set(map(id, during))
    assert [A2AClient.__dict__[name] for name in METHODS] == before
