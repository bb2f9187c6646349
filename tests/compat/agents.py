# SPDX-License-Identifier: Apache-2.0
"""The two agents that every client meets: real a2a-sdk servers in the dialects 1.0 and 0.3, one of them faulty."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import httpx
from a2a.helpers import get_message_text, new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.context import ServerCallContext
from a2a.server.events import Event, EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    SendMessageRequest,
    Task,
    TaskState,
    TaskStatus,
)
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from tests.compat.draft import DraftTasks

ASK = "ask"
"""The task asks a question; its answer completes it."""
SLOW = "slow"
"""The task works until it is canceled."""
HELD = "held"
"""The task works until ``POST /release/{its id}``, and its send is answered at once, also where the client would wait:
so nothing but a webhook has to tell of the end."""
REUSED = "t-reused"
"""The one id that the faulty agent has."""


class Lives(AgentExecutor):
    """What becomes of a task, by the text of its message; any other text: worked on, an artifact, completed.

    Args:
        released: ids of tasks that were held and may go on.
    """

    def __init__(self, released: set[str]) -> None:
        self.released = released

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Run the task."""
        message = context.message
        assert message is not None and context.task_id and context.context_id
        text = context.get_user_input()
        is_reply = context.current_task is not None
        if not is_reply:
            await event_queue.enqueue_event(new_task_from_user_message(message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        if ASK in text and not is_reply:
            await updater.requires_input(updater.new_agent_message([new_text_part("which one?")]))
            return
        if SLOW in text:
            await asyncio.sleep(60)
        while HELD in text and context.task_id not in self.released:
            await asyncio.sleep(0.01)
        await updater.add_artifact([new_text_part("the result")], name="result", last_chunk=True)
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Cancel at once."""
        assert context.task_id and context.context_id
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


class CleanHandler(DefaultRequestHandler):
    """The SDK's own handler, which notes the texts that reached it, with the SDK's own push notifications."""

    def __init__(self, card: AgentCard, texts: list[str], released: set[str]) -> None:
        webhooks = InMemoryPushNotificationConfigStore()
        # No connection outlives its notification, and so none the server.
        http = httpx.AsyncClient(limits=httpx.Limits(max_keepalive_connections=0))
        super().__init__(
            agent_executor=Lives(released),
            task_store=InMemoryTaskStore(),
            agent_card=card,
            push_config_store=webhooks,
            push_sender=BasePushNotificationSender(http, webhooks),
        )
        self.texts = texts

    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Message | Task:
        """Note, and serve."""
        self.texts.append(get_message_text(params.message))
        params.configuration.return_immediately |= HELD in self.texts[-1]
        answer: Message | Task = await super().on_message_send(params, context)
        return answer

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """Note, and serve."""
        self.texts.append(get_message_text(params.message))
        async for event in super().on_message_send_stream(params, context):
            yield event


class FaultyHandler(CleanHandler):
    """Every new task is the same one: it was completed at first, and with the second message it is submitted again, as
    if the task had been lost in between (seed 002)."""

    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Message | Task:
        """The one task, in the state that the count of messages gives it."""
        self.texts.append(get_message_text(params.message))
        state = TaskState.TASK_STATE_COMPLETED if len(self.texts) == 1 else TaskState.TASK_STATE_SUBMITTED
        context_id = params.message.context_id or "ctx-reused"
        return Task(id=REUSED, context_id=context_id, status=TaskStatus(state=state))

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """The same as a stream of one event."""
        answer = await self.on_message_send(params, context)
        yield answer


class Agent:
    """An ASGI application that makes its card from the address at which it is first called.

    JSON-RPC is at ``/``, HTTP+JSON at ``/rest``, both in 1.0 and 0.3, and the draft before them at ``/tasks``.
    ``texts`` are the messages that reached it. ``POST /release/{id}`` lets a held task go on.
    """

    def __init__(self, handler: type[CleanHandler]) -> None:
        self.texts: list[str] = []
        self.grpc_target = ""
        """Where the agent is reached over gRPC; not at all where empty."""
        self._handler = handler
        self._released: set[str] = set()
        self._inner: Starlette | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._inner is None:
            self._inner = self._application(str(Request(scope).base_url).rstrip("/"))
        await self._inner(scope, receive, send)

    def handler(self, base: str) -> CleanHandler:
        """A request handler, with a store of its own: event loops cannot share one."""
        return self._handler(card_of(base, self.grpc_target), self.texts, self._released)

    async def _release(self, request: Request) -> Response:
        self._released.add(request.path_params["id"])
        return Response()

    def over_grpc(self, target: str) -> CleanHandler:
        """The handler for gRPC at ``target``, which the card lists from then on."""
        self.grpc_target = target
        return self.handler("http://127.0.0.1")

    def _application(self, base: str) -> Starlette:
        card = card_of(base, self.grpc_target)
        handler = self.handler(base)
        draft = DraftTasks(self.texts, only_id=REUSED if self._handler is FaultyHandler else "")
        return Starlette(
            routes=[
                Route("/release/{id}", self._release, methods=["POST"]),
                Route("/tasks/{verb}", draft.__call__, methods=["POST"]),
                *create_agent_card_routes(card),
                *create_agent_card_routes(card, card_url="/.well-known/agent.json"),
                *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
                *create_rest_routes(handler, path_prefix="/rest", enable_v0_3_compat=True),
            ]
        )


def card_of(base: str, grpc_target: str = "") -> AgentCard:
    """The card of an agent at ``base``, and over gRPC at ``grpc_target`` where there is one."""
    places = {"JSONRPC": f"{base}/", "HTTP+JSON": f"{base}/rest"} | ({"GRPC": grpc_target} if grpc_target else {})
    interfaces = [
        AgentInterface(url=url, protocol_binding=binding, protocol_version=version)
        for version in ("1.0", "0.3")
        for binding, url in places.items()
    ]
    return AgentCard(
        name="lives",
        description="lives as told",
        version="1.0.0",
        supported_interfaces=interfaces,
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[
            AgentSkill(
                id="live",
                name="Live",
                description="lives",
                tags=["t"],
                input_modes=["text/plain"],
                output_modes=["text/plain"],
            )
        ],
    )
