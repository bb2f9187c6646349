# SPDX-License-Identifier: Apache-2.0
"""Recorded spans are read as they were, from OTLP as JSON and from the JSON of Jaeger's API."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from otel_a2a.replay.script import ScriptError
from otel_a2a.replay.spans import RecordedSpan, read

TRACES = Path(__file__).parents[2] / "examples" / "replay" / "traces"
PATH = Path("spans.json")
SPAN = {
    "name": "GetTask",
    "traceId": "0A" * 16,
    "spanId": "0b" * 8,
    "kind": 3,
    "startTimeUnixNano": "1000",
    "endTimeUnixNano": "2000",
    "attributes": [
        {"key": "a2a.task.id", "value": {"stringValue": "t-1"}},
        {"key": "server.port", "value": {"intValue": "80"}},
        {"key": "list", "value": {"arrayValue": {"values": [{"stringValue": "x"}]}}},
    ],
    "links": [{"traceId": "0a" * 16, "spanId": "0C" * 8}],
}


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def jaeger(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"data": [{"traceID": "t", "spans": list(spans), "processes": {}}]}


def bytes_of(document: Any) -> bytes:
    return json.dumps(document).encode()


def test_a_span_of_otlp_is_read() -> None:
    """Ids in lower case, numbers as numbers, links by the id of their span."""
    (span,) = read(PATH, bytes_of(otlp(SPAN))) or []
    assert span == RecordedSpan(
        name="GetTask",
        trace_id="0a" * 16,
        span_id="0b" * 8,
        start=1000,
        end=2000,
        attributes={"a2a.task.id": "t-1", "server.port": 80, "list": ["x"]},
        is_call=True,
        links=("0c" * 8,),
    )


def test_a_span_of_jaeger_is_read() -> None:
    """Microseconds become nanoseconds, the kind is a tag, and links are the references that follow."""
    span = {
        "traceID": "0a" * 16,
        "spanID": "0b" * 8,
        "operationName": "GetTask",
        "startTime": 5,
        "duration": 2,
        "references": [
            {"refType": "CHILD_OF", "traceID": "t", "spanID": "parent"},
            {"refType": "FOLLOWS_FROM", "traceID": "t", "spanID": "origin"},
        ],
        "tags": [
            {"key": "span.kind", "type": "string", "value": "client"},
            {"key": "server.port", "type": "int64", "value": 80},
        ],
    }
    (found,) = read(PATH, bytes_of(jaeger(span))) or []
    assert (found.name, found.start, found.end, found.is_call) == ("GetTask", 5_000, 7_000, True)
    assert (found.attributes["server.port"], found.links) == (80, ("origin",))


def test_ids_in_base64_are_the_same_ids() -> None:
    """Writers that know protobuf and not OTLP have every field of bytes in Base64."""

    def base64_of(identifier: str) -> str:
        return base64.b64encode(bytes.fromhex(identifier)).decode()

    links = [{"traceId": base64_of("0a" * 16), "spanId": base64_of("0c" * 8)}]
    ids = {"traceId": base64_of("0a" * 16), "spanId": base64_of("0b" * 8), "parentSpanId": "", "links": links}
    assert read(PATH, bytes_of(otlp(SPAN | ids))) == read(PATH, bytes_of(otlp(SPAN)))
    with pytest.raises(ScriptError, match="'no id' is no id of a span"):
        read(PATH, bytes_of(otlp(SPAN | {"spanId": "no id"})))


def test_what_is_null_is_empty() -> None:
    """Some writers name a list that they do not have."""
    (span,) = read(PATH, bytes_of(otlp(SPAN | {"attributes": None, "links": None, "parentSpanId": None}))) or []
    assert (span.attributes, span.links, span.parent) == ({}, (), "")


@pytest.mark.parametrize("kind", [2, 4, 5, "SPAN_KIND_SERVER"])
def test_spans_of_the_other_side_are_no_calls(kind: Any) -> None:
    """An agent's own span tells of the same call, and would make two of it."""
    (span,) = read(PATH, bytes_of(otlp(SPAN | {"kind": kind}))) or []
    assert not span.is_call


def test_parent_and_process_are_read() -> None:
    """A process is what its resource says of it; one that says nothing is the same for all."""
    resource = {"attributes": [{"key": "service.instance.id", "value": {"stringValue": "one"}}]}
    document = otlp(SPAN | {"parentSpanId": "0D" * 8})
    document["resourceSpans"][0]["resource"] = resource
    (span,) = read(PATH, bytes_of(document)) or []
    assert (span.parent, span.process) == ("0d" * 8, "service.instance.id=one")
    of_jaeger = {
        "traceID": "t",
        "spanID": "s",
        "operationName": "GetTask",
        "startTime": 5,
        "duration": 2,
        "processID": "p1",
        "references": [{"refType": "CHILD_OF", "traceID": "t", "spanID": "0D"}],
    }
    document = jaeger(of_jaeger)
    tags = [{"key": "service.instance.id", "type": "string", "value": "two"}]
    document["data"][0]["processes"] = {"p1": {"serviceName": "checkout", "tags": tags}}
    (span,) = read(PATH, bytes_of(document)) or []
    assert (span.parent, span.process) == ("0d", "service.name=checkout service.instance.id=two")


def test_requests_may_stand_in_lines() -> None:
    """As the collector's file exporter writes them, with metrics and logs in between and blank lines."""
    lines = [otlp(SPAN), {"resourceMetrics": []}, {"resourceLogs": []}, otlp(SPAN, SPAN)]
    content = b"\n\n".join(map(bytes_of, lines))
    assert len(read(PATH, content) or []) == 3


@pytest.mark.parametrize(
    "content", [b"", b"no json", b"[]", b"{}", b'{"exchanges": []}', b'{"data": 1}', b'{"data": [1]}', b"1\n2"]
)
def test_other_files_hold_no_spans(content: bytes) -> None:
    """They are for others to read."""
    assert read(PATH, content) is None


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (bytes_of(otlp({"name": "x"})), "traceId"),
        (bytes_of(otlp(SPAN | {"startTimeUnixNano": "soon"})), "soon"),
        (bytes_of(jaeger({"operationName": "x"})), "spanID|startTime"),
        (bytes_of(otlp(SPAN)) + b"\n{", "line 2 is not JSON"),
        (b'{"resourceSpans": [1]}', "cannot be read"),
    ],
)
def test_a_broken_file_of_spans_is_named(content: bytes, told: str) -> None:
    """The message says which file and what is wrong with it."""
    with pytest.raises(ScriptError, match=told) as caught:
        read(PATH, content)
    assert str(caught.value).startswith("spans.json")


@pytest.mark.parametrize("name", ["redeployed-agent.otlp.jsonl", "redeployed-agent.jaeger.json"])
def test_what_real_backends_gave_is_read(name: str) -> None:
    """The demo, as it was exported by OpenTelemetry's SDK and as a real Jaeger gave it back."""
    spans = read(TRACES / name, (TRACES / name).read_bytes()) or []
    assert [span.name for span in spans if span.name in ("GetTask", "SendMessage")] == ["GetTask", "SendMessage"]
