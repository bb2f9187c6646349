# SPDX-License-Identifier: Apache-2.0
"""Task stores of a2a-sdk 1.x: a client saves its own decisions, the SDK's server the agent's word."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from a2a.helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.context import ServerCallContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.server.tasks.copying_task_store import CopyingTaskStoreAdapter
from a2a.types import AgentCapabilities, AgentCard, Task, TaskState, TaskStatus
from opentelemetry.instrumentation.utils import suppress_instrumentation
from starlette.applications import Starlette

from otel_a2a import semconv
from tests.hooks.waiting import until
from tests.support.agents import HEADERS, ScriptedAgent, envelope, send, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry

RULE = "phantom-terminal-state"
WORKING = TaskState.TASK_STATE_WORKING
FAILED = TaskState.TASK_STATE_FAILED
COMPLETED = TaskState.TASK_STATE_COMPLETED


def a_task(state: TaskState, task_id: str = "t-1") -> Task:
    return Task(id=task_id, context_id="ctx-1", status=TaskStatus(state=state))


def found(telemetry: Telemetry) -> list[Any]:
    """The levels at which the rule was found, information included."""
    return [
        event.attributes[semconv.FINDING_LEVEL]
        for event in telemetry.events()
        if event.attributes[semconv.SECURITY_RULE_NAME] == RULE
    ]


@contextmanager
def working(telemetry: Telemetry, **settings: Any) -> Iterator[tuple[ScriptedAgent, httpx.Client, str]]:
    """An agent of which the client knows that task t-1 is working."""
    agent = ScriptedAgent(
        lambda method, params: task("t-1", "WORKING") if method == "GetTask" else {"task": task("t-1", "WORKING")}
    )
    with serve(agent.app) as base, telemetry.instrumented(**settings), httpx.Client() as client:
        client.post(f"{base}/rpc", json=envelope("SendMessage", send("x", "m1")), headers=HEADERS)
        yield agent, client, base


def read(client: httpx.Client, base: str) -> None:
    client.post(f"{base}/rpc", json=envelope("GetTask", {"id": "t-1"}), headers=HEADERS)


async def test_an_end_that_the_client_stores_by_itself_is_noticed(telemetry: Telemetry) -> None:
    """It is stored, nothing is raised even in mode raise, and the agent that says otherwise confirms it."""
    store = InMemoryTaskStore()
    with working(telemetry, strictness="raise", raise_on="improvement") as (agent, client, base):
        assert await store.save(a_task(FAILED), ServerCallContext()) is None  # type: ignore[func-returns-value]
        stored = await store.get("t-1", ServerCallContext())
        assert stored is not None and stored.status.state == FAILED
        assert found(telemetry) == ["improvement"]
        read(client, base)
    assert found(telemetry) == ["improvement", "violation"]
    assert agent.methods() == ["SendMessage", "GetTask"]


@pytest.mark.parametrize("keywords", [False, True])
async def test_a_record_of_the_agent_s_word_is_none(keywords: bool, telemetry: Telemetry) -> None:
    """A client that stores what it was told, and one that takes its record back, are left alone."""
    store, context = InMemoryTaskStore(), ServerCallContext()
    with working(telemetry) as (agent, client, base):
        states = [WORKING]
        agent.answer = lambda method, params: task("t-1", "COMPLETED")
        read(client, base)
        for state in [*states, COMPLETED]:
            if keywords:
                await store.save(task=a_task(state), context=context)
            else:
                await store.save(a_task(state), context)
    assert not found(telemetry)


async def test_a_record_that_is_taken_back_is_not_held_against_anybody(telemetry: Telemetry) -> None:
    """The client stores a live state over its end, before the agent says that the task is alive."""
    store = InMemoryTaskStore()
    with working(telemetry) as (_, client, base):
        await store.save(a_task(FAILED), ServerCallContext())
        await store.save(a_task(WORKING), ServerCallContext())
        read(client, base)
    assert found(telemetry) == ["improvement"]


@pytest.mark.parametrize("asked", ["the one that works", "the one that is done"])
async def test_one_id_at_two_agents(asked: str, telemetry: Telemetry) -> None:
    """The last call of this context shows whose task is stored."""
    done = ScriptedAgent(lambda method, params: {"task": task("t-1", "COMPLETED")})
    with working(telemetry) as (_, client, base), serve(done.app) as there:
        message = envelope("SendMessage", send("y", "m2"))
        client.post(f"{there}/rpc", json=message, headers=HEADERS)
        if asked == "the one that works":
            read(client, base)
        await InMemoryTaskStore().save(a_task(COMPLETED), ServerCallContext())
    assert found(telemetry) == (["improvement"] if asked == "the one that works" else [])


async def test_one_id_at_two_agents_and_no_call_that_shows_which(telemetry: Telemetry) -> None:
    """Nobody is accused on a guess."""
    done = ScriptedAgent(lambda method, params: {"task": task("t-1", "COMPLETED")})
    elsewhere = contextvars.copy_context()
    with working(telemetry) as (_, client, _base), serve(done.app) as there:
        client.post(f"{there}/rpc", json=envelope("SendMessage", send("y", "m2")), headers=HEADERS)
        saving = InMemoryTaskStore().save(a_task(FAILED), ServerCallContext())
        await elsewhere.run(asyncio.ensure_future, saving)
    assert not found(telemetry)


async def test_where_instrumentation_is_suppressed_nothing_is_noticed(telemetry: Telemetry) -> None:
    """As for calls."""
    with working(telemetry), suppress_instrumentation():
        await InMemoryTaskStore().save(a_task(FAILED), ServerCallContext())
    assert not found(telemetry)


class MyStore(InMemoryTaskStore):
    """A store of the application's, derived from the SDK's."""

    async def save(self, task: Task, context: ServerCallContext) -> None:
        await super().save(task, context)


@pytest.mark.parametrize("build", [MyStore, lambda: CopyingTaskStoreAdapter(InMemoryTaskStore())])
async def test_a_store_around_a_store_is_the_client_s(build: Any, telemetry: Telemetry) -> None:
    """Also where a module of the SDK's server stands in between; and it is told once."""
    with working(telemetry):
        await build().save(a_task(FAILED), ServerCallContext())
    assert found(telemetry) == ["improvement"]


