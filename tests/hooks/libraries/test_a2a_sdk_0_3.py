# SPDX-License-Identifier: Apache-2.0
"""a2a-sdk 0.3: what its client's merged record loses or is told, and what is saved to its stores, in real runs."""

from __future__ import annotations

import asyncio
import inspect
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.client_task_manager import ClientTaskManager
from a2a.client.helpers import create_text_message_object
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import DatabaseTaskStore, InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCard,
    Part,
    Task,
    TaskIdParams,
    TaskQueryParams,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
    TextPart,
)
from a2a.utils import new_task
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from tests.hooks.libraries.old_agent import OldAgent, artifact, card, found, request, served, status, task
from tests.hooks.waiting import until
from tests.support.servers import serve
from tests.support.telemetry import Telemetry

PHANTOM = "phantom-terminal-state"


def a_task(state: TaskState, task_id: str = "t-1") -> Task:
    return Task(id=task_id, context_id="ctx-1", status=TaskStatus(state=state))


async def stream(base: str, *, url: str = "") -> list[Any]:
    """What the SDK's client yields for one message."""
    async with httpx.AsyncClient(timeout=20) as http:
        known = await A2ACardResolver(http, base).get_agent_card()
        if url:
            known = known.model_copy(update={"url": url})
        client = ClientFactory(ClientConfig(httpx_client=http)).create(known)
        return [event async for event in client.send_message(create_text_message_object(content="x"))]


# --- the client's merged record


async def test_a_chunk_that_the_client_drops_is_noticed(telemetry: Telemetry) -> None:
    """``append`` to an artifact that the record does not have: the SDK passes it over, and nothing but a log line of
    its own says so. Its result is what it was, in mode raise too."""
    events = [task("working"), artifact("a-1", "lost ", append=True), artifact("a-1", "too", append=True)]
    agent = OldAgent(lambda method, params: [*events, status("completed")])
    with served(agent, telemetry, strictness="raise") as base:
        pairs = await stream(base)
    assert [len(merged.artifacts or ()) for merged, _ in pairs] == [0, 0, 0, 0]
    assert found(telemetry) == [("artifact-truncated", "violation", "client")]


async def test_a_clean_stream_gives_nothing(telemetry: Telemetry) -> None:
    """Chunks that arrive in the record, and an end that the agent told."""
    events = [task("working"), artifact("a-1", "all "), artifact("a-1", "of it", append=True, lastChunk=True)]
    agent = OldAgent(lambda method, params: [*events, status("completed")])
    with served(agent, telemetry, strictness="raise") as base:
        pairs = await stream(base)
    assert [part.root.text for part in pairs[-1][0].artifacts[0].parts] == ["all ", "of it"]
    assert not found(telemetry)


@pytest.mark.parametrize("method", ["process", "save_task_event"])
async def test_an_end_that_the_application_puts_into_the_record_is_noticed(method: str, telemetry: Telemetry) -> None:
    """An event of its own making, in the client's task manager."""
    agent = OldAgent(lambda method, params: [task("working"), status("working")])
    with served(agent, telemetry) as base:
        await stream(base)
        manager = ClientTaskManager()
        await manager.process(a_task(TaskState.working))
        assert not found(telemetry)
        made_up = TaskStatusUpdateEvent(
            task_id="t-1", context_id="ctx-1", final=True, status=TaskStatus(state=TaskState.failed)
        )
        returned = await getattr(manager, method)(made_up)
        assert returned is (made_up if method == "process" else manager.get_task())
        assert manager.get_task().status.state == TaskState.failed
    assert found(telemetry) == [(PHANTOM, "improvement", "client")]


async def test_what_the_sdk_relays_unseen_is_the_agent_s_word(telemetry: Telemetry) -> None:
    """An end that comes where nothing is observed (gRPC, an excluded URL) for a task that is known otherwise."""
    agent = OldAgent(lambda method, params: [task("working"), status("failed")] if agent.told else task("working"))
    agent.told = False  # type: ignore[attr-defined]
    with served(agent, telemetry, excluded_urls="/unseen") as base:
        async with httpx.AsyncClient() as http:
            await http.post(base, json=request("message/send"))
        agent.told = True  # type: ignore[attr-defined]
        pairs = await stream(base, url=f"{base}/unseen")
        assert pairs[-1][0].status.state == TaskState.failed
        assert not found(telemetry)


async def test_errors_of_the_manager_are_its_own(telemetry: Telemetry) -> None:
    """A second whole task is refused by the SDK, with and without us."""
    with telemetry.instrumented():
        manager = ClientTaskManager()
        await manager.save_task_event(a_task(TaskState.working))
        with pytest.raises(Exception, match="already set"):
            await manager.save_task_event(a_task(TaskState.working))


