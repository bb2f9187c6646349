# SPDX-License-Identifier: Apache-2.0
"""What the launcher sends over OTLP, gRPC and HTTP alike, with no setting of ours."""

from __future__ import annotations

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from otel_a2a import semconv
from otel_a2a.version import __version__
from tests.support.names import METRICS, complaints, of_backend
from tests.support.otlp import PROTOCOLS, Application, Backend

REUSED = "terminal-task-reused"
NOT_YET = {semconv.METRIC_INTERNAL_ERRORS}
"""Metrics that begin with the first fault of ours."""


@pytest.fixture(scope="module", params=PROTOCOLS)
def backend(request: pytest.FixtureRequest) -> Backend:
    """What six calls, three of them violations, left at a backend."""
    with Backend() as receiving:
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiving.endpoint_of(request.param)}
        if request.param != "grpc":  # which is the default
            environment["OTEL_EXPORTER_OTLP_PROTOCOL"] = request.param
        with Application(environment, "--traces_exporter", "otlp") as application:
            application.call(6)
            application.finish()
    return receiving


def test_spans_arrive(backend: Backend) -> None:
    """A card fetch, six calls, and a violation below every second call, of one scope with a version and a schema."""
    ours = [span for span in backend.spans if span.scope == semconv.SCOPE]
    names = [span.name for span in ours]
    assert (names.count("GetAgentCard"), names.count("SendMessage")) == (1, 6)
    calls = {span.span_id: span for span in ours if span.name == "SendMessage"}
    violations = [span for span in ours if span.name == f"violation {REUSED}"]
    assert [span.kind for span in (*calls.values(), *violations)] == [Span.SPAN_KIND_CLIENT] * 6 + [
        Span.SPAN_KIND_INTERNAL
    ] * 3
    for violation in violations:
        call = calls[violation.parent_id]
        assert violation.trace_id == call.trace_id and violation.is_error and not call.is_error
        assert violation.attributes[semconv.A2A_TASK_ID] == call.attributes[semconv.A2A_TASK_ID]
        assert call.attributes[semconv.SECURITY_RULE_NAME] == REUSED
    scopes = {
        (spans.scope.name, spans.scope.version, spans.schema_url)
        for request in backend.trace_requests
        for resource in request.resource_spans
        for spans in resource.scope_spans
        if spans.scope.name == semconv.SCOPE
    }
    assert scopes == {(semconv.SCOPE, __version__, semconv.SCHEMA_URL)}


def test_all_names_types_and_units_are_as_declared(backend: Backend) -> None:
    """With no setting of ours everything that is sent has a declared name, and values as declared, of all signals."""
    emitted = list(of_backend(backend))
    assert complaints(emitted) == []
    assert {each.signal for each in emitted} == {"span", "link", "event", "metric"}
    assert {each.name for each in emitted if each.signal == "metric"} == METRICS.keys() - NOT_YET


def test_log_events_arrive(backend: Backend) -> None:
    """One event per violation, in the trace and span of its call, at severity ERROR."""
    events = [event for event in backend.logs if event.name == semconv.EVENT_FINDING]
    told = [event for event in events if event.attributes[semconv.SECURITY_RULE_NAME] == REUSED]
    parents = {(span.trace_id, span.parent_id) for span in backend.spans if span.name == f"violation {REUSED}"}
    assert {(event.trace_id, event.span_id) for event in told} == parents and len(told) == 3
    assert {event.severity for event in told} == {17}
    assert all(event.body == event.attributes[semconv.FINDING_MESSAGE] for event in told)


def test_metrics_arrive(backend: Backend) -> None:
    """Findings are counted by rule, calls and card fetches measured, and no fault of ours is among them."""
    counted = [point for point in backend.points(semconv.METRIC_FINDINGS) if point.value]
    assert [point.value for point in counted if point.attributes[semconv.SECURITY_RULE_NAME] == REUSED] == [3]
    assert [point.value for point in backend.points(semconv.METRIC_OPERATION_DURATION)] == [6]
    assert [point.value for point in backend.points(semconv.METRIC_CARD_FETCHES)] == [1]
    assert [point.value for point in backend.points(semconv.METRIC_INTERNAL_ERRORS) if point.value] == []
