# SPDX-License-Identifier: Apache-2.0
"""Channels with interceptors: each sees what it saw without us, and a call is one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest

from tests.clients.grpc.agent import PATIENCE, Agent
from tests.clients.grpc.sides import Side, Situations, describe, pairs

situation = Situations()


@pytest.mark.parametrize("name", situation)
def test_program_sees_no_difference(name: str, agent: Agent, caplog: pytest.LogCaptureFixture) -> None:
    """What an interceptor sees, does and returns is the same, and each span ends."""
    situation.run(name, agent, caplog)


class Details(grpc.ClientCallDetails):
    """Call details with more metadata."""

    def __init__(self, details: Any, *metadata: tuple[str, str]) -> None:
        self.method = details.method
        self.timeout = details.timeout
        self.metadata = (*(details.metadata or ()), *metadata)
        self.credentials = details.credentials
        self.wait_for_ready = details.wait_for_ready
        self.compression = details.compression


class Blocking(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
    """Notes what passes, adds metadata, and does to the call what it is told."""

    def __init__(
        self, side: Side, then: Callable[[Any], Any] = lambda call: call, *, times: int = 1, fails: bool = False
    ) -> None:
        self.side, self.then, self.times, self.fails = side, then, times, fails

    def _intercept(self, continuation: Any, details: Any, request: Any) -> Any:
        kept = [pair for pair in pairs(details.metadata) if pair[0] != "traceparent"]
        self.side.log.append((details.method, kept, details.timeout, request))
        if self.fails:
            raise KeyError("mine")
        for _ in range(self.times - 1):
            continuation(Details(details), request).result()
        return self.then(continuation(Details(details, ("added", "yes")), request))

    def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return self._intercept(continuation, client_call_details, request)

    def intercept_unary_stream(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return self._intercept(continuation, client_call_details, request)


@situation()
def an_interceptor(side: Side) -> None:
    with side.stub(Blocking(side)) as stub:
        side.see(stub.SendMessage(side.dialect.send("WORKING"), timeout=PATIENCE, metadata=(("x", "y"),)))
        side.see(stub.SendMessage.with_call(side.dialect.send("WORKING"))[0])
        future = stub.SendMessage.future(side.dialect.send("WORKING"))
        side.see(future.result(), type(future).__name__)
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING COMPLETED"))
        side.look(stream)
        side.see(list(stream))


@situation()
def two_interceptors(side: Side) -> None:
    with side.stub(Blocking(side), Blocking(side)) as stub:
        side.see(stub.SendMessage(side.dialect.send("WORKING")))
        side.see(list(stub.SendStreamingMessage(side.dialect.send("WORKING COMPLETED"))))


@situation("FAILED_PRECONDITION")
def an_error_through_an_interceptor(side: Side) -> None:
    with side.stub(Blocking(side)) as stub:
        with side.noting():
            stub.SendMessage(side.dialect.send("abort"))
        future = stub.SendMessage.future(side.dialect.send("abort"))
        with side.noting(future):
            future.result()
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING abort"))
        with side.noting(stream):
            side.see(list(stream))


@situation("KeyError")
def an_interceptor_that_fails(side: Side) -> None:
    with side.stub(Blocking(side, fails=True)) as stub:
        with side.noting():
            stub.SendMessage(side.dialect.send("WORKING"))
        future = stub.SendMessage.future(side.dialect.send("WORKING"))
        side.see(type(future).__name__, describe(future.exception()))
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING"))
        with side.noting():
            next(stream)


@situation()
def an_interceptor_that_asks_twice(side: Side) -> None:
    with side.stub(Blocking(side, times=2)) as stub:
        side.see(stub.SendMessage(side.dialect.send("WORKING")))


@situation()
def an_interceptor_that_returns_a_generator(side: Side) -> None:
    def generator(call: Any) -> Iterator[Any]:
        yield from call

    with side.stub(Blocking(side, generator)) as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING COMPLETED"))
        side.see(iter(stream) is stream, hasattr(stream, "send"), hasattr(stream, "gi_frame"))
        side.see(list(stream), list(stream))
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING hang"))
        side.see(next(stream))
        stream.close()
        with side.noting():
            next(stream)


@situation()
def an_interceptor_that_is_a_generator(side: Side) -> None:
    class Lazy(grpc.UnaryStreamClientInterceptor):
        def intercept_unary_stream(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
            yield from continuation(client_call_details, request)

    with side.stub(Lazy()) as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING COMPLETED"))
        side.see(len(side.agent.received), list(stream), len(side.agent.received))


@situation()
def a_generator_that_is_left_early(side: Side) -> None:
    def generator(call: Any) -> Iterator[Any]:
        yield from call

    with side.stub(Blocking(side, generator)) as stub:
        for message in stub.SendStreamingMessage(side.dialect.send("WORKING hang")):
            side.see(message)
            break
        side.see(side.agent.gone.wait(PATIENCE))


class Asyncio(grpc.aio.UnaryUnaryClientInterceptor):
    """``Blocking`` for one answer over ``grpc.aio``, which takes an interceptor for one kind of call only."""

    def __init__(self, side: Side, *, waits: bool = False) -> None:
        self.side, self.waits = side, waits

    async def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        details = client_call_details
        kept = [pair for pair in pairs(details.metadata) if pair[0] != "traceparent"]
        self.side.log.append((details.method, kept, type(details.metadata).__name__, request))
        details.metadata.add("added", "yes")
        call = await continuation(details, request)
        return await call if self.waits else call


class AsyncioStream(grpc.aio.UnaryStreamClientInterceptor):
    """``Blocking`` for a stream over ``grpc.aio``."""

    def __init__(self, side: Side, *, generates: bool = False) -> None:
        self.side, self.generates = side, generates

    async def intercept_unary_stream(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        self.side.log.append((client_call_details.method, request))
        call = await continuation(client_call_details, request)
        return self._each(call) if self.generates else call

    async def _each(self, call: Any) -> Any:
        async for message in call:
            yield message


@situation()
async def an_asyncio_interceptor(side: Side) -> None:
    async with side.aio_stub(Asyncio(side), Asyncio(side), AsyncioStream(side)) as stub:
        call = stub.SendMessage(side.dialect.send("WORKING"), metadata=(("x", "y"),))
        side.see(type(call).__name__, await call, await call.code(), pairs(await call.trailing_metadata()))
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING COMPLETED"))
        side.see(type(stream).__name__, [message async for message in stream], await stream.code())
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING COMPLETED"))
        side.see(await stream.read(), await stream.read())
        with side.noting():
            side.see(await stream.read() is grpc.aio.EOF)


@situation()
async def an_asyncio_interceptor_that_waits(side: Side) -> None:
    async with side.aio_stub(Asyncio(side, waits=True), AsyncioStream(side, generates=True)) as stub:
        call = stub.SendMessage(side.dialect.send("WORKING"))
        side.see(await call, await call.code())
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING COMPLETED"))
        side.see([message async for message in stream], await stream.code())


@situation("FAILED_PRECONDITION")
async def an_error_through_an_asyncio_interceptor(side: Side) -> None:
    async with side.aio_stub(Asyncio(side), AsyncioStream(side)) as stub:
        with side.noting():
            await stub.SendMessage(side.dialect.send("abort"))
        with side.noting():
            async for message in stub.SendStreamingMessage(side.dialect.send("WORKING abort")):
                side.see(message)


@situation()
async def an_intercepted_stream_that_is_canceled(side: Side) -> None:
    async with side.aio_stub(AsyncioStream(side)) as stub:
        stream = stub.SendStreamingMessage(side.dialect.send("WORKING hang"))
        messages = aiter(stream)
        side.see(await anext(messages), stream.cancel(), stream.cancelled())
        with side.noting():
            await anext(messages)
