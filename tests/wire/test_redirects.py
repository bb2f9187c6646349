# SPDX-License-Identifier: Apache-2.0
"""Where an answer comes from, and whether it is an agent's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_a2a.observations import CallStarted, Method
from otel_a2a.wire import redirects, responses

ENDPOINT = "https://old.example/a2a"


@pytest.mark.parametrize(
    ("asked", "answered", "endpoint"),
    [
        (ENDPOINT, ENDPOINT, ""),
        (ENDPOINT, f"{ENDPOINT}/", ""),
        (ENDPOINT, "https://OLD.example:443/a2a?state=1", ""),
        (ENDPOINT, "https://new.example/a2a/v2/", "https://new.example/a2a/v2"),
        (f"{ENDPOINT}/message:send", "https://new.example/message:send", "https://new.example"),
        (f"{ENDPOINT}/v1/tasks/t-1?historyLength=0", "https://new.example/b/v1/tasks/t-1", "https://new.example/b"),
        (f"{ENDPOINT}/message:send", "https://login.example/", ""),
        (f"{ENDPOINT}/tasks/t-1", "https://new.example/tasks/t-2", ""),
        ("https://other.example/a2a", "https://new.example/a2a", ""),
    ],
)
def test_where_an_agent_has_moved(asked: str, answered: str, endpoint: str) -> None:
    """The interface is what stands before the operation's own path; where that is lost, nothing is known."""
    assert redirects.moved_to(asked, ENDPOINT, answered) == endpoint


TASK = {"id": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_WORKING"}}
MESSAGE = {"message": {"messageId": "m-1", "role": "ROLE_AGENT", "parts": [{"text": "hello"}]}}


def answered(status: int, body: Any) -> bool:
    """Whether an agent answers a call so."""
    call = CallStarted(
        method=Method.SEND_MESSAGE,
        binding="JSONRPC",
        protocol_version="1.0",
        endpoint=ENDPOINT,
        server_address="old.example",
        server_port=None,
    )
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return any(map(redirects.is_of_agent, responses.read_answer(call, status, lambda name: None, content)))


@pytest.mark.parametrize(
    "body",
    [
        {"jsonrpc": "2.0", "id": 1, "result": {"task": TASK}},
        {"jsonrpc": "2.0", "id": 1, "result": MESSAGE},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "Task not found"}},
    ],
)
def test_what_an_agent_answers(body: Any) -> None:
    """A task, a message, or an error of JSON-RPC."""
    assert answered(200, body)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>Log in"),
        (200, {}),
        (200, {"login": "https://login.example", "status": "signed-out"}),
        (200, {"result": {"url": "https://login.example"}}),
        (401, {"error": "unauthorized"}),
        (403, {"error": {"code": 403, "message": "Forbidden"}}),
        (502, b"bad gateway"),
    ],
)
def test_what_a_login_page_answers(status: int, body: Any) -> None:
    """A page, JSON of any kind, and what a proxy says."""
    assert not answered(status, body)
