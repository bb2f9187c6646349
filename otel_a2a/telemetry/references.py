# SPDX-License-Identifier: Apache-2.0
"""Spans as plain numbers, as the ledger remembers them, and back."""

from __future__ import annotations

from opentelemetry.trace import Span, SpanContext, TraceFlags

from otel_a2a.observations import SpanRef


def reference(span: Span) -> SpanRef | None:
    """A span as plain numbers, or None for one without a valid context."""
    context = span.get_span_context()
    return of_context(context) if context.is_valid else None


def of_context(context: SpanContext) -> SpanRef:
    """The same, of a span's context."""
    return SpanRef(context.trace_id, context.span_id, int(context.trace_flags))


def span_context(ref: SpanRef) -> SpanContext:
    """The context of a span that was remembered."""
    return SpanContext(ref.trace_id, ref.span_id, is_remote=False, trace_flags=TraceFlags(ref.trace_flags))
