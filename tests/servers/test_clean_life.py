# SPDX-License-Identifier: Apache-2.0
"""A clean life at an agent in another language, by the client of a2a-sdk, in mode raise."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.types import CancelTaskRequest, GetTaskRequest, Message, Part, Role, SendMessageRequest, TaskState

from otel_a2a import semconv
from tests.servers.conftest import Agent
from tests.support.telemetry import Telemetry

SECONDS = 10
CALLS = 14
"""Twice three messages and three looks, a slow task and its cancel."""
SEEN = {semconv.A2A_TASK_STATE, semconv.A2A_PROTOCOL_VERSION, semconv.CARD_REVISION_ID}
"""What the span of each of these calls has."""


class Caller:
    """The SDK's clients of one agent over one binding, streaming or not."""

    def __init__(self, http: httpx.AsyncClient, card: Any, binding: str) -> None:
        self._http, self._card, self._binding = http, card, binding

    def client(self, *, streaming: bool) -> Client:
        config = ClientConfig(httpx_client=self._http, streaming=streaming, supported_protocol_bindings=[self._binding])
        return ClientFactory(config).create(self._card)

    def say(self, text: str, *, streaming: bool, task_id: str = "") -> AsyncIterator[Any]:
        message = Message(message_id=str(uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)], task_id=task_id)
        return self.client(streaming=streaming).send_message(SendMessageRequest(message=message))


async def live(base: str, binding: str) -> None:
    """All that a task can go through: worked on, asked about, looked at, canceled."""
    async with httpx.AsyncClient(timeout=SECONDS) as http:
        caller = Caller(http, await A2ACardResolver(http, base).get_agent_card(), binding)
        for streaming in (False, True):
            events = [event async for event in caller.say("work", streaming=streaming)]
            task_id = events[0].task.id
            task = await caller.client(streaming=False).get_task(GetTaskRequest(id=task_id))
            assert task.status.state == TaskState.TASK_STATE_COMPLETED

            asked = [event async for event in caller.say("ask", streaming=streaming)]
            task_id = asked[0].task.id
            task = await caller.client(streaming=False).get_task(GetTaskRequest(id=task_id))
            assert task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
            _ = [event async for event in caller.say("the first", streaming=streaming, task_id=task_id)]
            task = await caller.client(streaming=False).get_task(GetTaskRequest(id=task_id))
            assert task.status.state == TaskState.TASK_STATE_COMPLETED

        task_id = ""
        async for event in caller.say("slow", streaming=True):
            if not task_id:
                task_id = event.task.id
                canceled = await caller.client(streaming=False).cancel_task(CancelTaskRequest(id=task_id))
                assert canceled.status.state == TaskState.TASK_STATE_CANCELED


async def test_a_clean_life_gives_no_finding(agent: Agent) -> None:
    """In mode raise nothing is raised and nothing found, and each call's span has the state and the card's revision."""
    for binding in agent.bindings:
        telemetry = Telemetry()
        with telemetry.instrumented(strictness="raise"):
            await live(agent.base, binding)

        assert telemetry.findings() == [], binding
        told = [dict(span.attributes or {}) for span in telemetry.ours()]
        calls = [attributes for attributes in told if attributes.keys() >= SEEN]
        assert len(calls) == CALLS, binding
        states = {str(call[semconv.A2A_TASK_STATE]) for call in calls}
        assert states == {"TASK_STATE_COMPLETED", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_CANCELED"}, binding
        assert len({str(call[semconv.CARD_REVISION_ID]) for call in calls}) == 1, binding
        assert {str(call[semconv.A2A_PROTOCOL_VERSION]) for call in calls} == {agent.version}, binding
