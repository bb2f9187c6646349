# SPDX-License-Identifier: Apache-2.0
"""Spans and findings of calls over aiohttp, with the real operation behind them, over real sockets."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import aiohttp
import pytest
from opentelemetry import trace
from opentelemetry.instrumentation.utils import suppress_instrumentation
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind

from otel_a2a import semconv
from otel_a2a.errors import A2APolicyError
from tests.clients.aiohttp.sides import packed
from tests.clients.loopback import PATIENCE, Server, split, whole
from tests.support.agents import CARD_PATH, HEADERS, ScriptedAgent, envelope, send, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry

WORKING = {"statusUpdate": {"taskId": "t-1", "contextId": "ctx-1", "status": {"state": "TASK_STATE_WORKING"}}}
COMPLETED = {"statusUpdate": {"taskId": "t-1", "contextId": "ctx-1", "status": {"state": "TASK_STATE_COMPLETED"}}}


@pytest.fixture
def telemetry() -> Iterator[Telemetry]:
    yield Telemetry()


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=PATIENCE)) as session:
        yield session


def attributes(span: ReadableSpan) -> Any:
    assert span.attributes is not None
    return span.attributes


def post(session: Any, base: str, method: str, params: dict[str, Any], **options: Any) -> Any:
    headers = {**HEADERS, **options.pop("headers", {})}
    return session.post(f"{base}/rpc", json=envelope(method, params), headers=headers, **options)


async def read(call: Any) -> Any:
    async with call as response:
        return await response.json()


async def events(call: Any) -> list[Any]:
    async with call as response:
        return [json.loads(line[6:])["result"] async for line in response.content if line.strip()]


async def test_card_call_and_stream_are_spans(telemetry: Telemetry, session: aiohttp.ClientSession) -> None:
    """One span for each, of kind CLIENT, with what was told; the card fetched is the card in force."""
    agent = ScriptedAgent(
        lambda method, _: (
            [{"task": task("t-2", "SUBMITTED")}, {"task": task("t-2", "COMPLETED")}]
            if "Streaming" in method
            else {"task": task("t-1", "WORKING")}
        )
    )
    with serve(agent.app) as base, telemetry.instrumented(state_spans=False):
        await read(session.get(base + CARD_PATH))
        await read(post(session, base, "SendMessage", send("x", "m1")))
        assert len(await events(post(session, base, "SendStreamingMessage", send("x", "m2")))) == 2
    assert telemetry.names() == {"GetAgentCard": 1, "SendMessage": 1, "SendStreamingMessage": 1}
    assert telemetry.findings() == []
    for span in telemetry.spans:
        assert span.kind == SpanKind.CLIENT
    stream, card = (attributes(telemetry.span(name)) for name in ("SendStreamingMessage", "GetAgentCard"))
    assert stream[semconv.A2A_TASK_STATE] == "TASK_STATE_COMPLETED"
    assert stream[semconv.CARD_REVISION_ID] == card[semconv.CARD_REVISION_ID]


async def test_a_long_stream_is_one_call_span(telemetry: Telemetry, session: aiohttp.ClientSession) -> None:
    """Of 2,000 events come one call span and two times in a state, and the application reads every event."""
    agent = ScriptedAgent(lambda *_: [{"task": task("t-1", "SUBMITTED")}, *[WORKING] * 1998, COMPLETED])
    with serve(agent.app) as base, telemetry.instrumented():
        assert len(await events(post(session, base, "SendStreamingMessage", send("x", "m1")))) == 2000
    assert telemetry.names() == {
        "SendStreamingMessage": 1,
        "task TASK_STATE_SUBMITTED": 1,
        "task TASK_STATE_WORKING": 1,
    }
    assert attributes(telemetry.span("SendStreamingMessage"))[semconv.A2A_TASK_STATE] == "TASK_STATE_COMPLETED"


async def chunks(response: Any) -> None:
    async for _ in response.content.iter_chunks():
        pass


READERS: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "read": lambda response: response.read(),
    "readuntil": lambda response: readuntil(response.content),
    "chunks": chunks,
}


async def readuntil(content: Any) -> None:
    while await content.readuntil(b"\n\n"):
        pass


@pytest.mark.parametrize("coding", ["", "gzip"])
@pytest.mark.parametrize("decompress", [True, False])
@pytest.mark.parametrize("reader", READERS)
async def test_every_event_is_understood_however_it_is_read(
    reader: str, coding: str, decompress: bool, server: Server, telemetry: Telemetry, session: aiohttp.ClientSession
) -> None:
    """Whether the application gets the bytes as they came or decoded, each event is judged, and once."""
    results = [{"task": task("t-1", "SUBMITTED")}, WORKING, COMPLETED]
    stream = b"".join(
        b"data: " + json.dumps({"jsonrpc": "2.0", "id": "1", "result": result}).encode() + b"\n\n" for result in results
    )
    headers = ["content-type: text/event-stream"]
    if coding:
        stream, headers = gzip.compress(stream), [*headers, "content-encoding: gzip"]
    server.scripts["/rpc"] = packed(split(stream, 13), *headers)
    with telemetry.instrumented(state_spans=False):
        call = post(session, server.url, "SendStreamingMessage", send("x", "m1"), auto_decompress=decompress)
        async with call as response:
            await READERS[reader](response)
    span = telemetry.span("SendStreamingMessage")
    assert attributes(span)[semconv.A2A_TASK_STATE] == "TASK_STATE_COMPLETED"
    assert semconv.RESPONSE_JUDGED not in attributes(span)
    assert telemetry.findings() == []


@pytest.mark.parametrize("how", ["session", "function", "bytes", "own encoder", "default header"])
async def test_traceparent_is_there_exactly_once(how: str, telemetry: Telemetry) -> None:
    """One header, which names our span, whichever way the request was made."""
    agent = ScriptedAgent(lambda *_: {"task": task("t-1", "WORKING")})
    body = envelope("SendMessage", send("x", "m1"))
    headers = {**HEADERS, "content-type": "application/json"}
    options: dict[str, Any] = {}
    if how == "own encoder":
        options["json_serialize"] = lambda value: json.dumps(value, indent=2)
    if how == "default header":
        options["headers"] = {"x-own": "1"}
    with serve(agent.app) as base, telemetry.instrumented():
        async with aiohttp.ClientSession(**options) as session:
            if how == "function":
                async with aiohttp.request("POST", f"{base}/rpc", json=body, headers=headers) as response:
                    await response.read()
            elif how == "bytes":
                await read(session.post(f"{base}/rpc", data=json.dumps(body).encode(), headers=headers))
            else:
                await read(session.post(f"{base}/rpc", json=body, headers=headers))
    span = telemetry.span("SendMessage")
    (sent,) = agent.headers
    assert sent["traceparent"].split("-")[1:3] == [f"{span.context.trace_id:032x}", f"{span.context.span_id:016x}"]


async def test_an_own_traceparent_is_kept(telemetry: Telemetry, session: aiohttp.ClientSession) -> None:
    """Whether the call or the session brings it."""
    own = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    agent = ScriptedAgent(lambda *_: {"task": task("t-1", "WORKING")})
    with serve(agent.app) as base, telemetry.instrumented():
        await read(post(session, base, "GetTask", {"id": "t-1"}, headers={"Traceparent": own}))
        async with aiohttp.ClientSession(headers={"traceparent": own}) as other:
            await read(post(other, base, "GetTask", {"id": "t-1"}))
    assert [headers["traceparent"] for headers in agent.headers] == [own, own]


async def test_nothing_is_current_while_a_stream_is_read(
    telemetry: Telemetry, session: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    """The application's own span stays the current one, and is the parent of the call."""
    agent = ScriptedAgent(lambda *_: [{"task": task("t-1", "SUBMITTED")}, COMPLETED])
    tracer = telemetry.tracer_provider.get_tracer("application")
    with serve(agent.app) as base, telemetry.instrumented(), tracer.start_as_current_span("own") as own:
        async with post(session, base, "SendStreamingMessage", send("x", "m1")) as response:
            async for _ in response.content:
                assert trace.get_current_span() is own
    parent = telemetry.span("SendStreamingMessage").parent
    assert parent is not None and parent.span_id == telemetry.span("own").context.span_id
    assert "Failed to detach context" not in caplog.text


