# SPDX-License-Identifier: Apache-2.0
"""What raises: before a request leaves, in place of an answer, and within a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from opentelemetry.trace import StatusCode

from otel_a2a import A2APolicyError, TaskResurrectionError
from otel_a2a.engine.findings import Phase
from tests.clients.grpc.agent import PATIENCE, Agent, Dialect
from tests.support.telemetry import Telemetry


@contextmanager
def resurrecting(agent: Agent, dialect: Dialect, telemetry: Telemetry, **settings: Any) -> Iterator[Any]:
    """A stub in mode ``raise``, with a task that is at work; from now on the agent says that it is just submitted."""
    with telemetry.instrumented(strictness="raise", **settings), grpc.insecure_channel(agent.target) as channel:
        stub = dialect.stub(channel)
        stub.SendMessage(dialect.send("WORKING"))
        agent.answer = lambda method, request: "SUBMITTED"
        yield stub


def arrived(agent: Agent) -> list[str]:
    return [each.method for each in agent.received]


READS: dict[str, Callable[[Any, Any], Any]] = {
    "call": lambda stub, request: stub.GetTask(request),
    "with_call": lambda stub, request: stub.GetTask.with_call(request),
    "future": lambda stub, request: stub.GetTask.future(request).result(),
}


@pytest.mark.parametrize("way", READS)
def test_an_answer_is_withheld(way: str, agent: Agent, dialect: Dialect, telemetry: Telemetry) -> None:
    """A read that shows a task going back raises after the agent has answered, whichever way it is made."""
    with resurrecting(agent, dialect, telemetry) as stub, pytest.raises(TaskResurrectionError) as raised:
        READS[way](stub, dialect.get("t-1"))
    assert (raised.value.phase, raised.value.request_sent) == (Phase.RESPONSE, True)
    assert arrived(agent) == ["SendMessage", "GetTask"]


def test_a_refused_future_refuses_each_time(agent: Agent, dialect: Dialect, telemetry: Telemetry) -> None:
    """The result of a future is judged once, and raises whenever it is asked for, in callbacks too."""
    with resurrecting(agent, dialect, telemetry) as stub:
        future = stub.GetTask.future(dialect.get("t-1"))
        for _ in range(2):
            with pytest.raises(TaskResurrectionError):
                future.result(PATIENCE)
        caught: list[BaseException] = []

        def done(of: Any) -> None:
            try:
                of.result()
            except A2APolicyError as error:
                caught.append(error)

        future.add_done_callback(done)
    assert len(caught) == 1
    assert telemetry.findings() == [("backward-transition", "violation")]


SENDS: dict[str, Callable[[Any, Any], Any]] = {
    "call": lambda stub, request: stub.SendMessage(request),
    "with_call": lambda stub, request: stub.SendMessage.with_call(request),
    "future": lambda stub, request: stub.SendMessage.future(request),
    "stream": lambda stub, request: stub.SendStreamingMessage(request),
}


@pytest.mark.parametrize("way", SENDS)
def test_a_request_never_leaves(way: str, agent: Agent, dialect: Dialect, telemetry: Telemetry) -> None:
    """A message sent again into a task that went back is stopped before anything leaves, whichever way it is sent."""
    with resurrecting(agent, dialect, telemetry) as stub:
        with pytest.raises(TaskResurrectionError):
            stub.GetTask(dialect.get("t-1"))
        with pytest.raises(TaskResurrectionError) as raised:
            SENDS[way](stub, dialect.send("WORKING", task_id="t-1", message_id="m2"))
        # The next call is answered after anything that was sent before it.
        stub.CancelTask(dialect.cancel("t-1"))
    assert (raised.value.phase, raised.value.request_sent) == (Phase.REQUEST, False)
    assert arrived(agent) == ["SendMessage", "GetTask", "CancelTask"]
    name = "SendStreamingMessage" if way == "stream" else "SendMessage"
    blocked = [span for span in telemetry.ours() if span.name == name][-1]
    assert blocked.status.status_code is StatusCode.ERROR


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_request_over_asyncio_never_leaves(
    streamed: bool, agent: Agent, dialect: Dialect, telemetry: Telemetry
) -> None:
    """Over ``grpc.aio`` the call itself raises, before there is anything to await."""
    with telemetry.instrumented(strictness="raise"):
        async with grpc.aio.insecure_channel(agent.target) as channel:
            stub = dialect.stub(channel)
            await stub.SendMessage(dialect.send("WORKING"))
            agent.answer = lambda method, request: "SUBMITTED"
            call = stub.GetTask(dialect.get("t-1"))
            for _ in range(2):
                with pytest.raises(TaskResurrectionError):
                    await call
            send = stub.SendStreamingMessage if streamed else stub.SendMessage
            with pytest.raises(TaskResurrectionError):
                send(dialect.send("WORKING", task_id="t-1", message_id="m2"))
            await stub.CancelTask(dialect.cancel("t-1"))
    assert arrived(agent) == ["SendMessage", "GetTask", "CancelTask"]


def test_a_stream_is_delivered_by_default(agent: Agent, dialect: Dialect, telemetry: Telemetry) -> None:
    """What comes within a stream is told and delivered: to close a stream stops the work at some agents."""
    with telemetry.instrumented(strictness="raise"), grpc.insecure_channel(agent.target) as channel:
        stream = dialect.stub(channel).SendStreamingMessage(dialect.send("WORKING SUBMITTED WORKING"))
        assert len(list(stream)) == 3
    assert telemetry.findings() == [("backward-transition", "violation")]


def test_a_stream_is_stopped_where_that_is_wanted(agent: Agent, dialect: Dialect, telemetry: Telemetry) -> None:
    """With ``raise_in_stream`` the events before are delivered, the event itself is not, and the stream is canceled."""
    with (
        telemetry.instrumented(strictness="raise", raise_in_stream=True),
        grpc.insecure_channel(agent.target) as channel,
    ):
        stub = dialect.stub(channel)
        stub.SendMessage(dialect.send("WORKING"))
        stream = stub.SendStreamingMessage(dialect.send("WORKING SUBMITTED hang", task_id="t-1", message_id="m2"))
        assert next(stream).task.id == "t-1"
        with pytest.raises(TaskResurrectionError):
            next(stream)
        assert stream.code() is grpc.StatusCode.CANCELLED
        assert agent.gone.wait(PATIENCE)


@pytest.mark.parametrize("way", ["iterated", "read"])
async def test_a_stream_over_asyncio_is_stopped(way: str, agent: Agent, dialect: Dialect, telemetry: Telemetry) -> None:
    """The same over ``grpc.aio``, iterated or read."""
    with telemetry.instrumented(strictness="raise", raise_in_stream=True):
        async with grpc.aio.insecure_channel(agent.target) as channel:
            stub = dialect.stub(channel)
            await stub.SendMessage(dialect.send("WORKING"))
            stream = stub.SendStreamingMessage(dialect.send("WORKING SUBMITTED hang", task_id="t-1", message_id="m2"))
            following = aiter(stream).__anext__ if way == "iterated" else stream.read
            assert (await following()).task.id == "t-1"
            with pytest.raises(TaskResurrectionError):
                await following()
            assert stream.cancelled()
            assert await stream.code() is grpc.StatusCode.CANCELLED


def test_interceptors_do_not_turn_a_refusal_into_something_else(
    agent: Agent, dialect: Dialect, telemetry: Telemetry
) -> None:
    """gRPC makes an outcome of what its interceptors raise; the refusal is raised outside of them."""

    class Through(grpc.UnaryUnaryClientInterceptor):
        def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
            return continuation(client_call_details, request)

    with telemetry.instrumented(strictness="raise"), grpc.insecure_channel(agent.target) as channel:
        stub = dialect.stub(grpc.intercept_channel(channel, Through()))
        stub.SendMessage(dialect.send("WORKING"))
        agent.answer = lambda method, request: "SUBMITTED"
        with pytest.raises(TaskResurrectionError):
            stub.GetTask(dialect.get("t-1"))
        with pytest.raises(TaskResurrectionError):
            stub.SendMessage.future(dialect.send("WORKING", task_id="t-1", message_id="m2"))
    assert arrived(agent) == ["SendMessage", "GetTask"]
