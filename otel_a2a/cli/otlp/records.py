# SPDX-License-Identifier: Apache-2.0
"""OTLP requests as plain records: protobuf bytes in, spans, log events and metric points out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric


@dataclass(slots=True, frozen=True)
class Link:
    """A link of a span. Ids as lower-case hexadecimal."""

    trace_id: str
    span_id: str
    attributes: dict[str, Any]


@dataclass(slots=True, frozen=True)
class Span:
    """A span as it was exported. Ids as lower-case hexadecimal, ``parent_id`` empty for a root; times in ns."""

    name: str
    scope: str
    kind: int
    trace_id: str
    span_id: str
    parent_id: str
    start: int
    end: int
    attributes: dict[str, Any]
    is_error: bool
    status: str
    links: tuple[Link, ...] = ()


@dataclass(slots=True, frozen=True)
class LogEvent:
    """A log record as it was exported; ``name`` is its event name. Ids as in ``Span``; ``time`` in ns."""

    name: str
    scope: str
    body: Any
    severity: int
    attributes: dict[str, Any]
    trace_id: str
    span_id: str
    time: int


@dataclass(slots=True, frozen=True)
class Point:
    """A number of a metric: a sum's or gauge's value, a histogram's count."""

    name: str
    scope: str
    attributes: dict[str, Any]
    value: float


def spans(body: bytes) -> Iterable[Span]:
    """The spans of an ``ExportTraceServiceRequest``. Raises ``DecodeError`` where it is none."""
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield Span(
                    name=span.name,
                    scope=scope.scope.name,
                    kind=span.kind,
                    trace_id=span.trace_id.hex(),
                    span_id=span.span_id.hex(),
                    parent_id=span.parent_span_id.hex(),
                    start=span.start_time_unix_nano,
                    end=span.end_time_unix_nano,
                    attributes=_attributes(span.attributes),
                    is_error=span.status.code == span.status.STATUS_CODE_ERROR,
                    status=span.status.message,
                    links=tuple(
                        Link(link.trace_id.hex(), link.span_id.hex(), _attributes(link.attributes))
                        for link in span.links
                    ),
                )


def logs(body: bytes) -> Iterable[LogEvent]:
    """The log records of an ``ExportLogsServiceRequest``. Raises ``DecodeError`` where it is none."""
    for resource in ExportLogsServiceRequest.FromString(body).resource_logs:
        for scope in resource.scope_logs:
            for record in scope.log_records:
                yield LogEvent(
                    name=record.event_name,
                    scope=scope.scope.name,
                    body=_value(record.body),
                    severity=record.severity_number,
                    attributes=_attributes(record.attributes),
                    trace_id=record.trace_id.hex(),
                    span_id=record.span_id.hex(),
                    time=record.time_unix_nano or record.observed_time_unix_nano,
                )


def points(body: bytes) -> Iterable[Point]:
    """The numbers of an ``ExportMetricsServiceRequest``. Raises ``DecodeError`` where it is none."""
    for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                for attributes, value in _numbers(metric):
                    yield Point(metric.name, scope.scope.name, _attributes(attributes), value)


def _numbers(metric: Metric) -> Iterable[tuple[Iterable[KeyValue], float]]:
    for number in [*metric.sum.data_points, *metric.gauge.data_points]:
        yield number.attributes, number.as_int if number.HasField("as_int") else number.as_double
    for histogram in metric.histogram.data_points:
        yield histogram.attributes, histogram.count
    for exponential in metric.exponential_histogram.data_points:
        yield exponential.attributes, exponential.count


def _attributes(pairs: Iterable[KeyValue]) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values)
    return None if kind is None else getattr(value, kind)
