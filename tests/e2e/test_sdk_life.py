# SPDX-License-Identifier: Apache-2.0
"""A clean life with a real a2a-sdk client and server: everything is seen, and nobody is accused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.helpers import new_text_message
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Role,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    TaskState,
)

from otel_a2a import semconv
from tests.support.sdk_agent import SdkAgent
from tests.support.servers import serve
from tests.support.telemetry import Telemetry

BINDINGS = ["JSONRPC", "HTTP+JSON"]


@asynccontextmanager
async def connected(base: str, binding: str, *, streaming: bool) -> AsyncIterator[Client]:
    async with httpx.AsyncClient(timeout=20) as http:
        card = await A2ACardResolver(http, base).get_agent_card()
        config = ClientConfig(httpx_client=http, streaming=streaming, supported_protocol_bindings=[binding])
        yield ClientFactory(config).create(card)


async def say(client: Client, text: str, task_id: str = "", context_id: str = "") -> list[StreamResponse]:
    message = new_text_message(text, role=Role.ROLE_USER, task_id=task_id or None, context_id=context_id or None)
    return [event async for event in client.send_message(SendMessageRequest(message=message))]


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_streamed_life(binding: str, telemetry: Telemetry) -> None:
    """Card, stream, read, list: one span each, the states in between, and no finding in mode raise."""
    with serve(SdkAgent()) as base, telemetry.instrumented(strictness="raise"):
        async with connected(base, binding, streaming=True) as client:
            events = await say(client, "chunks")
            task_id = events[0].task.id
            task = await client.get_task(GetTaskRequest(id=task_id))
            await client.list_tasks(ListTasksRequest())
    assert task.status.state == TaskState.TASK_STATE_COMPLETED
    assert telemetry.findings() == []
    ours = {span.name for span in telemetry.ours()}
    assert ours == {
        "GetAgentCard",
        "SendStreamingMessage",
        "GetTask",
        "ListTasks",
        "task TASK_STATE_SUBMITTED",
        "task TASK_STATE_WORKING",
    }
    stream = telemetry.span("SendStreamingMessage")
    assert stream.attributes is not None
    assert stream.attributes[semconv.A2A_TASK_ID] == task_id
    assert stream.attributes[semconv.A2A_TASK_STATE] == "TASK_STATE_COMPLETED"
    assert stream.attributes[semconv.A2A_PROTOCOL_VERSION] == "1.0"
    fetched = telemetry.span("GetAgentCard").attributes
    assert fetched is not None
    assert stream.attributes[semconv.CARD_REVISION_ID] == fetched[semconv.CARD_REVISION_ID]
    assert stream.attributes[semconv.TASK_CARD_REVISION_ID] == fetched[semconv.CARD_REVISION_ID]


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_question_and_its_answer(binding: str, telemetry: Telemetry) -> None:
    """input-required, a reply under the same id, completed; then new work by context and a direct message."""
    with serve(SdkAgent()) as base, telemetry.instrumented(strictness="raise"):
        async with connected(base, binding, streaming=False) as client:
            first = (await say(client, "ask"))[-1].task
            assert first.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
            second = (await say(client, "this one", first.id, first.context_id))[-1].task
            assert (second.id, second.status.state) == (first.id, TaskState.TASK_STATE_COMPLETED)
            third = (await say(client, "chunks", context_id=first.context_id))[-1].task
            assert third.id != first.id
            await say(client, "hello")
    assert telemetry.findings() == []
    sends = [span for span in telemetry.ours() if span.name == "SendMessage"]
    assert len(sends) == 4
    reply = sends[1].attributes
    assert reply is not None
    assert reply[semconv.TASK_PREVIOUS_STATE] == "TASK_STATE_INPUT_REQUIRED"
    kinds = [dict(each.attributes or {})[semconv.LINK_TYPE] for each in sends[1].links]
    assert kinds == [semconv.LINK_CARD_FETCH, semconv.LINK_TASK_ORIGIN]


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_task_is_left_joined_again_and_canceled(binding: str, telemetry: Telemetry) -> None:
    """Leaving a stream early, subscribing again and canceling are legal, and each call's span ends."""
    with serve(SdkAgent()) as base, telemetry.instrumented(strictness="raise"):
        async with connected(base, binding, streaming=True) as client:
            message = new_text_message("slow", role=Role.ROLE_USER)
            task_id = ""
            async for event in client.send_message(SendMessageRequest(message=message)):
                task_id = task_id or event.task.id
                if event.HasField("status_update"):
                    break
            joined = asyncio.ensure_future(_states(client, task_id))
            await asyncio.sleep(0.2)
            canceled = await client.cancel_task(CancelTaskRequest(id=task_id))
            states = await asyncio.wait_for(joined, 10)
            assert canceled.status.state == TaskState.TASK_STATE_CANCELED
            assert states[-1] == TaskState.TASK_STATE_CANCELED
            assert (await client.get_task(GetTaskRequest(id=task_id))).status.state == TaskState.TASK_STATE_CANCELED
    assert telemetry.findings() == []
    names = telemetry.names()
    assert (names["SubscribeToTask"], names["CancelTask"], names["GetTask"]) == (1, 1, 1)


async def _states(client: Client, task_id: str) -> list[TaskState]:
    states = []
    async for event in client.subscribe(SubscribeToTaskRequest(id=task_id)):
        status = event.task.status if event.HasField("task") else event.status_update.status
        states.append(status.state)
    return states
