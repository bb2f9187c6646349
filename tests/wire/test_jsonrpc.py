# SPDX-License-Identifier: Apache-2.0
"""Calls of the JSON-RPC binding: names, parameters and versions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_a2a.exchange import RecordedExchange
from otel_a2a.observations import CallStarted, Method
from otel_a2a.wire import credentials, jsonrpc, methods


def call(method: str, params: Any = None, headers: dict[str, str] | None = None) -> CallStarted:
    body = json.dumps({"jsonrpc": "2.0", "id": "r1", "method": method, "params": params or {}}).encode()
    exchange = RecordedExchange("POST", "https://agent.example/a2a/", headers or {}, body)
    found = jsonrpc.read(exchange, body, lambda _: True)
    assert found is not None
    return found


@pytest.mark.parametrize("name", sorted(methods.SPELLINGS))
def test_every_name_is_its_operation(name: str) -> None:
    """All method names of all versions are recognised, each with the oldest version that has it."""
    found = call(name, {"id": "t"})
    spelling = methods.SPELLINGS[name]
    assert (found.method, found.protocol_version) == (spelling.method, spelling.version)
    assert (found.binding, found.endpoint) == ("JSONRPC", "https://agent.example/a2a")
    assert (found.server_address, found.server_port) == ("agent.example", 443)


@pytest.mark.parametrize(
    ("url", "name", "known", "endpoint"),
    [
        ("http://h:1/tasks/get", "tasks/get", "", "http://h:1"),
        ("http://h:1/a2a/tasks/send/", "tasks/send", "http://h:1/a2a", "http://h:1/a2a"),
        ("http://h:1/tasks/get", "tasks/get", "http://h:1/tasks/get", "http://h:1/tasks/get"),
        ("http://h:1/tasks/get", "tasks/cancel", "", "http://h:1/tasks/get"),
        ("http://h:1/message/send", "message/send", "", "http://h:1/message/send"),
    ],
)
def test_a_method_at_the_end_of_the_url_is_not_the_interface(url: str, name: str, known: str, endpoint: str) -> None:
    """python-a2a adds it, to each call another; a card that lists such a URL means it."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": name, "params": {"id": "t"}}).encode()
    found = jsonrpc.read(RecordedExchange("POST", url, {}, body), body, lambda each: each == known)
    assert found is not None and found.endpoint == endpoint
    assert found.certain == (name.endswith("send") or endpoint == known)


@pytest.mark.parametrize(
    ("name", "params", "task_id"),
    [
        ("tasks/get", {"id": "t"}, "t"),
        ("tasks/cancel", {"id": "t"}, "t"),
        ("tasks/resubscribe", {"id": "t"}, "t"),
        ("GetTask", {"id": "t"}, "t"),
        ("CancelTask", {"id": "t"}, "t"),
        ("SubscribeToTask", {"id": "t"}, "t"),
        ("tasks/pushNotification/set", {"id": "t", "pushNotificationConfig": {"url": "u"}}, "t"),
        ("tasks/pushNotification/get", {"id": "t"}, "t"),
        ("tasks/pushNotificationConfig/set", {"taskId": "t", "pushNotificationConfig": {"url": "u", "id": "c"}}, "t"),
        ("tasks/pushNotificationConfig/get", {"id": "t", "pushNotificationConfigId": "c"}, "t"),
        ("tasks/pushNotificationConfig/list", {"id": "t"}, "t"),
        ("tasks/pushNotificationConfig/delete", {"id": "t", "pushNotificationConfigId": "c"}, "t"),
        ("CreateTaskPushNotificationConfig", {"taskId": "t", "id": "c", "url": "u"}, "t"),
        ("GetTaskPushNotificationConfig", {"taskId": "t", "id": "c"}, "t"),
        ("ListTaskPushNotificationConfigs", {"taskId": "t"}, "t"),
        ("DeleteTaskPushNotificationConfig", {"taskId": "t", "id": "c"}, "t"),
        ("DeleteTaskPushNotificationConfig", {"id": "c"}, ""),
        ("ListTasks", {"contextId": "c", "id": "x"}, ""),
        ("GetExtendedAgentCard", {"id": "x"}, ""),
    ],
)
def test_the_task_is_where_its_version_has_it(name: str, params: dict[str, Any], task_id: str) -> None:
    """``params.id`` is the task everywhere except in push calls of 1.0, where it is the configuration."""
    assert call(name, params).task_id == task_id


