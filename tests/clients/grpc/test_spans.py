# SPDX-License-Identifier: Apache-2.0
"""What is told of calls by raw stubs: spans, states, errors, and the trace context that travels."""

from __future__ import annotations

import gc
import logging
from typing import Any

import grpc
import pytest
from opentelemetry import trace
from opentelemetry.instrumentation.utils import suppress_instrumentation
from opentelemetry.trace import SpanKind, StatusCode

from otel_a2a import TaskResurrectionError, clients, message_operation, semconv
from tests.clients.grpc.agent import DIALECTS, OTHER, PATIENCE, Agent, Dialect
from tests.support.telemetry import Telemetry

V1 = DIALECTS["1.0"]
V3 = DIALECTS["0.3"]


def attributes(telemetry: Telemetry, name: str) -> dict[str, Any]:
    return dict(telemetry.span(name).attributes or {})


def test_a_call_is_a_span(agent: Agent, dialect: Dialect, telemetry: Telemetry) -> None:
    """It is named by the method, and says what was asked, of whom, and what came of it."""
    with telemetry.instrumented(), grpc.insecure_channel(agent.target) as channel:
        dialect.stub(channel).SendMessage(dialect.send("WORKING", context_id="ctx-1"))
    span = telemetry.span("SendMessage")
    assert (span.kind, span.status.status_code) == (SpanKind.CLIENT, StatusCode.UNSET)
    assert dict(span.attributes or {}) == {
        semconv.A2A_METHOD_NAME: "SendMessage",
        semconv.A2A_PROTOCOL_VERSION: dialect.version,
        semconv.A2A_MESSAGE_ID: "m1",
        semconv.A2A_TASK_ID: "t-1",
        semconv.A2A_TASK_STATE: "TASK_STATE_WORKING",
        semconv.GEN_AI_CONVERSATION_ID: "ctx-1",
        semconv.SERVER_ADDRESS: "127.0.0.1",
        semconv.SERVER_PORT: agent.port,
        semconv.TASK_STATE_SOURCE: "response",
        semconv.TASK_DISPOSITION: "active",
    }


def test_a_stream_is_one_span(agent: Agent, dialect: Dialect, telemetry: Telemetry) -> None:
    """It lasts until the last message is read, and the task's states are told as they come."""
    with telemetry.instrumented(), grpc.insecure_channel(agent.target) as channel:
        stream = dialect.stub(channel).SendStreamingMessage(dialect.send("SUBMITTED WORKING CANCELED"))
        next(stream)
        assert telemetry.ours() == []
        list(stream)
    assert [span.name for span in telemetry.ours()] == [
        "task TASK_STATE_SUBMITTED",
        "task TASK_STATE_WORKING",
        "SendStreamingMessage",
    ]
    told = attributes(telemetry, "SendStreamingMessage")
    # 0.3 spells it with a second L.
    assert told[semconv.A2A_TASK_STATE] == "TASK_STATE_CANCELED"
    assert told[semconv.TASK_STATE_SOURCE] == "stream"
    assert semconv.ERROR_TYPE not in told


async def test_calls_over_asyncio_are_spans(agent: Agent, dialect: Dialect, telemetry: Telemetry) -> None:
    """The same over ``grpc.aio``."""
    with telemetry.instrumented():
        async with grpc.aio.insecure_channel(agent.target) as channel:
            stub = dialect.stub(channel)
            await stub.GetTask(dialect.get("t-1"))
            async for _ in stub.SendStreamingMessage(dialect.send("SUBMITTED COMPLETED")):
                pass
    assert attributes(telemetry, "GetTask")[semconv.A2A_TASK_STATE] == "TASK_STATE_WORKING"
    assert attributes(telemetry, "SendStreamingMessage")[semconv.A2A_TASK_STATE] == "TASK_STATE_COMPLETED"


# --- trace context ----------------------------------------------------------------------------------------------------


