# SPDX-License-Identifier: Apache-2.0
"""Blocking gRPC with and without us: what the program sees and what the server gets is the same."""

from __future__ import annotations

import gc
import importlib
import threading
import warnings
from typing import Any

import grpc
import pytest

from tests.clients.grpc.agent import OTHER, OTHER_STREAM, PATIENCE, Agent
from tests.clients.grpc.sides import Side, Situations

situation = Situations()
experimental: Any = importlib.import_module("grpc.experimental")


@pytest.mark.parametrize("name", situation)
def test_program_sees_no_difference(name: str, agent: Agent, caplog: pytest.LogCaptureFixture) -> None:
    """Messages, exceptions, call objects and what arrives at the server are the same, and each span ends."""
    situation.run(name, agent, caplog)


# --- one answer -------------------------------------------------------------------------------------------------------


@situation()
def a_call(side: Side) -> None:
    with side.stub() as stub:
        side.see(stub.SendMessage(side.dialect.send("COMPLETED")))


@situation()
def an_answer_without_a_task(side: Side) -> None:
    with side.stub() as stub:
        side.see(stub.SendMessage(side.dialect.send("message")))


@situation()
def a_large_answer(side: Side) -> None:
    with side.stub() as stub:
        side.see(len(str(stub.SendMessage(side.dialect.send("big")))))


@situation()
def with_call(side: Side) -> None:
    with side.stub() as stub:
        response, call = stub.SendMessage.with_call(side.dialect.send("WORKING"))
        side.see(response)
        side.look_at_end(call)


@situation()
def every_argument(side: Side) -> None:
    with side.stub() as stub:
        side.see(
            stub.SendMessage(
                side.dialect.send("WORKING"),
                timeout=PATIENCE,
                metadata=(("x", "y"), ("data-bin", b"\0\1")),
                credentials=None,
                wait_for_ready=True,
                compression=grpc.Compression.Gzip,
            )
        )


@situation()
def arguments_by_position(side: Side) -> None:
    with side.stub() as stub:
        side.see(stub.SendMessage(side.dialect.send("WORKING"), PATIENCE, (("x", "y"),)))
        side.see(stub.GetTask(side.dialect.get("t-1"), PATIENCE, None, None, True))


@situation()
def a_request_by_name(side: Side) -> None:
    with side.stub() as stub:
        side.see(stub.SendMessage(request=side.dialect.send("WORKING")))


@situation()
def metadata_of_the_applications_own(side: Side) -> None:
    tuples, listed = (("x", "y"), ("x", "z")), [("authorization", "Bearer secret")]
    with side.stub() as stub:
        stub.SendMessage(side.dialect.send("WORKING"), metadata=tuples)
        stub.SendMessage(side.dialect.send("WORKING"), metadata=listed)
        stub.SendMessage(side.dialect.send("WORKING"), metadata=())
    side.see(tuples, listed)


@situation("INTERNAL")
def metadata_that_grpc_refuses(side: Side) -> None:
    with side.stub() as stub, side.noting():
        stub.SendMessage(side.dialect.send("WORKING"), metadata=(("UPPER", "y"),))


@situation("FAILED_PRECONDITION")
def an_error(side: Side) -> None:
    with side.stub() as stub, side.noting():
        stub.SendMessage(side.dialect.send("abort"))


@situation("NOT_FOUND")
def an_error_with_details(side: Side) -> None:
    with side.stub() as stub, side.noting():
        stub.SendMessage(side.dialect.send("info"))


@situation("FAILED_PRECONDITION")
def an_error_of_with_call(side: Side) -> None:
    with side.stub() as stub, side.noting():
        stub.SendMessage.with_call(side.dialect.send("abort"))


@situation("UNKNOWN")
def a_crash_of_the_agent(side: Side) -> None:
    with side.stub() as stub, side.noting():
        stub.SendMessage(side.dialect.send("crash"))


@situation("DEADLINE_EXCEEDED")
def a_deadline(side: Side) -> None:
    with side.stub() as stub, side.noting():
        stub.SendMessage(side.dialect.send("hang"), timeout=0.2)
    side.see(side.agent.gone.wait(PATIENCE))


