# SPDX-License-Identifier: Apache-2.0
"""Calls of the gRPC binding: what the method's name and the request say, and what a status means.

The messages themselves are read as those of HTTP+JSON and JSON-RPC are. 0.x names tasks by resource (``tasks/{id}``),
1.0 by plain id.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from otel_a2a.exchange import GrpcStatus, MessageExchange
from otel_a2a.observations import A2AError, CallFailed, CallStarted, Channel, Method, Observation, StreamEnded
from otel_a2a.wire import credentials, failures, jsonrpc, messages, protobuf, urls
from otel_a2a.wire.methods import GRPC, stated_version
from otel_a2a.wire.reading import field, text

_PREFIXES: Final = {"/lf.a2a.v1.A2AService/": "1.0", "/a2a.v1.A2AService/": "0.3"}
"""The service, and the oldest version of which it may be. 0.2 had the second one already; a call does not tell."""
_STARTS: Final = tuple(_PREFIXES)
_METHODS: Final = {
    "SendMessage": Method.SEND_MESSAGE,
    "SendStreamingMessage": Method.SEND_STREAMING_MESSAGE,
    "GetTask": Method.GET_TASK,
    "ListTasks": Method.LIST_TASKS,
    "CancelTask": Method.CANCEL_TASK,
    "SubscribeToTask": Method.SUBSCRIBE_TO_TASK,
    "TaskSubscription": Method.SUBSCRIBE_TO_TASK,
    "CreateTaskPushNotificationConfig": Method.CREATE_PUSH_CONFIG,
    "CreateTaskPushNotification": Method.CREATE_PUSH_CONFIG,
    "GetTaskPushNotificationConfig": Method.GET_PUSH_CONFIG,
    "GetTaskPushNotification": Method.GET_PUSH_CONFIG,
    "ListTaskPushNotificationConfigs": Method.LIST_PUSH_CONFIGS,
    "ListTaskPushNotificationConfig": Method.LIST_PUSH_CONFIGS,
    "ListTaskPushNotification": Method.LIST_PUSH_CONFIGS,
    "DeleteTaskPushNotificationConfig": Method.DELETE_PUSH_CONFIG,
    "GetExtendedAgentCard": Method.GET_EXTENDED_CARD,
    "GetAgentCard": Method.GET_EXTENDED_CARD,
}
_RESOURCE: Final = re.compile(r"tasks/([^/]+)")

_HTTP: Final = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "OUT_OF_RANGE": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "UNIMPLEMENTED": 404,
    "ALREADY_EXISTS": 409,
    "ABORTED": 409,
    "RESOURCE_EXHAUSTED": 429,
    "UNKNOWN": 500,
    "INTERNAL": 500,
    "DATA_LOSS": 500,
}
"""Statuses of HTTP that say the same. ``UNIMPLEMENTED`` is what gRPC makes of a 404: nobody serves that name there.
The rest may come from this process, which gave up, and is no answer of anybody."""
_BY_SERVERS_ONLY: Final = frozenset(
    ("INVALID_ARGUMENT", "NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "DATA_LOSS")
)
"""Codes that gRPC itself never makes up, and does not make of a proxy's HTTP status either."""
_CLASS_NAME: Final = re.compile(r"([A-Z][A-Za-z]{3,60}Error): ")
_NEVER_LEFT: Final = ("failed to connect to all addresses", "DNS resolution failed")
NOT_CONNECTED: Final = "NotConnected"
"""``CallFailed.error`` of a call for which there was no connection."""


def is_a2a(path: str) -> bool:
    """Whether ``path`` names a method of an A2A service: a look that every other gRPC call fails."""
    return path.startswith(_STARTS)


def read(exchange: MessageExchange, max_body: int) -> CallStarted | None:
    """The call that a method's name and its request stand for; None where there is none, or no target."""
    prefix = next((start for start in _STARTS if exchange.path.startswith(start)), "")
    method = _METHODS.get(exchange.path[len(prefix) :]) if prefix else None
    if method is None:
        return None
    endpoint = urls.grpc_endpoint(exchange.target)
    if not endpoint:
        return None
    document = protobuf.document(exchange.message(), max_body)
    params: Mapping[str, Any] = document if isinstance(document, dict) else {}
    address, port = urls.server(endpoint)
    call = CallStarted(
        method=method,
        binding=GRPC,
        protocol_version=_version(exchange, _PREFIXES[prefix]),
        endpoint=endpoint,
        server_address=address,
        server_port=port,
        tenant=text(params, "tenant"),
        credential=credentials.of_request(exchange.header),
        judged=isinstance(document, dict),
    )
    _apply(call, params)
    return call


def read_status(call: CallStarted, status: GrpcStatus, *, in_stream: bool) -> list[Observation]:
    """What a status other than ``OK`` says of a call; ``in_stream``: messages came before it."""
    error = _reason(call, status)
    failed = CallFailed(
        call=call,
        error=error or (NOT_CONNECTED if _never_left(status) else status.code),
        from_agent=bool(error),
        status=_HTTP.get(status.code),
        code=status.code,
        channel=Channel.STREAM if in_stream else Channel.RESPONSE,
    )
    if not in_stream:
        return [failed]
    ended = StreamEnded(call=call, reason=status.code)
    return [failed, ended] if failed.from_agent else [ended]


def _version(exchange: MessageExchange, served: str) -> str:
    """The version that the metadata state, unless it contradicts the service."""
    stated = stated_version(exchange.header)
    return stated if stated.startswith(served[:2]) else served


def _apply(call: CallStarted, params: Mapping[str, Any]) -> None:
    named = _RESOURCE.match(text(params, "name") or text(params, "parent"))
    if call.is_send or named is None:
        jsonrpc.apply_params(call, params, flat_push=True)
        return
    call.task_id = named[1]
    call.limits_history = field(params, "historyLength") is not None
    if call.method == Method.CREATE_PUSH_CONFIG:
        call.push = messages.push_config(params)


def _reason(call: CallStarted, status: GrpcStatus) -> str:
    """The agent's own reason; empty where the status may be anybody's.

    1.0 has it in the details, 0.3 in the first word of the message. Of agents that write neither, a code that only a
    server can have chosen is believed.
    """
    reason = failures.error_info({"details": protobuf.error_infos(status.details)})
    if reason:
        return reason
    written = _CLASS_NAME.match(status.message)
    if written:
        return failures.CLASSES.get(written[1], status.code)
    if status.code == "NOT_FOUND" and call.task_id:
        return A2AError.TASK_NOT_FOUND
    if status.code == "FAILED_PRECONDITION" and call.method == Method.CANCEL_TASK:
        return A2AError.TASK_NOT_CANCELABLE
    return status.code if status.code in _BY_SERVERS_ONLY else ""


def _never_left(status: GrpcStatus) -> bool:
    return status.code == "UNAVAILABLE" and status.message.startswith(_NEVER_LEFT)
