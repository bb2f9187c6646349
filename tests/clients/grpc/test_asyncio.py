# SPDX-License-Identifier: Apache-2.0
"""gRPC for asyncio with and without us: what the program sees and what the server gets is the same."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import grpc
import pytest

from tests.clients.grpc.agent import OTHER, OTHER_STREAM, PATIENCE, Agent
from tests.clients.grpc.sides import NAMES, Side, Situations, pairs, plain

situation = Situations()


@pytest.mark.parametrize("name", situation)
def test_program_sees_no_difference(name: str, agent: Agent, caplog: pytest.LogCaptureFixture) -> None:
    """Messages, exceptions, call objects and what arrives at the server are the same, and each span ends."""
    situation.run(name, agent, caplog)


def look(side: Side, call: Any) -> None:
    """Write down everything that a program can see of a call."""
    side.see(
        type(call).__name__,
        type(call).__module__,
        isinstance(call, grpc.aio.Call),
        isinstance(call, grpc.aio.UnaryUnaryCall),
        isinstance(call, grpc.aio.UnaryStreamCall),
        plain(call),
        [name for name in NAMES if hasattr(call, name)],
    )


async def look_at_end(side: Side, call: Any) -> None:
    """``look`` for a call that is over."""
    look(side, call)
    side.see(await call.code(), await call.details(), call.done(), call.cancelled())
    side.see(pairs(await call.initial_metadata()), pairs(await call.trailing_metadata()))


async def gone(side: Side) -> bool:
    """Whether the server has seen the call end; the loop turns meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(None, side.agent.gone.wait, PATIENCE)


async def arrived(side: Side) -> None:
    while not side.agent.received:
        await asyncio.sleep(0.01)


# --- one answer -------------------------------------------------------------------------------------------------------


@situation()
async def a_call(side: Side) -> None:
    async with side.aio_stub() as stub:
        call = stub.SendMessage(side.dialect.send("COMPLETED"))
        look(side, call)
        side.see(await call, await call)
        await look_at_end(side, call)


@situation()
async def a_call_with_metadata_of_its_own(side: Side) -> None:
    metadata = grpc.aio.Metadata(("x", "y"), ("x", "z"), ("data-bin", b"\0"))
    listed = [("authorization", "Bearer secret")]
    async with side.aio_stub() as stub:
        await stub.SendMessage(side.dialect.send("WORKING"), metadata=metadata, timeout=PATIENCE)
        await stub.SendMessage(side.dialect.send("WORKING"), metadata=listed, wait_for_ready=True)
        await stub.SendMessage(side.dialect.send("WORKING"), metadata=(), compression=grpc.Compression.Gzip)
    side.see(pairs(metadata), listed)


@situation("FAILED_PRECONDITION")
async def an_error(side: Side) -> None:
    async with side.aio_stub() as stub:
        call = stub.SendMessage(side.dialect.send("abort"))
        for _ in range(2):
            with side.noting():
                await call
        await look_at_end(side, call)


@situation("NOT_FOUND")
async def an_error_with_details(side: Side) -> None:
    async with side.aio_stub() as stub:
        with side.noting():
            await stub.SendMessage(side.dialect.send("info"))


@situation("DEADLINE_EXCEEDED")
async def a_deadline(side: Side) -> None:
    async with side.aio_stub() as stub:
        with side.noting():
            await stub.SendMessage(side.dialect.send("hang"), timeout=0.2)
    side.see(await gone(side))


@situation("UNAVAILABLE")
async def nobody_there(side: Side) -> None:
    async with grpc.aio.insecure_channel("127.0.0.1:1") as channel:
        with side.noting():
            await side.dialect.stub(channel).SendMessage(side.dialect.send("WORKING"))


@situation("CancelledError")
async def a_task_that_is_canceled(side: Side) -> None:
    async with side.aio_stub() as stub:

        async def work() -> None:
            await stub.SendMessage(side.dialect.send("hang"))

        task = asyncio.ensure_future(work())
        await arrived(side)
        side.see(task.cancel())
        with side.noting():
            await task
    side.see(await gone(side))


