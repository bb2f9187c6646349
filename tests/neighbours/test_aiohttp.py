# SPDX-License-Identifier: Apache-2.0
"""Beside opentelemetry-instrumentation-aiohttp-client, which gives each session a trace config, and httpx over aiohttp.

Sessions keep the trace config that they were made with, so those of an application that uninstruments them stay traced.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import aiohttp
import httpx
import pytest
from httpx_aiohttp import HttpxAiohttpClient
from opentelemetry.instrumentation.aiohttp_client import AioHttpClientInstrumentor, create_trace_config
from opentelemetry.sdk.trace import ReadableSpan

from otel_a2a.errors import A2APolicyError
from tests.support.agents import CARD_PATH, HEADERS, ScriptedAgent, envelope, send, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry()


@contextmanager
def contrib(telemetry: Telemetry) -> Iterator[None]:
    instrumentor = AioHttpClientInstrumentor()
    instrumentor.instrument(tracer_provider=telemetry.tracer_provider, meter_provider=telemetry.meter_provider)
    try:
        yield
    finally:
        instrumentor.uninstrument()


def agent() -> ScriptedAgent:
    events = [{"task": task("t-1", "SUBMITTED")}, {"task": task("t-1", "COMPLETED")}]
    return ScriptedAgent(lambda method, _: events if "Streaming" in method else {"task": task("t-2", "WORKING")})


async def charge(base: str, how: str = "unary", **session: Any) -> None:
    """One call, whole or streamed."""
    method = "SendMessage" if how == "unary" else "SendStreamingMessage"
    async with aiohttp.ClientSession(**session) as client:
        response = await client.post(f"{base}/rpc", json=envelope(method, send("x", "m1")), headers=HEADERS)
        if how == "unary":
            await response.json()
        else:
            assert len([line async for line in response.content if line.strip()]) == 2


def nested(telemetry: Telemetry) -> tuple[ReadableSpan, ReadableSpan]:
    """Our span and theirs, of which ours is the parent; there are no others."""
    (theirs,) = (span for span in telemetry.spans if span.name == "POST")
    (ours,) = telemetry.ours()
    assert theirs.parent is not None and theirs.parent.span_id == ours.context.span_id
    assert ours.parent is None
    return ours, theirs


def both(first: str, telemetry: Telemetry) -> Any:
    """The two instrumentations, in order."""
    ours, theirs = telemetry.instrumented(state_spans=False), contrib(telemetry)
    return (ours, theirs) if first == "ours" else (theirs, ours)


@pytest.mark.parametrize("how", ["unary", "stream"])
@pytest.mark.parametrize("first", ["ours", "theirs"])
async def test_one_traceparent_and_our_span_is_the_parent_of_theirs(first: str, how: str, telemetry: Telemetry) -> None:
    """Whoever came first: the header is the innermost span's, and there is one of it."""
    told = agent()
    with serve(told.app) as base, ExitStack() as stack:
        for each in both(first, telemetry):
            stack.enter_context(each)
        await charge(base, how)
    _, innermost = nested(telemetry)
    (headers,) = told.headers
    assert headers["traceparent"].split("-")[2] == f"{innermost.context.span_id:016x}"


async def test_a_trace_config_of_the_application(telemetry: Telemetry) -> None:
    """One that a program gives to its session by itself lies within our span too."""
    told = agent()
    config: Any = create_trace_config(tracer_provider=telemetry.tracer_provider)
    with serve(told.app) as base, telemetry.instrumented(state_spans=False):
        await charge(base, trace_configs=[config])
    _, innermost = nested(telemetry)
    assert told.headers[0]["traceparent"].split("-")[2] == f"{innermost.context.span_id:016x}"


