# SPDX-License-Identifier: Apache-2.0
"""The second feed: judges A2A spans that others make, where no wrapper of ours saw the call.

Add it by hand to a provider whose A2A spans come from elsewhere (a gateway's exporter, a framework's own
instrumentation)::

    provider.add_span_processor(PolicySpanProcessor())

It judges ended spans that are named and attributed by the A2A conventions, never raises, and enforces nothing: a span
that has ended cannot be stopped, and an unsampled one never gets here.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import Any

from opentelemetry.context import Context, set_value
from opentelemetry.sdk.trace import ConcurrentMultiSpanProcessor, ReadableSpan, Span, SpanProcessor
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, TracerProvider, set_span_in_context

from otel_a2a import semconv
from otel_a2a.engine import current
from otel_a2a.engine.engine import Engine
from otel_a2a.telemetry.coverage import coverage
from otel_a2a.telemetry.references import of_context
from otel_a2a.telemetry.told import JUDGED, answer_of, call_of
from otel_a2a_exporters.spans import NO_SPAN

_logger = logging.getLogger("otel_a2a")

_KINDS = (SpanKind.CLIENT, SpanKind.INTERNAL)
MAX_LIVE = 10_000


@dataclass(slots=True)
class _Live:
    """A foreign A2A span that has started: its place in the order of things, and whether its end may start a span."""

    seq: int
    engine: Engine
    may_write: bool
    task_id: str
    """The task that the request named. What is set later may be the task that the answer created."""


class PolicySpanProcessor(SpanProcessor):
    """Judges the A2A spans of others with an engine.

    Args:
        tracer_provider: where findings' spans go if this processor has to make an engine of its own.
        engine: the engine to use; by default the one of this process, or a new one with the settings of the
            environment.
    """

    def __init__(self, tracer_provider: TracerProvider | None = None, engine: Engine | None = None) -> None:
        self.enabled = True
        self._engine = engine
        self._tracer_provider = tracer_provider
        self._own_engine: Engine | None = None
        self._live: dict[int, _Live] = {}

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Note a foreign A2A span, or a span beneath one."""
        if not self.enabled:
            return
        try:
            self._started(span)
        except Exception:
            _logger.debug("a span could not be noted", exc_info=True)

    def _started(self, span: Span) -> None:
        context = span.get_span_context()
        is_a2a = span.name in JUDGED and span.kind in _KINDS and not _is_ours(span)
        coverage.started(context.span_id, span.parent.span_id if span.parent else 0, is_a2a=is_a2a)
        if is_a2a and len(self._live) < MAX_LIVE:
            engine = self._find_engine()
            # Under this multi-processor the end waits for a pool of threads, and a span started there would wait for it
            # too.
            waits = isinstance(getattr(span, "_span_processor", None), ConcurrentMultiSpanProcessor)
            named = str((span.attributes or {}).get(semconv.A2A_TASK_ID, ""))
            self._live[context.span_id] = _Live(engine.tick(), engine, not waits, named)

    def on_end(self, span: ReadableSpan) -> None:
        """Judge a foreign A2A span that no wrapper of ours covered."""
        if not self.enabled:
            return
        try:
            context = span.get_span_context()
            if context is None:
                return
            covered = coverage.ended(context.span_id)
            if span.name not in JUDGED:
                return
            live = self._live.pop(context.span_id, None)
            if live is not None and not covered and span.attributes:
                self._judge(span, context, live)
        except Exception:
            _logger.debug("a span could not be judged", exc_info=True)

    def _judge(self, span: ReadableSpan, context: SpanContext, live: _Live) -> None:
        attributes: dict[str, Any] = dict(span.attributes or {})
        if attributes.get(semconv.A2A_METHOD_NAME) != span.name:
            return
        where = set_span_in_context(NonRecordingSpan(context))
        if not live.may_write:
            where = set_value(NO_SPAN, True, where)
        call = call_of(span.name, attributes, of_context(context))
        call.endpoint = _agent(live.engine, call.endpoint, attributes)
        call.is_traced = span.parent is not None
        call.task_id = live.task_id
        call.seq = live.seq
        live.engine.observe(call, where, enforce=False)
        for seen in answer_of(call, attributes):
            live.engine.observe(seen, where, enforce=False)

    def _find_engine(self) -> Engine:
        engine = self._engine or current() or self._own_engine
        if engine is None:
            from otel_a2a.runtime import build
            from otel_a2a.sources import effective

            settings = effective(os.environ).settings
            engine = self._own_engine = build(settings, tracer_provider=self._tracer_provider).engine
        return engine

    def shutdown(self) -> None:
        """Judge nothing more."""
        self.enabled = False

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Nothing is held back here."""
        return True


def _agent(engine: Engine, host: str, attributes: dict[str, Any]) -> str:
    """A name for the agent that a span is about. A gateway has many agents at one host; and who makes a span may know
    an agent's name sometimes only, so that a task stays where it was first seen."""
    name = str(attributes.get(semconv.GEN_AI_AGENT_NAME, ""))
    seen_at = engine.endpoint_of(str(attributes.get(semconv.A2A_TASK_ID, "")))
    if seen_at == host or (not name and seen_at.startswith(f"{host} ")):
        return seen_at
    return f"{host} {name}".strip()


def _is_ours(span: Span) -> bool:
    scope = span.instrumentation_scope
    return scope is not None and scope.name == semconv.SCOPE
