# SPDX-License-Identifier: Apache-2.0
"""The translations are what SDKs write: a2a-sdk's own types read them, with nothing left over."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from a2a.compat.v0_3 import a2a_v0_3_pb2 as proto_0_3
from a2a.compat.v0_3 import types as kind_0_3
from a2a.types import a2a_pb2 as proto_1_0
from google.protobuf.json_format import ParseDict, ParseError
from pydantic import ValidationError

from tests.replay.dialects import DIALECTS, Dialect, calls, cards, translated
from tests.replay.test_dialects import ORIGINALS, Original

Read = Callable[[Any], object]
ODD = {
    "029": "an empty contextId",
    "046": "a webhook of 1.0 in 0.3",
    "082": "events without a contextId",
    "099": "no kind",
    "101": "a bare task, and an event with id in place of taskId",
    "104": "an invented state",
    "105": "a card of 0.1",
    "107": "no card",
    "push-not-mentioned": "a card without capabilities",
    "stream-not-mentioned": "a card without capabilities",
    "state-nobody-knows": "an invented state",
}
"""Scripts about agents that break the format, which no type has to read."""


def of_message(message: type[Any]) -> Read:
    """Reads the ProtoJSON of a message; what it does not know is an error."""
    return lambda value: ParseDict(value, message())


def readable(document: dict[str, Any], dialect: Dialect) -> Iterator[tuple[Any, Read]]:
    """Everything in a script that is the protocol's, and what reads it in the SDK."""
    for step in document["exchanges"]:
        if step["type"] == "push":
            yield step["request"]["body"], _delivery(dialect)
        if step["type"] not in ("http", "sse"):
            continue
        request, response = step["request"], step["response"] or {}
        body = response.get("body")
        if cards.is_card(body):
            yield body, _card(dialect)
            continue
        operation = _operation(request, dialect)
        if operation is None:
            continue
        if "body" in request:
            yield request["body"], _request(operation, dialect)
        for event in response.get("events", ()):
            data = _data(event)
            if data is not None and "error" not in data:
                yield data, _answer("SendStreamingMessage", dialect)
        if isinstance(body, dict) and "error" not in body and response["status"] < 300:
            yield body, _answer(operation, dialect)


def _operation(request: dict[str, Any], dialect: Dialect) -> str | None:
    body = request.get("body") or {}
    if dialect.is_jsonrpc:
        names = {old: name for name, old in calls.METHODS.items()}
        return None if "method" not in body else names.get(body["method"], body["method"])
    path = request["url"].partition("?")[0].rpartition("/")[2]
    return {"message:send": "SendMessage", "message:stream": "SendStreamingMessage"}.get(path) or (
        "CreateTaskPushNotificationConfig" if request["method"] == "POST" and path.endswith("Configs") else None
    )


def _data(event: dict[str, Any]) -> Any:
    if "data" in event:
        return event["data"]
    lines = [line.removeprefix("data: ") for line in event["raw"].splitlines() if line.startswith("data: ")]
    return json.loads("\n".join(lines)) if lines else None


def _card(dialect: Dialect) -> Read:
    return of_message(proto_1_0.AgentCard) if dialect.is_1_0 else kind_0_3.AgentCard.model_validate


def _delivery(dialect: Dialect) -> Read:
    return of_message(proto_1_0.StreamResponse) if dialect.is_1_0 else kind_0_3.Task.model_validate


def _request(operation: str, dialect: Dialect) -> Read:
    if not dialect.is_1_0 and dialect.is_jsonrpc:
        return kind_0_3.A2ARequest.model_validate
    if not dialect.is_1_0:
        sends = operation in calls.SENDS
        return of_message(proto_0_3.SendMessageRequest if sends else proto_0_3.CreateTaskPushNotificationConfigRequest)
    named = {name: name for name in ("SendStreamingMessage", "CreateTaskPushNotificationConfig")} | {
        "SendStreamingMessage": "SendMessageRequest",
        "CreateTaskPushNotificationConfig": "TaskPushNotificationConfig",
    }
    read = of_message(getattr(proto_1_0, named.get(operation, f"{operation}Request")))
    return (lambda body: read(body["params"])) if dialect.is_jsonrpc else read


def _answer(operation: str, dialect: Dialect) -> Read:
    if not dialect.is_1_0 and dialect.is_jsonrpc:
        streams = operation in calls.STREAMS
        return (kind_0_3.SendStreamingMessageResponse if streams else kind_0_3.JSONRPCResponse).model_validate
    proto = proto_1_0 if dialect.is_1_0 else proto_0_3
    results: dict[str, Any] = {
        "SendMessage": proto.SendMessageResponse,
        "SendStreamingMessage": proto.StreamResponse,
        "GetTask": proto.Task,
        "CancelTask": proto.Task,
        "CreateTaskPushNotificationConfig": proto.TaskPushNotificationConfig,
        "GetTaskPushNotificationConfig": proto.TaskPushNotificationConfig,
        "ListTasks": proto_1_0.ListTasksResponse,
        "ListTaskPushNotificationConfigs": proto_1_0.ListTaskPushNotificationConfigsResponse,
        "GetExtendedAgentCard": proto.AgentCard,
    }
    if operation not in results:
        return lambda body: None
    read = of_message(results[operation])
    return (lambda body: read(body["result"])) if dialect.is_jsonrpc else read


REGULAR = [each for each in ORIGINALS if not {each.name, each.name[:3]} & ODD.keys()]


def refused(original: Original) -> list[tuple[str, str, Any]]:
    """What the SDK's types do not read, and why."""
    found = []
    for dialect in original.dialects:
        for value, reads in readable(translated(original.document, dialect), dialect):
            try:
                reads(value)
            except (ParseError, ValidationError) as error:
                found.append((str(dialect), str(error), value))
    return found


@pytest.mark.parametrize("original", REGULAR, ids=str)
def test_the_sdk_s_types_read_a_translation(original: Original) -> None:
    """Requests, answers, events, webhooks and cards, in each dialect, by the types of the SDK that speaks it."""
    assert refused(original) == []


def test_there_is_something_to_read() -> None:
    """Each dialect has hundreds of objects to be read."""
    for dialect in DIALECTS:
        originals = [each for each in REGULAR if dialect in each.dialects]
        assert sum(1 for each in originals for _ in readable(translated(each.document, dialect), dialect)) > 400


def test_the_sdk_s_types_do_refuse() -> None:
    """What is another dialect's is not read."""
    original = next(each for each in ORIGINALS if each.name == "artifact-whole")
    for dialect in DIALECTS:
        other = next(each for each in DIALECTS if each.shape != dialect.shape and each.is_jsonrpc == dialect.is_jsonrpc)
        written = [value for value, _ in readable(translated(original.document, other), other)]
        readers = [reads for _, reads in readable(translated(original.document, dialect), dialect)]
        read = 0
        for value, reads in zip(written, readers, strict=True):
            with suppress(ParseError, ValidationError):
                reads(value)
                read += 1
        assert read <= len(written) - 3, f"{other} as {dialect}"