def test_methods_stay_what_they_were(telemetry: Telemetry) -> None:
    """Coroutine functions while they are watched, and the originals again afterwards."""
    points = [(ClientTaskManager, "save_task_event"), (InMemoryTaskStore, "save"), (DatabaseTaskStore, "save")]
    before = [owner.__dict__[name] for owner, name in points]
    with telemetry.instrumented():
        during = [owner.__dict__[name] for owner, name in points]
        assert all(inspect.iscoroutinefunction(method) for method in during)
        assert [inspect.signature(method) for method in during] == [inspect.signature(method) for method in before]
        assert not set(map(id, before)) & set(map(id, during))
    assert [owner.__dict__[name] for owner, name in points] == before


# --- stores


@pytest.fixture(params=["memory", "database"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Makes stores that hold the same tasks where they are databases, and reads a state out of the first."""

    class Stores:
        file = tmp_path / "tasks.db"
        first: Any = None

        def make(self) -> Any:
            if request.param == "memory":
                made: Any = InMemoryTaskStore()
            else:
                made = DatabaseTaskStore(create_async_engine(f"sqlite+aiosqlite:///{self.file}", poolclass=NullPool))
            self.first = self.first or made
            return made

        def state(self, task_id: str) -> str:
            if request.param == "memory":
                held = self.first.tasks.get(task_id)
                return held.status.state.value if held else ""
            with sqlite3.connect(self.file) as connection:
                rows = connection.execute("select json_extract(status, '$.state') from tasks where id = ?", (task_id,))
                return next(rows, [""])[0]

    return Stores()


async def test_an_end_that_the_client_stores_by_itself_is_noticed(stores: Any, telemetry: Telemetry) -> None:
    """In memory or in a database; an end that the agent told is none of it."""
    agent = OldAgent(lambda method, params: task("working"))
    with served(agent, telemetry, strictness="raise") as base:
        async with httpx.AsyncClient() as http:
            await http.post(base, json=request("message/send"))
            store = stores.make()
            await store.save(a_task(TaskState.failed))
            assert stores.state("t-1") == "failed"
            assert found(telemetry) == [(PHANTOM, "improvement", "client")]
            agent.answer = lambda method, params: task("failed")
            await http.post(base, json=request("tasks/get", id="t-1"))
            await store.save(a_task(TaskState.failed))
    assert found(telemetry) == [(PHANTOM, "improvement", "client")]


class Gated(AgentExecutor):
    """Works until it is let go, then completes."""

    def __init__(self) -> None:
        self.gate = threading.Event()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        begun = new_task(context.message)
        await event_queue.enqueue_event(begun)
        updater = TaskUpdater(event_queue, begun.id, begun.context_id)
        await updater.start_work()
        while not self.gate.is_set():
            await asyncio.sleep(0.01)
        await updater.add_artifact([Part(root=TextPart(text="done"))], artifact_id="result")
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


@contextmanager
def both(stores: Any, telemetry: Telemetry) -> Iterator[tuple[Gated, str]]:
    """Server and client in this process: the agent and its URL."""
    executor, inner = Gated(), []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if not inner:
            base = f"http://{scope['server'][0]}:{scope['server'][1]}/"
            handler = DefaultRequestHandler(executor, stores.make())
            inner.append(A2AStarletteApplication(AgentCard.model_validate(card(base)), handler).build())
        await inner[0](scope, receive, send)

    with serve(app) as base, telemetry.instrumented(strictness="raise"):
        try:
            yield executor, base
        finally:
            executor.gate.set()


def test_a_server_s_store_that_runs_ahead_of_the_wire_accuses_nobody(stores: Any, telemetry: Telemetry) -> None:
    """The store has the end of a task that this process, as a client, has not been told yet."""
    with both(stores, telemetry) as (executor, base), httpx.Client(timeout=20) as http:
        answer = http.post(base, json=request("message/send", configuration={"blocking": False})).json()
        task_id = answer["result"]["id"]
        assert answer["result"]["status"]["state"] in ("submitted", "working")
        executor.gate.set()
        until(lambda: stores.state(task_id) == "completed")
        assert not found(telemetry)
        # The same end in a store of the client's own would have been noticed.
        asyncio.run(stores.make().save(a_task(TaskState.completed, task_id)))
        assert found(telemetry) == [(PHANTOM, "improvement", "client")]


async def test_a_whole_life_with_client_and_server_in_one_process(stores: Any, telemetry: Telemetry) -> None:
    """Stream, read and cancel through the SDK's own client and server give no finding at all."""
    with both(stores, telemetry) as (executor, base):
        async with httpx.AsyncClient(timeout=20) as http:
            known = await A2ACardResolver(http, base).get_agent_card()
            client = ClientFactory(ClientConfig(httpx_client=http)).create(known)
            executor.gate.set()
            pairs = [event async for event in client.send_message(create_text_message_object(content="x"))]
            task_id = pairs[0][0].id
            assert (await client.get_task(TaskQueryParams(id=task_id))).status.state == TaskState.completed
            executor.gate.clear()
            async for begun, _ in client.send_message(create_text_message_object(content="y")):
                if begun.status.state == TaskState.working:
                    break
            assert (await client.cancel_task(TaskIdParams(id=begun.id))).status.state == TaskState.canceled
    assert not found(telemetry)
