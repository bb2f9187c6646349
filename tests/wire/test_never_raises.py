# SPDX-License-Identifier: Apache-2.0
"""No input makes the wire raise: the host application is sacred."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_a2a.exchange import RecordedExchange
from otel_a2a.observations import CallStarted, CardRequested
from otel_a2a.wire import cards, requests, responses, webhooks
from tests.wire.recorded import own
from tests.wire.support import card_request, no_headers, started

KEYS = st.sampled_from(
    [
        *(
            "jsonrpc",
            "id",
            "method",
            "params",
            "result",
            "error",
            "code",
            "data",
            "details",
            "reason",
            "domain",
            "message",
        ),
        *("task", "tasks", "status", "state", "timestamp", "statusUpdate", "artifactUpdate", "artifact", "artifacts"),
        *("artifactId", "parts", "content", "text", "file", "url", "raw", "bytes", "kind", "taskId", "contextId"),
        *("messageId", "referenceTaskIds", "configuration", "pushNotificationConfig", "token", "final", "append"),
        *("name", "supportedInterfaces", "capabilities", "skills", "additionalInterfaces", "generation", "sessionId"),
    ]
)
VALUES = st.sampled_from(
    [*("2.0", "SendMessage", "tasks/get", "task", "status-update", "completed", "TASK_STATE_WORKING", ""), -32001, 404]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
BODIES = st.one_of(
    JSON.map(lambda value: json.dumps(value).encode()),
    JSON.map(lambda value: json.dumps({"jsonrpc": "2.0", "method": "SendMessage", "params": value}).encode()),
    JSON.map(lambda value: json.dumps({"jsonrpc": "2.0", "result": value}).encode()),
    st.binary(max_size=60),
)
DEEP = [b"[" * 100_000, b'{"jsonrpc":"2.0","method":"SendMessage","params":' + b'{"a":' * 50_000, b'{"result":' * 9_000]
PATHS = st.one_of(
    st.text(max_size=20),
    st.lists(
        st.sampled_from(
            ["v1", "tasks", "t", "message:send", "message:stream", "t:cancel", "%3A", "pushNotificationConfigs", ""]
        ),
        max_size=6,
    ).map("/".join),
)
HEADERS = st.dictionaries(
    st.sampled_from(["a2a-version", "content-type", "authorization", "accept", "cache-control", "age"]),
    st.text(max_size=12),
)
CALLS = [
    started(method, rest=rest, version=version, certain=certain, task_id=task_id)
    for method in ("SendMessage", "GetTask", "ListTasks", "GetExtendedAgentCard", "DeleteTaskPushNotificationConfig")
    for rest in (False, True)
    for version, certain, task_id in (("0.1", True, "t"), ("0.3", False, "t"), ("1.0", True, ""))
]


@settings(max_examples=300)
@given(
    st.sampled_from(["GET", "POST", "DELETE", "PUT", ""]),
    PATHS,
    HEADERS,
    st.one_of(st.none(), BODIES),
    st.booleans(),
    st.integers(0, 100),
)
def test_any_request(method: str, path: str, headers: Any, body: bytes | None, known: bool, max_body: int) -> None:
    """A call, a card fetch, or nothing."""
    exchange = RecordedExchange(method, f"https://agent.example/{path}", headers, body)
    for most in (max_body, 1_048_576):
        found = requests.read_request(exchange, knows=lambda _: known, card_urls={"x"}, max_body=most)
        assert found is None or isinstance(found, (CallStarted, CardRequested))


@settings(max_examples=300)
@given(st.sampled_from(CALLS), st.sampled_from([200, 201, 204, 302, 400, 404, 500]), HEADERS, BODIES)
def test_any_answer(call: CallStarted, status: int, headers: Any, body: bytes) -> None:
    """Observations in any number; a certain call never stays without one."""
    seen = responses.read_answer(call, status, headers.get, body)
    assert seen or not call.certain
    assert isinstance(responses.read_event(call, body, "error" if status == 500 else ""), list)


@settings(max_examples=300)
@given(st.sampled_from([200, 304, 404]), HEADERS, BODIES)
def test_any_card(status: int, headers: Any, body: bytes) -> None:
    """A document or a failure."""
    found = cards.read_card(card_request(), status, headers.get, body)
    assert found.status == status


@settings(max_examples=300)
@given(HEADERS, BODIES)
def test_any_delivery(headers: Any, body: bytes) -> None:
    """Observations or none."""
    assert isinstance(webhooks.read_delivery(headers.get, body), list)


@pytest.mark.parametrize("body", DEEP, ids=["list", "call", "answer"])
def test_bottomless_nesting(body: bytes) -> None:
    """Everywhere that JSON is read."""
    exchange = RecordedExchange("POST", "https://agent.example/message:send", {}, body)
    for most in (1_000, 1_048_576):
        requests.read_request(exchange, knows=lambda _: True, max_body=most)
    responses.read_answer(CALLS[0], 200, no_headers, body)
    responses.read_event(CALLS[0], body)
    cards.read_card(card_request(), 200, no_headers, body)
    webhooks.read_delivery(no_headers, body)


@pytest.mark.parametrize("recorded", own()[::7], ids=lambda recorded: recorded.name)
def test_recorded_answers_with_a_byte_gone(recorded: Any) -> None:
    """Real traffic, damaged at every tenth place."""
    request = recorded.read_request() if recorded.receiver == "agent" else None
    for place in range(0, len(recorded.answer), 10):
        body = recorded.answer[:place] + recorded.answer[place + 1 :]
        if isinstance(request, CallStarted):
            responses.read_answer(request, recorded.status, recorded.answer_headers.get, body)
            responses.read_event(request, body)
        webhooks.read_delivery(no_headers, body)
