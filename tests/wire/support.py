# SPDX-License-Identifier: Apache-2.0
"""Calls and answers in few words."""

from __future__ import annotations

import json
from typing import Any

from otel_a2a.observations import CallStarted, CardRequested, Method, Observation
from otel_a2a.wire import responses

CARD_URL = "https://agent.example/.well-known/agent-card.json"


def started(
    method: str = Method.SEND_MESSAGE, *, rest: bool = False, version: str = "1.0", **members: Any
) -> CallStarted:
    """A call to the agent at agent.example."""
    return CallStarted(
        method=method,
        binding="HTTP+JSON" if rest else "JSONRPC",
        protocol_version=version,
        endpoint="https://agent.example",
        server_address="agent.example",
        server_port=443,
        **members,
    )


def no_headers(name: str) -> str | None:
    """An answer without headers."""
    return None


def answer(call: CallStarted, body: Any, status: int = 200) -> list[Observation]:
    """What an answer says; a JSON-RPC call is answered with ``body`` as its result."""
    if call.binding == "JSONRPC" and not (isinstance(body, dict) and "error" in body):
        body = {"result": body}
    if call.binding == "JSONRPC":
        body = {"jsonrpc": "2.0", "id": "r", **body}
    return responses.read_answer(call, status, no_headers, json.dumps(body).encode())


def event(call: CallStarted, result: Any) -> list[Observation]:
    """What one event of a stream says."""
    body = {"jsonrpc": "2.0", "id": "r", "result": result} if call.binding == "JSONRPC" else result
    return responses.read_event(call, json.dumps(body).encode())


def card_request(**members: Any) -> CardRequested:
    """A fetch of the card of agent.example."""
    return CardRequested(url=CARD_URL, **members)
