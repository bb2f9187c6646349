# SPDX-License-Identifier: Apache-2.0
"""Spans and findings of calls over requests, with the real operation behind them, over real sockets."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from opentelemetry import trace
from opentelemetry.instrumentation.utils import suppress_instrumentation
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind

from otel_a2a import semconv
from otel_a2a.errors import A2APolicyError
from tests.clients.bodies import compressed
from tests.clients.loopback import PATIENCE, Server, chunked
from tests.clients.requests.readers import READERS_TO_THE_END
from tests.support.agents import CARD_PATH, HEADERS, ScriptedAgent, envelope, send, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry

WORKING = {"statusUpdate": {"taskId": "t-1", "contextId": "ctx-1", "status": {"state": "TASK_STATE_WORKING"}}}
COMPLETED = {"statusUpdate": {"taskId": "t-1", "contextId": "ctx-1", "status": {"state": "TASK_STATE_COMPLETED"}}}


@pytest.fixture
def telemetry() -> Iterator[Telemetry]:
    yield Telemetry()


def attributes(span: ReadableSpan) -> Any:
    assert span.attributes is not None
    return span.attributes


def post(session: requests.Session, base: str, method: str, params: dict[str, Any], **options: Any) -> Any:
    headers = {**HEADERS, **options.pop("headers", {})}
    return session.post(f"{base}/rpc", json=envelope(method, params), headers=headers, timeout=PATIENCE, **options)


def test_card_call_and_stream_are_spans(telemetry: Telemetry) -> None:
    """One span for each, of kind CLIENT, with what was told; the card fetched is the card in force."""
    agent = ScriptedAgent(
        lambda method, _: (
            [{"task": task("t-2", "SUBMITTED")}, {"task": task("t-2", "COMPLETED")}]
            if "Streaming" in method
            else {"task": task("t-1", "WORKING")}
        )
    )
    with serve(agent.app) as base, telemetry.instrumented(state_spans=False), requests.Session() as session:
        session.get(base + CARD_PATH, timeout=PATIENCE)
        post(session, base, "SendMessage", send("x", "m1"))
        with post(session, base, "SendStreamingMessage", send("x", "m2"), stream=True) as response:
            assert len([line for line in response.iter_lines() if line]) == 2
    assert telemetry.names() == {"GetAgentCard": 1, "SendMessage": 1, "SendStreamingMessage": 1}
    assert telemetry.findings() == []
    for span in telemetry.spans:
        assert span.kind == SpanKind.CLIENT
    stream, card = (attributes(telemetry.span(name)) for name in ("SendStreamingMessage", "GetAgentCard"))
    assert stream[semconv.A2A_TASK_STATE] == "TASK_STATE_COMPLETED"
    assert stream[semconv.CARD_REVISION_ID] == card[semconv.CARD_REVISION_ID]


def test_a_long_stream_is_one_call_span(telemetry: Telemetry) -> None:
    """Of 2,000 events come one call span and two times in a state, and the application reads every byte."""
    agent = ScriptedAgent(lambda *_: [{"task": task("t-1", "SUBMITTED")}, *[WORKING] * 1998, COMPLETED])
    with serve(agent.app) as base, telemetry.instrumented(), requests.Session() as session:
        response = post(session, base, "SendStreamingMessage", send("x", "m1"), stream=True)
        assert len([line for line in response.iter_lines() if line]) == 2000
    assert telemetry.names() == {
        "SendStreamingMessage": 1,
        "task TASK_STATE_SUBMITTED": 1,
        "task TASK_STATE_WORKING": 1,
    }
    assert attributes(telemetry.span("SendStreamingMessage"))[semconv.A2A_TASK_STATE] == "TASK_STATE_COMPLETED"


@pytest.mark.parametrize("coding", ["", "gzip", "deflate"])
def test_every_event_is_understood_however_it_is_read(coding: str, server: Server, telemetry: Telemetry) -> None:
    """Whether the application gets the bytes as they came or decoded, each event is judged, and once."""
    results = [{"task": task("t-1", "SUBMITTED")}, WORKING, COMPLETED]
    events = [
        b"data: " + json.dumps({"jsonrpc": "2.0", "id": "1", "result": result}).encode() + b"\n\n" for result in results
    ]
    headers = ["content-type: text/event-stream"]
    if coding:
        events, headers = compressed(events, 31 if coding == "gzip" else 15), [*headers, f"content-encoding: {coding}"]
    server.scripts["/rpc"] = chunked(events, *headers)
    for name, read in READERS_TO_THE_END.items():
        telemetry.clear()
        with telemetry.instrumented(state_spans=False), requests.Session() as session:
            session.trust_env = False
            with post(session, server.url, "SendStreamingMessage", send("x", "m1"), stream=True) as response:
                read(response)
            span = telemetry.span("SendStreamingMessage")
            assert attributes(span)[semconv.A2A_TASK_STATE] == "TASK_STATE_COMPLETED", name
            assert semconv.RESPONSE_JUDGED not in attributes(span), name
            assert telemetry.findings() == [], name


@pytest.mark.parametrize("how", ["session", "function", "prepared", "subclass"])
def test_traceparent_is_there_exactly_once(how: str, telemetry: Telemetry) -> None:
    """One header, which names our span, whichever way the request was made; a redirect keeps it."""
    agent = ScriptedAgent(lambda *_: {"task": task("t-1", "WORKING")})
    body = envelope("SendMessage", send("x", "m1"))
    with serve(agent.app) as base, telemetry.instrumented(), requests.Session() as session:
        request = requests.Request("POST", f"{base}/rpc", json=body, headers=HEADERS)
        if how == "session":
            session.post(f"{base}/rpc", json=body, headers=HEADERS)
        elif how == "function":
            requests.post(f"{base}/rpc", json=body, headers=HEADERS, timeout=PATIENCE)
        elif how == "prepared":
            session.send(session.prepare_request(request))
        else:
            with type("Own", (requests.Session,), {})() as own:
                own.post(f"{base}/rpc", json=body, headers=HEADERS)
    span = telemetry.span("SendMessage")
    (headers,) = agent.headers
    assert headers["traceparent"].split("-")[1:3] == [f"{span.context.trace_id:032x}", f"{span.context.span_id:016x}"]


def test_a_request_that_is_sent_twice_names_its_own_span_each_time(telemetry: Telemetry) -> None:
    """A retry of the same request object carries the retry's span; the application's own header is kept."""
    own = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    agent = ScriptedAgent(lambda *_: {"task": task("t-1", "WORKING")})
    with serve(agent.app) as base, telemetry.instrumented(), requests.Session() as session:
        request = requests.Request("POST", f"{base}/rpc", json=envelope("GetTask", {"id": "t-1"}), headers=HEADERS)
        prepared = session.prepare_request(request)
        session.send(prepared)
        session.send(prepared)
        prepared.headers["traceparent"] = own
        session.send(prepared)
    spans = [f"{span.context.span_id:016x}" for span in telemetry.spans if span.name == "GetTask"]
    sent = [headers["traceparent"].split("-")[2] for headers in agent.headers]
    assert sent == [*spans[:2], own.split("-")[2]]


def test_nothing_is_current_while_a_stream_is_read(telemetry: Telemetry, caplog: pytest.LogCaptureFixture) -> None:
    """The application's own span stays the current one, and is the parent of the call."""
    agent = ScriptedAgent(lambda *_: [{"task": task("t-1", "SUBMITTED")}, COMPLETED])
    tracer = telemetry.tracer_provider.get_tracer("application")
    with (
        serve(agent.app) as base,
        telemetry.instrumented(),
        requests.Session() as session,
        tracer.start_as_current_span("own") as own,
    ):
        for _ in post(session, base, "SendStreamingMessage", send("x", "m1"), stream=True).iter_lines():
            assert trace.get_current_span() is own
    parent = telemetry.span("SendStreamingMessage").parent
    assert parent is not None and parent.span_id == telemetry.span("own").context.span_id
    assert "Failed to detach context" not in caplog.text


