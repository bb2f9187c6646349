# SPDX-License-Identifier: Apache-2.0
"""How a tee tells its operation of the end of a stream: in which order, from where, and how often."""

from __future__ import annotations

import asyncio
import copy
import gc
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from typing import Any

import pytest

from otel_a2a.clients._tee import AsyncTee, SyncTee
from otel_a2a.exchange import RecordedExchange
from tests.clients.recording import RecordingOperation


class Stream:
    """The inner stream, sync and async, which notes what happens to it."""

    name = "inner"

    def __init__(self, operation: RecordingOperation, chunks: list[bytes], error: BaseException | None = None) -> None:
        self.calls = operation.calls
        self.chunks = chunks
        self.error = error

    def __iter__(self) -> Iterator[bytes]:
        yield from self.chunks
        if self.error is not None:
            raise self.error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            yield chunk

    def close(self) -> None:
        self.calls.append("inner closed")
        if self.error is not None:
            raise self.error

    async def aclose(self) -> None:
        self.close()


@pytest.fixture
def operation() -> RecordingOperation:
    return RecordingOperation(RecordedExchange("GET", "http://agent/"))


def test_connection_is_closed_before_the_operation_ends(operation: RecordingOperation) -> None:
    """Ending a span may take its time; the connection does not wait for it."""
    tee = SyncTee(Stream(operation, [b"a", b"b"]), operation)
    assert next(iter(tee)) == b"a"
    operation.calls.clear()
    tee.close()
    assert operation.calls[:2] == ["inner closed", "end"]


async def test_asynchronous_connection_is_closed_before_the_operation_ends(operation: RecordingOperation) -> None:
    """The same with ``aclose``."""
    tee = AsyncTee(Stream(operation, [b"a", b"b"]), operation)
    chunks = aiter(tee)
    assert await anext(chunks) == b"a"
    await tee.aclose()
    assert operation.calls == ["inner closed", "end"]
    assert operation.ending == ("closed-early", "")


def test_close_that_fails_ends_the_operation(operation: RecordingOperation) -> None:
    """The program gets the exception of its close, and nothing stays open."""
    tee = SyncTee(Stream(operation, [], OSError("close")), operation)
    with pytest.raises(OSError, match="close"):
        tee.close()
    assert operation.ending == ("closed-early", "")


def test_end_is_told_once(operation: RecordingOperation) -> None:
    """After the end of the stream, closing it tells nothing more."""
    tee = SyncTee(Stream(operation, [b"a"]), operation)
    assert list(tee) == [b"a"]
    tee.close()
    del tee
    gc.collect()
    assert operation.calls == ["end", "inner closed"]
    assert operation.ending == ("eof", "")


def test_break_is_told_with_its_exception(operation: RecordingOperation) -> None:
    """A stream that breaks ends the operation with the exception that the program gets."""
    tee = SyncTee(Stream(operation, [b"a"], LookupError("x")), operation)
    with pytest.raises(LookupError):
        list(tee)
    assert operation.ending == ("LookupError", "LookupError")


def test_cancellation_is_told_as_such(operation: RecordingOperation) -> None:
    """CancelledError is no Exception, and is told all the same."""

    async def program() -> None:
        tee = AsyncTee(Stream(operation, [], asyncio.CancelledError()), operation)
        with pytest.raises(asyncio.CancelledError):
            await anext(aiter(tee))

    asyncio.run(program())
    assert operation.ending == ("CancelledError", "CancelledError")


@pytest.mark.parametrize("started", [False, True])
def test_finaliser_only_leaves_a_note(operation: RecordingOperation, started: bool) -> None:
    """A forgotten stream is told by ``end_later`` alone: a finaliser may run while a lock of ours is held."""
    tee = SyncTee(Stream(operation, [b"a", b"b"]), operation)
    chunks = iter(tee)
    if started:
        next(chunks)
    del tee, chunks
    gc.collect()
    assert operation.calls == ["end_later"]
    assert operation.settle() == ("closed-early", "")


def test_generator_of_the_program_that_is_finalised_only_leaves_a_note(operation: RecordingOperation) -> None:
    """Its ``finally`` closes the stream properly, but inside a finaliser; the garbage collector runs it anywhere."""

    def events(tee: SyncTee) -> Generator[bytes, None, None]:
        try:
            yield from tee
        finally:
            tee.close()

    generator = events(SyncTee(Stream(operation, [b"a", b"b"]), operation))
    next(generator)
    cycle: list[Any] = [generator]
    cycle.append(cycle)
    del generator, cycle
    assert operation.calls == []
    gc.collect()
    # The collector finalises what it finds in an order of its own.
    assert sorted(operation.calls) == ["end_later", "inner closed"]
    assert operation.later == "closed-early"


async def test_closing_an_asynchronous_generator_of_the_program_only_leaves_a_note(
    operation: RecordingOperation,
) -> None:
    """On the way out of a GeneratorExit one cannot know who throws it."""

    async def events(tee: AsyncTee) -> AsyncIterator[bytes]:
        try:
            async for chunk in tee:
                yield chunk
        finally:
            await tee.aclose()

    generator: Any = events(AsyncTee(Stream(operation, [b"a", b"b"]), operation))
    await generator.__anext__()
    await generator.aclose()
    assert operation.calls == ["inner closed", "end_later"] and operation.later == "closed-early"


def test_iterator_that_is_given_up_means_nothing_yet(operation: RecordingOperation) -> None:
    """``break`` and then the end of a ``with`` block: the close ends the operation, at once and on the spot."""
    tee = SyncTee(Stream(operation, [b"a", b"b"]), operation)
    for _ in tee:
        break
    iter(tee).close()  # type: ignore[attr-defined]
    assert operation.calls == []
    tee.close()
    assert operation.calls == ["inner closed", "end"]


def test_stream_that_we_have_closed_is_not_closed_again(operation: RecordingOperation) -> None:
    """After a refusal the connection is closed already; what the program then closes is nothing."""
    operation.cut, operation.refusal = (lambda chunk: 0), LookupError("refused")
    tee = SyncTee(Stream(operation, [b"a", b"b"]), operation)
    chunks = iter(tee)
    assert next(chunks) == b""
    with pytest.raises(LookupError):
        next(chunks)
    tee.close()
    assert operation.calls == ["end", "inner closed"]


async def test_closing_the_iterator_closes_the_inner_one(operation: RecordingOperation) -> None:
    """httpx2 closes the generator it finds here, and waits for what that one has to do."""
    left: list[str] = []

    class Cleaning(Stream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            try:
                yield b"a"
            finally:
                await asyncio.sleep(0)
                left.append("clean")

    chunks: Any = aiter(AsyncTee(Cleaning(operation, []), operation))
    assert isinstance(chunks, AsyncGenerator)
    await chunks.__anext__()
    await chunks.aclose()
    assert left == ["clean"]


def test_attributes_are_those_of_the_inner_stream(operation: RecordingOperation) -> None:
    """httpx2 asks the stream for ``elapsed``; others may ask for more."""
    tee = SyncTee(Stream(operation, []), operation)
    assert tee.name == "inner"
    with pytest.raises(AttributeError, match="'Stream' object has no attribute 'nothing'"):
        _ = tee.nothing
    assert copy.copy(tee).name == "inner"
    with pytest.raises(AttributeError):
        _ = SyncTee.__new__(SyncTee).name
