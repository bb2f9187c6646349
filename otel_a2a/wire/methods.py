# SPDX-License-Identifier: Apache-2.0
"""Names of operations on the wire, and what each of them says about the dialect."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from otel_a2a.observations import Method
from otel_a2a.wire.reading import Headers

JSONRPC: Final = "JSONRPC"
HTTP_JSON: Final = "HTTP+JSON"
GRPC: Final = "GRPC"
A2A_JSON: Final = "application/a2a+json"
"""The media type of A2A 1.0.1."""
VERSION_HEADER: Final = "a2a-version"


class Spelling(NamedTuple):
    """A JSON-RPC method name of some version."""

    method: str
    version: str
    """The oldest version that spells it so."""
    strong: bool = True
    """No other protocol in use has this name."""


# MCP (tasks) shares ``tasks/get`` and ``tasks/cancel``; other agents' APIs share the names of single verbs.
SPELLINGS: Final[dict[str, Spelling]] = {
    "SendMessage": Spelling(Method.SEND_MESSAGE, "1.0"),
    "SendStreamingMessage": Spelling(Method.SEND_STREAMING_MESSAGE, "1.0"),
    "GetTask": Spelling(Method.GET_TASK, "1.0", strong=False),
    "ListTasks": Spelling(Method.LIST_TASKS, "1.0", strong=False),
    "CancelTask": Spelling(Method.CANCEL_TASK, "1.0", strong=False),
    "SubscribeToTask": Spelling(Method.SUBSCRIBE_TO_TASK, "1.0"),
    "CreateTaskPushNotificationConfig": Spelling(Method.CREATE_PUSH_CONFIG, "1.0"),
    "GetTaskPushNotificationConfig": Spelling(Method.GET_PUSH_CONFIG, "1.0"),
    "ListTaskPushNotificationConfigs": Spelling(Method.LIST_PUSH_CONFIGS, "1.0"),
    "ListTaskPushNotificationConfig": Spelling(Method.LIST_PUSH_CONFIGS, "1.0"),
    "DeleteTaskPushNotificationConfig": Spelling(Method.DELETE_PUSH_CONFIG, "1.0"),
    "GetExtendedAgentCard": Spelling(Method.GET_EXTENDED_CARD, "1.0"),
    "message/send": Spelling(Method.SEND_MESSAGE, "0.2"),
    "message/stream": Spelling(Method.SEND_STREAMING_MESSAGE, "0.2"),
    "tasks/get": Spelling(Method.GET_TASK, "0.2", strong=False),
    "tasks/cancel": Spelling(Method.CANCEL_TASK, "0.2", strong=False),
    "tasks/resubscribe": Spelling(Method.SUBSCRIBE_TO_TASK, "0.2"),
    "tasks/pushNotificationConfig/set": Spelling(Method.CREATE_PUSH_CONFIG, "0.2"),
    "tasks/pushNotificationConfig/get": Spelling(Method.GET_PUSH_CONFIG, "0.2"),
    "tasks/pushNotificationConfig/list": Spelling(Method.LIST_PUSH_CONFIGS, "0.2"),
    "tasks/pushNotificationConfig/delete": Spelling(Method.DELETE_PUSH_CONFIG, "0.2"),
    "agent/getAuthenticatedExtendedCard": Spelling(Method.GET_EXTENDED_CARD, "0.3"),
    "tasks/send": Spelling(Method.SEND_MESSAGE, "0.1"),
    "tasks/sendSubscribe": Spelling(Method.SEND_STREAMING_MESSAGE, "0.1"),
    "tasks/pushNotification/set": Spelling(Method.CREATE_PUSH_CONFIG, "0.1"),
    "tasks/pushNotification/get": Spelling(Method.GET_PUSH_CONFIG, "0.1"),
}

_MAJOR_MINOR: Final = re.compile(r"\s*(0\.[2-9]|1\.\d{1,3})(?:\.\d+)?\s*\Z")


def stated_version(header: Headers) -> str:
    """Major.Minor of the ``A2A-Version`` header, ``0.3`` where only the extensions header of 0.3 is there; else empty.

    The patch number does not count. Versions that do not exist are passed over, and so is 0.1, which has no headers.
    """
    stated = _MAJOR_MINOR.match(header(VERSION_HEADER) or "")
    if stated:
        return stated[1]
    return "0.3" if header("x-a2a-extensions") is not None else ""


def says_a2a(header: Headers) -> bool:
    """A header names the protocol."""
    return (
        header(VERSION_HEADER) is not None
        or A2A_JSON in (header("content-type") or "")
        or A2A_JSON in (header("accept") or "")
        or header("a2a-extensions") is not None
        or header("x-a2a-extensions") is not None
    )
