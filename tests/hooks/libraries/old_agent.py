# SPDX-License-Identifier: Apache-2.0
"""An agent of A2A 0.3 that says what a test wants."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from otel_a2a import semconv
from tests.support.servers import serve
from tests.support.telemetry import Telemetry


def card(url: str, *, streaming: bool = True) -> dict[str, Any]:
    """A 0.3 card of the agent at ``url``."""
    return {
        "name": "Old Agent",
        "description": "answers as told",
        "version": "1.0.0",
        "protocolVersion": "0.3.0",
        "url": url,
        "preferredTransport": "JSONRPC",
        "capabilities": {"streaming": streaming, "pushNotifications": False},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "s", "name": "s", "description": "s", "tags": ["t"]}],
    }


def task(state: str, task_id: str = "t-1") -> dict[str, Any]:
    """A 0.3 Task."""
    return {"kind": "task", "id": task_id, "contextId": "ctx-1", "status": {"state": state}}


def status(state: str, task_id: str = "t-1") -> dict[str, Any]:
    """A 0.3 status event."""
    final = state not in ("submitted", "working")
    event = {"kind": "status-update", "taskId": task_id, "contextId": "ctx-1"}
    return {**event, "status": {"state": state}, "final": final}


def artifact(artifact_id: str, text: str, **more: Any) -> dict[str, Any]:
    """A 0.3 artifact event."""
    held = {"artifactId": artifact_id, "parts": [{"kind": "text", "text": text}]}
    return {"kind": "artifact-update", "taskId": "t-1", "contextId": "ctx-1", "artifact": held, **more}


PATHS = ("/", "/unseen", "/tasks/get", "/tasks/cancel")
"""The last two are python-a2a's, which adds the method to the URL."""


class OldAgent:
    """Answers each call by ``answer(method, params)``: a result, a list of them for a stream, an ``{"error": …}``, or
    an HTTP status."""

    def __init__(self, answer: Callable[[str, dict[str, Any]], Any], *, streaming: bool = True) -> None:
        self.answer = answer
        self.methods: list[str] = []
        self.streaming = streaming
        routes = [Route(f"/.well-known/{name}.json", self._card) for name in ("agent-card", "agent")]
        routes += [Route(path, self._call, methods=["POST"]) for path in PATHS]
        self.app = Starlette(routes=routes)

    async def _card(self, request: Request) -> Response:
        return JSONResponse(card(str(request.base_url), streaming=self.streaming))

    async def _call(self, request: Request) -> Response:
        call = await request.json()
        self.methods.append(call["method"])
        result = self.answer(call["method"], call["params"])
        if isinstance(result, int):
            return Response(status_code=result)
        if isinstance(result, list):
            chunks = (b"data: " + json.dumps(_envelope(call, each)).encode() + b"\n\n" for each in result)
            return StreamingResponse(chunks, media_type="text/event-stream")
        return JSONResponse(_envelope(call, result))


def _envelope(call: dict[str, Any], result: Any) -> dict[str, Any]:
    body = result if isinstance(result, dict) and "error" in result else {"result": result}
    return {"jsonrpc": "2.0", "id": call["id"], **body}


@contextmanager
def served(agent: OldAgent, telemetry: Telemetry, **settings: Any) -> Iterator[str]:
    """The agent's base URL, in a process that is instrumented."""
    with serve(agent.app) as base, telemetry.instrumented(**settings):
        yield base


def request(method: str, **params: Any) -> dict[str, Any]:
    """A JSON-RPC request; for a send its message is made."""
    if method.startswith("message/"):
        params["message"] = {
            "kind": "message",
            "messageId": "m-1",
            "role": "user",
            "parts": [{"kind": "text", "text": "x"}],
        }
    return {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}


def found(telemetry: Telemetry) -> list[tuple[Any, Any, Any]]:
    """Rule, level and party of all findings, save for information that is not about a local end."""
    return [
        tuple(
            event.attributes[name]
            for name in (semconv.SECURITY_RULE_NAME, semconv.FINDING_LEVEL, semconv.FINDING_PARTY)
        )
        for event in telemetry.events()
        if event.attributes[semconv.FINDING_LEVEL] != "information"
        or event.attributes[semconv.SECURITY_RULE_NAME] == "phantom-terminal-state"
    ]
