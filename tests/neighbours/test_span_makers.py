# SPDX-License-Identifier: Apache-2.0
"""Beside logfire and OpenInference, which make spans with providers of their own: each has its spans, as without us."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import httpx
import logfire
import openinference.instrumentation as openinference
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_a2a import A2AInstrumentor
from tests.support.agents import CARD_PATH, HEADERS, ScriptedAgent, envelope, send, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry


def agent() -> ScriptedAgent:
    """Its task starts again after its end."""
    states = iter(["COMPLETED", "WORKING"])
    return ScriptedAgent(lambda *_: {"task": task("t-1", next(states))})


def life(base: str) -> None:
    """A card, a message, and a look at the task."""
    with httpx.Client() as client:
        client.get(base + CARD_PATH)
        client.post(f"{base}/rpc", json=envelope("SendMessage", send("x", "m1")), headers=HEADERS)
        client.post(f"{base}/rpc", json=envelope("GetTask", {"id": "t-1"}), headers=HEADERS)


class Logfire:
    """logfire with a provider of its own and nothing sent, whose httpx instrumentation is OpenTelemetry's."""

    def __init__(self) -> None:
        self._spans = InMemorySpanExporter()
        self._logfire = logfire.configure(
            local=True,
            send_to_logfire=False,
            console=False,
            metrics=False,
            inspect_arguments=False,
            additional_span_processors=[SimpleSpanProcessor(self._spans)],
        )

    @contextmanager
    def installed(self) -> Iterator[None]:
        from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor

        self._logfire.instrument_httpx(capture_all=True)
        try:
            yield
        finally:
            HTTPXClientInstrumentor().uninstrument()

    def block(self) -> AbstractContextManager[Any]:
        return self._logfire.span("work")

    @property
    def tracer_provider(self) -> Any:
        return self._logfire.config.get_tracer_provider()

    def spans(self) -> list[ReadableSpan]:
        # logfire exports a span once more when it starts.
        finished = self._spans.get_finished_spans()
        return [span for span in finished if (span.attributes or {}).get("logfire.span_type") != "pending_span"]


class OpenInference:
    """OpenInference's tracer provider, and a span of an agent and one of a tool of the application's."""

    def __init__(self) -> None:
        self._spans = InMemorySpanExporter()
        self.tracer_provider = openinference.TracerProvider()
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self._tracer = self.tracer_provider.get_tracer("application")

    @contextmanager
    def installed(self) -> Iterator[None]:
        yield

    @contextmanager
    def block(self) -> Iterator[None]:
        with (
            openinference.using_session("session-1"),
            self._tracer.start_as_current_span("work", openinference_span_kind="agent"),
            self._tracer.start_as_current_span("remote", openinference_span_kind="tool"),
        ):
            yield

    def spans(self) -> list[ReadableSpan]:
        return list(self._spans.get_finished_spans())


MAKERS = pytest.mark.parametrize("maker", [Logfire, OpenInference])


def shape(spans: list[ReadableSpan]) -> list[tuple[str, Any, list[str]]]:
    """What must be the same with and without us: names, statuses and the names of attributes.

    But for one: where all headers are captured, the header that our span adds is among them.
    """
    ours = {"http.request.header.traceparent"}
    return [(span.name, span.status.status_code, sorted(set(span.attributes or {}) - ours)) for span in spans]


def findings(telemetry: Telemetry) -> list[tuple[str, str]]:
    found = telemetry.findings()
    telemetry.clear()
    return found


def alone(maker: Any) -> list[tuple[str, Any, list[str]]]:
    """Their spans of a life without us."""
    theirs = maker()
    with serve(agent().app) as base, theirs.installed(), theirs.block():
        life(base)
    return shape(theirs.spans())


@MAKERS
@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_each_has_its_spans_and_we_find_the_same(maker: Any, first: str, telemetry: Telemetry) -> None:
    """Theirs are as without us, ours are one for each call, and within the application's span."""
    with serve(agent().app) as base, telemetry.instrumented(state_spans=False):
        life(base)
    without = findings(telemetry)
    assert without
    theirs, told = maker(), agent()
    both = [telemetry.instrumented(state_spans=False), theirs.installed()]
    with serve(told.app) as base, ExitStack() as stack:
        for each in both if first == "ours" else reversed(both):
            stack.enter_context(each)
        with theirs.block():
            life(base)
    assert shape(theirs.spans()) == alone(maker)
    ours = [span for span in telemetry.ours() if span.kind is trace.SpanKind.CLIENT]
    assert sorted(span.name for span in ours) == ["GetAgentCard", "GetTask", "SendMessage"]
    (work,) = (span for span in theirs.spans() if span.name == "work")
    assert {span.context.trace_id for span in ours} == {work.context.trace_id}
    assert findings(telemetry) == without
    innermost = {f"{span.context.span_id:016x}" for span in (theirs.spans() if maker is Logfire else ours)}
    assert {headers["traceparent"].split("-")[2] for headers in told.headers} <= innermost


@MAKERS
def test_our_spans_through_their_provider(maker: Any, telemetry: Telemetry) -> None:
    """An application that has no provider but theirs gives it to us: one span for each call, and none lost."""
    theirs = maker()
    instrumentor = A2AInstrumentor()
    with serve(agent().app) as base, theirs.installed():
        instrumentor.instrument(tracer_provider=theirs.tracer_provider, logger_provider=telemetry.logger_provider)
        try:
            with theirs.block():
                life(base)
        finally:
            instrumentor.uninstrument()
    names = [span.name for span in theirs.spans()]
    assert [names.count(name) for name in ("GetAgentCard", "SendMessage", "GetTask", "work")] == [1, 1, 1, 1]
    assert findings(telemetry)


@MAKERS
def test_after_we_have_left_theirs_go_on(maker: Any, telemetry: Telemetry) -> None:
    """And ours end."""
    theirs = maker()
    with serve(agent().app) as base, theirs.installed():
        with telemetry.instrumented():
            pass
        with theirs.block():
            life(base)
    assert shape(theirs.spans()) == alone(maker)
    assert telemetry.spans == []


@MAKERS
def test_after_theirs_have_left_ours_go_on(maker: Any, telemetry: Telemetry) -> None:
    """With one span for each call."""
    theirs = maker()
    with serve(agent().app) as base, telemetry.instrumented(state_spans=False):
        with theirs.installed():
            pass
        life(base)
    ours = [span.name for span in telemetry.ours() if span.kind is trace.SpanKind.CLIENT]
    assert sorted(ours) == ["GetAgentCard", "GetTask", "SendMessage"]
    assert theirs.spans() == []