@situation("CancelledError")
async def a_call_that_is_canceled(side: Side) -> None:
    async with side.aio_stub() as stub:
        call = stub.SendMessage(side.dialect.send("hang"))
        await arrived(side)
        side.see(call.cancel(), call.cancel(), call.cancelled())
        with side.noting():
            await call
        await look_at_end(side, call)


@situation("CancelledError")
async def a_wait_that_is_too_short(side: Side) -> None:
    async with side.aio_stub() as stub:
        with side.noting():
            await asyncio.wait_for(stub.SendMessage(side.dialect.send("hang")), 0.2)
    side.see(await gone(side))


@situation("closed-early")
async def a_call_that_is_forgotten(side: Side) -> None:
    async with side.aio_stub() as stub:
        call = stub.SendMessage(side.dialect.send("WORKING"))
        side.see(await call.code())
        del call


@situation()
async def calls_side_by_side(side: Side) -> None:
    async with side.aio_stub() as stub:
        side.see(await asyncio.gather(*(stub.GetTask(side.dialect.get("t-1")) for _ in range(5))))


@situation()
async def callbacks_of_a_call(side: Side) -> None:
    found: list[object] = []
    async with side.aio_stub() as stub:
        call = stub.SendMessage(side.dialect.send("WORKING"))
        call.add_done_callback(lambda of: found.append(of is call))
        side.see(await call, await call.code())
        call.add_done_callback(lambda of: found.append(of is call))
    side.see(found)


@situation()
async def a_call_that_waits_for_its_connection(side: Side) -> None:
    async with side.aio_stub() as stub:
        call = stub.SendMessage(side.dialect.send("WORKING"))
        await call.wait_for_connection()
        side.see(await call, call.time_remaining())


@situation("?")
async def a_request_that_cannot_be_serialised(side: Side) -> None:
    async with side.aio_stub() as stub:
        with side.noting():
            await stub.SendMessage("no message")


@situation("?")
async def a_closed_channel(side: Side) -> None:
    async with side.aio_stub() as stub:
        pass
    with side.noting():
        await stub.SendMessage(side.dialect.send("WORKING"))


@situation("-")
async def another_service(side: Side) -> None:
    async with grpc.aio.insecure_channel(side.agent.target) as channel:
        echo: Any = channel.unary_unary(OTHER)
        call = echo(b"1")
        look(side, call)
        side.see(await call)
        repeat: Any = channel.unary_stream(OTHER_STREAM)
        stream = repeat(b"2")
        look(side, stream)
        side.see([message async for message in stream])


@situation()
async def bytes_in_and_out(side: Side) -> None:
    async with grpc.aio.insecure_channel(side.agent.target) as channel:
        raw: Any = channel.unary_unary("/lf.a2a.v1.A2AService/SendMessage")
        side.see(await raw(side.dialect.send("WORKING").SerializeToString()))


# --- a stream ---------------------------------------------------------------------------------------------------------


@situation()
async def a_stream(side: Side) -> None:
    async with side.aio_stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("SUBMITTED WORKING COMPLETED"))
        look(side, stream)
        side.see(aiter(stream) is aiter(stream))
        async for message in stream:
            side.see(message)
        await look_at_end(side, stream)
        side.see([message async for message in stream])


@situation()
async def a_stream_that_is_read(side: Side) -> None:
    async with side.aio_stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING COMPLETED"))
        while (message := await stream.read()) is not grpc.aio.EOF:
            side.see(message)
        side.see(await stream.read() is grpc.aio.EOF)
        await look_at_end(side, stream)


@situation()
async def a_stream_that_is_read_and_iterated(side: Side) -> None:
    async with side.aio_stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING COMPLETED"))
        side.see(await stream.read())
        with side.noting():
            async for message in stream:
                side.see(message)
        side.see(await stream.read(), await stream.read() is grpc.aio.EOF)


@situation()
async def a_stream_that_is_iterated_and_read(side: Side) -> None:
    async with side.aio_stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING COMPLETED"))
        messages = aiter(stream)
        side.see(await anext(messages))
        with side.noting():
            await stream.read()
        side.see([message async for message in messages])


