# SPDX-License-Identifier: Apache-2.0
"""What the world of the engine's tests knows, in the words of A2A 1.0: the way back from observations to objects.

There, a digest is made of the text that it stands for, so that there is a text to write.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from datetime import datetime, timezone

from otel_a2a.observations import (
    ArtifactFacts,
    ArtifactSeen,
    CallStarted,
    CardFacts,
    CardFetched,
    Form,
    MessageSeen,
    Method,
    Observation,
    PushBinding,
    SentMessage,
    TaskSeen,
)
from otel_a2a.wire.parts import artifact_facts
from tests.replay.dialects import Dialect, cards
from tests.replay.dialects.answers import Told
from tests.replay.dialects.reading import Object


def params(call: CallStarted) -> Object:
    """The parameters of a call over JSON-RPC."""
    tenant = _stated(tenant=call.tenant)
    if call.message is not None:
        configuration = {"taskPushNotificationConfig": _hook(call.push)} if call.push else {}
        return {"message": _message(call, call.message), **_stated(configuration=configuration), **tenant}
    if call.method == Method.CREATE_PUSH_CONFIG and call.push is not None:
        return {"taskId": call.task_id, **_hook(call.push), **tenant}
    return _stated(id=call.task_id) | tenant


def told(seen: TaskSeen | ArtifactSeen | MessageSeen) -> Told:
    """What an agent tells in an answer, a stream or a delivery."""
    context = _stated(contextId=seen.context_id)
    if isinstance(seen, MessageSeen):
        members = {"messageId": seen.message_id, "role": "ROLE_AGENT", "parts": [{"text": "hello"}]}
        return Told("message", members | context)
    if isinstance(seen, ArtifactSeen):
        flags = {"append": seen.append, "lastChunk": seen.last_chunk}
        chunk = {"taskId": seen.task_id, **context, "artifact": _artifact(seen.artifact), **flags}
        return Told("artifact-update", chunk)
    if seen.form == Form.UPDATE:
        final = {} if seen.final is None else {"final": seen.final}
        return Told("status-update", {"taskId": seen.task_id, **context, "status": _status(seen), **final})
    artifacts = [_artifact(each) for each in seen.artifacts]
    task = {"id": seen.task_id, **context, "status": _status(seen), "artifacts": artifacts}
    if seen.form == Form.LISTED:
        return Told("ListTasks", {"tasks": [task], "nextPageToken": "", "pageSize": 50, "totalSize": 1})
    return Told("task", task)


def card_answer(fetched: CardFetched, dialect: Dialect) -> Object:
    """The whole answer to a card's fetch."""
    max_age = {} if fetched.max_age is None else {"cache-control": f"max-age={int(fetched.max_age)}"}
    headers = {"age": str(int(fetched.age)), **max_age}
    if fetched.confirmed:
        return {"status": 304, "headers": headers}
    assert fetched.card is not None
    return {"status": 200, "headers": headers, "body": cards.translated(_card(fetched.card), dialect)}


def measured(seen: Observation) -> Observation:
    """The same with artifacts measured as on the wire, so that what is said and what is not agree."""
    if isinstance(seen, ArtifactSeen):
        return replace(seen, artifact=artifact_facts(_artifact(seen.artifact)))
    if isinstance(seen, TaskSeen):
        return replace(seen, artifacts=tuple(artifact_facts(_artifact(each)) for each in seen.artifacts))
    return seen


def _stated(**members: object) -> Object:
    return {name: value for name, value in members.items() if value}


def _content(digest: str) -> str:
    return digest.removeprefix("digest(").removesuffix(")")


def _hook(push: PushBinding) -> Object:
    return {"url": f"https://hooks.example/{_content(push.url).replace(' ', '-')}"}


def _message(call: CallStarted, sent: SentMessage) -> Object:
    text = _content(sent.parts)
    parts: list[Object] = [{"text": text}] if text else []
    if sent.media_types:
        raw = b64encode(text.encode()).decode()
        parts = [{"raw": raw, "mediaType": media_type, "filename": "file"} for media_type in sent.media_types]
    places = _stated(taskId=call.task_id, contextId=call.context_id, referenceTaskIds=list(sent.reference_task_ids))
    return {"messageId": sent.message_id, "role": "ROLE_USER", "parts": parts, **places}


def _status(seen: TaskSeen) -> Object:
    status: Object = {"state": seen.state or seen.raw_state}
    if seen.timestamp is not None:
        moment = datetime.fromtimestamp(seen.timestamp, timezone.utc)
        status["timestamp"] = moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
    return status


def _artifact(facts: ArtifactFacts) -> Object:
    return {"artifactId": facts.artifact_id, "parts": [{"text": _content(facts.digest)}]}


def _card(facts: CardFacts) -> Object:
    flags = {"streaming": facts.streaming, "pushNotifications": facts.push_notifications}
    return {
        "name": facts.name,
        "description": "made for a test",
        "version": facts.version,
        "supportedInterfaces": [
            {"url": each.url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"} for each in facts.interfaces
        ],
        "capabilities": {name: value for name, value in flags.items() if value is not None},
        "defaultInputModes": sorted(facts.input_modes),
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": each, "name": each, "description": each, "tags": [each]} for each in sorted(facts.skills)],
    }
