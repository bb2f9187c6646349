# SPDX-License-Identifier: Apache-2.0
"""Beside opentelemetry-instrumentation-httpx, which wraps the transport below us: whoever comes or leaves first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.sdk.trace import ReadableSpan

from otel_a2a.errors import A2APolicyError
from tests.support.agents import HEADERS, ScriptedAgent, envelope, send, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry()


@contextmanager
def contrib(telemetry: Telemetry) -> Iterator[None]:
    instrumentor = HTTPXClientInstrumentor()
    instrumentor.instrument(tracer_provider=telemetry.tracer_provider, meter_provider=telemetry.meter_provider)
    try:
        yield
    finally:
        instrumentor.uninstrument()


class Recording(ScriptedAgent):
    """Keeps every ``traceparent`` of each call, repeated headers too."""

    def __init__(self) -> None:
        events = [{"task": task("t-1", "SUBMITTED")}, {"task": task("t-1", "COMPLETED")}]
        whole = {"task": task("t-2", "WORKING")}
        super().__init__(lambda method, _: events if "Streaming" in method else whole)
        self.parents: list[list[str]] = []
        inner = self.app

        async def app(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http" and scope["method"] == "POST":
                self.parents.append([value.decode() for name, value in scope["headers"] if name == b"traceparent"])
            await inner(scope, receive, send)

        self.app = app


async def charge(base: str, how: str = "post") -> None:
    """One call: blocking or awaited, whole or streamed."""
    url, method = f"{base}/rpc", "SendStreamingMessage" if "stream" in how else "SendMessage"
    body = envelope(method, send("x", "m1"))
    if how == "post":
        with httpx.Client() as client:
            client.post(url, json=body, headers=HEADERS)
    elif how == "stream":
        with httpx.Client() as client, client.stream("POST", url, json=body, headers=HEADERS) as response:
            assert len([line for line in response.iter_lines() if line]) == 2
    elif how == "awaited post":
        async with httpx.AsyncClient() as client:
            await client.post(url, json=body, headers=HEADERS)
    else:
        async with httpx.AsyncClient() as client, client.stream("POST", url, json=body, headers=HEADERS) as response:
            assert len([line async for line in response.aiter_lines() if line]) == 2


def nested(telemetry: Telemetry) -> ReadableSpan:
    """Their span, whose parent is ours; there are no others."""
    (theirs,) = (span for span in telemetry.spans if span.name == "POST")
    (ours,) = telemetry.ours()
    assert theirs.parent is not None and theirs.parent.span_id == ours.context.span_id
    assert ours.parent is None
    assert len(telemetry.spans) == 2
    return theirs


def both(first: str, telemetry: Telemetry) -> Any:
    """The two instrumentations, in order."""
    ours, theirs = telemetry.instrumented(state_spans=False), contrib(telemetry)
    return (ours, theirs) if first == "ours" else (theirs, ours)


@pytest.mark.parametrize("how", ["post", "stream", "awaited post", "awaited stream"])
@pytest.mark.parametrize("first", ["ours", "theirs"])
async def test_one_traceparent_and_our_span_is_the_parent_of_theirs(first: str, how: str, telemetry: Telemetry) -> None:
    """Whoever came first: the header is the innermost span's, and there is one of it."""
    agent = Recording()
    with serve(agent.app) as base, ExitStack() as stack:
        for each in both(first, telemetry):
            stack.enter_context(each)
        await charge(base, how)
    ((parent,),) = agent.parents
    assert parent.split("-")[2] == f"{nested(telemetry).context.span_id:016x}"


@pytest.mark.parametrize("how", ["post", "awaited post"])
@pytest.mark.parametrize("first", ["ours", "theirs"])
@pytest.mark.parametrize("leaves", ["ours", "theirs"])
async def test_uninstrumenting_one_leaves_the_other_working(
    first: str, leaves: str, how: str, telemetry: Telemetry
) -> None:
    """The one that stays sees the call and sends its header; in the end the library's own methods are back."""
    places = [(httpx.Client, "send"), (httpx.HTTPTransport, "handle_request"), (httpx.AsyncClient, "send")]
    before = [getattr(*place) for place in places]
    agent = Recording()
    with serve(agent.app) as base, ExitStack() as stays, ExitStack() as goes:
        for each, name in zip(both(first, telemetry), sorted(("ours", "theirs"), key=first.__ne__), strict=True):
            (goes if name == leaves else stays).enter_context(each)
        goes.close()
        await charge(base, how)
    (span,) = telemetry.spans
    assert span.name == ("POST" if leaves == "ours" else "SendMessage")
    ((parent,),) = agent.parents
    assert parent.split("-")[2] == f"{span.context.span_id:016x}"
    assert [getattr(*place) for place in places] == before


async def test_coming_back_after_leaving(telemetry: Telemetry) -> None:
    """However often each comes and goes, there is one span of each."""
    with serve(Recording().app) as base, telemetry.instrumented(state_spans=False):
        for _ in range(3):
            with contrib(telemetry):
                telemetry.clear()
                await charge(base)
                nested(telemetry)
            telemetry.clear()
            await charge(base)
            assert telemetry.names() == {"SendMessage": 1}


async def test_refused_request_is_no_span_of_theirs(telemetry: Telemetry) -> None:
    """What we stop never comes to them."""
    agent = ScriptedAgent(lambda *_: {"task": task("t-1", "COMPLETED")})
    with serve(agent.app) as base, telemetry.instrumented(strictness="raise"), contrib(telemetry):
        await charge(base)
        again = envelope("SendMessage", send("more", "m2", task_id="t-1"))
        with httpx.Client() as client, pytest.raises(A2APolicyError):
            client.post(f"{base}/rpc", json=again, headers=HEADERS)
    assert agent.methods() == ["SendMessage"]
    assert telemetry.names()["POST"] == 1