def test_the_span_travels_once(agent: Agent, dialect: Dialect, telemetry: Telemetry) -> None:
    """One ``traceparent`` of our span, in new metadata: the application's own are as they were."""
    given = [("x", "y")]
    with telemetry.instrumented(), grpc.insecure_channel(agent.target) as channel:
        dialect.stub(channel).GetTask(dialect.get("t-1"), metadata=given)
    context = telemetry.span("GetTask").context
    assert agent.traceparents() == [
        [f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"]
    ]
    assert given == [("x", "y")]


def test_the_applications_own_context_is_kept(agent: Agent, dialect: Dialect, telemetry: Telemetry) -> None:
    """A ``traceparent`` that is there already is the only one."""
    own = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    with telemetry.instrumented(), grpc.insecure_channel(agent.target) as channel:
        dialect.stub(channel).GetTask(dialect.get("t-1"), metadata=(("traceparent", own),))
    assert agent.traceparents() == [[own]]


def test_propagation_can_be_switched_off(agent: Agent, dialect: Dialect, telemetry: Telemetry) -> None:
    """With ``propagate=False`` the metadata are the application's alone."""
    with telemetry.instrumented(propagate=False), grpc.insecure_channel(agent.target) as channel:
        dialect.stub(channel).GetTask(dialect.get("t-1"))
    assert agent.traceparents() == [[]]


def test_metadata_that_only_an_iterator_has_are_left_alone(agent: Agent, telemetry: Telemetry) -> None:
    """Reading them would use them up; the call goes without trace context."""
    metadata: Any = iter([("x", "y")])
    with telemetry.instrumented(), grpc.insecure_channel(agent.target) as channel:
        V1.stub(channel).GetTask(V1.get("t-1"), metadata=metadata)
    assert ("x", "y") in agent.received[0].metadata
    assert telemetry.names()["GetTask"] == 1


def test_headers_that_grpc_refuses_are_left_out(agent: Agent) -> None:
    """Names are lower case in metadata, and what is no text of one line would fail the call."""

    class Operation:
        def headers(self) -> dict[str, str]:
            return {"X-Amzn-Trace-Id": "Root=1", "bad": "a\nb", "traceparent": "new"}

    from otel_a2a.clients.grpc import _propagated

    ours: Any = Operation()
    _, kwargs = _propagated(ours, (), {"metadata": [("traceparent", "old"), ("x", "y")]})
    assert kwargs == {"metadata": [("x", "y"), ("x-amzn-trace-id", "Root=1"), ("traceparent", "new")]}
    args, kwargs = _propagated(ours, (1, 2, None, 4), {})
    assert (args, kwargs) == ((1, 2, (("x-amzn-trace-id", "Root=1"), ("traceparent", "new")), 4), {})


def test_interceptors_run_within_the_span(agent: Agent, telemetry: Telemetry) -> None:
    """What an interceptor starts is a child of the call's span, and the application runs outside of it."""
    found: list[int] = []

    class Looks(grpc.UnaryUnaryClientInterceptor):
        def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
            found.append(trace.get_current_span().get_span_context().span_id)
            return continuation(client_call_details, request)

    with telemetry.instrumented(), grpc.insecure_channel(agent.target) as channel:
        V1.stub(grpc.intercept_channel(channel, Looks())).GetTask(V1.get("t-1"))
        assert trace.get_current_span() is trace.INVALID_SPAN
    assert found == [telemetry.span("GetTask").context.span_id]


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "error"), [("missing", "NOT_FOUND"), ("abort", "FAILED_PRECONDITION"), ("crash", "UNKNOWN")]
)
def test_an_error_is_named_by_its_status(
    word: str, error: str, agent: Agent, dialect: Dialect, telemetry: Telemetry
) -> None:
    """``error.type`` is the status as gRPC names it."""
    agent.answer = lambda method, request: word
    with telemetry.instrumented(), grpc.insecure_channel(agent.target) as channel, pytest.raises(grpc.RpcError):
        dialect.stub(channel).GetTask(dialect.get("t-1"))
    span = telemetry.span("GetTask")
    assert (span.status.status_code, dict(span.attributes or {})[semconv.ERROR_TYPE]) == (StatusCode.ERROR, error)


