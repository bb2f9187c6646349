# SPDX-License-Identifier: Apache-2.0
"""python-a2a: states that its client makes up are noticed, those that an agent told are not."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from python_a2a import A2AClient, TaskState

from tests.hooks.libraries.old_agent import OldAgent, found, request, served, task
from tests.support.telemetry import Telemetry

PHANTOM = "phantom-terminal-state"
NOT_FOUND = {"error": {"code": -32001, "message": "Task not found"}}


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


def test_methods_stay_what_they_were(telemetry: Telemetry) -> None:
    """The same signature while they are watched, and the originals again afterwards."""
    before = [A2AClient.__dict__[name] for name in ("get_task", "cancel_task")]
    with telemetry.instrumented():
        during = [A2AClient.__dict__[name] for name in ("get_task", "cancel_task")]
        assert [inspect.signature(method) for method in during] == [inspect.signature(method) for method in before]
        assert not set(map(id, before)) & set(map(id, during))
    assert [A2AClient.__dict__[name] for name in ("get_task", "cancel_task")] == before
