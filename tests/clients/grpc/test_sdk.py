# SPDX-License-Identifier: Apache-2.0
"""a2a-sdk's own client over gRPC: clean lives without a finding, and the verdicts of the HTTP bindings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest
from a2a.client import Client
from a2a.client.errors import A2AClientError
from a2a.helpers import new_text_message
from a2a.types import (
    CancelTaskRequest,
    GetExtendedAgentCardRequest,
    GetTaskRequest,
    ListTasksRequest,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskState,
)
from a2a.utils.errors import A2AError

from otel_a2a import TaskResurrectionError, semconv
from tests.clients.grpc.sdk import WAYS, Served, connected, say, served
from tests.support.telemetry import Telemetry

GRPC = ("GRPC 1.0", "GRPC 0.3")


@pytest.fixture(scope="module")
def at() -> Iterator[Served]:
    with served() as where:
        yield where


@pytest.mark.parametrize("way", GRPC)
async def test_a_streamed_life(way: str, at: Served, telemetry: Telemetry) -> None:
    """Card, stream, read: one span each, the states in between, the card's revision, and no finding in mode raise."""
    with telemetry.instrumented(strictness="raise"):
        async with connected(at, way, streaming=True) as client:
            task_id = (await say(client, "chunks"))[0].task.id
            task = await client.get_task(GetTaskRequest(id=task_id))
    assert task.status.state == TaskState.TASK_STATE_COMPLETED
    assert telemetry.findings() == []
    assert {span.name for span in telemetry.ours()} == {
        "GetAgentCard",
        "SendStreamingMessage",
        "GetTask",
        "task TASK_STATE_SUBMITTED",
        "task TASK_STATE_WORKING",
    }
    stream = dict(telemetry.span("SendStreamingMessage").attributes or {})
    fetched = dict(telemetry.span("GetAgentCard").attributes or {})
    host, _, port = at.target.partition(":")
    assert (stream[semconv.SERVER_ADDRESS], stream[semconv.SERVER_PORT]) == (host, int(port))
    assert stream[semconv.A2A_TASK_ID] == task_id
    assert stream[semconv.A2A_TASK_STATE] == "TASK_STATE_COMPLETED"
    assert stream[semconv.A2A_PROTOCOL_VERSION] == way.partition(" ")[2]
    assert stream[semconv.CARD_REVISION_ID] == fetched[semconv.CARD_REVISION_ID]
    assert stream[semconv.TASK_CARD_REVISION_ID] == fetched[semconv.CARD_REVISION_ID]


@pytest.mark.parametrize("way", GRPC)
async def test_a_question_and_its_answer(way: str, at: Served, telemetry: Telemetry) -> None:
    """input-required, a reply under the same id, completed; then a direct message."""
    with telemetry.instrumented(strictness="raise"):
        async with connected(at, way, streaming=False) as client:
            first = (await say(client, "ask"))[-1].task
            assert first.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
            second = (await say(client, "this one", first.id, first.context_id))[-1].task
            assert (second.id, second.status.state) == (first.id, TaskState.TASK_STATE_COMPLETED)
            await say(client, "hello")
    assert telemetry.findings() == []
    sends = [span for span in telemetry.ours() if span.name == "SendMessage"]
    assert len(sends) == 3
    assert dict(sends[1].attributes or {})[semconv.TASK_PREVIOUS_STATE] == "TASK_STATE_INPUT_REQUIRED"
    kinds = [dict(each.attributes or {})[semconv.LINK_TYPE] for each in sends[1].links]
    assert kinds == [semconv.LINK_CARD_FETCH, semconv.LINK_TASK_ORIGIN]


@pytest.mark.parametrize("way", GRPC)
async def test_a_task_is_left_joined_again_and_canceled(way: str, at: Served, telemetry: Telemetry) -> None:
    """Leaving a stream early, subscribing again and canceling are legal, and each call's span ends."""
    with telemetry.instrumented(strictness="raise"):
        async with connected(at, way, streaming=True) as client:
            message = new_text_message("slow", role=Role.ROLE_USER)
            task_id = ""
            async for event in client.send_message(SendMessageRequest(message=message)):
                task_id = task_id or event.task.id
                if event.HasField("status_update"):
                    break

            async def join() -> None:
                async for _ in client.subscribe(SubscribeToTaskRequest(id=task_id)):
                    pass

            joined = asyncio.ensure_future(join())
            await asyncio.sleep(0.2)
            canceled = await client.cancel_task(CancelTaskRequest(id=task_id))
            await asyncio.wait_for(joined, 10)
            assert canceled.status.state == TaskState.TASK_STATE_CANCELED
    assert telemetry.findings() == []
    names = telemetry.names()
    assert (names["SendStreamingMessage"], names["SubscribeToTask"], names["CancelTask"]) == (1, 1, 1)


