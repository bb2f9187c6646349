# SPDX-License-Identifier: Apache-2.0
"""An agent of a2a-sdk's that is reachable over JSON-RPC, HTTP+JSON and both gRPC services, and the SDK's own client."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import grpc
import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.helpers import new_task_from_user_message, new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Role,
    SendMessageRequest,
    StreamResponse,
)
from starlette.applications import Starlette

from tests.clients.grpc.agent import PATIENCE
from tests.support.sdk_agent import Lives
from tests.support.sdk_grpc import serve_grpc
from tests.support.servers import serve

WAYS = ("JSONRPC", "HTTP+JSON", "GRPC 1.0", "GRPC 0.3")


class Faults(Lives):
    """``Lives``, and ``back``: a task that goes back to its beginning while it is at work."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """See above."""
        if context.get_user_input() != "back":
            await super().execute(context, event_queue)
            return
        assert context.message is not None and context.task_id and context.context_id
        await event_queue.enqueue_event(new_task_from_user_message(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        await updater.submit()
        await updater.start_work()
        await updater.complete()


def card(base: str, target: str) -> AgentCard:
    """A card that lists every way to the agent. The two gRPC interfaces differ in their spelling, as cards do."""
    return AgentCard(
        name="Lives",
        description="lives as told",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(url=f"{base}/", protocol_binding="JSONRPC", protocol_version="1.0"),
            AgentInterface(url=f"{base}/rest", protocol_binding="HTTP+JSON", protocol_version="1.0"),
            AgentInterface(url=f"grpc://{target}", protocol_binding="GRPC", protocol_version="1.0"),
            AgentInterface(url=target, protocol_binding="GRPC", protocol_version="0.3"),
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=False, extended_agent_card=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="live", name="Live", description="lives", tags=["t"])],
    )


def handler(executor: AgentExecutor, of: AgentCard) -> DefaultRequestHandler:
    """A request handler with a store of its own: event loops cannot share one."""
    return DefaultRequestHandler(
        agent_executor=executor, task_store=InMemoryTaskStore(), agent_card=of, extended_agent_card=of
    )


@dataclass
class Served:
    """Where the agent is."""

    base: str
    target: str


@contextlib.contextmanager
def served() -> Iterator[Served]:
    """The agent, on two ports."""
    routes = Starlette()
    with serve(routes) as base, serve_grpc(lambda target: handler(Faults(), card(base, target))) as target:
        of = card(base, target)
        http = handler(Faults(), of)
        routes.routes.extend(
            [
                *create_agent_card_routes(of),
                *create_jsonrpc_routes(http, "/"),
                *create_rest_routes(http, path_prefix="/rest"),
            ]
        )
        yield Served(base, target)


@contextlib.asynccontextmanager
async def connected(at: Served, way: str, *, streaming: bool) -> AsyncIterator[Client]:
    """The SDK's client over one of ``WAYS``, with the card that it has fetched."""
    binding, _, version = way.partition(" ")
    async with httpx.AsyncClient(timeout=PATIENCE) as http:
        fetched = await A2ACardResolver(http, at.base).get_agent_card()
        chosen = [
            each
            for each in fetched.supported_interfaces
            if each.protocol_binding == binding and each.protocol_version == (version or "1.0")
        ]
        del fetched.supported_interfaces[:]
        fetched.supported_interfaces.extend(chosen)
        config = ClientConfig(
            httpx_client=http,
            streaming=streaming,
            supported_protocol_bindings=[binding],
            grpc_channel_factory=lambda url: grpc.aio.insecure_channel(url.removeprefix("grpc://")),
        )
        client = ClientFactory(config).create(fetched)
        try:
            yield client
        finally:
            await client.close()


async def say(client: Client, text: str, task_id: str = "", context_id: str = "") -> list[StreamResponse]:
    """Send a text, and take whatever comes."""
    message = new_text_message(text, role=Role.ROLE_USER, task_id=task_id or None, context_id=context_id or None)
    return [event async for event in client.send_message(SendMessageRequest(message=message))]