def test_a_refused_request_never_reaches_the_agent(telemetry: Telemetry) -> None:
    """In mode ``raise``, a message into a task that has ended is stopped before a byte leaves."""
    agent = ScriptedAgent(lambda *_: {"task": task("t-1", "COMPLETED")})
    with serve(agent.app) as base, telemetry.instrumented(strictness="raise"), requests.Session() as session:
        post(session, base, "SendMessage", send("x", "m1"))
        with pytest.raises(A2APolicyError) as raised:
            post(session, base, "SendMessage", send("more", "m2", task_id="t-1"))
    assert raised.value.request_sent is False
    assert agent.methods() == ["SendMessage"]
    assert telemetry.findings() == [("terminal-task-reused", "violation")]


def test_a_refused_answer_is_raised(telemetry: Telemetry) -> None:
    """In mode ``raise``, an answer that takes a task back is not returned."""
    states = iter(["COMPLETED", "WORKING"])
    agent = ScriptedAgent(lambda *_: task("t-1", next(states)))
    with serve(agent.app) as base, telemetry.instrumented(strictness="raise"), requests.Session() as session:
        post(session, base, "GetTask", {"id": "t-1"})
        with pytest.raises(A2APolicyError) as raised:
            post(session, base, "GetTask", {"id": "t-1"})
    assert raised.value.request_sent is True
    assert telemetry.findings()


