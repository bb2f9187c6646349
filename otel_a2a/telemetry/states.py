# SPDX-License-Identifier: Apache-2.0
"""The time that a task spent in a state, as a span; and, where asked for, each transition as a log event.

One span per state left, never one per chunk: its parent is the call that created the task, so a task's life is one tree
however many traces its polls are in.
"""

from __future__ import annotations

from opentelemetry.trace import NonRecordingSpan, SpanKind, Tracer, set_span_in_context

from otel_a2a import semconv
from otel_a2a.engine.apply import Transition
from otel_a2a.observations import TERMINAL, SpanRef
from otel_a2a.telemetry.events import INFORMATION, EventLogger
from otel_a2a.telemetry.metrics import A2AMetrics
from otel_a2a.telemetry.references import span_context


class StateTelemetry:
    """Writes what a transition means: a time-in-state span, a task's duration, an event."""

    def __init__(
        self, tracer: Tracer, metrics: A2AMetrics, events: EventLogger, *, spans: bool, transition_events: bool
    ) -> None:
        self._tracer = tracer
        self._metrics = metrics
        self._events = events
        self._spans = spans
        self._transition_events = transition_events

    def record(self, transition: Transition) -> None:
        """A task left ``transition.previous`` for ``transition.state``."""
        if self._spans and transition.previous and transition.previous not in TERMINAL:
            self._write_span(transition)
        if transition.state in TERMINAL and transition.previous not in TERMINAL:
            seconds = max(0.0, (transition.at_ns - transition.created_ns) / 1e9)
            self._metrics.task(transition.state, transition.server_address, seconds)
        if self._transition_events:
            self._write_event(transition)

    def _write_span(self, transition: Transition) -> None:
        attributes = _attributes(transition, transition.previous)
        if transition.context_id:
            attributes[semconv.GEN_AI_CONVERSATION_ID] = transition.context_id
        if transition.task_card_revision:
            attributes[semconv.TASK_CARD_REVISION_ID] = transition.task_card_revision
        span = self._tracer.start_span(
            semconv.SPAN_STATE_PREFIX + transition.previous,
            context=set_span_in_context(remembered_span(transition.origin)) if transition.origin else None,
            kind=SpanKind.INTERNAL,
            attributes=attributes,
            start_time=transition.previous_since_ns,
        )
        span.end(transition.at_ns)

    def _write_event(self, transition: Transition) -> None:
        attributes = _attributes(transition, transition.state)
        if transition.previous:
            attributes[semconv.TASK_PREVIOUS_STATE] = transition.previous
        self._events.emit(
            semconv.EVENT_TRANSITION,
            INFORMATION,
            f"task {transition.task_id} is {transition.state}",
            attributes,
            time_ns=transition.at_ns,
        )


def _attributes(transition: Transition, state: str) -> dict[str, str]:
    return {
        semconv.A2A_TASK_ID: transition.task_id,
        semconv.A2A_TASK_STATE: state,
        semconv.SERVER_ADDRESS: transition.server_address,
        semconv.TASK_STATE_SOURCE: transition.channel,
    }


def remembered_span(ref: SpanRef) -> NonRecordingSpan:
    """A span that ended long ago, as a parent for another."""
    return NonRecordingSpan(span_context(ref))
