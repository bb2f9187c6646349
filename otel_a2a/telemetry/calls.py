# SPDX-License-Identifier: Apache-2.0
"""Spans of calls and card fetches: one per call, whole stream included, named as the A2A conventions say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode, Tracer

from otel_a2a import semconv
from otel_a2a.engine.findings import Finding, Strictness
from otel_a2a.observations import CallStarted, CardRequested, Method, SpanRef
from otel_a2a.telemetry.references import span_context

Attributes = dict[str, Any]


def start_call(tracer: Tracer, call: CallStarted, start_ns: int | None = None) -> Span:
    """Start the span of a call. What a sampler may want to know is there from the start."""
    attributes: Attributes = {semconv.A2A_METHOD_NAME: call.method, semconv.SERVER_ADDRESS: call.server_address}
    if call.server_port is not None:
        attributes[semconv.SERVER_PORT] = call.server_port
    if call.protocol_version:
        attributes[semconv.A2A_PROTOCOL_VERSION] = call.protocol_version
    if call.task_id:
        attributes[semconv.A2A_TASK_ID] = call.task_id
    if call.context_id:
        attributes[semconv.GEN_AI_CONVERSATION_ID] = call.context_id
    if call.tenant:
        attributes[semconv.A2A_TENANT] = call.tenant
    message = call.message
    if message is not None:
        if message.message_id:
            attributes[semconv.A2A_MESSAGE_ID] = message.message_id
        if message.reference_task_ids:
            attributes[semconv.A2A_MESSAGE_REFERENCE_TASK_IDS] = message.reference_task_ids
    if not call.judged:
        attributes[semconv.REQUEST_JUDGED] = False
    return tracer.start_span(call.method, kind=SpanKind.CLIENT, attributes=attributes, start_time=start_ns)


def start_card_fetch(tracer: Tracer, request: CardRequested, url: str) -> Span:
    """Start the span of a card's fetch. ``url`` has neither query nor user-info."""
    method = Method.GET_EXTENDED_CARD if request.extended else Method.GET_CARD
    attributes: Attributes = {
        semconv.A2A_METHOD_NAME: method,
        semconv.SERVER_ADDRESS: request.server_address,
        semconv.URL_FULL: url,
    }
    if request.server_port is not None:
        attributes[semconv.SERVER_PORT] = request.server_port
    return tracer.start_span(method, kind=SpanKind.CLIENT, attributes=attributes)


def link(ref: SpanRef, kind: str) -> Link:
    """A link to a span remembered in the ledger."""
    return Link(span_context(ref), {semconv.LINK_TYPE: kind})


def mark_findings(span: Span, findings: Sequence[Finding]) -> None:
    """Put the gravest finding on the span in which it was found.

    To be called last: a span that is full drops its oldest attribute. The status changes only where we raise, because
    the call itself did not fail.
    """
    worst = max(findings, key=lambda finding: finding.level.severity)
    span.set_attributes(
        {
            semconv.SECURITY_RULE_NAME: worst.rule,
            semconv.FINDING_LEVEL: worst.level.value,
            semconv.FINDING_COUNT: len(findings),
            semconv.FINDING_WOULD_RAISE: any(finding.would_raise for finding in findings),
        }
    )
    raised = next((finding for finding in findings if finding.action is Strictness.RAISE), None)
    if raised is not None:
        span.set_status(Status(StatusCode.ERROR, f"stopped by rule {raised.rule}"))


def mark_error(span: Span, error_type: str) -> None:
    """The call failed. The description repeats no text of others, which might hold secrets."""
    span.set_attribute(semconv.ERROR_TYPE, error_type)
    span.set_status(Status(StatusCode.ERROR, error_type))