async def test_a_refused_request_never_reaches_the_agent(telemetry: Telemetry, session: aiohttp.ClientSession) -> None:
    """In mode ``raise``, a message into a task that has ended is stopped before a byte leaves."""
    agent = ScriptedAgent(lambda *_: {"task": task("t-1", "COMPLETED")})
    with serve(agent.app) as base, telemetry.instrumented(strictness="raise"):
        await read(post(session, base, "SendMessage", send("x", "m1")))
        with pytest.raises(A2APolicyError) as raised:
            await read(post(session, base, "SendMessage", send("more", "m2", task_id="t-1")))
    assert raised.value.request_sent is False
    assert agent.methods() == ["SendMessage"]
    assert telemetry.findings() == [("terminal-task-reused", "violation")]


async def test_a_refused_answer_is_raised(telemetry: Telemetry, session: aiohttp.ClientSession) -> None:
    """In mode ``raise``, an answer that takes a task back is not given to whoever reads it."""
    states = iter(["COMPLETED", "WORKING"])
    agent = ScriptedAgent(lambda *_: task("t-1", next(states)))
    with serve(agent.app) as base, telemetry.instrumented(strictness="raise"):
        await read(post(session, base, "GetTask", {"id": "t-1"}))
        response = await post(session, base, "GetTask", {"id": "t-1"})
        with pytest.raises(A2APolicyError) as raised:
            await response.json()
    assert response.closed
    assert raised.value.request_sent is True
    assert telemetry.findings()


