# SPDX-License-Identifier: Apache-2.0
"""Objects of any dialect as objects of 1.0. What is not known stays as it is, so that oddities survive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.replay.dialects.dialect import Shape

Object = dict[str, Any]
MEMBERS = {
    "task": "task",
    "message": "message",
    "status-update": "statusUpdate",
    "artifact-update": "artifactUpdate",
}
"""``kind`` of 0.x, and the member of a StreamResponse that says the same."""
_STATES = {
    "submitted",
    "working",
    "input-required",
    "auth-required",
    "completed",
    "failed",
    "canceled",
    "rejected",
}


def state(value: Any) -> Any:
    """``canceled`` and ``TASK_STATE_CANCELLED`` as ``TASK_STATE_CANCELED``; what is no state stays as it is."""
    if value == "TASK_STATE_CANCELLED":
        return "TASK_STATE_CANCELED"
    if value == "unknown":
        return "TASK_STATE_UNSPECIFIED"
    return f"TASK_STATE_{value.upper().replace('-', '_')}" if value in _STATES else value


def part(value: Object, shape: str) -> Object:
    if shape == Shape.PROTO_1_0:
        return value
    rest = {name: member for name, member in value.items() if name not in ("kind", "type", "file", "data")}
    file = value.get("file")
    if file is not None:
        content = {
            "raw": file.get("bytes") or file.get("fileWithBytes"),
            "url": file.get("uri") or file.get("fileWithUri"),
            "filename": file.get("name"),
            "mediaType": file.get("mimeType"),
        }
        return {name: member for name, member in content.items() if member is not None} | rest
    if "data" in value:
        return {"data": value["data"]["data"] if shape == Shape.PROTO_0_3 else value["data"]} | rest
    return rest


def message(value: Object, shape: str) -> Object:
    found = {name: member for name, member in value.items() if name not in ("kind", "content")}
    if "role" in found:
        found["role"] = {"user": "ROLE_USER", "agent": "ROLE_AGENT"}.get(found["role"], found["role"])
    parts = value.get("parts", value.get("content"))
    if parts is not None:
        found["parts"] = [part(each, shape) for each in parts]
    return found


def artifact(value: Object, shape: str) -> Object:
    found = dict(value)
    if "parts" in found:
        found["parts"] = [part(each, shape) for each in found["parts"]]
    return found


def status(value: Object, shape: str) -> Object:
    found = dict(value)
    if "state" in found:
        found["state"] = state(found["state"])
    if found.get("message"):
        found["message"] = message(found["message"], shape)
    return found


def task(value: Object, shape: str) -> Object:
    found = {name: member for name, member in value.items() if name not in ("kind", "sessionId")}
    if "sessionId" in value:
        found["contextId"] = value["sessionId"]
    if isinstance(found.get("status"), dict):
        found["status"] = status(found["status"], shape)
    if "artifacts" in found:
        found["artifacts"] = [artifact(each, shape) for each in found["artifacts"]]
    if "history" in found:
        found["history"] = [message(each, shape) for each in found["history"]]
    return found


def status_update(value: Object, shape: str) -> Object:
    """``final`` stays, though 1.0 does not have it: it is for the writer to leave it out."""
    return task(value, shape)


def artifact_update(value: Object, shape: str) -> Object:
    found = {name: member for name, member in value.items() if name != "kind"}
    found["artifact"] = artifact(found["artifact"], shape)
    return found


READERS: dict[str, Callable[[Object, str], Object]] = {
    "task": task,
    "message": message,
    "status-update": status_update,
    "artifact-update": artifact_update,
}


def told(value: Object, shape: str) -> tuple[str, Object, bool]:
    """What a result, an event or a delivery is, as an object of 1.0, and whether it came without what tells it."""
    kind = value.get("kind")
    if kind in READERS:
        return kind, READERS[kind](value, shape), False
    for kind, member in MEMBERS.items():
        if isinstance(value.get(member), dict) and "status" not in value:
            return kind, READERS[kind](value[member], shape), False
    kind = "task" if "status" in value else "message"
    return kind, READERS[kind](value, shape), True