@situation("UNAVAILABLE")
def nobody_there(side: Side) -> None:
    with grpc.insecure_channel("127.0.0.1:1") as channel, side.noting():
        side.dialect.stub(channel).SendMessage(side.dialect.send("WORKING"))


@situation("ValueError")
def a_closed_channel(side: Side) -> None:
    with side.stub() as stub:
        pass
    with side.noting():
        stub.SendMessage(side.dialect.send("WORKING"))


@situation("INTERNAL")
def a_request_that_cannot_be_serialised(side: Side) -> None:
    with side.stub() as stub, side.noting():
        stub.SendMessage("no message")


@situation("?")
def a_wrong_call(side: Side) -> None:
    with side.stub() as stub:
        stub.SendMessage(side.dialect.send("WORKING"))
        for args, kwargs in (((), {}), ((1, 2, 3, 4, 5, 6, 7), {}), ((1,), {"unknown": 1})):
            try:
                stub.SendMessage(*args, **kwargs)
            except TypeError as error:
                side.see(str(error).rpartition("()")[2])


@situation()
def bytes_in_and_out(side: Side) -> None:
    with grpc.insecure_channel(side.agent.target) as channel:
        raw: Any = channel.unary_unary("/lf.a2a.v1.A2AService/SendMessage")
        side.see(raw(side.dialect.send("WORKING").SerializeToString()))


@situation("-")
def another_service(side: Side) -> None:
    with grpc.insecure_channel(side.agent.target) as channel:
        echo: Any = channel.unary_unary(OTHER)
        side.see(echo(b"1"), echo.with_call(b"2")[0], echo.future(b"3").result())
        repeat: Any = channel.unary_stream(OTHER_STREAM)
        stream = repeat(b"4")
        side.look(stream)
        side.see(list(stream))


@situation()
def the_experimental_api(side: Side) -> None:
    send = side.dialect.send("WORKING")
    warnings.simplefilter("ignore", experimental.ExperimentalApiWarning)
    side.see(
        experimental.unary_unary(
            send,
            side.agent.target,
            "/lf.a2a.v1.A2AService/SendMessage",
            type(send).SerializeToString,
            side.dialect.pb.SendMessageResponse.FromString,
            insecure=True,
        )
    )


# --- a future ---------------------------------------------------------------------------------------------------------


@situation()
def a_future(side: Side) -> None:
    with side.stub() as stub:
        future = stub.SendMessage.future(side.dialect.send("WORKING"))
        side.see(future.result(), future.result(timeout=1), future.exception(), future.traceback(), future.done())
        side.look_at_end(future)


@situation("FAILED_PRECONDITION")
def an_error_of_a_future(side: Side) -> None:
    with side.stub() as stub:
        future = stub.SendMessage.future(side.dialect.send("abort"))
        side.see(future.exception() is future, future.traceback() is not None)
        for _ in range(2):
            with side.noting(future):
                future.result()
        side.look_at_end(future)


@situation("?")
def a_wait_that_is_too_short(side: Side) -> None:
    with side.stub() as stub:
        future = stub.SendMessage.future(side.dialect.send("hang"))
        with side.noting():
            future.result(timeout=0.05)
        with side.noting():
            future.exception(timeout=0.05)
        side.see(future.running(), future.done(), future.cancelled())
        side.see(future.cancel(), future.cancelled())
        with side.noting():
            future.result()
        side.look_at_end(future)


@situation()
def callbacks_of_a_future(side: Side) -> None:
    called = threading.Event()
    found: list[object] = []
    with side.stub() as stub:
        future = stub.SendMessage.future(side.dialect.send("WORKING"))

        def done(of: Any) -> None:
            found.extend((of is future, of.result(), of.code()))
            called.set()

        future.add_done_callback(done)
        assert called.wait(PATIENCE)
        future.add_done_callback(lambda of: found.append(of is future))
    side.see(found)


@situation("?")
def a_future_that_is_forgotten(side: Side) -> None:
    with side.stub() as stub:
        future = stub.SendMessage.future(side.dialect.send("hang"))
        while not side.agent.received:
            pass
        del future
        # At once, without the garbage collector.
        side.see(side.agent.gone.wait(PATIENCE))


