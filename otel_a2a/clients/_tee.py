# SPDX-License-Identifier: Apache-2.0
"""A stream that shows every chunk to an operation before the application gets it, and changes nothing else.

``Tap`` holds all decisions; the two shells differ in ``await`` alone. Nothing is read ahead, held back or kept: a chunk
comes from the inner stream and goes on at once. The iterators are plain objects and no generators, so a stream that is
abandoned is cleaned up exactly as without us: a generator more would be a finaliser more, and in asyncio one more turn
of the loop before the connection closes.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import suppress
from typing import Any, Protocol

from otel_a2a.operation import CLOSED_EARLY, EOF


class Listener(Protocol):
    """What is told of a stream: the part of ``otel_a2a.operation.Operation`` that concerns streams."""

    @property
    def error(self) -> BaseException | None: ...
    def feed(self, chunk: bytes) -> int | None: ...
    def end(self, reason: str) -> None: ...
    def fail(self, error: BaseException) -> None: ...
    def end_later(self, reason: str) -> None: ...


class Tap:
    """What happens to a stream, told to its operation; after the end it is told nothing more.

    ``error`` is set once the operation refuses what comes next: the shell then closes the stream and raises it.
    ``stopped`` is set once the shell has closed the stream by itself, so that it is not closed twice.
    """

    __slots__ = ("_operation", "error", "stopped")

    def __init__(self, operation: Listener) -> None:
        self._operation: Listener | None = operation
        self.error: BaseException | None = None
        self.stopped = False

    def pass_on(self, chunk: bytes) -> bytes:
        """The part of ``chunk`` that the application may have: all of it, unless ``error`` is set by then."""
        operation = self._operation
        if operation is None:
            return chunk
        cut = operation.feed(chunk)
        if cut is None:
            return chunk
        self.error = operation.error
        return chunk[:cut]

    def end(self, reason: str) -> None:
        """The stream ended. Raises a policy error, and that for reason ``eof`` only."""
        operation, self._operation = self._operation, None
        if operation is not None:
            operation.end(reason)

    def fail(self, error: BaseException) -> None:
        """The stream broke, its reader was cancelled, or the operation refused it."""
        operation, self._operation = self._operation, None
        if operation is not None:
            operation.fail(error)

    def close(self, reason: str = CLOSED_EARLY) -> None:
        """The application closed the stream; ``eof`` where it had all of it by then. Raises as ``end`` does."""
        # A generator that is finalised closes its response on the way out, and a finaliser may run anywhere, even
        # inside a lock of ours.
        if sys.exc_info()[0] is GeneratorExit:
            self.drop(reason)
        else:
            self.end(reason)

    def drop(self, reason: str = CLOSED_EARLY) -> None:
        """The stream was forgotten; called from finalisers."""
        operation, self._operation = self._operation, None
        if operation is not None:
            operation.end_later(reason)


class _Tee:
    """Stands in for a response's byte stream; mixed into the library's own class so that ``isinstance`` holds."""

    def __init__(self, inner: Any, operation: Listener) -> None:
        self._inner = inner
        self._tap = Tap(operation)

    def __getattr__(self, name: str) -> Any:
        # Through __dict__: a copy in the making has no ``_inner`` yet, and would ask for it here without end.
        inner = self.__dict__.get("_inner")
        if inner is None:
            raise AttributeError(name)
        return getattr(inner, name)

    def __del__(self) -> None:
        tap = self.__dict__.get("_tap")
        if tap is not None:
            tap.drop()


class SyncTee(_Tee):
    """The tee of a synchronous stream."""

    def __iter__(self) -> Iterator[bytes]:
        return SyncChunks(self, self._inner, self._tap)

    def close(self) -> None:
        """Close the inner stream first: a connection is worth more than a span."""
        if self._tap.stopped:
            return
        try:
            self._inner.close()
        finally:
            self._tap.close()

    def stop(self) -> None:
        """Close the inner stream by ourselves; an error of that must not hide the one that is about to be raised."""
        self._tap.stopped = True
        with suppress(Exception):
            self._inner.close()


class SyncChunks:
    """One pass over a ``SyncTee``. That a pass is given up says nothing yet: the response's close, or its end, does."""

    __slots__ = ("_chunks", "_tap", "_tee")

    def __init__(self, tee: SyncTee, inner: Any, tap: Tap) -> None:
        self._tee = tee
        self._tap = tap
        self._chunks: Iterator[bytes] = iter(inner)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        tap = self._tap
        if tap.error is not None:
            self._refuse(tap.error)
        try:
            chunk = next(self._chunks)
        except StopIteration:
            chunk = None
        except BaseException as error:
            tap.fail(error)
            raise
        if chunk is None:
            self._finish()
            raise StopIteration
        return tap.pass_on(chunk)

    def close(self) -> None:
        """What the generator has that stood here before us."""
        close = getattr(self._chunks, "close", None)
        if close is not None:
            close()

    def _finish(self) -> None:
        try:
            self._tap.end(EOF)
        except BaseException:
            self._tee.stop()
            raise

    def _refuse(self, error: BaseException) -> None:
        self._tap.error = None
        self._tap.fail(error)
        self.close()
        self._tee.stop()
        raise error


class AsyncTee(_Tee):
    """The tee of an asynchronous stream."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        return AsyncChunks(self, self._inner, self._tap)

    async def aclose(self) -> None:
        """Close the inner stream first: a connection is worth more than a span."""
        if self._tap.stopped:
            return
        try:
            await self._inner.aclose()
        finally:
            self._tap.close()

    async def stop(self) -> None:
        """Close the inner stream by ourselves; an error of that must not hide the one that is about to be raised."""
        self._tap.stopped = True
        with suppress(Exception):
            await self._inner.aclose()


class AsyncChunks(AsyncGenerator[bytes, None]):
    """One pass over an ``AsyncTee``. An ``AsyncGenerator`` by name, because httpx2 closes only those by itself."""

    __slots__ = ("_chunks", "_tap", "_tee")

    def __init__(self, tee: AsyncTee, inner: Any, tap: Tap) -> None:
        self._tee = tee
        self._tap = tap
        self._chunks: Any = aiter(inner)

    async def __anext__(self) -> bytes:
        tap = self._tap
        if tap.error is not None:
            await self._refuse(tap.error)
        try:
            chunk: bytes | None = await self._chunks.__anext__()
        except StopAsyncIteration:
            chunk = None
        except BaseException as error:
            tap.fail(error)
            raise
        if chunk is None:
            await self._finish()
            raise StopAsyncIteration
        return tap.pass_on(chunk)

    async def asend(self, value: None) -> bytes:
        """As ``__anext__``: nothing that is sent means anything to a byte stream."""
        return await self.__anext__()

    async def athrow(self, *error: Any) -> bytes:
        """Throw into the inner generator."""
        try:
            chunk: bytes = await self._chunks.athrow(*error)
        except BaseException as thrown:
            self._tap.fail(thrown)
            raise
        return chunk

    async def aclose(self) -> None:
        """Close the inner iterator where it can be closed."""
        close = getattr(self._chunks, "aclose", None)
        if close is not None:
            await close()

    async def _finish(self) -> None:
        try:
            self._tap.end(EOF)
        except BaseException:
            await self._tee.stop()
            raise

    async def _refuse(self, error: BaseException) -> None:
        self._tap.error = None
        self._tap.fail(error)
        with suppress(Exception):
            await self.aclose()
        await self._tee.stop()
        raise error
