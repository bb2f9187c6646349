# SPDX-License-Identifier: Apache-2.0
"""The OTLP/HTTP receiver, fed by OpenTelemetry's own SDK and exporters."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Link, StatusCode

from otel_a2a.cli.demo.receiver import Receiver


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


def export_spans(receiver: Receiver, compression: Compression = Compression.NoCompression) -> None:
    provider = TracerProvider()
    exporter = OTLPSpanExporter(f"{receiver.endpoint}/v1/traces", compression=compression)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("scope")
    with tracer.start_as_current_span("parent") as parent:
        parent.set_attributes({"text": "ä", "flag": True, "number": 3, "ratio": 0.5, "list": ["a", "b"]})
        with tracer.start_as_current_span("child", links=[Link(parent.get_span_context(), {"kind": "x"})]) as child:
            child.set_status(StatusCode.ERROR, "broken")
    provider.shutdown()


def test_spans_arrive_with_all_that_they_carry(receiver: Receiver) -> None:
    """Names, ids, attributes, status and links of exported spans are read back."""
    export_spans(receiver)
    parent, child = receiver.spans
    assert (parent.name, parent.scope, parent.parent_id, parent.is_error) == ("parent", "scope", "", False)
    assert parent.attributes == {"text": "ä", "flag": True, "number": 3, "ratio": 0.5, "list": ["a", "b"]}
    assert (child.name, child.parent_id, child.trace_id) == ("child", parent.span_id, parent.trace_id)
    assert (child.is_error, child.status) == (True, "broken")
    assert [(link.span_id, link.attributes) for link in child.links] == [(parent.span_id, {"kind": "x"})]
    assert parent.start <= child.start <= child.end <= parent.end


def test_gzip_is_understood(receiver: Receiver) -> None:
    """An exporter that compresses is read like one that does not."""
    export_spans(receiver, Compression.Gzip)
    assert [span.name for span in receiver.spans] == ["parent", "child"]


def export_log(receiver: Receiver) -> None:
    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(OTLPLogExporter(f"{receiver.endpoint}/v1/logs")))
    record = LogRecord(
        event_name="some.event", body={"a": [1]}, severity_number=SeverityNumber.WARN, attributes={"rule": "r"}
    )
    provider.get_logger("scope").emit(record)
    provider.shutdown()


def test_log_events_arrive_with_their_event_name(receiver: Receiver) -> None:
    """Event name, body, severity and attributes of a log record are read back."""
    export_log(receiver)
    [event] = receiver.logs
    assert (event.name, event.scope, event.body, event.severity) == ("some.event", "scope", {"a": [1]}, 13)
    assert event.attributes == {"rule": "r"}
    assert (event.trace_id, event.span_id) == ("", "")


def test_metric_points_are_the_newest_per_attributes(receiver: Receiver) -> None:
    """A counter exported twice has its last value; a histogram shows its count."""
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(f"{receiver.endpoint}/v1/metrics"), 3_600_000)
    provider = MeterProvider([reader])
    counter = provider.get_meter("scope").create_counter("hits")
    counter.add(1, {"rule": "a"})
    provider.force_flush()
    counter.add(2, {"rule": "a"})
    counter.add(5, {"rule": "b"})
    provider.get_meter("scope").create_histogram("seconds").record(0.5)
    provider.shutdown()
    assert {point.attributes["rule"]: point.value for point in receiver.points("hits")} == {"a": 3, "b": 5}
    assert [point.value for point in receiver.points("seconds")] == [1]


def test_everything_received_is_forwarded_byte_for_byte(receiver: Receiver) -> None:
    """A second backend gets the same requests, in the same encoding."""
    export_spans(receiver, Compression.Gzip)
    with Receiver() as second:
        receiver.forward(second.endpoint + "/", {"x-api-key": "k"})
    assert second.spans == receiver.spans
    assert [(r.signal, r.body, r.headers) for r in second.requests] == [
        (r.signal, r.body, r.headers) for r in receiver.requests
    ]


def test_a_backend_of_traces_alone_gets_those(receiver: Receiver) -> None:
    """It has no place for logs, which is told; a backend that has none for traces is an error."""
    export_log(receiver)
    export_spans(receiver)
    with Receiver(signals=("traces",)) as of_traces:
        assert receiver.forward(of_traces.endpoint) == ["logs"]
    assert of_traces.spans == receiver.spans
    with Receiver(signals=("logs",)) as of_logs, pytest.raises(urllib.error.HTTPError) as refused:
        receiver.forward(of_logs.endpoint)
    refused.value.close()


def test_a_backend_that_is_away_is_an_os_error(receiver: Receiver) -> None:
    """Forwarding to nobody fails with an error of its own kind."""
    export_spans(receiver)
    with Receiver() as away:
        endpoint = away.endpoint
    with pytest.raises(OSError):
        receiver.forward(endpoint)


@pytest.mark.parametrize(("path", "body", "status"), [("/v1/traces", b"\xff\xff", 400), ("/v1/profiles", b"", 404)])
def test_nonsense_is_refused_and_not_kept(receiver: Receiver, path: str, body: bytes, status: int) -> None:
    """A body that is no OTLP request, and a signal that we do not take, are answered with an error."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(receiver.endpoint + path, body, method="POST"), timeout=10)
    refused.value.close()
    assert refused.value.code == status
    assert receiver.requests == []


def test_waiting_ends_with_the_condition_or_with_the_time(receiver: Receiver) -> None:
    """``wait_for`` tells whether what it waited for came."""
    assert not receiver.wait_for(lambda got: bool(got.spans), timeout=0.01)
    export_spans(receiver)
    assert receiver.wait_for(lambda got: len(got.spans) == 2)
