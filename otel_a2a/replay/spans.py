# SPDX-License-Identifier: Apache-2.0
"""Recorded spans, read out of what backends and collectors write: OTLP as JSON, and the JSON of Jaeger's API.

OTLP: one export request as a document, or one per line, as the collector's file exporter writes them. Jaeger: what
``/api/traces`` answers, or its "JSON" button saves.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from otel_a2a.replay.script import ScriptError

_NOT_STATED: Final = (None, "", 0, "SPAN_KIND_UNSPECIFIED")
_CLIENT_OR_INTERNAL: Final = (1, 3, "SPAN_KIND_INTERNAL", "SPAN_KIND_CLIENT", "internal", "client", *_NOT_STATED)
"""Kinds of A2A spans; one that is not stated may be any."""
_HEXADECIMAL: Final = (0, 16, 32)
"""Lengths of ids in hexadecimal; in Base64 they have 12 and 24 letters."""
_OF_THE_PROCESS: Final = (
    "service.namespace",
    "service.name",
    "service.instance.id",
    "k8s.pod.uid",
    "container.id",
    "host.name",
    "process.pid",
)


@dataclass(slots=True, frozen=True)
class RecordedSpan:
    """A span as it was recorded. Ids as lower-case hexadecimal; times in nanoseconds since the epoch."""

    name: str
    trace_id: str
    span_id: str
    start: int
    end: int
    attributes: Mapping[str, Any]
    is_call: bool
    """Of kind client or internal: an agent's own spans (server) tell of the other side."""
    links: tuple[str, ...] = ()
    """Ids of the spans that it links to."""
    parent: str = ""
    process: str = ""
    """What its resource says of the process that it was made in; order is only certain within one."""


def read(path: Path, content: bytes) -> list[RecordedSpan] | None:
    """The spans in a file; None where it holds something else.

    Raises:
        ScriptError: it holds spans that cannot be read.
    """
    documents = _documents(path, content)
    if documents is None:
        return None
    try:
        return [span for document in documents for span in _spans(document)]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ScriptError(path, f"holds a span that cannot be read: {type(error).__name__}: {error}") from None


def _documents(path: Path, content: bytes) -> list[Any] | None:
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError):
        return _lines(path, content)
    return [whole] if _holds_spans(whole) else None


def _lines(path: Path, content: bytes) -> list[Any] | None:
    lines = [(number, line) for number, line in enumerate(content.splitlines(), 1) if line.strip()]
    documents: list[Any] = []
    for number, line in lines:
        try:
            document = json.loads(line)
        except (ValueError, RecursionError) as error:
            if documents:
                raise ScriptError(path, f"line {number} is not JSON: {error}") from None
            return None
        # Collectors write metrics and logs to such a file, too.
        if isinstance(document, dict) and ("resourceMetrics" in document or "resourceLogs" in document):
            continue
        if not _holds_spans(document):
            return None
        documents.append(document)
    return documents or None


def _holds_spans(document: Any) -> bool:
    if not isinstance(document, dict):
        return False
    if isinstance(document.get("resourceSpans"), list):
        return True
    data = document.get("data")
    return isinstance(data, list) and all(isinstance(each, dict) and "spans" in each for each in data)


def _spans(document: dict[str, Any]) -> Iterator[RecordedSpan]:
    for resource in document.get("resourceSpans") or ():
        process = _process(_otlp_attributes(resource.get("resource") or {}))
        for scope in resource.get("scopeSpans") or ():
            yield from (_of_otlp(span, process) for span in scope.get("spans") or ())
    for trace in document.get("data") or ():
        held: dict[str, Any] = trace.get("processes") or {}
        processes = {key: _process(_jaeger_attributes(each) | _service(each)) for key, each in held.items()}
        yield from (_of_jaeger(span, processes.get(span.get("processID"), "")) for span in trace["spans"])


def _process(resource: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={resource[name]}" for name in _OF_THE_PROCESS if name in resource)


def _service(process: Mapping[str, Any]) -> dict[str, Any]:
    return {"service.name": process["serviceName"]} if "serviceName" in process else {}


def _otlp_attributes(holder: Mapping[str, Any]) -> dict[str, Any]:
    return {pair["key"]: _otlp_value(pair.get("value", {})) for pair in holder.get("attributes") or ()}


def _jaeger_attributes(holder: Mapping[str, Any]) -> dict[str, Any]:
    return {tag["key"]: tag["value"] for tag in holder.get("tags") or ()}


def _of_otlp(span: dict[str, Any], process: str) -> RecordedSpan:
    return RecordedSpan(
        name=span["name"],
        trace_id=_id(span["traceId"]),
        span_id=_id(span["spanId"]),
        start=int(span["startTimeUnixNano"]),
        end=int(span["endTimeUnixNano"]),
        attributes=_otlp_attributes(span),
        is_call=span.get("kind") in _CLIENT_OR_INTERNAL,
        links=tuple(_id(link["spanId"]) for link in span.get("links") or ()),
        parent=_id(span.get("parentSpanId") or ""),
        process=process,
    )


def _id(text: str) -> str:
    """OTLP has ids in hexadecimal; what knows protobuf alone writes them in Base64, which holds other lengths."""
    if len(text) in _HEXADECIMAL:
        return text.lower()
    try:
        return base64.b64decode(text, validate=True).hex()
    except ValueError:
        raise ValueError(f"{text[:40]!r} is no id of a span") from None


def _otlp_value(value: dict[str, Any]) -> Any:
    if "intValue" in value:
        return int(value["intValue"])
    if "arrayValue" in value:
        return [_otlp_value(each) for each in value["arrayValue"].get("values", ())]
    return next((value[kind] for kind in ("stringValue", "boolValue", "doubleValue") if kind in value), None)


def _of_jaeger(span: dict[str, Any], process: str) -> RecordedSpan:
    attributes = _jaeger_attributes(span)
    start = int(span["startTime"]) * 1_000
    return RecordedSpan(
        name=span["operationName"],
        trace_id=span["traceID"].lower(),
        span_id=span["spanID"].lower(),
        start=start,
        end=start + int(span["duration"]) * 1_000,
        attributes=attributes,
        is_call=attributes.get("span.kind", "") in _CLIENT_OR_INTERNAL,
        links=tuple(_references(span, "FOLLOWS_FROM")),
        parent=next(_references(span, "CHILD_OF"), ""),
        process=process,
    )


def _references(span: dict[str, Any], kind: str) -> Iterator[str]:
    return (each["spanID"].lower() for each in span.get("references") or () if each.get("refType") == kind)


def by_id(spans: Iterable[RecordedSpan]) -> dict[str, RecordedSpan]:
    """The spans by their id."""
    return {span.span_id: span for span in spans}
