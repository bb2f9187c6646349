# SPDX-License-Identifier: Apache-2.0
"""Answers of any dialect as what was told or refused, and the other way."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from tests.replay.dialects import calls, cards, errors, reading, writing
from tests.replay.dialects.calls import STREAMS, Call
from tests.replay.dialects.dialect import Dialect, Shape
from tests.replay.dialects.errors import Refused
from tests.replay.dialects.reading import Object

_TASKS: Final = ("GetTask", "CancelTask")
"""Operations whose answer is a Task without a word about what it is, wherever there is no ``kind``."""
_JS_STATUSES: Final = {
    "0.3": {
        "SendMessage": 201,
        "CreateTaskPushNotificationConfig": 201,
        "CancelTask": 202,
        "DeleteTaskPushNotificationConfig": 204,
    },
    "1.0": {"CreateTaskPushNotificationConfig": 201, "DeleteTaskPushNotificationConfig": 204},
}


@dataclass(slots=True)
class Told:
    """What an agent tells, as an object of 1.0. ``bare``: without what tells what it is, where that would belong."""

    kind: str
    value: Any
    bare: bool = False


def read(call: Call, body: Any) -> Told | Refused:
    """The answer with this body."""
    result = body
    if call.dialect.is_jsonrpc:
        if "error" in body:
            return errors.read(body["error"])
        result = body.get("result")
    if "Push" in call.operation or call.operation in ("ListTasks", "GetExtendedAgentCard"):
        return Told(call.operation, result)
    shape = Shape.KIND if call.dialect.version == "0.1" else call.dialect.shape
    kind, value, bare = reading.told(result, shape)
    return Told(kind, value, bare and call.operation not in _TASKS and call.dialect.version != "0.1")


def write(call: Call, answer: Told | Refused, dialect: Dialect) -> Object:
    """``status``, ``headers`` and ``body`` of a whole answer."""
    if isinstance(answer, Refused):
        return _refusal(call, answer, dialect)
    if dialect.is_jsonrpc:
        return {"status": 200, "body": _envelope(call, {"result": _result(call, answer, dialect)})}
    status = _JS_STATUSES[dialect.version].get(call.operation, 200) if dialect.sdk == "js" else 200
    media_type = "application/a2a+json" if dialect.is_1_0 else "application/json"
    if dialect.sdk == "js":
        media_type += "; charset=utf-8"
    found: Object = {"status": status, "headers": {"content-type": media_type}}
    return found if status == 204 else found | {"body": _result(call, answer, dialect)}


def _refusal(call: Call, refused: Refused, dialect: Dialect) -> Object:
    if dialect.is_jsonrpc:
        return {"status": 200, "body": _envelope(call, {"error": errors.of_jsonrpc(refused, dialect)})}
    status, body = errors.of_http_json(refused, dialect)
    return {"status": status, "body": body}


def refuses_in_stream(call: Call, dialect: Dialect) -> bool:
    """a2a-sdk 0.3 refuses a streaming call in a stream: with one event over JSON-RPC, with a cut over HTTP+JSON."""
    return call.operation in STREAMS and not dialect.is_1_0 and dialect.sdk != "js"


def refuses_by_a_cut(call: Call, dialect: Dialect) -> bool:
    """Where the refusal of a streaming call is a stream that is cut before anything was said."""
    return refuses_in_stream(call, dialect) and not dialect.is_jsonrpc


def write_event(call: Call, answer: Told | Refused, dialect: Dialect) -> Object | None:
    """``data`` or ``raw`` of an event in a stream; None where the dialect cuts the stream instead."""
    if isinstance(answer, Refused):
        if dialect.is_jsonrpc:
            return {"data": _envelope(call, {"error": errors.of_jsonrpc(answer, dialect)})}
        if not dialect.is_1_0:
            return None
        return {"raw": f"event: error\ndata: {json.dumps(errors.of_http_json(answer, dialect)[1])}\n\n"}
    event = writing.told(answer.kind, answer.value, dialect, bare=answer.bare)
    if dialect.is_jsonrpc:
        return {"data": _envelope(call, {"result": event})}
    if dialect.is_1_0 or dialect.sdk == "js":
        return {"data": event}
    lines = json.dumps(event, indent=2).splitlines()
    return {"raw": "".join(f"data: {line}\r\n" for line in lines) + "\r\n"}


def write_delivery(delivery: Object, dialect: Dialect) -> Object:
    """The body of a push notification: the whole task in 0.3, whatever the binding, and an event in 1.0.

    Raises:
        Untranslatable: an artifact alone is not what 0.3 delivers.
    """
    shape = Shape.KIND if "kind" in delivery else Shape.PROTO_1_0
    kind, value, bare = reading.told(delivery, shape)
    if dialect.is_1_0:
        return writing.told(kind, value, dialect, bare=bare)
    if kind == "artifact-update":
        raise calls.Untranslatable(kind)
    if kind == "status-update":
        rest = {name: member for name, member in value.items() if name not in ("taskId", "final")}
        kind, value = "task", {"id": value["taskId"], **rest}
    return writing.told(kind, value, dialect, bare=bare, shape=Shape.KIND)


def _envelope(call: Call, content: Object) -> Object:
    return {"jsonrpc": "2.0", "id": call.rpc_id, **content}


def _result(call: Call, answer: Told, dialect: Dialect) -> Any:
    if answer.kind == "ListTasks":
        return answer.value
    if answer.kind == "GetExtendedAgentCard":
        return cards.translated(answer.value, dialect)
    if "Push" in answer.kind:
        return _push(call, dialect)
    return writing.told(answer.kind, answer.value, dialect, bare=answer.bare or call.operation in _TASKS)


def _push(call: Call, dialect: Dialect) -> Any:
    """A webhook as the agent confirms it: as the call gives it, or any where the call only names it."""
    if call.operation == "DeleteTaskPushNotificationConfig":
        return None if dialect.is_jsonrpc else {}
    given = {"taskId": call.task_id, "id": "c1", "url": "https://hooks.example/a2a"} | call.params
    config = calls.written_config(given, dialect)
    if call.operation != "ListTaskPushNotificationConfigs":
        return config
    return {"configs": [config]} if dialect.is_1_0 or not dialect.is_jsonrpc else [config]