async def test_a_save_that_fails_is_no_record(telemetry: Telemetry) -> None:
    """What was not stored was not decided, and the store's own error is what the application gets."""

    def refuse(context: ServerCallContext) -> str:
        raise LookupError("no owner")

    with working(telemetry), pytest.raises(LookupError, match="no owner"):
        await InMemoryTaskStore(owner_resolver=refuse).save(a_task(FAILED), ServerCallContext())
    assert not found(telemetry)


async def test_whatever_is_saved_nothing_of_ours_is_raised(telemetry: Telemetry) -> None:
    """A fault in reading is counted, and the application sees its own result."""

    class Anything:
        id = "t-1"

    with working(telemetry):
        await InMemoryTaskStore(use_copying=False).save(Anything(), ServerCallContext())  # type: ignore[arg-type]
        assert telemetry.metric(semconv.METRIC_INTERNAL_ERRORS)
    assert not found(telemetry)


def test_the_method_stays_what_it_was(telemetry: Telemetry) -> None:
    """A coroutine function of the same name while it is watched, and the original again afterwards."""
    before = InMemoryTaskStore.__dict__["save"]
    with telemetry.instrumented():
        during = InMemoryTaskStore.save
        assert inspect.iscoroutinefunction(during) and during is not before
        assert (during.__name__, inspect.signature(during)) == (before.__name__, inspect.signature(before))
    assert InMemoryTaskStore.__dict__["save"] is before


# --- a process that is client and server at once


class Gated(AgentExecutor):
    """Works until it is let go, then completes."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.own_store: InMemoryTaskStore | None = None
        """Where the agent's own code saves an end, in a task of its own, before it tells it."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message is not None and context.task_id and context.context_id
        await event_queue.enqueue_event(new_task_from_user_message(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        while not self.gate.is_set():
            await asyncio.sleep(0.01)
        if self.own_store is not None:
            saving = self.own_store.save(a_task(FAILED, context.task_id), ServerCallContext())
            await asyncio.create_task(saving)
            return
        await updater.add_artifact([new_text_part("done")], artifact_id="result")
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


@contextmanager
def both(telemetry: Telemetry) -> Iterator[tuple[Gated, InMemoryTaskStore, httpx.Client, str]]:
    """Server and client in this process; the agent, its store, the client and the URL of the agent."""
    executor, store = Gated(), InMemoryTaskStore()
    card = AgentCard(name="Gated", version="1", capabilities=AgentCapabilities(streaming=True))
    handler = DefaultRequestHandler(agent_executor=executor, task_store=store, agent_card=card)
    app = Starlette(routes=create_jsonrpc_routes(handler, "/"))
    with serve(app) as base, telemetry.instrumented(), httpx.Client(timeout=20) as client:
        try:
            yield executor, store, client, f"{base}/"
        finally:
            executor.gate.set()


def begin(client: httpx.Client, url: str) -> str:
    """Send a message that is answered at once, by a live task; its id."""
    params: dict[str, Any] = {**send("x", "m1"), "configuration": {"returnImmediately": True}}
    answer = client.post(url, json=envelope("SendMessage", params), headers=HEADERS).json()
    started = answer["result"]["task"]
    assert started["status"]["state"] in ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")
    return str(started["id"])


def stored(store: InMemoryTaskStore, task_id: str) -> Any:
    held = asyncio.run(store.get(task_id, ServerCallContext()))
    return held.status.state if held is not None else None


def test_a_server_s_store_that_runs_ahead_of_the_wire_accuses_nobody(telemetry: Telemetry) -> None:
    """The store has the end of a task that this process, as a client, has not been told yet."""
    with both(telemetry) as (executor, store, client, url):
        task_id = begin(client, url)
        executor.gate.set()
        until(lambda: stored(store, task_id) == COMPLETED)
        assert not found(telemetry)
        # The same end in a store of the client's own would have been noticed.
        asyncio.run(InMemoryTaskStore().save(a_task(COMPLETED, task_id), ServerCallContext()))
        assert found(telemetry) == ["improvement"]


def test_what_an_agent_s_own_code_saves_to_its_store_is_its_own_word(telemetry: Telemetry) -> None:
    """Also from a task of its own, which nothing of the SDK awaits."""
    with both(telemetry) as (executor, store, client, url):
        executor.own_store = store
        task_id = begin(client, url)
        executor.gate.set()
        until(lambda: stored(store, task_id) == FAILED)
    assert not found(telemetry)