def test_a_send_of_0_1_names_its_task_outside_the_message() -> None:
    """The client makes the id; the session is the context; a message has no id."""
    params = {"id": "t", "sessionId": "s", "message": {"role": "user", "parts": [{"type": "text", "text": "x"}]}}
    found = call("tasks/send", {**params, "pushNotification": {"url": "u", "token": "k"}})
    assert (found.task_id, found.context_id, found.creates) == ("t", "s", False)
    assert found.message is not None and found.message.message_id == "" and found.message.parts
    assert found.push is not None and found.push.url and found.push.token


@pytest.mark.parametrize("name", ["message/send", "message/stream", "SendMessage", "SendStreamingMessage"])
def test_a_send_since_0_2_names_its_task_inside_the_message(name: str) -> None:
    """In camelCase and in snake_case."""
    message = {"messageId": "m", "taskId": "t", "contextId": "c", "referenceTaskIds": ["a", 7, "b"], "parts": []}
    snake = {"message_id": "m", "task_id": "t", "context_id": "c", "reference_task_ids": ["a", "b"], "parts": []}
    for written in (message, snake):
        found = call(name, {"id": "x", "message": written, "tenant": "acme"})
        assert (found.task_id, found.context_id, found.tenant, found.is_send) == ("t", "c", "acme", True)
        assert found.message is not None
        assert (found.message.message_id, found.message.reference_task_ids) == ("m", ("a", "b"))
    assert call(name, {"message": {"messageId": "m"}}).creates


@pytest.mark.parametrize("key", ["taskPushNotificationConfig", "pushNotificationConfig", "pushNotification"])
def test_an_inline_webhook_is_seen_under_all_its_names(key: str) -> None:
    """1.0, 0.3 over JSON-RPC, and 0.3 over HTTP+JSON."""
    found = call("SendMessage", {"message": {}, "configuration": {key: {"id": "c", "url": "u"}}})
    assert found.push is not None and found.push.url == credentials.digest("u")
    assert call("SendMessage", {"message": {}, "configuration": {key: {"token": "k"}}}).push is None


@pytest.mark.parametrize(
    ("name", "header", "version"),
    [
        ("SendMessage", "1.0", "1.0"),
        ("SendMessage", "1.0.1", "1.0"),
        ("SendMessage", "1.1", "1.1"),
        ("SendMessage", "0.3", "1.0"),
        ("SendMessage", "99.0", "1.0"),
        ("SendMessage", "", "1.0"),
        ("message/send", "0.3", "0.3"),
        ("message/send", "0.3.0", "0.3"),
        ("message/send", "1.0", "0.2"),
        ("message/send", "garbage", "0.2"),
        ("tasks/send", "0.3", "0.1"),
    ],
)
def test_the_header_refines_what_the_spelling_says(name: str, header: str, version: str) -> None:
    """What is written is the dialect; a header that contradicts it is a client's mistake."""
    assert call(name, {"id": "t"}, {"a2a-version": header}).protocol_version == version


def test_the_extensions_header_of_0_3_is_a_version() -> None:
    """0.3 clients send no version; this header is the only trace of theirs."""
    assert call("message/send", headers={"x-a2a-extensions": "urn:x"}).protocol_version == "0.3"


def test_only_lists_are_trimmed() -> None:
    """``historyLength`` leaves out history, which is no part of what is judged; a list leaves out artifacts."""
    assert not call("GetTask", {"id": "t", "historyLength": 0}).trimmed
    assert call("ListTasks").trimmed
    assert not call("ListTasks", {"includeArtifacts": True}).trimmed


@pytest.mark.parametrize(
    ("name", "params", "limits"),
    [
        ("GetTask", {"id": "t", "historyLength": 0}, True),
        ("tasks/get", {"id": "t", "history_length": 3}, True),
        ("GetTask", {"id": "t"}, False),
        ("SendMessage", {"message": {}, "configuration": {"historyLength": 5}}, True),
        ("SendMessage", {"message": {}, "configuration": {"historyLength": None}}, False),
    ],
)
def test_a_limit_of_the_history(name: str, params: dict[str, Any], limits: bool) -> None:
    """Stated in a read, or in the configuration of a send."""
    assert call(name, params).limits_history is limits


def test_parameters_of_wrong_type_read_as_absent() -> None:
    """A call is a call, whatever its parameters are."""
    for params in ([1], "x", {"message": 7}, {"message": {"taskId": 7, "parts": "x", "referenceTaskIds": "x"}}):
        found = call("SendMessage", params)
        assert (found.task_id, found.context_id) == ("", "")


def test_escaped_slashes_are_slashes() -> None:
    """Some JSON writers escape them."""
    body = rb'{"jsonrpc":"2.0","id":1,"method":"message\/send","params":{}}'
    exchange = RecordedExchange("POST", "https://agent.example/", {}, body)
    found = jsonrpc.read(exchange, body, lambda _: False)
    assert found is not None and found.method == Method.SEND_MESSAGE
