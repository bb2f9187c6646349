# SPDX-License-Identifier: Apache-2.0
"""What an agent tells: tasks, messages, status and artifact events, out of any dialect's JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from otel_a2a.observations import (
    ArtifactSeen,
    CallStarted,
    Channel,
    Form,
    MessageSeen,
    Observation,
    TaskSeen,
)
from otel_a2a.wire import correlation, parts, states
from otel_a2a.wire.reading import field, flag, integer, items, mapping, text

_MEMBERS: Final = {
    "task": "task",
    "message": "message",
    "msg": "message",
    "statusUpdate": "status-update",
    "status_update": "status-update",
    "artifactUpdate": "artifact-update",
    "artifact_update": "artifact-update",
}
"""Members of a 1.0 StreamResponse or SendMessageResponse, and the ``kind`` of 0.x that says the same."""
_KINDS: Final = frozenset(_MEMBERS.values())
_LEAVES_OUT_ALL: Final = ("sessionId", "artifacts", "history", "contextId", "context_id", "kind")


def read(value: Any, call: CallStarted | None, channel: str) -> list[Observation]:
    """Observations of one result, event or delivery; empty where it is nothing that A2A knows."""
    if not isinstance(value, dict):
        return []
    kind = value.get("kind")
    if isinstance(kind, str) and kind in _KINDS:
        return _of_kind(kind, value, call, channel)
    if "status" not in value:
        for member, kind in _MEMBERS.items():
            content = value.get(member)
            if isinstance(content, dict):
                return _of_kind(kind, content, call, channel)
    return _of_kind(_shape(value, call, channel), value, call, channel)


def read_list(value: Any, call: CallStarted | None, channel: str) -> list[Observation]:
    """Observations of a list of tasks. What a list leaves out is no evidence of anything."""
    found = items(value, "tasks") if isinstance(value, dict) else []
    return [_task(task, call, channel, Form.LISTED) for task in found if isinstance(task, dict) and text(task, "id")]


def looks_like_task(value: Any) -> bool:
    """An id, and a status whose state A2A knows: the shape that no other protocol's task has."""
    if not isinstance(value, dict) or not text(value, "id"):
        return False
    return states.normalise(mapping(value, "status").get("state"))[0] is not None


def _of_kind(kind: str, value: dict[str, Any], call: CallStarted | None, channel: str) -> list[Observation]:
    if kind == "status-update":
        return [_task(value, call, channel, Form.UPDATE)]
    if kind == "artifact-update":
        return [_artifact(value, call, channel)]
    if kind == "task":
        form = Form.LISTED if call is not None and call.trimmed else Form.SNAPSHOT
        return [_task(value, call, channel, form)]
    if kind == "message":
        return [_message(value, call, channel)]
    return []


def _shape(value: Mapping[str, Any], call: CallStarted | None, channel: str) -> str:
    """The kind of an object that names none: 0.1, the bare Task of 1.0, and what lenient agents send."""
    if isinstance(value.get("status"), dict):
        if field(value, "taskId") is not None or "final" in value:
            return "status-update"
        # 0.1 writes its status events like a Task of which nothing but the status is left.
        is_event = channel == Channel.STREAM and call is not None and call.protocol_version == "0.1"
        return "status-update" if is_event and not any(key in value for key in _LEAVES_OUT_ALL) else "task"
    if isinstance(value.get("artifact"), dict):
        return "artifact-update"
    if field(value, "messageId") is not None or ("role" in value and parts.held_by(value)):
        return "message"
    return ""


def _task_id(value: Mapping[str, Any], call: CallStarted | None) -> str:
    """Own id, else the id of the task that the call is about."""
    return text(value, "taskId") or text(value, "id") or (call.task_id if call is not None else "")


def _context_id(value: Mapping[str, Any]) -> str:
    return text(value, "contextId") or text(value, "sessionId")


def _task(value: Mapping[str, Any], call: CallStarted | None, channel: str, form: str) -> TaskSeen:
    status = value.get("status")
    if not isinstance(status, dict):
        status = {"state": status}
    state, raw_state = states.normalise(status.get("state"))
    dialect = "0.1" if "sessionId" in value else call.protocol_version if call is not None else ""
    artifacts = () if form == Form.UPDATE else items(value, "artifacts")
    return TaskSeen(
        call=call,
        channel=channel,
        form=form,
        task_id=_task_id(value, call) if form == Form.UPDATE else text(value, "id") or _task_id(value, call),
        context_id=_context_id(value),
        state=state,
        raw_state=raw_state,
        timestamp=states.timestamp(status.get("timestamp")),
        final=flag(value, "final") if form == Form.UPDATE else None,
        artifacts=tuple(parts.artifact_facts(item, dialect) for item in artifacts if isinstance(item, dict)),
        generation=integer(value.get("generation")) or None,
        has_message=bool(status.get("message")),
        status_message_id=_message_id(mapping(status, "message"), form),
        correlation=correlation.of_answer(value, call),
    )


def _message_id(message: Mapping[str, Any], form: str) -> str:
    """Messages of 0.1 have no ids: what two polls show word for word is one message, what two events say is two."""
    return text(message, "messageId") or ("" if form == Form.UPDATE else parts.digest(parts.held_by(message)))


def _artifact(value: Mapping[str, Any], call: CallStarted | None, channel: str) -> ArtifactSeen:
    artifact = mapping(value, "artifact")
    return ArtifactSeen(
        call=call,
        channel=channel,
        task_id=_task_id(value, call),
        context_id=_context_id(value),
        artifact=parts.artifact_facts(artifact, call.protocol_version if call is not None else ""),
        # 0.1 has both flags inside the artifact.
        append=flag(value, "append") or flag(artifact, "append") or False,
        last_chunk=flag(value, "lastChunk") or flag(artifact, "lastChunk") or False,
    )


def _message(value: Mapping[str, Any], call: CallStarted | None, channel: str) -> MessageSeen:
    return MessageSeen(
        call=call,
        channel=channel,
        message_id=text(value, "messageId"),
        task_id=text(value, "taskId"),
        context_id=text(value, "contextId"),
    )
