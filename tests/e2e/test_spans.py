# SPDX-License-Identifier: Apache-2.0
"""Spans over real sockets: one per call, one per state left, rightly nested, and nothing for what is not A2A."""

from __future__ import annotations

import gc
import json
import logging
from typing import Any

import httpx
import pytest
from opentelemetry.instrumentation.utils import suppress_instrumentation
from opentelemetry.trace import SpanKind

from otel_a2a import PolicySpanProcessor, operation, semconv
from tests.support.agents import CARD_PATH, HEADERS, ScriptedAgent, envelope, send, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry


def stream_of(events: int) -> list[Any]:
    """Submitted, many working updates with artifact chunks, completed."""
    working = {"statusUpdate": {"taskId": "t-1", "contextId": "ctx-1", "status": {"state": "TASK_STATE_WORKING"}}}
    chunk = {
        "artifactUpdate": {
            "taskId": "t-1",
            "contextId": "ctx-1",
            "append": True,
            "artifact": {"artifactId": "a", "parts": [{"text": "token"}]},
        }
    }
    done = {"statusUpdate": {"taskId": "t-1", "contextId": "ctx-1", "status": {"state": "TASK_STATE_COMPLETED"}}}
    return [{"task": task("t-1", "SUBMITTED")}, working, *([chunk, working] * ((events - 3) // 2)), done]


def streaming(client: httpx.Client, base: str) -> Any:
    return client.stream(
        "POST", f"{base}/rpc", json=envelope("SendStreamingMessage", send("go", "m1")), headers=HEADERS
    )


def test_a_long_stream_is_one_call_span_and_one_span_per_state_left(telemetry: Telemetry) -> None:
    """Of 2,000 events come one call span and two times in a state, and the application reads every byte."""
    agent = ScriptedAgent(lambda method, params: stream_of(2001))
    with (
        serve(agent.app) as base,
        telemetry.instrumented(),
        httpx.Client() as client,
        streaming(client, base) as response,
    ):
        lines = [line for line in response.iter_lines() if line]
    assert len(lines) == 2001
    assert telemetry.names() == {
        "SendStreamingMessage": 1,
        "task TASK_STATE_SUBMITTED": 1,
        "task TASK_STATE_WORKING": 1,
    }
    call = telemetry.span("SendStreamingMessage")
    assert call.attributes is not None
    assert call.attributes[semconv.A2A_TASK_STATE] == "TASK_STATE_COMPLETED"
    for span in telemetry.spans:
        if span is not call:
            assert span.parent is not None and span.parent.span_id == call.context.span_id
    (duration,) = telemetry.metric(semconv.METRIC_TASK_DURATION)
    assert duration.attributes[semconv.A2A_TASK_STATE] == "TASK_STATE_COMPLETED"
    assert {point.value for point in telemetry.metric(semconv.METRIC_TASK_ACTIVE)} == {0}


@pytest.mark.parametrize("way", ["drain", "break", "close", "exception", "never read", "forgotten"])
def test_the_span_of_a_stream_ends_however_it_is_left(
    way: str, telemetry: Telemetry, caplog: pytest.LogCaptureFixture
) -> None:
    """One span, ended, whatever the application does with the stream, and no complaint about contexts."""
    agent = ScriptedAgent(lambda method, params: stream_of(51))
    with serve(agent.app) as base, telemetry.instrumented(), httpx.Client() as client:
        if way == "forgotten":
            request = client.build_request(
                "POST", f"{base}/rpc", json=envelope("SendStreamingMessage", send("go", "m1")), headers=HEADERS
            )
            response = client.send(request, stream=True)
            lines = response.iter_lines()
            next(lines)
            del lines, response
            gc.collect()
            runtime = operation._runtime
            assert runtime is not None
            runtime.worker.drain()
            runtime.worker.stop()
        else:
            _leave(client, base, way)
    assert telemetry.names()["SendStreamingMessage"] == 1
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def _leave(client: httpx.Client, base: str, way: str) -> None:
    try:
        with streaming(client, base) as response:
            if way == "never read":
                return
            for line in response.iter_lines():
                if way == "break" and line:
                    break
                if way == "close" and line:
                    response.close()
                    break
                if way == "exception" and line:
                    raise KeyError("the application's own")
    except KeyError:
        assert way == "exception"


def test_what_is_not_a2a_leaves_no_trace(telemetry: Telemetry) -> None:
    """Other JSON-RPC, other JSON and plain GETs are neither spans nor observations, and carry no header of ours."""
    agent = ScriptedAgent(lambda method, params: {"content": []})
    with serve(agent.app) as base, telemetry.instrumented(), httpx.Client() as client:
        client.post(f"{base}/rpc", json=envelope("tools/call", {"name": "x"}))
        client.post(f"{base}/rpc", json=envelope("tasks/get", {"taskId": "mcp"}))
        client.post(f"{base}/rpc", json=envelope("tasks/get", {"id": "someone-elses"}))
        client.get(f"{base}/tasks/12")
    assert telemetry.spans == []
    assert all("traceparent" not in headers for headers in agent.headers)


def test_a_call_that_only_its_answer_reveals_is_seen_from_its_start(telemetry: Telemetry) -> None:
    """``tasks/get`` at an unknown endpoint becomes a span once the answer is a task, with the time of its request."""
    agent = ScriptedAgent(
        lambda method, params: {**task("t-1", "WORKING"), "kind": "task", "status": {"state": "working"}}
    )
    with serve(agent.app) as base, telemetry.instrumented(), httpx.Client() as client:
        client.post(f"{base}/rpc", json=envelope("tasks/get", {"id": "t-1"}))
        client.post(f"{base}/rpc", json=envelope("tasks/get", {"id": "t-1"}))
    assert telemetry.names() == {"GetTask": 2}
    assert "traceparent" not in agent.headers[0] and "traceparent" in agent.headers[1]


def test_suppressed_instrumentation_is_a_full_pass_through(telemetry: Telemetry) -> None:
    """Under OpenTelemetry's own suppression nothing is seen, and nothing is stopped."""
    agent = ScriptedAgent(lambda method, params: {"task": task("t-1", "COMPLETED")})
    again = envelope("SendMessage", send("x", "m", task_id="t-1"))
    with (
        serve(agent.app) as base,
        telemetry.instrumented(strictness="raise"),
        httpx.Client() as client,
        suppress_instrumentation(),
    ):
        for _ in range(2):
            client.post(f"{base}/rpc", json=again, headers=HEADERS)
    assert telemetry.spans == [] and agent.methods() == ["SendMessage", "SendMessage"]


def test_excluded_urls_are_left_alone(telemetry: Telemetry) -> None:
    """A URL that is excluded is neither seen nor judged."""
    agent = ScriptedAgent(lambda method, params: {"task": task("t-1", "WORKING")})
    with serve(agent.app) as base, telemetry.instrumented(excluded_urls="/rpc"), httpx.Client() as client:
        client.get(base + CARD_PATH)
        client.post(f"{base}/rpc", json=envelope("SendMessage", send("x", "m")), headers=HEADERS)
    assert telemetry.names() == {"GetAgentCard": 1}


def test_a_hand_made_span_for_the_same_call_is_enriched(telemetry: Telemetry) -> None:
    """Where the application has a live span of that method, it gets what we know, and there is no second one."""
    agent = ScriptedAgent(lambda method, params: {"task": task("t-1", "WORKING")})
    tracer = telemetry.tracer_provider.get_tracer("application")
    with (
        serve(agent.app) as base,
        telemetry.instrumented(),
        httpx.Client() as client,
        tracer.start_as_current_span("SendMessage", attributes={semconv.A2A_METHOD_NAME: "SendMessage"}),
    ):
        client.post(f"{base}/rpc", json=envelope("SendMessage", send("x", "m")), headers=HEADERS)
    span = telemetry.span("SendMessage")
    assert span.attributes is not None
    assert span.attributes[semconv.A2A_TASK_STATE] == "TASK_STATE_WORKING"
    assert span.instrumentation_scope is not None and span.instrumentation_scope.name == "application"


def test_a_hand_made_span_above_others_is_not_judged_twice(telemetry: Telemetry) -> None:
    """A hand-made span with another span between it and our call is covered by our call: one finding, not two."""
    states = iter(["WORKING", "SUBMITTED"])
    agent = ScriptedAgent(lambda method, params: task("t-1", next(states)))
    tracer = telemetry.tracer_provider.get_tracer("application")
    with serve(agent.app) as base, telemetry.instrumented(), httpx.Client() as client:
        for _ in range(2):
            attributes = {semconv.A2A_METHOD_NAME: "GetTask", semconv.A2A_TASK_ID: "t-1"}
            with tracer.start_as_current_span("GetTask", kind=SpanKind.CLIENT, attributes=attributes) as outer:
                with tracer.start_as_current_span("retry policy"):
                    answer = client.post(f"{base}/rpc", json=envelope("GetTask", {"id": "t-1"}), headers=HEADERS)
                outer.set_attribute(semconv.A2A_TASK_STATE, answer.json()["result"]["status"]["state"])
    assert telemetry.findings() == [("backward-transition", "violation")]


def test_spans_of_others_are_judged_where_no_call_of_ours_was(telemetry: Telemetry) -> None:
    """The second feed finds a task that went back in spans that somebody else made, and nests the finding under
    them."""
    tracer = telemetry.tracer_provider.get_tracer("gateway")
    with telemetry.instrumented():
        for state in ("TASK_STATE_WORKING", "TASK_STATE_SUBMITTED"):
            attributes: dict[str, str | int] = {
                semconv.A2A_METHOD_NAME: "GetTask",
                semconv.A2A_TASK_ID: "t-1",
                semconv.SERVER_ADDRESS: "agent.example",
                semconv.SERVER_PORT: 443,
            }
            with tracer.start_as_current_span("GetTask", kind=SpanKind.CLIENT, attributes=attributes) as span:
                span.set_attribute(semconv.A2A_TASK_STATE, state)
    assert telemetry.findings() == [("backward-transition", "violation")]
    violation = telemetry.span("violation backward-transition")
    last = [span for span in telemetry.spans if span.name == "GetTask"][-1]
    assert violation.parent is not None and violation.parent.span_id == last.context.span_id


def test_agents_at_one_gateway_are_told_apart_by_their_names(telemetry: Telemetry) -> None:
    """Two agents behind one host may use the same ids."""
    tracer = telemetry.tracer_provider.get_tracer("gateway")
    with telemetry.instrumented():
        for name, state in (("Pay", "COMPLETED"), ("Ship", "SUBMITTED"), ("Ship", "WORKING"), ("Pay", "COMPLETED")):
            attributes = {
                semconv.A2A_METHOD_NAME: "GetTask",
                semconv.A2A_TASK_ID: "1",
                semconv.A2A_TASK_STATE: f"TASK_STATE_{state}",
                semconv.SERVER_ADDRESS: "gateway.example",
                semconv.GEN_AI_AGENT_NAME: name,
            }
            with tracer.start_as_current_span("GetTask", kind=SpanKind.CLIENT, attributes=attributes):
                pass
    assert telemetry.findings() == []


@pytest.mark.parametrize("names", [("Pay", ""), ("", "Pay")])
def test_an_agent_that_is_named_sometimes_is_one(telemetry: Telemetry, names: tuple[str, str]) -> None:
    """Who makes a span may know the agent's name only where a card was fetched: its task is one all the same."""
    tracer = telemetry.tracer_provider.get_tracer("gateway")
    with telemetry.instrumented():
        for name, state in zip(names, ("WORKING", "SUBMITTED"), strict=True):
            attributes = {
                semconv.A2A_METHOD_NAME: "GetTask",
                semconv.A2A_TASK_ID: "1",
                semconv.A2A_TASK_STATE: f"TASK_STATE_{state}",
                semconv.SERVER_ADDRESS: "gateway.example",
            } | ({semconv.GEN_AI_AGENT_NAME: name} if name else {})
            with tracer.start_as_current_span("GetTask", kind=SpanKind.CLIENT, attributes=attributes):
                pass
    assert telemetry.findings() == [("backward-transition", "violation")]


def test_a_processor_added_by_hand_works_without_instrumentation(telemetry: Telemetry) -> None:
    """``PolicySpanProcessor`` on a provider is enough to judge the spans of others."""
    provider = telemetry.tracer_provider
    provider.add_span_processor(PolicySpanProcessor(provider))
    tracer = provider.get_tracer("gateway")
    for state in ("TASK_STATE_COMPLETED", "TASK_STATE_WORKING"):
        attributes = {semconv.A2A_METHOD_NAME: "GetTask", semconv.A2A_TASK_ID: "t-1", semconv.A2A_TASK_STATE: state}
        with tracer.start_as_current_span("GetTask", kind=SpanKind.CLIENT, attributes=attributes):
            pass
    assert telemetry.names() == {
        "GetTask": 2,
        "violation backward-transition": 1,
        "violation terminal-state-changed": 1,
    }


def test_the_second_feed_stops_with_the_instrumentation(telemetry: Telemetry) -> None:
    """After ``uninstrument()`` the processor, which cannot be removed, judges nothing; after ``instrument()`` it
    does again."""
    tracer = telemetry.tracer_provider.get_tracer("gateway")

    def tell(state: str) -> None:
        attributes = {semconv.A2A_METHOD_NAME: "GetTask", semconv.A2A_TASK_ID: "t-1", semconv.A2A_TASK_STATE: state}
        with tracer.start_as_current_span("GetTask", kind=SpanKind.CLIENT, attributes=attributes):
            pass

    with telemetry.instrumented():
        tell("TASK_STATE_COMPLETED")
    tell("TASK_STATE_WORKING")
    assert telemetry.findings() == []
    with telemetry.instrumented():
        tell("TASK_STATE_COMPLETED")
        tell("TASK_STATE_FAILED")
    assert telemetry.findings() == [("terminal-state-changed", "violation")]


def test_no_secret_reaches_telemetry(telemetry: Telemetry) -> None:
    """Credentials, tokens, queries and texts appear in no span, event or metric."""
    agent = ScriptedAgent(lambda method, params: {"task": task("t-1", "WORKING")})
    params = send("the-text", "m1")
    params["configuration"] = {
        "taskPushNotificationConfig": {
            "url": "http://127.0.0.1:9/hook?q=the-query",
            "token": "the-token",
            "authentication": {"scheme": "Bearer", "credentials": "the-credential"},
        }
    }
    headers = {**HEADERS, "Authorization": "Bearer the-bearer"}
    with serve(agent.app) as base, telemetry.instrumented(), httpx.Client() as client:
        host = base.removeprefix("http://")
        client.get(f"http://the-user:the-password@{host}{CARD_PATH}?key=the-key")
        client.post(f"{base}/rpc?key=the-key", json=envelope("SendMessage", params), headers=headers)
        client.post(f"{base}/rpc", json=envelope("GetTask", {"id": "t-1"}), headers=headers)
    everything = json.dumps([span.to_json() for span in telemetry.spans]) + repr(telemetry.events())
    assert telemetry.names()["SendMessage"] == 1 and telemetry.names()["GetAgentCard"] == 1
    assert "the-" not in everything