@pytest.mark.parametrize("first", ["ours", "theirs"])
@pytest.mark.parametrize("leaves", ["ours", "theirs"])
async def test_uninstrumenting_one_leaves_the_other_working(first: str, leaves: str, telemetry: Telemetry) -> None:
    """And the one that has left does nothing any more; in the end the library's own methods are back."""
    before = aiohttp.ClientSession.__init__, aiohttp.ClientSession._request, aiohttp.ClientResponse.close
    with serve(agent().app) as base, ExitStack() as stays, ExitStack() as goes:
        for each, name in zip(both(first, telemetry), sorted(("ours", "theirs"), key=first.__ne__), strict=True):
            (goes if name == leaves else stays).enter_context(each)
        goes.close()
        await charge(base)
    assert telemetry.names() == ({"POST": 1} if leaves == "ours" else {"SendMessage": 1})
    after = aiohttp.ClientSession.__init__, aiohttp.ClientSession._request, aiohttp.ClientResponse.close
    assert after == before


async def test_coming_back_after_leaving(telemetry: Telemetry) -> None:
    """However often each comes and goes, there is one span of each."""
    with serve(agent().app) as base, telemetry.instrumented(state_spans=False):
        for _ in range(3):
            with contrib(telemetry):
                telemetry.clear()
                await charge(base)
                nested(telemetry)
            telemetry.clear()
            await charge(base)
            assert telemetry.names() == {"SendMessage": 1}


async def test_what_is_not_a2a_is_theirs_alone(telemetry: Telemetry) -> None:
    """A call that we do not look at has their span and their header."""
    told = agent()
    with serve(told.app) as base, telemetry.instrumented(), contrib(telemetry):
        async with aiohttp.ClientSession() as client:
            await client.post(f"{base}/rpc", json={"id": 1, "method": "eth_call", "params": {}})
    theirs = telemetry.span("POST")
    assert telemetry.names() == {"POST": 1}
    assert told.headers[0]["traceparent"].split("-")[2] == f"{theirs.context.span_id:016x}"


async def test_refused_request_is_no_span_of_theirs(telemetry: Telemetry) -> None:
    """What we stop never comes to them."""
    told = ScriptedAgent(lambda *_: {"task": task("t-1", "COMPLETED")})
    with serve(told.app) as base, telemetry.instrumented(strictness="raise"), contrib(telemetry):
        await charge(base)
        again = envelope("SendMessage", send("more", "m2", task_id="t-1"))
        async with aiohttp.ClientSession() as client:
            with pytest.raises(A2APolicyError):
                await client.post(f"{base}/rpc", json=again, headers=HEADERS)
    assert told.methods() == ["SendMessage"]
    assert telemetry.names()["POST"] == 1


@pytest.mark.parametrize("theirs", [False, True])
async def test_httpx_over_aiohttp_is_one_call(theirs: bool, telemetry: Telemetry) -> None:
    """A card, a call and a stream over two libraries that we see through are one span each, with one header."""
    told = agent()
    with serve(told.app) as base, ExitStack() as stack:
        stack.enter_context(telemetry.instrumented(state_spans=False))
        if theirs:
            stack.enter_context(contrib(telemetry))
        async with HttpxAiohttpClient() as client:
            assert isinstance(client, httpx.AsyncClient)
            await client.get(base + CARD_PATH)
            await client.post(f"{base}/rpc", json=envelope("SendMessage", send("x", "m1")), headers=HEADERS)
            body = envelope("SendStreamingMessage", send("x", "m2"))
            async with client.stream("POST", f"{base}/rpc", json=body, headers=HEADERS) as response:
                assert len([line async for line in response.aiter_lines() if line]) == 2
    ours = {"GetAgentCard": 1, "SendMessage": 1, "SendStreamingMessage": 1}
    assert telemetry.names() == (ours | {"GET": 1, "POST": 2} if theirs else ours)
    assert len(telemetry.ours()) == 3
    for span in telemetry.spans:
        if span.name in ("GET", "POST"):
            assert span.parent is not None
            assert span.parent.span_id in {each.context.span_id for each in telemetry.ours()}
    sent = telemetry.span("SendMessage") if not theirs else None
    if sent is not None:
        assert told.headers[0]["traceparent"].split("-")[2] == f"{sent.context.span_id:016x}"