def test_a_send_that_found_nobody_may_be_repeated(agent: Agent, dialect: Dialect, telemetry: Telemetry) -> None:
    """Where there was no connection nothing has left; where nobody answered in time the message may run twice."""
    found = {}
    for target, text in (("127.0.0.1:1", "WORKING"), (agent.target, "hang")):
        telemetry.clear()
        with telemetry.instrumented(), grpc.insecure_channel(target) as channel:
            for _ in range(2):
                with pytest.raises(grpc.RpcError):
                    dialect.stub(channel).SendMessage(dialect.send(text), timeout=0.5)
        errors = {
            str(dict(span.attributes or {})[semconv.ERROR_TYPE]) for span in telemetry.ours() if span.parent is None
        }
        found[text] = errors, [event.attributes[semconv.SECURITY_RULE_NAME] for event in telemetry.events()]
    assert found == {"WORKING": ({"UNAVAILABLE"}, []), "hang": ({"DEADLINE_EXCEEDED"}, ["duplicate-send"])}


# --- limits -----------------------------------------------------------------------------------------------------------


def test_bytes_are_not_judged(agent: Agent, telemetry: Telemetry) -> None:
    """A stub without messages is seen, and marked as not judged; nothing in it is guessed."""
    with telemetry.instrumented(), grpc.insecure_channel(agent.target) as channel:
        raw: Any = channel.unary_unary("/lf.a2a.v1.A2AService/SendMessage")
        raw(V1.send("WORKING").SerializeToString())
    told = attributes(telemetry, "SendMessage")
    assert (told[semconv.REQUEST_JUDGED], told[semconv.RESPONSE_JUDGED]) == (False, False)
    assert semconv.A2A_TASK_ID not in told


def test_large_messages_are_not_judged(agent: Agent, telemetry: Telemetry) -> None:
    """An answer over the limit is delivered, and not read."""
    with telemetry.instrumented(), grpc.insecure_channel(agent.target) as channel:
        answer = V1.stub(channel).SendMessage(V1.send("big"))
    assert len(answer.task.artifacts[0].parts[0].text) == 2_000_000
    told = attributes(telemetry, "SendMessage")
    assert told[semconv.RESPONSE_JUDGED] is False
    assert semconv.A2A_TASK_ID not in told


def test_other_services_are_left_alone(agent: Agent, telemetry: Telemetry) -> None:
    """Reflection, health and whatever else gets neither a span nor metadata."""
    with telemetry.instrumented(), grpc.insecure_channel(agent.target) as channel:
        echo: Any = channel.unary_unary(OTHER)
        for path in ("/lf.a2a.v1.A2AService/NoSuchMethod", "/grpc.health.v1.Health/Check"):
            with pytest.raises(grpc.RpcError):
                channel.unary_unary(path)(b"")  # type: ignore[arg-type]  # any bytes
        assert echo(b"1") == b"1"
    assert telemetry.spans == []
    assert agent.traceparents() == [[]]


def test_excluded_suppressed_and_disabled(agent: Agent, telemetry: Telemetry) -> None:
    """By its URL, by OpenTelemetry's own switch, and by the library's name in the settings."""
    with grpc.insecure_channel(agent.target) as channel:
        stub = V1.stub(channel)
        with telemetry.instrumented(excluded_urls=f"127.0.0.1:{agent.port}"):
            stub.GetTask(V1.get("t-1"))
        with telemetry.instrumented(), suppress_instrumentation():
            stub.GetTask(V1.get("t-1"))
        with telemetry.instrumented(disabled_clients="grpc"):
            stub.GetTask(V1.get("t-1"))
            assert [each.patched for each in clients.status() if each.name == "grpc"] == [False]
    assert telemetry.spans == []