async def test_a_refused_event_ends_the_stream_after_what_came_before(
    telemetry: Telemetry, session: aiohttp.ClientSession
) -> None:
    """With RAISE_IN_STREAM, the events before the one that is refused are delivered, and it is not."""
    sent = [{"task": task("t-1", "SUBMITTED")}, WORKING, COMPLETED, WORKING, WORKING]
    agent = ScriptedAgent(lambda method, _: sent if method == "SubscribeToTask" else {"task": task("t-1", "SUBMITTED")})
    got = b""
    with serve(agent.app) as base, telemetry.instrumented(strictness="raise", raise_in_stream=True):
        await read(post(session, base, "SendMessage", send("x", "m1")))
        async with post(session, base, "SubscribeToTask", {"id": "t-1"}) as response:
            with pytest.raises(A2APolicyError):
                async for part in response.content.iter_any():
                    got += part
    assert [json.loads(line[6:])["result"] for line in got.splitlines() if line] == sent[:3]
    assert telemetry.span("SubscribeToTask").status.status_code is trace.StatusCode.ERROR


@pytest.mark.parametrize("raises", [True, False])
async def test_a_card_that_is_not_there_is_told_by_its_status(
    raises: bool, telemetry: Telemetry, session: aiohttp.ClientSession
) -> None:
    """Also where aiohttp raises for it, so that the body is never read."""
    agent = ScriptedAgent(lambda *_: {})
    agent.card = 503
    with serve(agent.app) as base, telemetry.instrumented():
        if raises:
            with pytest.raises(aiohttp.ClientResponseError):
                await session.get(base + CARD_PATH, raise_for_status=True)
        else:
            async with session.get(base + CARD_PATH) as response:
                await response.read()
    assert attributes(telemetry.span("GetAgentCard"))["error.type"] == "503"


@pytest.mark.parametrize("how", ["suppressed", "excluded", "disabled"])
async def test_calls_that_are_not_to_be_looked_at(
    how: str, telemetry: Telemetry, session: aiohttp.ClientSession
) -> None:
    """Suppressed by OpenTelemetry, excluded by URL, or with the client switched off: no span and no header."""
    agent = ScriptedAgent(lambda *_: {"task": task("t-1", "WORKING")})
    settings = {"excluded": {"excluded_urls": ["/rpc"]}, "disabled": {"disabled_clients": ["aiohttp"]}}.get(how, {})
    with serve(agent.app) as base, telemetry.instrumented(**settings):
        if how == "suppressed":
            with suppress_instrumentation():
                await read(post(session, base, "SendMessage", send("x", "m1")))
        else:
            await read(post(session, base, "SendMessage", send("x", "m1")))
    assert telemetry.names() == {}
    assert "traceparent" not in agent.headers[0]


async def test_what_is_not_a2a_leaves_no_trace(
    telemetry: Telemetry, session: aiohttp.ClientSession, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither a span nor a header nor a word in the log, also of requests that aiohttp refuses."""
    server.scripts["/"] = whole(b"{}")
    with telemetry.instrumented(), caplog.at_level(logging.DEBUG, "otel_a2a"):
        async with session.get(server.url + "/"), session.post(server.url + "/", json={"method": "eth_call"}):
            pass
        for url in ("http://[", "ftp://a/", 7):
            with pytest.raises((aiohttp.ClientError, ValueError, TypeError)):
                await session.post(url, json=object())  # type: ignore[arg-type]
    assert telemetry.names() == {}
    assert not any("traceparent" in received.headers for received in server.received)
    assert [record.getMessage() for record in caplog.records if record.name.startswith("otel_a2a")] == []


async def test_calls_of_many_tasks_are_spans_of_their_own(telemetry: Telemetry, session: aiohttp.ClientSession) -> None:
    """Each with its own task, whichever ends first."""
    agent = ScriptedAgent(lambda _, params: {"task": task(f"t-{params['message']['messageId']}", "COMPLETED")})
    with serve(agent.app) as base, telemetry.instrumented(state_spans=False):
        await asyncio.gather(*(read(post(session, base, "SendMessage", send("x", str(n)))) for n in range(8)))
    assert sorted(str(attributes(span)[semconv.A2A_TASK_ID]) for span in telemetry.spans) == [
        f"t-{n}" for n in range(8)
    ]
