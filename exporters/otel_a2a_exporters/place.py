# SPDX-License-Identifier: Apache-2.0
"""Where in a trace a finding belongs."""

from __future__ import annotations

from opentelemetry.context import Context
from opentelemetry.trace import set_span_in_context

from otel_a2a.engine.findings import Finding
from otel_a2a.observations import SpanRef
from otel_a2a.telemetry.states import remembered_span


def context_of(finding: Finding, context: Context | None) -> Context | None:
    """The context given by who observed; else that of the span the finding names, which may have ended long ago.

    A deadline is judged while something else is going on: the span that is current then has nothing to do with it.
    """
    if context is not None:
        return context
    if not finding.span_id:
        return Context()
    return set_span_in_context(
        remembered_span(SpanRef(finding.trace_id, finding.span_id, finding.trace_flags)), Context()
    )