def test_a_stub_that_was_there_before(agent: Agent, telemetry: Telemetry) -> None:
    """Channels and stubs that were made before are seen too."""
    with grpc.insecure_channel(agent.target) as channel:
        stub = V1.stub(channel)
        bound = stub.GetTask
        with telemetry.instrumented():
            bound(V1.get("t-1"))
    assert telemetry.names()["GetTask"] == 1


async def test_an_asyncio_channel_that_was_there_before(
    agent: Agent, telemetry: Telemetry, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the version does not tell its target the call is not seen, and one warning says so; else it is."""
    from otel_a2a.clients import grpc as ours

    ours._warn_of_unknown_target.cache_clear()
    async with grpc.aio.insecure_channel(agent.target) as channel:
        stub = V1.stub(channel)
        with telemetry.instrumented(), caplog.at_level(logging.WARNING):
            await stub.GetTask(V1.get("t-1"))
            await stub.GetTask(V1.get("t-1"))
        told = isinstance(getattr(channel._channel, "target", None), bytes)  # type: ignore[attr-defined]  # of the library
    assert telemetry.names()["GetTask"] == (2 if told else 0)
    assert caplog.text.count("was made before otel-a2a was started") == (0 if told else 1)


def test_a_credential_is_a_digest(agent: Agent, telemetry: Telemetry, monkeypatch: pytest.MonkeyPatch) -> None:
    """The metadata's credential is told apart from another, and is nowhere to be seen."""
    begin, requests = message_operation.begin, []

    def noted(exchange: Any) -> Any:
        found = begin(exchange)
        requests.append(found._request if found is not None else None)
        return found

    monkeypatch.setattr(message_operation, "begin", noted)
    with telemetry.instrumented(), grpc.insecure_channel(agent.target) as channel:
        for token in ("secret", "secret", "other"):
            V1.stub(channel).GetTask(V1.get("t-1"), metadata=(("authorization", f"Bearer {token}"),))
    first, second, third = (request.credential for request in requests if request is not None)
    assert first == second != third
    assert "secret" not in str([(span.name, span.attributes) for span in telemetry.spans])


def test_a_forgotten_stream_ends_its_span(agent: Agent, telemetry: Telemetry) -> None:
    """The finaliser hands the end to the worker, and the task is not held for over."""
    with telemetry.instrumented(), grpc.insecure_channel(agent.target) as channel:
        stream = V1.stub(channel).SendStreamingMessage(V1.send("WORKING hang"))
        next(stream)
        del stream
        gc.collect()
        assert agent.gone.wait(PATIENCE)
    assert attributes(telemetry, "SendStreamingMessage")[semconv.TASK_DISPOSITION] == "active"


def test_a_side_effect_runs_once(agent: Agent, dialect: Dialect, telemetry: Telemetry) -> None:
    """Seed 002 over gRPC: after a redeploy a task is submitted again, and the charge of a retry loop is stopped."""
    charges: list[str] = []

    def answer(method: str, request: Any) -> str:
        if method != "SendMessage":
            return "SUBMITTED"
        message = request.message if dialect.version == "1.0" else request.request
        if not message.task_id:
            return "WORKING"
        charges.append(message.message_id)
        return "SUBMITTED"

    agent.answer = answer
    with telemetry.instrumented(strictness="raise"), grpc.insecure_channel(agent.target) as channel:
        stub = dialect.stub(channel)
        stub.SendMessage(dialect.send("hello"))
        for attempt in range(4):
            with pytest.raises(TaskResurrectionError):
                stub.SendMessage(dialect.send("charge 10", task_id="t-1", message_id=f"retry-{attempt}"))
    assert charges == ["retry-0"]
    assert {"backward-transition", "message-resent-after-regression"} <= {rule for rule, _ in telemetry.findings()}
