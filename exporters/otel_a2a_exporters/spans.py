# SPDX-License-Identifier: Apache-2.0
"""One child span per finding: what Jaeger and Grafana show, search and colour."""

from __future__ import annotations

from typing import Any, Final

from opentelemetry.context import create_key, get_value
from opentelemetry.trace import Link, SpanKind, Status, StatusCode, Tracer

from otel_a2a import semconv
from otel_a2a.engine.findings import Finding, Level
from otel_a2a.telemetry.calls import link
from otel_a2a_exporters.attributes import finding_attributes
from otel_a2a_exporters.place import context_of

NO_SPAN: Final = create_key("otel_a2a_no_span")
"""Set in a context in which no span may be started: inside ``on_end`` of a processor that others wait for."""


class SpanExporter:
    """Writes ``violation {rule}`` and ``improvement {rule}`` spans; none for information.

    The span is a child of the one in which the finding was made, also where that has already ended. INTERNAL, because a
    CLIENT span would show a remote that does not exist in service graphs. What happened before is a click away: links
    lead to the call that made the task, and to the fetch that brought the card which the finding is about.
    """

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def export(self, finding: Finding, context: Any) -> None:
        """Write the span, at the finding's time and as short as can be: Jaeger warns of one without any duration."""
        if finding.level is Level.INFORMATION or (context is not None and get_value(NO_SPAN, context)):
            return
        span = self._tracer.start_span(
            f"{finding.level.value} {finding.rule}",
            context=context_of(finding, context),
            kind=SpanKind.INTERNAL,
            attributes=finding_attributes(finding),
            links=_links(finding),
            start_time=finding.time_unix_nano,
        )
        if finding.level is Level.VIOLATION:
            span.set_status(Status(StatusCode.ERROR, finding.message))
        span.end(finding.time_unix_nano + 1)


def _links(finding: Finding) -> list[Link]:
    own = (finding.trace_id, finding.span_id)
    before = ((finding.card_span, semconv.LINK_CARD_FETCH), (finding.task_span, semconv.LINK_TASK_ORIGIN))
    return [link(ref, kind) for ref, kind in before if ref is not None and (ref.trace_id, ref.span_id) != own]
