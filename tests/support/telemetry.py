# SPDX-License-Identifier: Apache-2.0
"""OpenTelemetry in memory: real providers, handed to ``instrument()`` explicitly, so that no global is ever set."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs import export as logs
from opentelemetry.sdk.metrics import ExemplarFilter, MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Sampler

from otel_a2a import A2AInstrumentor, semconv

# Its name before SDK 1.39 was InMemoryLogExporter.
InMemoryLogs: Any = getattr(logs, "InMemoryLogRecordExporter", None) or logs.InMemoryLogExporter


class Telemetry:
    """Three providers and what they exported."""

    def __init__(self, sampler: Sampler | None = None, exemplar_filter: ExemplarFilter | None = None) -> None:
        self._spans = InMemorySpanExporter()
        self.tracer_provider = TracerProvider(sampler=sampler)
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self._reader = InMemoryMetricReader()
        self.meter_provider = MeterProvider([self._reader], exemplar_filter=exemplar_filter)
        self._logs = InMemoryLogs()
        self.logger_provider = LoggerProvider()
        self.logger_provider.add_log_record_processor(logs.SimpleLogRecordProcessor(self._logs))

    @contextmanager
    def instrumented(self, **settings: Any) -> Iterator[A2AInstrumentor]:
        """The process instrumented with these providers, for as long as the block runs."""
        instrumentor = A2AInstrumentor()
        instrumentor.instrument(
            tracer_provider=self.tracer_provider,
            meter_provider=self.meter_provider,
            logger_provider=self.logger_provider,
            **settings,
        )
        try:
            yield instrumentor
        finally:
            instrumentor.uninstrument()

    @property
    def spans(self) -> list[ReadableSpan]:
        """All spans that ended, in that order."""
        return list(self._spans.get_finished_spans())

    def names(self) -> Counter[str]:
        """How many spans of each name there are."""
        return Counter(span.name for span in self.spans)

    def span(self, name: str) -> ReadableSpan:
        """The one span of this name."""
        (found,) = (span for span in self.spans if span.name == name)
        return found

    def ours(self) -> list[ReadableSpan]:
        """The spans of this product."""
        return [
            span
            for span in self.spans
            if span.instrumentation_scope and span.instrumentation_scope.name == semconv.SCOPE
        ]

    def records(self) -> list[Any]:
        """All log records of this product."""
        finished = self._logs.get_finished_logs()
        return [each.log_record for each in finished if each.instrumentation_scope.name == semconv.SCOPE]

    def events(self, name: str = semconv.EVENT_FINDING) -> list[Any]:
        """The log records of the events with this name."""
        return [record for record in self.records() if record.event_name == name]

    def findings(self) -> list[tuple[str, str]]:
        """Rule and level of each finding's event, in order; information is left out."""
        found = [
            (str(event.attributes[semconv.SECURITY_RULE_NAME]), str(event.attributes[semconv.FINDING_LEVEL]))
            for event in self.events()
        ]
        return [(rule, level) for rule, level in found if level != "information"]

    def wait_for_finding(self, rule: str, seconds: float) -> None:
        """Wait until a finding of ``rule`` is there, and its span.

        Raises:
            TimeoutError: it did not come.
        """
        give_up = time.monotonic() + seconds
        while not any(name.endswith(f" {rule}") for name in self.names()):
            if time.monotonic() > give_up:
                raise TimeoutError(f"no finding of {rule} within {seconds} s, only {self.findings()}")
            time.sleep(0.01)

    def metric(self, name: str) -> list[Any]:
        """The data points of a metric, of all attribute sets."""
        return [point for metric in self.metrics() if metric.name == name for point in metric.data.data_points]

    def metrics(self) -> list[Any]:
        """All metrics of this product."""
        data = self._reader.get_metrics_data()
        if data is None:
            return []
        return [
            metric
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            if scope.scope.name == semconv.SCOPE
            for metric in scope.metrics
        ]

    def clear(self) -> None:
        """Forget what was exported so far."""
        self._spans.clear()
        self._logs.clear()
