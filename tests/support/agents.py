# SPDX-License-Identifier: Apache-2.0
"""Agents that say what a test wants: plain A2A over HTTP, for sequences that no SDK's server would allow."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

CARD_PATH = "/.well-known/agent-card.json"


def card(
    url: str, *, streaming: bool = True, push: bool = False, skills: tuple[str, ...] = ("charge",), **more: Any
) -> dict[str, Any]:
    """A 1.0 card of the agent at ``url``."""
    return {
        "name": "Scripted Agent",
        "description": "answers as told",
        "version": "1.0.0",
        "supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": streaming, "pushNotifications": push},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": skill, "name": skill, "description": skill, "tags": ["t"]} for skill in skills],
        **more,
    }


def task(task_id: str, state: str, context_id: str = "ctx-1", **more: Any) -> dict[str, Any]:
    """A 1.0 Task."""
    return {"id": task_id, "contextId": context_id, "status": {"state": f"TASK_STATE_{state}"}, **more}


def send(text: str, message_id: str, **ids: str) -> dict[str, Any]:
    """Parameters of a 1.0 send: ``task_id`` and ``context_id`` where wanted."""
    message = {"messageId": message_id, "role": "ROLE_USER", "parts": [{"text": text}]}
    names = {"task_id": "taskId", "context_id": "contextId"}
    return {"message": message | {names[name]: value for name, value in ids.items()}}


Answer = Callable[[str, dict[str, Any]], Any]
"""Method and params → the ``result``, ``{"error": …}``, or a list of results for a stream."""


class ScriptedAgent:
    """Serves ``card_of(url)`` and answers each call by ``answer``; counts what reached it."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.card: dict[str, Any] | int | None = None
        """The card to serve, or a status to fail with; None: the standard one."""
        self.received: list[tuple[str, dict[str, Any]]] = []
        self.headers: list[dict[str, str]] = []
        self.app = Starlette(
            routes=[
                Route(CARD_PATH, self._card, methods=["GET"]),
                Route("/rpc", self._rpc, methods=["POST"]),
            ]
        )

    def methods(self) -> list[str]:
        """The methods of the calls that reached the agent."""
        return [method for method, _ in self.received]

    async def _card(self, request: Request) -> Response:
        if isinstance(self.card, int):
            return Response(status_code=self.card)
        return JSONResponse(self.card or card(str(request.base_url) + "rpc"))

    async def _rpc(self, request: Request) -> Response:
        call = await request.json()
        self.received.append((call["method"], call["params"]))
        self.headers.append(dict(request.headers))
        result = self.answer(call["method"], call["params"])
        if isinstance(result, list):
            return StreamingResponse(_events(call["id"], result), media_type="text/event-stream")
        if isinstance(result, dict) and "error" in result:
            return JSONResponse({"jsonrpc": "2.0", "id": call["id"], "error": result["error"]})
        return JSONResponse({"jsonrpc": "2.0", "id": call["id"], "result": result})


class Recording:
    """An agent that keeps every ``traceparent`` of each call that reaches it, repeated headers too.

    Args:
        app: the agent, an ASGI application.
    """

    def __init__(self, app: Any) -> None:
        self.parents: list[list[str]] = []
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            self.parents.append([value.decode() for name, value in scope["headers"] if name == b"traceparent"])
        await self._app(scope, receive, send)


async def _events(call_id: Any, results: list[Any]) -> AsyncIterator[bytes]:
    for result in results:
        yield b"data: " + json.dumps({"jsonrpc": "2.0", "id": call_id, "result": result}).encode() + b"\n\n"
        await asyncio.sleep(0)


def envelope(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """A JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}


HEADERS = {"A2A-Version": "1.0"}
