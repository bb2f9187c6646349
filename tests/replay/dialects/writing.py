# SPDX-License-Identifier: Apache-2.0
"""Objects of 1.0 in any dialect, as SDKs write them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.replay.dialects.dialect import Dialect, Shape
from tests.replay.dialects.reading import MEMBERS, Object

_STATES = re.compile(
    r"TASK_STATE_(SUBMITTED|WORKING|INPUT_REQUIRED|AUTH_REQUIRED|COMPLETED|FAILED|CANCELED|REJECTED|UNSPECIFIED)\Z"
)
_ENDS = ("COMPLETED", "FAILED", "CANCELED", "REJECTED", "INPUT_REQUIRED", "AUTH_REQUIRED")
_FREE = ("data", "metadata")
"""Members whose content is the application's."""


def state(value: Any, shape: str) -> Any:
    """A state of 1.0; what is none stays as it is."""
    known = _STATES.match(value) if isinstance(value, str) else None
    if known is None or shape == Shape.PROTO_1_0:
        return value
    if shape == Shape.PROTO_0_3:
        return "TASK_STATE_CANCELLED" if known[1] == "CANCELED" else value
    return "unknown" if known[1] == "UNSPECIFIED" else known[1].lower().replace("_", "-")


def part(value: Object, shape: str) -> Object:
    if shape == Shape.PROTO_1_0:
        return value
    proto = shape == Shape.PROTO_0_3
    rest = {name: member for name, member in value.items() if name == "metadata"}
    if "text" in value:
        return _of_kind("text", shape) | {"text": value["text"]} | rest
    if "data" in value:
        return _of_kind("data", shape) | {"data": {"data": value["data"]} if proto else value["data"]} | rest
    names = {"raw": "bytes", "url": "uri", "filename": "name", "mediaType": "mimeType"}
    if proto:
        names |= {"raw": "fileWithBytes", "url": "fileWithUri"}
    file = {name: value[member] for member, name in names.items() if member in value}
    return _of_kind("file", shape) | {"file": file} | rest


def message(value: Object, shape: str) -> Object:
    if shape == Shape.PROTO_1_0:
        return dict(value)
    # The package a2a.v1 has no place for references.
    dropped = ("parts", "referenceTaskIds") if shape == Shape.PROTO_0_3 else ("parts",)
    found = {name: member for name, member in value.items() if name not in dropped}
    if "parts" in value:
        found["content" if shape == Shape.PROTO_0_3 else "parts"] = [part(each, shape) for each in value["parts"]]
    if shape == Shape.KIND and "role" in found:
        found["role"] = {"ROLE_USER": "user", "ROLE_AGENT": "agent"}.get(found["role"], found["role"])
    return _of_kind("message", shape) | found


def artifact(value: Object, shape: str) -> Object:
    return value | ({"parts": [part(each, shape) for each in value["parts"]]} if "parts" in value else {})


def task(value: Object, shape: str) -> Object:
    return _of_kind("task", shape) | _with_status(value, shape)


def _with_status(value: Object, shape: str) -> Object:
    found = dict(value)
    status = found.get("status")
    if isinstance(status, dict):
        found["status"] = dict(status)
        if "state" in status:
            found["status"]["state"] = state(status["state"], shape)
        if status.get("message"):
            found["status"]["message"] = message(status["message"], shape)
    if "artifacts" in found:
        found["artifacts"] = [artifact(each, shape) for each in found["artifacts"]]
    if "history" in found:
        found["history"] = [message(each, shape) for each in found["history"]]
    return found


def status_update(value: Object, shape: str) -> Object:
    """1.0 has no ``final``. 0.3 has to state it: true at an end and at a pause, unless the original says otherwise."""
    found = _with_status(value, shape)
    if shape == Shape.PROTO_1_0:
        found.pop("final", None)
    else:
        said = str(mapping(value, "status").get("state")).removeprefix("TASK_STATE_")
        found.setdefault("final", said in _ENDS)
    return _of_kind("status-update", shape) | found


def artifact_update(value: Object, shape: str) -> Object:
    return _of_kind("artifact-update", shape) | value | {"artifact": artifact(value["artifact"], shape)}


WRITERS: dict[str, Callable[[Object, str], Object]] = {
    "task": task,
    "message": message,
    "status-update": status_update,
    "artifact-update": artifact_update,
}


def told(kind: str, value: Object, dialect: Dialect, *, bare: bool = False, shape: str = "") -> Object:
    """A result, an event or a delivery. ``bare``: without what tells what it is."""
    shape = shape or dialect.shape
    written = WRITERS[kind](value, shape)
    if dialect.sdk != "js" and not dialect.is_1_0:
        written = _stamped_in_python_0_3(written, shape)
    if shape == Shape.KIND:
        return {name: member for name, member in written.items() if name != "kind"} if bare else written
    finished = with_defaults(written) if dialect.sdk == "js" else sparse(written)
    return finished if bare else {MEMBERS[kind]: finished}


def _stamped_in_python_0_3(value: Object, shape: str) -> Object:
    """a2a-sdk 0.3 writes ``+00:00``, and over HTTP+JSON no timestamp at all."""
    status = mapping(value, "status")
    if "timestamp" not in status:
        return value
    rest = {name: member for name, member in status.items() if name != "timestamp"}
    if shape == Shape.KIND:
        rest["timestamp"] = status["timestamp"].replace("Z", "+00:00")
    return value | {"status": rest}


def sparse(value: Any) -> Any:
    """As ProtoJSON is printed in Python: what equals its default is left out, save in what is the application's."""
    if isinstance(value, list):
        return [sparse(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: member if name in _FREE else sparse(member)
        for name, member in value.items()
        if name in _FREE or not (member is None or member is False or member in ("", [], "TASK_STATE_UNSPECIFIED"))
    }


def with_defaults(value: Any) -> Any:
    """As JavaScript prints it: with an empty ``metadata`` wherever there can be one."""
    if isinstance(value, list):
        return [with_defaults(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {name: member if name in _FREE else with_defaults(member) for name, member in value.items()}
    has_metadata = found.keys() & {"parts", "content", "artifact", "status", "text", "url", "raw", "data"}
    return found | {"metadata": {}} if has_metadata and "metadata" not in found else found


def mapping(value: Object, name: str) -> Object:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _of_kind(kind: str, shape: str) -> Object:
    return {"kind": kind} if shape == Shape.KIND else {}
