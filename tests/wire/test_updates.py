# SPDX-License-Identifier: Apache-2.0
"""Tasks, events and messages out of every dialect."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import ArtifactSeen, Channel, Form, MessageSeen, TaskSeen, TaskState
from otel_a2a.wire import updates
from tests.wire.support import started

STAMP = "2026-11-30T01:14:44.5Z"


def task(value: Any, **kwargs: Any) -> TaskSeen:
    call = kwargs.pop("call", started())
    (seen,) = updates.read(value, call, kwargs.pop("channel", Channel.RESPONSE))
    assert isinstance(seen, TaskSeen)
    assert seen.call is call
    return seen


STATUS_1_0 = {"state": "TASK_STATE_WORKING", "timestamp": STAMP, "message": {"messageId": "m"}}
BARE_1_0 = {"id": "t", "contextId": "c", "status": STATUS_1_0}
TASKS = [
    {"task": BARE_1_0},
    BARE_1_0,
    {"kind": "task", "id": "t", "contextId": "c", "status": {**STATUS_1_0, "state": "working"}},
    {"id": "t", "sessionId": "c", "status": {**STATUS_1_0, "state": "working"}, "history": []},
    {"task": {"id": "t", "context_id": "c", "status": {**STATUS_1_0, "state": 2}}},
    {"task": {**BARE_1_0, "metadata": {}, "artifacts": []}},
]


@pytest.mark.parametrize("value", TASKS)
def test_a_task_is_a_snapshot_in_every_dialect(value: Any) -> None:
    """1.0 wrapped and bare, 0.2/0.3 with its kind, 0.1, snake_case with enum numbers, with printed defaults."""
    seen = task(value)
    assert (seen.task_id, seen.context_id, seen.state, seen.form) == ("t", "c", TaskState.WORKING, Form.SNAPSHOT)
    assert (seen.timestamp, seen.final, seen.has_message, seen.artifacts) == (1796001284.5, None, True, ())
    assert seen.status_message_id == "m"


def test_a_message_without_an_id_is_told_by_its_words() -> None:
    """0.1: what two polls show word for word is one message; an event brings a message of its own."""
    status = {"state": "working", "message": {"role": "agent", "parts": [{"type": "text", "text": "busy"}]}}
    other = {"state": "working", "message": {"role": "agent", "parts": [{"type": "text", "text": "nearly done"}]}}
    first, again, later = (
        task({"id": "t", "sessionId": "c", "status": each}).status_message_id for each in (status, status, other)
    )
    assert first and first == again != later
    assert task({"id": "t", "status": status, "final": False}, channel=Channel.STREAM).status_message_id == ""


EVENT_1_0 = {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}
EVENTS = [
    {"statusUpdate": EVENT_1_0},
    {"status_update": {"task_id": "t", "context_id": "c", "status": {"state": 2}}},
    {"statusUpdate": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}},
    {"kind": "status-update", "taskId": "t", "contextId": "c", "status": {"state": "working"}},
    EVENT_1_0,
]


@pytest.mark.parametrize("value", EVENTS)
def test_a_status_event_is_an_update_in_every_dialect(value: Any) -> None:
    """Also with ``id`` in place of ``taskId``, as some agents write it, and without any wrapping."""
    seen = task(value, channel=Channel.STREAM)
    assert (seen.task_id, seen.context_id, seen.state, seen.form) == ("t", "c", TaskState.WORKING, Form.UPDATE)
    assert seen.final is None


@pytest.mark.parametrize("final", [True, False])
def test_final_is_what_the_event_says(final: bool) -> None:
    """0.x writes it; where it is absent nothing is said."""
    value = {"kind": "status-update", "taskId": "t", "status": {"state": "completed"}, "final": final}
    assert task(value).final is final
    assert task({"id": "t", "status": {"state": "completed"}, "final": final}).final is final


def test_a_status_event_of_0_1_is_no_snapshot() -> None:
    """It looks like a Task of which nothing but the status is left."""
    call = started("SendStreamingMessage", version="0.1", task_id="t")
    bare = {"id": "t", "status": {"state": "working"}}
    assert task(bare, call=call, channel=Channel.STREAM).form == Form.UPDATE
    assert task({**bare, "sessionId": "s"}, call=call, channel=Channel.STREAM).form == Form.SNAPSHOT
    assert task(bare, call=call, channel=Channel.RESPONSE).form == Form.SNAPSHOT


ARTIFACT = {"artifactId": "a", "parts": [{"text": "abc"}]}
CHUNKS = [
    {"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": ARTIFACT, "append": True, "lastChunk": True}},
    {"artifact_update": {"task_id": "t", "context_id": "c", "artifact": ARTIFACT, "append": True, "last_chunk": True}},
    {
        "kind": "artifact-update",
        "taskId": "t",
        "contextId": "c",
        "artifact": ARTIFACT,
        "append": True,
        "lastChunk": True,
    },
    {"taskId": "t", "contextId": "c", "artifact": {**ARTIFACT, "append": True, "lastChunk": True}},
]


@pytest.mark.parametrize("value", CHUNKS)
def test_an_artifact_event_reads_the_same_in_every_dialect(value: Any) -> None:
    """The flags of 0.1 are inside the artifact."""
    (seen,) = updates.read(value, None, Channel.STREAM)
    assert isinstance(seen, ArtifactSeen)
    assert (seen.task_id, seen.context_id, seen.append, seen.last_chunk) == ("t", "c", True, True)
    assert (seen.artifact.artifact_id, seen.artifact.length) == ("a", 3)


def test_flags_of_an_artifact_event_are_false_where_absent() -> None:
    """ProtoJSON leaves ``false`` out."""
    (seen,) = updates.read({"artifactUpdate": {"taskId": "t", "artifact": ARTIFACT}}, None, Channel.STREAM)
    assert isinstance(seen, ArtifactSeen) and not seen.append and not seen.last_chunk


def test_artifacts_of_0_1_are_known_by_their_index() -> None:
    """In events and in tasks alike."""
    call = started("SendStreamingMessage", version="0.1", task_id="t")
    (seen,) = updates.read({"id": "t", "artifact": {"parts": [{"text": "x"}]}}, call, Channel.STREAM)
    assert isinstance(seen, ArtifactSeen) and seen.artifact.artifact_id == "0"
    told = task(
        {"id": "t", "sessionId": "s", "status": {"state": "working"}, "artifacts": [{"parts": []}, {"index": 1}]}
    )
    assert [artifact.artifact_id for artifact in told.artifacts] == ["0", "1"]


@pytest.mark.parametrize(
    "value",
    [
        {"message": {"messageId": "m", "taskId": "t", "contextId": "c", "role": "ROLE_AGENT", "parts": []}},
        {"msg": {"messageId": "m", "taskId": "t", "contextId": "c"}},
        {"kind": "message", "messageId": "m", "taskId": "t", "contextId": "c", "role": "agent", "parts": []},
        {"messageId": "m", "taskId": "t", "contextId": "c", "role": "ROLE_AGENT", "content": [{"text": "x"}]},
        {"message": {"message_id": "m", "task_id": "t", "context_id": "c"}},
    ],
)
def test_a_message_is_no_task(value: Any) -> None:
    """It carries no state, whatever ids it has."""
    (seen,) = updates.read(value, None, Channel.RESPONSE)
    assert isinstance(seen, MessageSeen)
    assert (seen.message_id, seen.task_id, seen.context_id) == ("m", "t", "c")


def test_an_event_without_an_id_is_about_the_task_of_its_call() -> None:
    """Where the call named one; otherwise it stays unknown."""
    value = {"statusUpdate": {"status": {"state": "TASK_STATE_WORKING"}}}
    assert task(value, call=started("SubscribeToTask", task_id="t")).task_id == "t"
    assert task(value).task_id == ""


def test_unknown_states_teach_nothing() -> None:
    """The text is kept, a missing status is neither."""
    seen = task({"task": {"id": "t", "status": {"state": "TASK_STATE_RUNNING"}}})
    assert (seen.state, seen.raw_state) == (None, "TASK_STATE_RUNNING")
    seen = task({"task": {"id": "t"}})
    assert (seen.state, seen.raw_state) == (None, "")


def test_a_generation_is_a_number_or_absent() -> None:
    """An int64, which ProtoJSON writes as text; 0 is *not supported*."""
    for written, expected in (("7", 7), (7, 7), ("0", None), (0, None), ("x", None), (None, None)):
        assert task({"task": {**BARE_1_0, "generation": written}}).generation == expected


def test_a_list_gives_listed_tasks() -> None:
    """What a list leaves out is no evidence."""
    value = {"tasks": [BARE_1_0, {"id": ""}, "x", {**BARE_1_0, "id": "u"}], "totalSize": 4}
    seen = updates.read_list(value, started("ListTasks"), Channel.RESPONSE)
    assert [(one.task_id, one.form) for one in seen if isinstance(one, TaskSeen)] == [("t", "listed"), ("u", "listed")]
    assert updates.read_list(["x"], None, Channel.RESPONSE) == []


def test_a_trimmed_task_is_listed() -> None:
    """A call that asks for less than the whole task gets no snapshot."""
    assert task(BARE_1_0, call=started("GetTask", trimmed=True)).form == Form.LISTED


@pytest.mark.parametrize(
    "value", [None, [], "x", 7, {}, {"kind": []}, {"task": []}, {"configs": []}, {"kind": "other"}]
)
def test_what_a2a_does_not_know_gives_nothing(value: Any) -> None:
    """No observation is made up."""
    assert updates.read(value, None, Channel.RESPONSE) == []
