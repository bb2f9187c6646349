# SPDX-License-Identifier: Apache-2.0
"""Requests of any dialect as calls, and calls as requests of any dialect.

A call has the parameters that it has in 1.0 over JSON-RPC.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from tests.replay.dialects import reading, writing
from tests.replay.dialects.dialect import HTTP_JSON, JSONRPC, Dialect, Shape
from tests.replay.dialects.reading import Object

METHODS: Final = {
    "SendMessage": "message/send",
    "SendStreamingMessage": "message/stream",
    "GetTask": "tasks/get",
    "CancelTask": "tasks/cancel",
    "SubscribeToTask": "tasks/resubscribe",
    "CreateTaskPushNotificationConfig": "tasks/pushNotificationConfig/set",
    "GetTaskPushNotificationConfig": "tasks/pushNotificationConfig/get",
    "ListTaskPushNotificationConfigs": "tasks/pushNotificationConfig/list",
    "DeleteTaskPushNotificationConfig": "tasks/pushNotificationConfig/delete",
    "GetExtendedAgentCard": "agent/getAuthenticatedExtendedCard",
}
"""Operations, and how 0.3 calls them."""
SENDS: Final = ("SendMessage", "SendStreamingMessage")
STREAMS: Final = ("SendStreamingMessage", "SubscribeToTask")
_OF_0_1: Final = {"tasks/send": "SendMessage", "tasks/sendSubscribe": "SendStreamingMessage"}
_PUSH: Final = "CreateTaskPushNotificationConfig"
_PATHS: Final = {
    "SendMessage": ("POST", "message:send"),
    "SendStreamingMessage": ("POST", "message:stream"),
    "GetTask": ("GET", "tasks/{task}"),
    "ListTasks": ("GET", "tasks"),
    "CancelTask": ("POST", "tasks/{task}:cancel"),
    "SubscribeToTask": ("POST", "tasks/{task}:subscribe"),
    "CreateTaskPushNotificationConfig": ("POST", "tasks/{task}/pushNotificationConfigs"),
    "GetTaskPushNotificationConfig": ("GET", "tasks/{task}/pushNotificationConfigs/{config}"),
    "ListTaskPushNotificationConfigs": ("GET", "tasks/{task}/pushNotificationConfigs"),
    "DeleteTaskPushNotificationConfig": ("DELETE", "tasks/{task}/pushNotificationConfigs/{config}"),
    "GetExtendedAgentCard": ("GET", "extendedAgentCard"),
}
_ROUTE: Final = re.compile(
    r"(?P<base>.*?)(?:/v1)?/(?:(?P<send>message:send|message:stream)|tasks/(?P<task>[^/:]+)(?::(?P<verb>cancel))?)\Z"
)
_HUMP: Final = re.compile(r"(?<=[a-z])([A-Z])")


class Untranslatable(ValueError):
    """The dialect has nothing of the kind."""


@dataclass(slots=True)
class Call:
    """What a request asks for. ``url`` is that of the interface."""

    operation: str
    url: str
    params: Object
    rpc_id: Any
    dialect: Dialect

    @property
    def task_id(self) -> str:
        return str(self.params.get("taskId") or self.params.get("id") or "")


def read(request: Object) -> Call | None:
    """The call in a request; None where it is none."""
    body = request.get("body")
    if isinstance(body, dict) and body.get("jsonrpc") == "2.0":
        return _read_jsonrpc(request, body)
    return _read_http_json(request, body or {})


def _read_jsonrpc(request: Object, body: Object) -> Call | None:
    method = body["method"]
    params = dict(body.get("params") or {})
    if method in _OF_0_1:
        return Call(_OF_0_1[method], request["url"], _of_0_1(params, body["id"]), body["id"], _dialect("0.1", JSONRPC))
    if method in METHODS or method == "ListTasks":
        return Call(method, request["url"], params, body["id"], _dialect("1.0", JSONRPC))
    operation = next((name for name, old in METHODS.items() if old == method), None)
    if operation is None:
        return None
    return Call(operation, request["url"], _of_0_3(operation, params), body["id"], _dialect("0.3", JSONRPC))


def _read_http_json(request: Object, body: Object) -> Call | None:
    where = urlsplit(request["url"])
    route = _ROUTE.match(where.path)
    if route is None:
        return None
    version = "1.0" if "A2A-Version" in request.get("headers", {}) else "0.3"
    operation = "CancelTask" if route["verb"] else "GetTask"
    params: Object = {"id": route["task"]}
    if route["send"]:
        operation = "SendMessage" if route["send"] == "message:send" else "SendStreamingMessage"
        params = body if version == "1.0" else _send_of_0_3(body, Shape.PROTO_0_3)
    url = where._replace(path=route["base"], query="").geturl()
    return Call(operation, url, params, "r", _dialect(version, HTTP_JSON))


def _dialect(version: str, binding: str) -> Dialect:
    return Dialect(version, binding, "python")


def _of_0_1(params: Object, rpc_id: Any) -> Object:
    """0.1 names task and context beside the message, and messages not at all."""
    message = reading.message(params["message"], Shape.KIND)
    return {
        "message": {"messageId": f"m-{rpc_id}", **message, "taskId": params["id"], "contextId": params["sessionId"]}
    }


def _of_0_3(operation: str, params: Object) -> Object:
    if operation in SENDS:
        return _send_of_0_3(params, Shape.KIND)
    if operation == _PUSH:
        return {"taskId": params["taskId"], **_config_of_0_3(params["pushNotificationConfig"])}
    if "Push" in operation:
        config = {"id": params["pushNotificationConfigId"]} if "pushNotificationConfigId" in params else {}
        return {"taskId": params["id"], **config}
    return params


def _send_of_0_3(params: Object, shape: str) -> Object:
    found = {name: member for name, member in params.items() if name != "request"}
    found["message"] = reading.message(params.get("message") or params["request"], shape)
    configuration = dict(found.pop("configuration", {}))
    if "blocking" in configuration:
        configuration["returnImmediately"] = not configuration.pop("blocking")
    for name in ("pushNotificationConfig", "pushNotification"):
        if name in configuration:
            configuration["taskPushNotificationConfig"] = _config_of_0_3(configuration.pop(name))
    return found | ({"configuration": configuration} if configuration else {})


def _config_of_0_3(config: Object) -> Object:
    found = dict(config)
    if "authentication" in found:
        found["authentication"] = dict(found["authentication"])
        found["authentication"]["scheme"] = found["authentication"].pop("schemes")[0]
    return found


# --- the other way


def write(call: Call, dialect: Dialect) -> Object:
    """The request for a call.

    Raises:
        Untranslatable: the dialect has no such operation, or no tenants.
    """
    if not dialect.is_1_0 and (call.operation not in METHODS or call.params.get("tenant")):
        raise Untranslatable(call.operation)
    return _write_jsonrpc(call, dialect) if dialect.is_jsonrpc else _write_http_json(call, dialect)


def _headers(dialect: Dialect) -> dict[str, str]:
    if dialect.is_1_0:
        return {"A2A-Version": "1.0"}
    return {"a2a-version": "0.3"} if dialect.sdk == "compat" else {}


def _write_jsonrpc(call: Call, dialect: Dialect) -> Object:
    method = call.operation if dialect.is_1_0 else METHODS[call.operation]
    params = call.params if dialect.is_1_0 else _to_0_3(call)
    body = {"jsonrpc": "2.0", "id": call.rpc_id, "method": method, "params": params}
    return {"method": "POST", "url": call.url, "headers": _headers(dialect), "body": body}


def _to_0_3(call: Call) -> Object:
    params = call.params
    if call.operation in SENDS:
        return _send_to_0_3(params, Shape.KIND)
    if call.operation == _PUSH:
        return {"taskId": params["taskId"], "pushNotificationConfig": _config_to_0_3(params)}
    if "taskId" in params:
        config = {"pushNotificationConfigId": params["id"]} if "id" in params else {}
        return {"id": params["taskId"], **config}
    return params


def _send_to_0_3(params: Object, shape: str) -> Object:
    found = params | {"message": writing.message(params["message"], shape)}
    configuration = dict(found.pop("configuration", {}))
    if "returnImmediately" in configuration:
        configuration["blocking"] = not configuration.pop("returnImmediately")
    if "taskPushNotificationConfig" in configuration:
        config = _config_to_0_3(configuration.pop("taskPushNotificationConfig"))
        configuration["pushNotificationConfig" if shape == Shape.KIND else "pushNotification"] = config
    return found | ({"configuration": configuration} if configuration else {})


def _config_to_0_3(config: Object) -> Object:
    found = {name: member for name, member in config.items() if name not in ("taskId", "tenant")}
    if "authentication" in found:
        found["authentication"] = dict(found["authentication"])
        found["authentication"]["schemes"] = [found["authentication"].pop("scheme")]
    return found


def written_config(params: Object, dialect: Dialect) -> Object:
    """A webhook's configuration as an answer shows it."""
    if dialect.is_1_0:
        return params
    config = _config_to_0_3(params)
    if dialect.is_jsonrpc:
        return {"taskId": params["taskId"], "pushNotificationConfig": config}
    return {"name": _name_of_config(params["taskId"], config), "pushNotificationConfig": config}