def test_a_refused_event_ends_the_stream_after_what_came_before(telemetry: Telemetry) -> None:
    """With RAISE_IN_STREAM, the events before the one that is refused are delivered, and it is not."""
    events = [{"task": task("t-1", "SUBMITTED")}, WORKING, COMPLETED, WORKING, WORKING]
    agent = ScriptedAgent(
        lambda method, _: events if method == "SubscribeToTask" else {"task": task("t-1", "SUBMITTED")}
    )
    got: list[Any] = []
    with (
        serve(agent.app) as base,
        telemetry.instrumented(strictness="raise", raise_in_stream=True),
        requests.Session() as session,
    ):
        post(session, base, "SendMessage", send("x", "m1"))
        response = post(session, base, "SubscribeToTask", {"id": "t-1"}, stream=True)
        with pytest.raises(A2APolicyError):
            for line in response.iter_lines():
                if line:
                    got.append(json.loads(line[6:])["result"])
    assert got == events[:3]
    assert telemetry.span("SubscribeToTask").status.status_code is trace.StatusCode.ERROR


@pytest.mark.parametrize("how", ["suppressed", "excluded", "disabled"])
def test_calls_that_are_not_to_be_looked_at(how: str, telemetry: Telemetry) -> None:
    """Suppressed by OpenTelemetry, excluded by URL, or with the client switched off: no span and no header."""
    agent = ScriptedAgent(lambda *_: {"task": task("t-1", "WORKING")})
    settings = {"excluded": {"excluded_urls": ["/rpc"]}, "disabled": {"disabled_clients": ["requests"]}}.get(how, {})
    with serve(agent.app) as base, telemetry.instrumented(**settings), requests.Session() as session:
        if how == "suppressed":
            with suppress_instrumentation():
                post(session, base, "SendMessage", send("x", "m1"))
        else:
            post(session, base, "SendMessage", send("x", "m1"))
    assert telemetry.names() == {}
    assert "traceparent" not in agent.headers[0]


def test_the_exporter_does_not_see_itself(server: Server, telemetry: Telemetry) -> None:
    """OTLP over HTTP goes through requests, and exports suppress instrumentation."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    server.scripts["/rpc"] = chunked([b"{}"])
    exporter = OTLPSpanExporter(endpoint=server.url + "/rpc", timeout=1)
    with telemetry.instrumented():
        tracer = telemetry.tracer_provider.get_tracer("application")
        with tracer.start_as_current_span("own"):
            pass
        exporter.export(telemetry.spans)
    exporter.shutdown()  # type: ignore[no-untyped-call]  # it has no types
    assert len(server.received) == 1
    assert telemetry.names() == {"own": 1}


def test_what_is_not_a2a_leaves_no_trace(telemetry: Telemetry, caplog: pytest.LogCaptureFixture) -> None:
    """Neither a span nor a header nor a word in the log."""
    agent = ScriptedAgent(lambda *_: {"ok": True})
    with (
        serve(agent.app) as base,
        telemetry.instrumented(),
        requests.Session() as session,
        caplog.at_level(logging.DEBUG, "otel_a2a"),
    ):
        session.get(f"{base}/other", timeout=PATIENCE)
        session.post(f"{base}/rpc", json={"method": "eth_call", "params": {}, "id": 1}, timeout=PATIENCE)
    assert telemetry.names() == {}
    assert "traceparent" not in agent.headers[0]
    assert [record.getMessage() for record in caplog.records if record.name.startswith("otel_a2a")] == []


def test_calls_of_many_threads_are_spans_of_their_own(telemetry: Telemetry) -> None:
    """Each with its own task, whichever thread ends first."""
    agent = ScriptedAgent(lambda _, params: {"task": task(f"t-{params['message']['messageId']}", "COMPLETED")})
    with serve(agent.app) as base, telemetry.instrumented(state_spans=False), requests.Session() as session:
        threads = [
            threading.Thread(target=post, args=(session, base, "SendMessage", send("x", str(number))))
            for number in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(str(attributes(span)[semconv.A2A_TASK_ID]) for span in telemetry.spans) == [
        f"t-{n}" for n in range(8)
    ]