@situation("UNAVAILABLE")
def a_future_for_nobody(side: Side) -> None:
    with grpc.insecure_channel("127.0.0.1:1") as channel:
        future = side.dialect.stub(channel).SendMessage.future(side.dialect.send("WORKING"))
        with side.noting(future):
            future.result()


# --- a stream ---------------------------------------------------------------------------------------------------------


@situation()
def a_stream(side: Side) -> None:
    with side.stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("SUBMITTED WORKING COMPLETED"))
        side.look(stream)
        side.see(iter(stream) is stream)
        for message in stream:
            side.see(message)
        side.look_at_end(stream)
        side.see(list(stream))


@situation()
def a_stream_by_next(side: Side) -> None:
    with side.stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING COMPLETED"))
        side.see(next(stream), stream.next())
        with side.noting():
            next(stream)
        side.look_at_end(stream)


@situation()
def a_stream_of_nothing(side: Side) -> None:
    with side.stub() as stub:
        side.see(list(stub.SendStreamingMessage(side.dialect.send(" "))))


@situation("FAILED_PRECONDITION")
def an_error_in_a_stream(side: Side) -> None:
    with side.stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING abort"))
        with side.noting(stream):
            for message in stream:
                side.see(message)
        with side.noting(stream):
            next(stream)
        side.look_at_end(stream)


@situation("FAILED_PRECONDITION")
def an_error_in_place_of_a_stream(side: Side) -> None:
    with side.stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("abort"))
        with side.noting(stream):
            next(stream)


@situation("DEADLINE_EXCEEDED")
def a_deadline_in_a_stream(side: Side) -> None:
    with side.stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING hang"), timeout=0.3)
        with side.noting(stream):
            for message in stream:
                side.see(message)
        side.see(side.agent.gone.wait(PATIENCE))


@situation()
def a_stream_that_is_canceled(side: Side) -> None:
    with side.stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING hang"))
        side.see(next(stream), stream.is_active(), stream.cancel(), stream.cancel(), stream.is_active())
        side.see(side.agent.gone.wait(PATIENCE))
        with side.noting(stream):
            next(stream)
        side.look_at_end(stream)


@situation("CANCELLED")
def a_stream_that_another_thread_cancels(side: Side) -> None:
    with side.stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING hang"))
        side.see(next(stream))
        timer = threading.Timer(0.2, stream.cancel)
        timer.start()
        with side.noting(stream):
            next(stream)
        timer.join()


@situation()
def a_stream_that_is_left_early(side: Side) -> None:
    with side.stub() as stub:
        for message in stub.SendStreamingMessage(side.dialect.send("WORKING hang")):
            side.see(message)
            break
        # The loop held the only reference.
        side.see(side.agent.gone.wait(PATIENCE))


@situation("closed-early")
def a_stream_that_is_never_read(side: Side) -> None:
    with side.stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING hang"))
        while not side.agent.received:
            pass
        del stream
        gc.collect()
        side.see(side.agent.gone.wait(PATIENCE))


@situation("?")
def a_channel_that_closes_beneath_a_stream(side: Side) -> None:
    with side.stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING hang"))
        side.see(next(stream))
    with side.noting(stream):
        next(stream)


@situation()
def callbacks_of_a_stream(side: Side) -> None:
    ended, done = threading.Event(), threading.Event()
    with side.stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING"))
        side.see(stream.add_callback(ended.set))
        stream.add_done_callback(lambda of: done.set() if of is stream else None)
        side.see(list(stream), ended.wait(PATIENCE), done.wait(PATIENCE), stream.add_callback(ended.set))


@situation()
def a_stream_on_one_thread(side: Side) -> None:
    single = [(experimental.ChannelOptions.SingleThreadedUnaryStream, 1)]
    with side.stub(options=single) as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING COMPLETED"))
        side.look(stream)
        side.see(list(stream))
        side.look_at_end(stream)


@situation("UNAVAILABLE")
def a_stream_from_nobody(side: Side) -> None:
    with grpc.insecure_channel("127.0.0.1:1") as channel:
        stream = side.dialect.stub(channel).SendStreamingMessage(side.dialect.send("WORKING"))
        with side.noting(stream):
            next(stream)
