# SPDX-License-Identifier: Apache-2.0
"""What the recorded steps are: operation, version, and the outcomes that the recorded servers gave."""

from __future__ import annotations

from otel_a2a.observations import Method

CARD = "card"
EXTENDED_CARD = "extended card"
NOTHING = ""

_UNSUPPORTED = "!UNSUPPORTED_OPERATION"
_VERSION = "!VERSION_NOT_SUPPORTED"
_NOT_FOUND = "!TASK_NOT_FOUND"
_INVALID = {"!-32602", "!INVALID_PARAMS"}
_UNKNOWN_METHOD = {"!-32601", "!404?"}
_STREAM = "submitted working artifact artifact+ artifact+. completed"
_REFUSED_AS_TERMINAL = {_UNSUPPORTED, "!-32600", "!422", *_INVALID}

SEND, STREAM = Method.SEND_MESSAGE, Method.SEND_STREAMING_MESSAGE
GET, LIST, CANCEL, SUBSCRIBE = Method.GET_TASK, Method.LIST_TASKS, Method.CANCEL_TASK, Method.SUBSCRIBE_TO_TASK

STEPS: dict[str, tuple[str, set[str]]] = {
    # cards
    "card-fetch": (CARD, {""}),
    "card-fetch-new-path": (CARD, {"!card-404"}),
    "card-fetch-old-path": (CARD, {"", "!card-404"}),
    "raw-card-fetch": (CARD, {""}),
    "raw-card-fetch-if-none-match": (CARD, {""}),
    "raw-card-fetch-old-path": (CARD, {"", "!card-404"}),
    "authenticated-extended-card-GET": (EXTENDED_CARD, {""}),
    "extended-card": (EXTENDED_CARD, {""}),
    # sends
    "send": (SEND, {"completed"}),
    "send-blocking-quick": (SEND, {"completed"}),
    "send-direct-message": (SEND, {"message"}),
    "send-with-extensions-header": (SEND, {"completed"}),
    "send-client-made-contextid": (SEND, {"completed"}),
    "send-empty-artifact": (SEND, {"completed"}),
    "send-input-required": (SEND, {"input_required"}),
    "send-auth-required": (SEND, {"auth_required"}),
    "send-fail": (SEND, {"failed"}),
    "send-reject": (SEND, {"rejected"}),
    "send-crash": (SEND, {"failed", "!-32603", "!500?"}),
    "send-nonblocking-slow": (SEND, {"submitted", "working"}),
    "send-with-inline-push-config": (SEND, {"completed"}),
    "send-to-terminal-task": (SEND, _REFUSED_AS_TERMINAL),
    "send-unknown-taskid": (SEND, {_NOT_FOUND}),
    "push-slow-task": (SEND, {"submitted", "working"}),
    "continue-input": (SEND, {"completed", "!-32600"}),
    "continue-input-taskid-only": (SEND, {"completed", *_INVALID}),
    "continue-input-mismatched-context": (SEND, {"completed", "!422", *_INVALID}),
    "followup-new-task-same-context-with-referenceTaskIds": (SEND, {"completed"}),
    "tasks-send": (SEND, {"completed"}),
    "tasks-send-again-same-terminal-id": (SEND, {"input_required"}),
    "tasks-send-input-required": (SEND, {"input_required"}),
    "tasks-send-continue": (SEND, {"completed"}),
    "tasks-send-with-push": (SEND, {"completed"}),
    "raw-send-nonblocking": (SEND, {"completed"}),
    "raw-message-send-v02": (SEND, {"!-32600"}),
    "raw-tasks-send-legacy": (SEND, {"!-32600", "!-32601", _VERSION}),
    "raw-SendMessage-v1-method": (SEND, {"completed", "!-32601"}),
    "raw-v03-message-send": (SEND, {"completed", "!-32601", _VERSION}),
    "raw-v03-path": (SEND, {"submitted", _VERSION}),
    "raw-v1style-path": (SEND, {"!404?", _VERSION}),
    "raw-camelcase-body": (SEND, {"completed", "submitted"}),
    "raw-spec-kind-body": (SEND, {"!500?", *_INVALID}),
    "raw-a2a-json-content-type": (SEND, {"completed", "!404?"}),
    "raw-tenant-send": (SEND, {"completed", "!404?"}),
    "raw-invalid-params": (SEND, {"!-32600", *_INVALID, *_UNKNOWN_METHOD}),
    "raw-duplicate-messageid": (SEND, {"completed", "!-32601"}),
    "raw-duplicate-messageid-again": (SEND, {"completed", "!-32601"}),
    "raw-no-version-header": (SEND, {_VERSION, *_UNKNOWN_METHOD}),
    "raw-unsupported-version": (SEND, {_VERSION, *_UNKNOWN_METHOD}),
    # streams
    "stream": (STREAM, {_STREAM}),
    "stream-chunks": (STREAM, {_STREAM}),
    "stream-direct-message": (STREAM, {"message"}),
    "stream-input-required": (STREAM, {"submitted working input_required"}),
    "stream-input-required-final": (STREAM, {"submitted working input_required"}),
    "stream-input-required-notfinal": (STREAM, {"submitted working input_required"}),
    "stream-auth-required": (STREAM, {"submitted working auth_required"}),
    "stream-regress-working-to-submitted": (STREAM, {"submitted working submitted working completed"}),
    "stream-reopen-terminal": (
        STREAM,
        {"submitted working completed working completed", "submitted working completed"},
    ),
    "stream-crash": (
        STREAM,
        {
            "!-32603",
            "!500?",
            "submitted",
            "submitted working",
            "submitted working !-32603",
            "submitted working !500",
            "submitted working failed",
        },
    ),
    "stream-to-terminal-task": (STREAM, {"", _UNSUPPORTED, *_INVALID}),
    "stream-idle-keepalive-comment": (STREAM, {"submitted working completed"}),
    "client-disconnects-mid-stream": (STREAM, {"submitted working"}),
    "tasks-sendSubscribe": (STREAM, {"working artifact artifact+. completed"}),
    "subscribe-live": (SUBSCRIBE, {"working", "working working canceled"}),
    "subscribe-terminal": (SUBSCRIBE, {_UNSUPPORTED}),
    "subscribe-terminal-task": (SUBSCRIBE, {"", "!405?", _UNSUPPORTED, *_INVALID}),
    "resubscribe-live": (SUBSCRIBE, {"working", "working working canceled"}),
    "resubscribe-terminal-task": (SUBSCRIBE, {"", "completed", "!-32602", _UNSUPPORTED}),
    "raw-subscribe-get-verb": (SUBSCRIBE, {"!404?", "!INVALID_PARAMS", _UNSUPPORTED}),
    "raw-tasks-resubscribe": (SUBSCRIBE, {_UNSUPPORTED}),
    # reads
    "get": (GET, {"completed"}),
    "get-completed": (GET, {"completed"}),
    "get-history-0": (GET, {"completed", "!500?"}),
    "get-history-1": (GET, {"completed", "!500?"}),
    "get-canceled": (GET, {"canceled"}),
    "get-unknown": (GET, {_NOT_FOUND}),
    "get-unknown-task": (GET, {_NOT_FOUND}),
    "get-after-disconnect": (GET, {"working"}),
    "get-after-disconnect-later": (GET, {"completed"}),
    "poll-working": (GET, {"working"}),
    "tasks-get": (GET, {"input_required"}),
    "tasks-get-unknown": (GET, {_NOT_FOUND}),
    "raw-v03-tasks-get": (GET, {"completed", "!-32601", _VERSION}),
    "raw-v03-get": (GET, {"completed", _VERSION}),
    "raw-seed-path-get-tasks-id": (GET, {"!404?", _VERSION}),
    "raw-version-1.0.1": (GET, {"completed", "!-32601", _VERSION}),
    "raw-version-query-param": (GET, {_VERSION, *_UNKNOWN_METHOD}),
    "raw-tenant-param": (GET, {"completed", "!-32601", _NOT_FOUND}),
    "raw-tenant-path": (GET, {"completed", "!404?", _NOT_FOUND}),
    "list": (LIST, {"completed"}),
    "list-tasks": (LIST, {"completed", "!500?"}),
    "list-tasks-default": (LIST, {"completed completed"}),
    "raw-list-tasks": (LIST, {"!404?", "!500?", _VERSION}),
    # cancel
    "cancel-live": (CANCEL, {"canceled"}),
    "cancel-terminal": (CANCEL, {"!TASK_NOT_CANCELABLE"}),
    "cancel-terminal-task": (CANCEL, {"!TASK_NOT_CANCELABLE", "canceled"}),
    "cancel-canceled-again": (CANCEL, {"!TASK_NOT_CANCELABLE", "canceled"}),
    "cancel-unknown-task": (CANCEL, {_NOT_FOUND}),
    "tasks-cancel": (CANCEL, {"!TASK_NOT_CANCELABLE"}),
    # push configurations
    "push-create": (Method.CREATE_PUSH_CONFIG, {""}),
    "push-config-create": (Method.CREATE_PUSH_CONFIG, {""}),
    "push-config-create-unknown-task": (Method.CREATE_PUSH_CONFIG, {_NOT_FOUND}),
    "push-config-set": (Method.CREATE_PUSH_CONFIG, {""}),
    "tasks-pushNotification-set": (Method.CREATE_PUSH_CONFIG, {""}),
    "push-config-get": (Method.GET_PUSH_CONFIG, {""}),
    "tasks-pushNotification-get": (Method.GET_PUSH_CONFIG, {""}),
    "push-config-list": (Method.LIST_PUSH_CONFIGS, {""}),
    "raw-push-config-list": (Method.LIST_PUSH_CONFIGS, {"", "!500?"}),
    "push-config-delete": (Method.DELETE_PUSH_CONFIG, {""}),
    "push-config-delete-again": (Method.DELETE_PUSH_CONFIG, {""}),
    "raw-push-config-delete": (Method.DELETE_PUSH_CONFIG, {"", "!405?", _VERSION}),
    # not A2A, or refused by every server
    "jwks-fetch": (NOTHING, set()),
    "raw-batch": (NOTHING, set()),
    "raw-card-head": (NOTHING, set()),
    "raw-tasks-artifacts": (NOTHING, set()),
    "raw-unknown-path": (NOTHING, set()),
}

