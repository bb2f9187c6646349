# SPDX-License-Identifier: Apache-2.0
"""Trace context on the wire: exactly once, whoever else writes it, in whatever order they were installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import httpx2
import pytest
from opentelemetry import propagate
from opentelemetry.context import Context
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.propagators.textmap import TextMapPropagator

from otel_a2a import semconv
from tests.support.agents import HEADERS, Recording, ScriptedAgent, envelope, send, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry


@contextmanager
def contrib(telemetry: Telemetry) -> Iterator[None]:
    """OpenTelemetry's own httpx instrumentation."""
    instrumentor = HTTPXClientInstrumentor()
    instrumentor.instrument(tracer_provider=telemetry.tracer_provider, meter_provider=telemetry.meter_provider)
    try:
        yield
    finally:
        instrumentor.uninstrument()


def recording() -> Recording:
    return Recording(ScriptedAgent(lambda *_: {"task": task("t-1", "WORKING")}).app)


def charge(client: Any, base: str, **more: Any) -> None:
    client.post(f"{base}/rpc", json=envelope("SendMessage", send("x", "m1")), headers={**HEADERS, **more})


@pytest.mark.parametrize("order", ["alone", "contrib first", "contrib last"])
def test_traceparent_is_there_exactly_once(order: str, telemetry: Telemetry) -> None:
    """One header; the innermost span's; the A2A span is the parent of the HTTP span whatever the order."""
    agent = recording()
    with serve(agent) as base, ExitStack() as stack:
        if order == "contrib first":
            stack.enter_context(contrib(telemetry))
        stack.enter_context(telemetry.instrumented())
        if order == "contrib last":
            stack.enter_context(contrib(telemetry))
        with httpx.Client() as client:
            charge(client, base)
    ((parent,),) = agent.parents
    ours = telemetry.span("SendMessage")
    sender = ours if order == "alone" else telemetry.span("POST")
    assert parent.split("-")[1:3] == [f"{sender.context.trace_id:032x}", f"{sender.context.span_id:016x}"]
    if sender is not ours:
        assert sender.parent is not None and sender.parent.span_id == ours.context.span_id


@pytest.mark.parametrize("leaves_first", ["ours", "contrib"])
def test_uninstrumenting_one_leaves_the_other_working(leaves_first: str, telemetry: Telemetry) -> None:
    """Whichever of the two instrumentations leaves first, the other goes on."""
    agent = recording()
    with serve(agent) as base, ExitStack() as outer, ExitStack() as inner:
        first, second = (outer, inner) if leaves_first == "contrib" else (inner, outer)
        first.enter_context(telemetry.instrumented())
        second.enter_context(contrib(telemetry))
        inner.close()
        with httpx.Client() as client:
            charge(client, base)
    expected = {"POST": 1} if leaves_first == "ours" else {"SendMessage": 1}
    assert telemetry.names() == expected


def test_a_traceparent_of_the_application_is_kept(telemetry: Telemetry) -> None:
    """The application's own header goes out as it is."""
    own = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    agent = recording()
    with serve(agent) as base, telemetry.instrumented(), httpx.Client() as client:
        charge(client, base, traceparent=own)
    assert agent.parents == [[own]]


def test_a_request_that_is_sent_twice_names_its_own_span_each_time(telemetry: Telemetry) -> None:
    """A retry of the same request object carries the retry's span, not the first attempt's."""
    agent = recording()
    with serve(agent) as base, telemetry.instrumented(), httpx.Client() as client:
        request = client.build_request(
            "POST", f"{base}/rpc", json=envelope("SendMessage", send("x", "m1")), headers=HEADERS
        )
        client.send(request)
        client.send(request)
    spans = [f"{span.context.span_id:016x}" for span in telemetry.spans if span.name == "SendMessage"]
    assert [parent.split("-")[2] for (parent,) in agent.parents] == spans


def test_propagation_can_be_switched_off(telemetry: Telemetry, monkeypatch: pytest.MonkeyPatch) -> None:
    """With PROPAGATE=false nothing is added to requests."""
    monkeypatch.setenv("OTEL_PYTHON_A2A_PROPAGATE", "false")
    agent = recording()
    with serve(agent) as base, telemetry.instrumented(), httpx.Client() as client:
        charge(client, base)
    assert agent.parents == [[]]
    assert telemetry.names() == {"SendMessage": 1}


class Broken(TextMapPropagator):
    """A propagator of the application's that fails, or gives what is no header."""

    def __init__(self, *, fails: bool) -> None:
        self._fails = fails

    @property
    def fields(self) -> set[str]:
        return set()

    def inject(self, carrier: Any, *args: Any, **options: Any) -> None:
        if self._fails:
            raise KeyError("tenant")
        carrier["tenant"] = None

    def extract(self, *args: Any, **options: Any) -> Context:
        raise NotImplementedError


@pytest.fixture(params=[True, False], ids=["fails", "no header"])
def broken_propagator(request: pytest.FixtureRequest) -> Iterator[None]:
    """The application's global propagator, for one test."""
    before = propagate.get_global_textmap()
    propagate.set_global_textmap(Broken(fails=request.param))
    yield
    propagate.set_global_textmap(before)


@pytest.mark.usefixtures("broken_propagator")
def test_a_propagator_that_fails_breaks_no_call(telemetry: Telemetry, caplog: pytest.LogCaptureFixture) -> None:
    """The calls leave without the header; each failure is counted, and the first is logged."""
    agent = recording()
    with serve(agent) as base, telemetry.instrumented(), httpx.Client() as client:
        charge(client, base)
        charge(client, base)
        (failures,) = telemetry.metric(semconv.METRIC_INTERNAL_ERRORS)
    assert agent.parents == [[], []]
    assert telemetry.names() == {"SendMessage": 2}
    assert failures.value == 2 and dict(failures.attributes) == {semconv.ERROR_TYPE: "propagation"}
    assert [record.name for record in caplog.records if "propagation" in record.message] == ["otel_a2a"]


@pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
async def test_asynchronous_clients_of_both_libraries_are_the_same(library: Any, telemetry: Telemetry) -> None:
    """An awaited call gives the same span and header as a synchronous one."""
    agent = recording()
    with serve(agent) as base, telemetry.instrumented():
        async with library.AsyncClient() as client:
            await client.post(f"{base}/rpc", json=envelope("SendMessage", send("x", "m1")), headers=HEADERS)
    span = telemetry.span("SendMessage")
    assert span.attributes is not None and span.attributes[semconv.A2A_TASK_ID] == "t-1"
    ((parent,),) = agent.parents
    assert parent.split("-")[2] == f"{span.context.span_id:016x}"
