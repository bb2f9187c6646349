# SPDX-License-Identifier: Apache-2.0
"""The agent of the demo: a real a2a-sdk server with one side effect. Run as a program, one process per card revision.

Revision ``A`` streams and has two skills; its receipts take so long that it never finishes. Revision ``B`` is what
was deployed in its place: same name, same address, no streaming, one skill less, and no task store. Its ids are derived
from the request, so it answers to the ids of ``A`` as if it had made them (seed 002).

Prints ``listening on PORT`` once it accepts connections. Appends one line to the ledger file for each charge.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import random
import socket
import sys
import threading
from pathlib import Path

import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext, RequestContextBuilder
from a2a.server.context import ServerCallContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskStore, TaskUpdater
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

HOST = "127.0.0.1"
PORTS = range(20_000, 32_000)
"""Below the ports that systems give to outgoing connections: none of those can sit on ours while we restart."""


def context_id_of(message: Message) -> str:
    """The conversation of a message: the one it names, else one derived from its text."""
    text = "\n".join(part.text for part in message.parts)
    return message.context_id or hashlib.sha256(text.encode()).hexdigest()[:8]


class IdsFromTheRequest(RequestContextBuilder):
    """Gives the same request the same ids, in whichever process it arrives."""

    async def build(
        self,
        context: ServerCallContext,
        params: SendMessageRequest | None = None,
        task_id: str | None = None,
        context_id: str | None = None,
        task: Task | None = None,
    ) -> RequestContext:
        if params is not None:
            context_id = context_id or context_id_of(params.message)
            task_id = task_id or f"t-{context_id}"
        return RequestContext(context, params, task_id, context_id, task)


class ForgetfulTaskStore(InMemoryTaskStore):
    """What is left after a redeploy without a task store: whoever asks for a task gets a fresh one of that id."""

    async def get(self, task_id: str, context: ServerCallContext) -> Task | None:
        task = await super().get(task_id, context)
        if task is None:
            submitted = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            submitted.timestamp.GetCurrentTime()
            task = Task(id=task_id, context_id=task_id.removeprefix("t-"), status=submitted)
            await self.save(task, context)
        return task


class Payments(AgentExecutor):
    """Charges a card, then writes a receipt."""

    def __init__(self, ledger: Path, receipt_seconds: float) -> None:
        self._ledger = ledger
        self._receipt_seconds = receipt_seconds

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        message, task_id, context_id = context.message, context.task_id, context.context_id
        assert message and task_id and context_id, "the request context builder makes them"
        if context.current_task is None:
            task = new_task_from_user_message(message)
            task.status.timestamp.GetCurrentTime()
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task_id, context_id)
        await updater.start_work()
        with self._ledger.open("a", encoding="utf-8") as ledger:
            ledger.write(f"{task_id} {context.get_user_input()}\n")
        charged = new_text_message("card charged, writing the receipt", context_id=context_id, task_id=task_id)
        await updater.start_work(charged)
        await asyncio.sleep(self._receipt_seconds)
        await updater.add_artifact([new_text_part("receipt: paid")], artifact_id="receipt")
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.task_id and context.context_id, "only a task can be canceled"
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def card(revision: str, url: str) -> AgentCard:
    """The Agent Card of revision ``A`` or ``B``."""
    skills = [
        AgentSkill(id="charge", name="Charge", description="Charges a card for an order", tags=["payment"]),
        AgentSkill(id="report", name="Report", description="Lists the charges of a day", tags=["payment"]),
    ]
    return AgentCard(
        name="Payments",
        description="Charges cards",
        version="1.0.0" if revision == "A" else "1.1.0",
        supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=revision == "A"),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=skills if revision == "A" else skills[:1],
    )


def application(revision: str, url: str, ledger: Path) -> Starlette:
    """The agent as an ASGI application."""
    agent_card = card(revision, url)
    store: TaskStore = InMemoryTaskStore() if revision == "A" else ForgetfulTaskStore()
    handler = DefaultRequestHandler(
        agent_executor=Payments(ledger, receipt_seconds=3600 if revision == "A" else 0),
        task_store=store,
        agent_card=agent_card,
        request_context_builder=IdsFromTheRequest(),
    )
    return Starlette(routes=[*create_agent_card_routes(agent_card), *create_jsonrpc_routes(handler, "/")])


def listen(port: int) -> socket.socket:
    """A listening socket on ``port``, or on a free one of ``PORTS`` where it is 0.

    Raises:
        OSError: the port is taken, or all that were tried are.
    """
    candidates = [port] if port else random.sample(PORTS, 100)
    for candidate in candidates:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, candidate))
            listener.listen()
        except OSError:
            listener.close()
            if candidate == candidates[-1]:
                raise
        else:
            return listener
    raise OSError("no port to try")


def end_with_input() -> None:
    """Ends this process where its standard input ends, which is when the process that started it is gone."""
    sys.stdin.read()
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(description="The payment agent of otel-a2a demo.")
    parser.add_argument("revision", choices=["A", "B"])
    parser.add_argument("--ledger", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--end-with-input", action="store_true")
    args = parser.parse_args()
    if args.end_with_input:
        threading.Thread(target=end_with_input, daemon=True).start()
    listener = listen(args.port)
    port = listener.getsockname()[1]
    app = application(args.revision, f"http://{HOST}:{port}/", args.ledger)
    print(f"listening on {port}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off")).run(sockets=[listener])


if __name__ == "__main__":
    main()
