# SPDX-License-Identifier: Apache-2.0
"""Calls of the HTTP+JSON binding: paths, tenants and versions."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import pytest

from otel_a2a.exchange import RecordedExchange
from otel_a2a.observations import CallStarted, Method
from otel_a2a.wire import credentials, requests

H = "https://agent.example"


def call(
    method: str, url: str, body: Any = None, *, known: Collection[str] = (), version: str = "", decoded: bool = False
) -> CallStarted:
    headers = {"content-type": "application/json"} | ({"a2a-version": version} if version else {})
    exchange = RecordedExchange(method, url, headers, json.dumps(body).encode() if body is not None else b"")
    found = requests.read_request(exchange, knows=lambda endpoint: endpoint in known)
    assert isinstance(found, CallStarted)
    assert found.binding == "HTTP+JSON"
    return found


@pytest.mark.parametrize("base", ["", "/v1", "/a2a/rest", "/a2a/v1"])
@pytest.mark.parametrize(
    ("verb", "path", "method", "task_id"),
    [
        ("POST", "/message:send", Method.SEND_MESSAGE, ""),
        ("POST", "/message:stream", Method.SEND_STREAMING_MESSAGE, ""),
        ("GET", "/tasks/t-1", Method.GET_TASK, "t-1"),
        ("GET", "/tasks/t-1?historyLength=1", Method.GET_TASK, "t-1"),
        ("GET", "/tasks", Method.LIST_TASKS, ""),
        ("POST", "/tasks/t-1:cancel", Method.CANCEL_TASK, "t-1"),
        ("POST", "/tasks/t-1%3Acancel", Method.CANCEL_TASK, "t-1"),
        ("POST", "/tasks/t-1:subscribe", Method.SUBSCRIBE_TO_TASK, "t-1"),
        ("GET", "/tasks/t-1:subscribe", Method.SUBSCRIBE_TO_TASK, "t-1"),
        ("POST", "/tasks/t-1/pushNotificationConfigs", Method.CREATE_PUSH_CONFIG, "t-1"),
        ("GET", "/tasks/t-1/pushNotificationConfigs", Method.LIST_PUSH_CONFIGS, "t-1"),
        ("GET", "/tasks/t-1/pushNotificationConfigs/c", Method.GET_PUSH_CONFIG, "t-1"),
        ("DELETE", "/tasks/t-1/pushNotificationConfigs/c", Method.DELETE_PUSH_CONFIG, "t-1"),
        ("POST", "/tasks/t-1/pushNotifications", Method.CREATE_PUSH_CONFIG, "t-1"),
        ("GET", "/tasks/a%20b", Method.GET_TASK, "a b"),
    ],
)
def test_every_path_is_its_operation(base: str, verb: str, path: str, method: str, task_id: str) -> None:
    """Under any base path; ``/v1`` is 0.3 and no part of the interface."""
    found = call(verb, f"{H}{base}{path}", {} if verb == "POST" else None)
    assert (found.method, found.task_id) == (method, task_id)
    assert found.protocol_version == ("0.3" if base.endswith("/v1") else "1.0")
    assert found.endpoint == H + base.removesuffix("/v1")
    assert found.certain == ("message" in path or "t-1:" in path or "%3A" in path or "push" in path)


@pytest.mark.parametrize(
    ("known", "endpoint", "tenant"),
    [
        ((), f"{H}/acme", ""),
        ((f"{H}/acme",), f"{H}/acme", ""),
        ((H,), H, "acme"),
        ((H, f"{H}/acme"), f"{H}/acme", ""),
    ],
)
def test_a_segment_is_a_tenant_where_the_url_without_it_is_known(
    known: Collection[str], endpoint: str, tenant: str
) -> None:
    """1.0 puts the tenant before the operation; nothing but the known interfaces tells it from a base path."""
    for path in ("message:send", "tasks/t:cancel"):
        found = call("POST", f"{H}/acme/{path}", {}, known=known, version="1.0")
        assert (found.endpoint, found.tenant) == (endpoint, tenant)
    found = call("GET", f"{H}/acme/tasks/t", known=known, version="1.0")
    assert (found.endpoint, found.tenant) == (endpoint, tenant)


def test_a_tenant_may_be_in_body_or_query() -> None:
    """Where the path has none."""
    assert call("POST", f"{H}/message:send", {"tenant": "acme"}).tenant == "acme"
    assert call("GET", f"{H}/tasks?tenant=acme").tenant == "acme"


@pytest.mark.parametrize(
    ("known", "version", "expected"),
    [
        ((), "", (H, "", "0.3")),
        ((), "0.3", (H, "", "0.3")),
        ((H,), "", (H, "", "0.3")),
        ((f"{H}/v1",), "", (f"{H}/v1", "", "0.3")),
        ((H,), "1.0", (H, "v1", "1.0")),
        ((f"{H}/v1",), "1.0", (f"{H}/v1", "", "1.0")),
        ((), "1.0", (f"{H}/v1", "", "1.0")),
    ],
)
def test_v1_is_the_path_of_0_3_unless_the_header_says_1(
    known: Collection[str], version: str, expected: tuple[str, str, str]
) -> None:
    """With ``A2A-Version: 1.0`` it is a segment like any other."""
    found = call("POST", f"{H}/v1/message:send", {}, known=known, version=version)
    assert (found.endpoint, found.tenant, found.protocol_version) == expected


@pytest.mark.parametrize(
    ("body", "version"),
    [
        ({"message": {"messageId": "m", "parts": [{"text": "x"}]}}, "1.0"),
        ({"message": {"messageId": "m", "content": [{"text": "x"}]}}, "0.3"),
        ({"request": {"message_id": "m", "content": [{"text": "x"}]}}, "0.3"),
    ],
)
def test_without_path_and_header_the_body_tells_the_version(body: dict[str, Any], version: str) -> None:
    """0.3 has ``content``, and one SDK ``request``, where 1.0 has ``parts`` and ``message``."""
    found = call("POST", f"{H}/message:send", body)
    assert found.protocol_version == version
    assert found.message is not None and found.message.message_id == "m" and found.message.parts


def test_a_limit_of_the_history() -> None:
    """In the query of a read, and in the body of a send."""
    assert call("GET", f"{H}/tasks/t?historyLength=0").limits_history
    assert not call("GET", f"{H}/tasks/t").limits_history
    assert call("POST", f"{H}/message:send", {"message": {}, "configuration": {"historyLength": 1}}).limits_history


def test_a_list_says_what_it_asks_for() -> None:
    """Context, and whether artifacts are in it."""
    found = call("GET", f"{H}/tasks?contextId=c&includeArtifacts=true")
    assert (found.context_id, found.trimmed) == ("c", False)
    assert call("GET", f"{H}/tasks").trimmed


@pytest.mark.parametrize(
    "body",
    [
        {"id": "c", "taskId": "t", "url": "u", "token": "k"},
        {"parent": "tasks/t", "configId": "c", "config": {"pushNotificationConfig": {"id": "c", "url": "u"}}},
        {"parent": "tasks/t", "config_id": "c", "config": {"push_notification_config": {"url": "u"}}},
    ],
)
def test_a_webhook_is_seen_in_every_shape(body: dict[str, Any]) -> None:
    """1.0, 0.3, and 0.3 as the 1.x client writes it."""
    found = call("POST", f"{H}/tasks/t/pushNotificationConfigs", body)
    assert found.push is not None and found.push.url == credentials.digest("u")


def test_a_broken_body_is_not_judged() -> None:
    """The path still shows the call."""
    exchange = RecordedExchange("POST", f"{H}/message:send", {"content-type": "application/json"}, b"{bad")
    found = requests.read_request(exchange, knows=lambda _: False)
    assert isinstance(found, CallStarted) and not found.judged


def test_json_rpc_under_a_path_of_tasks_is_json_rpc() -> None:
    """An endpoint may have any path."""
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {}}'
    exchange = RecordedExchange("POST", f"{H}/tasks", {"content-type": "application/json"}, body)
    found = requests.read_request(exchange, knows=lambda _: False)
    assert isinstance(found, CallStarted) and found.binding == "JSONRPC"
