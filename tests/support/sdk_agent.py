# SPDX-License-Identifier: Apache-2.0
"""A well-behaved agent: a real a2a-sdk server on both HTTP bindings, with the lives that a task can have."""

from __future__ import annotations

import asyncio

from a2a.helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Role
from starlette.applications import Starlette
from starlette.requests import Request


class Lives(AgentExecutor):
    """What becomes of a task, by the text of its message."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """``chunks``: an artifact in three parts; ``ask``: a question, then done; ``slow``: until it is canceled."""
        message = context.message
        assert message is not None and context.task_id and context.context_id
        text = context.get_user_input()
        if text == "hello":
            await event_queue.enqueue_event(new_text_message("hello yourself", role=Role.ROLE_AGENT))
            return
        asked = context.current_task is not None
        if not asked:
            await event_queue.enqueue_event(new_task_from_user_message(message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        if text == "ask" and not asked:
            await updater.requires_input(updater.new_agent_message([new_text_part("which one?")]))
            return
        if text == "slow":
            await asyncio.sleep(60)
        for number in range(3):
            part = [new_text_part(f"part {number} ")]
            await updater.add_artifact(part, artifact_id="result", append=number > 0, last_chunk=number == 2)
            await updater.start_work()
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Cancel at once."""
        assert context.task_id and context.context_id
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def application(base: str) -> Starlette:
    """The agent as an ASGI application that is reachable at ``base``: JSON-RPC at ``/``, HTTP+JSON at ``/rest``."""
    card = AgentCard(
        name="Lives",
        description="lives as told",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(url=f"{base}/", protocol_binding="JSONRPC", protocol_version="1.0"),
            AgentInterface(url=f"{base}/rest", protocol_binding="HTTP+JSON", protocol_version="1.0"),
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=False),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="live", name="Live", description="lives", tags=["t"])],
    )
    handler = DefaultRequestHandler(agent_executor=Lives(), task_store=InMemoryTaskStore(), agent_card=card)
    by_rpc = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")]
    return Starlette(routes=[*by_rpc, *create_rest_routes(handler, path_prefix="/rest")])


class SdkAgent:
    """An ASGI application that makes its card from the address at which it is first called."""

    def __init__(self) -> None:
        self._inner: Starlette | None = None

    async def __call__(self, scope: object, receive: object, send: object) -> None:
        if self._inner is None:
            base = str(Request(scope).base_url).rstrip("/")  # type: ignore[arg-type]
            self._inner = application(base)
        await self._inner(scope, receive, send)  # type: ignore[arg-type]


__all__ = ["SdkAgent"]