def _name_of_config(task_id: str, config: Object) -> str:
    return f"tasks/{task_id}/pushNotificationConfigs/{config.get('id', '')}"


def _write_http_json(call: Call, dialect: Dialect) -> Object:
    verb, path = _PATHS[call.operation]
    params = dict(call.params)
    tenant = params.pop("tenant", "")
    base = f"{call.url.rstrip('/')}/{tenant}".rstrip("/")
    if not dialect.is_1_0:
        base = f"{base}/v1"
        path = path.replace("extendedAgentCard", "card")
        if call.operation == "SubscribeToTask":
            verb = "GET"
    url = f"{base}/{path.format(task=call.task_id, config=params.get('id'))}"
    request: Object = {"method": verb, "url": url, "headers": _headers(dialect)}
    if call.operation == "ListTasks" and params:
        request["url"] += "?" + "&".join(f"{name}={str(value).lower()}" for name, value in params.items())
    elif call.operation in SENDS:
        request["body"] = params if dialect.is_1_0 else _body_of_send_in_0_3(params, dialect)
    elif call.operation == _PUSH:
        request["body"] = params if dialect.is_1_0 else _body_of_push_in_0_3(call, dialect)
    elif call.operation == "GetTask" and "historyLength" in params:
        request["url"] += f"?historyLength={params['historyLength']}"
    return request


def _body_of_send_in_0_3(params: Object, dialect: Dialect) -> Object:
    body = _send_to_0_3(params, Shape.PROTO_0_3)
    if dialect.sdk != "compat":
        return body
    body["request"] = body.pop("message")
    return _in_snake_case(body)


def _body_of_push_in_0_3(call: Call, dialect: Dialect) -> Object:
    config = _config_to_0_3(call.params)
    body = {
        "parent": f"tasks/{call.task_id}",
        "configId": config.get("id", ""),
        "config": {"name": _name_of_config(call.task_id, config), "pushNotificationConfig": config},
    }
    return _in_snake_case(body) if dialect.sdk == "compat" else body


def _in_snake_case(value: Object) -> Object:
    return {_HUMP.sub(r"_\1", name).lower(): _snakes(name, member) for name, member in value.items()}


def _snakes(name: str, member: Any) -> Any:
    if isinstance(member, list):
        return [_snakes("", each) for each in member]
    is_free = name in ("data", "metadata") or not isinstance(member, dict)
    return member if is_free else _in_snake_case(member)
