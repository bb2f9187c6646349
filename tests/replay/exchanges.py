# SPDX-License-Identifier: Apache-2.0
"""Exchanges of 1.0 over JSON-RPC, as the documents of scripts have them."""

from __future__ import annotations

from typing import Any, Final

from tests.replay.scripts import CARD_URL, message, request, result, stream, task

CARD: Final = {
    "name": "Pay",
    "description": "pays",
    "version": "1",
    "supportedInterfaces": [
        {"url": "https://agent.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    ],
    "capabilities": {"streaming": True, "pushNotifications": True},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "pay", "name": "Pay", "description": "pays", "tags": ["pay"]}],
}
PLAIN_CARD: Final = {**CARD, "capabilities": {}}
MUTE_CARD: Final = {name: member for name, member in CARD.items() if name != "capabilities"}
HISTORY_CARD: Final = {**CARD, "capabilities": {"streaming": True, "stateTransitionHistory": True}}
"""1.0 has no such flag, but cards of 1.0 have been seen with it; 0.3 has it."""
HOOK: Final = "https://hooks.example/a2a"
NOT_FOUND: Final = (-32001, "Task not found")
UNSUPPORTED: Final = (-32004, "This operation is not supported")
NOT_CANCELABLE: Final = (-32002, "Task cannot be canceled - current state: working")
NO_PUSH: Final = (-32003, "Push Notification is not supported")
INVALID: Final = (-32602, "bad context id")
INTERNAL: Final = (-32603, "unknown exception")
TEXT: Final = {"text": "one"}
DATA: Final = {"data": {"amount": 3, "to": {"name": "ann"}}}
FILE: Final = {"raw": "aGVsbG8=", "filename": "a.png", "mediaType": "image/png"}
LINK: Final = {"url": "https://files.example/a.png", "mediaType": "image/png", "filename": "a.png"}
LONG_AFTER: Final = {"type": "clock", "t": 200}
INLINE: Final = {"taskPushNotificationConfig": {"id": "c1", "url": HOOK, "token": "dummy"}}


def document(*exchanges: dict[str, Any], **members: Any) -> dict[str, Any]:
    """The document of a script; each exchange has its place as its step, and two seconds after the one before."""
    return {"exchanges": [{"step": at, "t": 2 * at, **exchange} for at, exchange in enumerate(exchanges)], **members}


def card(card: dict[str, Any] = CARD, **members: Any) -> dict[str, Any]:
    asked = {"method": "GET", "url": CARD_URL}
    return {"type": "http", "request": asked, "response": {"status": 200, "body": card}, **members}


def call(method: str, params: dict[str, Any], answer: Any, **members: Any) -> dict[str, Any]:
    """A call and its answer; a pair of code and text refuses it, a dictionary with ``error`` is the transport's."""
    body = result(answer)
    if isinstance(answer, tuple):
        body = {"jsonrpc": "2.0", "id": 1, "error": {"code": answer[0], "message": answer[1]}}
    failed = isinstance(answer, dict) and "error" in answer
    response = answer if failed else {"status": 200, "body": body}
    return {"type": "http", "request": request(method, params), "response": response, **members}


def send(answer: Any = "WORKING", configuration: dict[str, Any] | None = None, **members: Any) -> dict[str, Any]:
    """A message; ``answer``: the state of its task, or what else answers it."""
    params = {"message": message(**members)} | ({"configuration": configuration} if configuration else {})
    return call("SendMessage", params, {"task": task(answer)} if isinstance(answer, str) else answer)


def get(answer: Any, **members: Any) -> dict[str, Any]:
    return call("GetTask", {"id": "t-1"}, task(answer) if isinstance(answer, str) else answer, **members)


def subscribe(answer: Any) -> dict[str, Any]:
    return call("SubscribeToTask", {"id": "t-1"}, answer)


def cancel(answer: Any) -> dict[str, Any]:
    return call("CancelTask", {"id": "t-1"}, task(answer) if isinstance(answer, str) else answer)


def hook(answer: Any = None, **members: Any) -> dict[str, Any]:
    """A webhook by its own method."""
    config = {"taskId": "t-1", "id": "c1", "url": HOOK, "token": "dummy", **members}
    return call("CreateTaskPushNotificationConfig", config, answer or config)


def about_hook(method: str, answer: Any, config_id: str = "c1") -> dict[str, Any]:
    params = {"taskId": "t-1"} | ({"id": config_id} if config_id else {})
    return call(method, params, answer)


def holding(state: str, *artifacts: dict[str, Any]) -> dict[str, Any]:
    return task(state) | {"artifacts": list(artifacts)}


def artifact(artifact_id: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"artifactId": artifact_id, "parts": list(parts)}


def events(*told: dict[str, Any] | tuple[int, str]) -> dict[str, Any]:
    """A message that is answered by a stream; a pair of code and text is an error in it."""
    datas = [
        {"jsonrpc": "2.0", "id": 1, "error": {"code": each[0], "message": each[1]}}
        if isinstance(each, tuple)
        else result(each)
        for each in told
    ]
    return stream(*({"t": 2 + index / 10, "data": data} for index, data in enumerate(datas)))


def status(state: str, **members: Any) -> dict[str, Any]:
    told = {"state": f"TASK_STATE_{state}", **members}
    return {"statusUpdate": {"taskId": "t-1", "contextId": "c-1", "status": told}}


def chunk(artifact_id: str, *parts: dict[str, Any], **members: Any) -> dict[str, Any]:
    whole = artifact(artifact_id, *parts)
    return {"artifactUpdate": {"taskId": "t-1", "contextId": "c-1", "artifact": whole, **members}}


def delivered(told: dict[str, Any]) -> dict[str, Any]:
    headers = {"X-A2A-Notification-Token": "dummy"}
    return {"type": "push", "request": {"method": "POST", "url": HOOK, "headers": headers, "body": told}}
