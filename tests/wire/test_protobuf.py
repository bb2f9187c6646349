# SPDX-License-Identifier: Apache-2.0
"""Messages as documents, and what stands in for one that cannot be read."""

from __future__ import annotations

import json

import pytest
from a2a.types import a2a_pb2
from google.protobuf import any_pb2, struct_pb2

from otel_a2a.wire import protobuf
from otel_a2a.wire.reading import UNREADABLE


def test_a_message_is_what_its_json_says() -> None:
    """Names in camelCase, enums by name, bytes as base64, defaults left out."""
    task = a2a_pb2.Task(id="t", context_id="c", status=a2a_pb2.TaskStatus(state=a2a_pb2.TASK_STATE_WORKING))
    task.artifacts.add(artifact_id="a").parts.add(raw=b"\0")
    document = protobuf.document(task, 1000)
    assert document == {
        "id": "t",
        "contextId": "c",
        "status": {"state": "TASK_STATE_WORKING"},
        "artifacts": [{"artifactId": "a", "parts": [{"raw": "AA=="}]}],
    }
    assert json.loads(json.dumps(document)) == document


def test_the_limit_is_of_the_message_on_the_wire() -> None:
    """As many bytes are read, and one more are not."""
    task = a2a_pb2.Task(id="t")
    assert protobuf.document(task, task.ByteSize()) == {"id": "t"}
    assert protobuf.document(task, task.ByteSize() - 1) is UNREADABLE


@pytest.mark.parametrize("message", [None, b"", "text", 7, {"id": "t"}, object()])
def test_what_is_no_message(message: object) -> None:
    """It never raises."""
    assert protobuf.document(message, 1000) is UNREADABLE


def test_a_message_without_a_json_form() -> None:
    """JSON has no NaN, and knows only the types that are here."""
    data = struct_pb2.Value(number_value=float("nan"))
    assert protobuf.document(data, 1000) is UNREADABLE
    unknown = any_pb2.Any(type_url="type.googleapis.com/no.such.Type", value=b"\x08\x01")
    assert protobuf.document(unknown, 1000) is UNREADABLE


@pytest.mark.parametrize("status", [b"", b"\xff", b"no status"])
def test_details_that_are_none(status: bytes) -> None:
    """Bytes of anybody give nothing, and no exception."""
    assert protobuf.error_infos(status) == []