@situation()
async def a_stream_as_a_generator(side: Side) -> None:
    async with side.aio_stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING COMPLETED hang"))
        messages: Any = aiter(stream)
        side.see(hasattr(messages, "athrow"), await messages.asend(None))
        await messages.aclose()
        with side.noting():
            await anext(messages)
        side.see(stream.cancel(), await gone(side))


@situation("FAILED_PRECONDITION")
async def an_error_in_a_stream(side: Side) -> None:
    async with side.aio_stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING abort"))
        with side.noting():
            async for message in stream:
                side.see(message)
        await look_at_end(side, stream)


@situation("FAILED_PRECONDITION")
async def an_error_in_a_stream_that_is_read(side: Side) -> None:
    async with side.aio_stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING abort"))
        side.see(await stream.read())
        for _ in range(2):
            with side.noting():
                await stream.read()


@situation("DEADLINE_EXCEEDED")
async def a_deadline_in_a_stream(side: Side) -> None:
    async with side.aio_stub() as stub:
        with side.noting():
            async for message in stub.SendStreamingMessage(side.dialect.send("WORKING hang"), timeout=0.3):
                side.see(message)
    side.see(await gone(side))


@situation()
async def a_stream_that_is_canceled(side: Side) -> None:
    async with side.aio_stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING hang"))
        messages = aiter(stream)
        side.see(await anext(messages), stream.cancel(), stream.cancel(), stream.cancelled(), stream.done())
        side.see(await gone(side))
        with side.noting():
            await anext(messages)
        await look_at_end(side, stream)


@situation("CancelledError")
async def a_reader_that_is_canceled(side: Side) -> None:
    async with side.aio_stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING hang"))

        async def work() -> None:
            async for message in stream:
                side.see(message)

        task = asyncio.ensure_future(work())
        while not side.log:
            await asyncio.sleep(0.01)
        task.cancel()
        with side.noting():
            await task
        side.see(await gone(side))
        await look_at_end(side, stream)


@situation("CancelledError")
async def a_read_that_takes_too_long(side: Side) -> None:
    async with side.aio_stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING hang"))
        side.see(await stream.read())
        with side.noting():
            await asyncio.wait_for(stream.read(), 0.2)
        side.see(await gone(side))
        with side.noting():
            await stream.read()


@situation()
async def a_stream_that_is_left_early(side: Side) -> None:
    async with side.aio_stub() as stub:
        async for message in stub.SendStreamingMessage(side.dialect.send("WORKING hang")):
            side.see(message)
            break
        # The call and its generator hold each other, and the loop has its own way of ending generators.
        gc.collect()
        await asyncio.sleep(0.1)


@situation("closed-early")
async def a_stream_that_is_never_read(side: Side) -> None:
    async with side.aio_stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING hang"))
        await arrived(side)
        del stream
        gc.collect()
        await asyncio.sleep(0.1)


@situation("?")
async def a_channel_that_closes_beneath_a_stream(side: Side) -> None:
    async with side.aio_stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING hang"))
        messages = aiter(stream)
        side.see(await anext(messages))
    with side.noting():
        await anext(messages)


@situation()
async def callbacks_of_a_stream(side: Side) -> None:
    found: list[object] = []
    async with side.aio_stub() as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING"))
        stream.add_done_callback(lambda of: found.append(of is stream))
        side.see([message async for message in stream], await stream.code())
    side.see(found)


@situation("UNAVAILABLE")
async def a_stream_from_nobody(side: Side) -> None:
    async with grpc.aio.insecure_channel("127.0.0.1:1") as channel:
        with side.noting():
            async for message in side.dialect.stub(channel).SendStreamingMessage(side.dialect.send("WORKING")):
                side.see(message)


@situation()
async def a_stream_of_nothing(side: Side) -> None:
    async with side.aio_stub() as stub:
        side.see([message async for message in stub.SendStreamingMessage(side.dialect.send(" "))])