async def test_the_extended_card(at: Served, telemetry: Telemetry) -> None:
    """It is a call, and a document of its own: the public card's revision is not touched by it."""
    with telemetry.instrumented(strictness="raise"):
        async with connected(at, "GRPC 1.0", streaming=False) as client:
            await client.get_extended_agent_card(GetExtendedAgentCardRequest())
            await say(client, "hello")
    assert telemetry.findings() == []
    extended = dict(telemetry.span("GetExtendedAgentCard").attributes or {})
    public = dict(telemetry.span("GetAgentCard").attributes or {})
    # The same card twice, read from JSON and from a message.
    assert extended[semconv.CARD_REVISION_ID] == public[semconv.CARD_REVISION_ID]
    assert semconv.CARD_REVISION_PREVIOUS_ID not in extended


async def test_all_interfaces_are_one_agent(at: Served, telemetry: Telemetry) -> None:
    """A task that was made over JSON-RPC, and is read over gRPC at an interface of the same card, is that task."""
    with telemetry.instrumented():
        async with connected(at, "JSONRPC", streaming=False) as client:
            task_id = (await say(client, "chunks"))[-1].task.id
        async with connected(at, "GRPC 1.0", streaming=False) as client:
            with pytest.raises((A2AError, A2AClientError)):
                await client.get_task(GetTaskRequest(id=task_id))
    # Each server has a store of its own, so this one does not know it.
    assert dict(telemetry.span("GetTask").attributes or {})[semconv.TASK_CARD_REVISION_ID]


# --- verdicts ---------------------------------------------------------------------------------------------------------


async def goes_back(client: Client) -> None:
    await say(client, "back")


async def is_used_after_its_end(client: Client) -> None:
    task = (await say(client, "chunks"))[0].task
    for _ in range(2):
        with pytest.raises((A2AError, A2AClientError)):
            await say(client, "more", task.id, task.context_id)


async def is_canceled_after_its_end(client: Client) -> None:
    task = (await say(client, "chunks"))[0].task
    with pytest.raises((A2AError, A2AClientError)):
        await client.cancel_task(CancelTaskRequest(id=task.id))


async def was_never_there(client: Client) -> None:
    with pytest.raises((A2AError, A2AClientError)):
        await client.get_task(GetTaskRequest(id="no-such-task"))
    with pytest.raises((A2AError, A2AClientError)):
        await say(client, "more", "no-such-task", "no-such-context")


async def says_the_same_twice(client: Client) -> None:
    for _ in range(2):
        message = new_text_message("chunks", role=Role.ROLE_USER)
        message.message_id = "the-same"
        async for _ in client.send_message(SendMessageRequest(message=message)):
            pass


SCENARIOS: dict[Callable[[Client], Awaitable[None]], list[str]] = {
    goes_back: ["backward-transition"],
    is_used_after_its_end: ["terminal-task-reused"],
    is_canceled_after_its_end: [],
    was_never_there: [],
    says_the_same_twice: [],
}
"""Lives, and the rules that they break."""


def told(telemetry: Telemetry) -> list[tuple[str, ...]]:
    """All findings, information too."""
    names = (semconv.SECURITY_RULE_NAME, semconv.FINDING_LEVEL, semconv.FINDING_PHASE)
    return [tuple(str(event.attributes[name]) for name in names) for event in telemetry.events()]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
async def test_the_verdict_is_that_of_the_other_bindings(
    scenario: Callable[[Client], Awaitable[None]], at: Served, telemetry: Telemetry
) -> None:
    """The same life over JSON-RPC, HTTP+JSON and gRPC of both versions gives the same findings."""
    verdicts = {}
    for way in WAYS:
        telemetry.clear()
        with telemetry.instrumented():
            async with connected(at, way, streaming=True) as client:
                await scenario(client)
        verdicts[way] = told(telemetry)
    assert verdicts == dict.fromkeys(WAYS, verdicts["JSONRPC"])
    assert [rule for rule, _, _ in verdicts["JSONRPC"]] == SCENARIOS[scenario]


async def test_the_verdict_stops_a_side_effect(at: Served, telemetry: Telemetry) -> None:
    """In mode raise, what went back in a stream cannot be sent again."""
    with telemetry.instrumented(strictness="raise"):
        async with connected(at, "GRPC 1.0", streaming=True) as client:
            events = await say(client, "back")
            with pytest.raises(TaskResurrectionError):
                await say(client, "back", context_id=events[0].task.context_id)


async def test_lists(at: Served, telemetry: Telemetry) -> None:
    """A list of tasks is read, and what it leaves out is held against nobody."""
    with telemetry.instrumented(strictness="raise"):
        async with connected(at, "GRPC 1.0", streaming=True) as client:
            await say(client, "chunks")
            await client.list_tasks(ListTasksRequest())
    assert telemetry.findings() == []
    assert telemetry.names()["ListTasks"] == 1