DELIVERIES = {
    "push-deliveries": {"working", "completed"},
    "send-with-inline-push-config": {
        "submitted",
        "working",
        "completed",
        "artifact",
        "artifact+",
        "artifact+.",
    },
    "tasks-send-with-push": {"completed"},
}

_BY_FOLDER = {
    "samples-0.1.0-jsonrpc": "0.1",
    "sdk-0.2.16-jsonrpc": "0.2",
    # A 0.3 client writes JSON-RPC exactly like a 0.2 one.
    "sdk-0.3.26-jsonrpc": "0.2",
    "js-0.3.14-server-pyclient0.3.26-jsonrpc": "0.2",
    "cross-client0.3.26-server1.3.0compat-jsonrpc": "0.2",
    "sdk-0.3.26-rest": "0.3",
    "js-0.3.14-server-pyclient0.3.26-rest": "0.3",
    "cross-client0.3.26-server1.3.0compat-rest": "0.3",
    # A 1.x client says in a header that it speaks 0.3.
    "cross-client1.3.0-server0.3.26-jsonrpc": "0.3",
    "cross-client1.3.0-server0.3.26-rest": "0.3",
}
_BY_STEP = {
    "raw-tasks-send-legacy": "0.1",
    "raw-message-send-v02": "0.2",
    "raw-v03-message-send": "0.2",
    "raw-v03-tasks-get": "0.2",
    "raw-tasks-resubscribe": "0.2",
    # 0.1 has the same names and parameters for these two.
    "tasks-get": "0.2",
    "tasks-get-unknown": "0.2",
    "tasks-cancel": "0.2",
    "raw-v03-path": "0.3",
    "raw-v03-get": "0.3",
    "raw-SendMessage-v1-method": "1.0",
    "raw-v1style-path": "1.0",
    "raw-seed-path-get-tasks-id": "1.0",
    "raw-version-query-param": "1.0",
}


def version(folder: str, step: str) -> str:
    """The version that the request of a step shows."""
    if step in _BY_STEP:
        return _BY_STEP[step]
    if step == "raw-unsupported-version":
        # It asks for 0.5, by a method that only 1.0 has; over HTTP+JSON there is nothing but the header.
        return "1.0" if folder.endswith("jsonrpc") else "0.5"
    if step in ("extended-card", "send-with-extensions-header") and _BY_FOLDER.get(folder, "1.0") != "1.0":
        return "0.3"
    if step.startswith("raw-") and folder.startswith("cross-client1.3.0-server0.3.26"):
        return "1.0"
    if step == "raw-malformed-json" and folder.endswith("rest"):
        return "1.0"
    return _BY_FOLDER.get(folder, "1.0")
