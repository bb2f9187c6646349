# SPDX-License-Identifier: Apache-2.0
"""aiohttp's ``response.content`` that shows every read to an operation before the application gets it.

A proxy, because aiohttp's ``StreamReader`` can neither be subclassed nor hold anything more. All reads end in a method
of the reader, and each of these is here; the iterators are the library's own, run over the proxy. What a read raises
does not end the stream, as a read may be given up and tried again (``wait_for``): the reader's own exception does, or
the response's close.
"""

from __future__ import annotations

import asyncio
import sys
import weakref
from collections.abc import Callable
from typing import Any

from otel_a2a.clients._proxy import Proxy
from otel_a2a.clients._tee import Listener, Tap
from otel_a2a.operation import EOF


def _read_by(name: str) -> Callable[..., Any]:
    async def read(self: Content, *arguments: Any, **options: Any) -> Any:
        data = await self._await(getattr(self.__wrapped__, name), arguments, options)
        return self._show(data)

    return read


class Content(Proxy):
    """Stands in for a response's reader. ``closed`` is to be called when the response is closed or released."""

    def __init__(self, reader: Any, response: Any, operation: Listener) -> None:
        super().__init__(reader)
        self._self_tap = Tap(operation)
        # Not the response itself: that would be a cycle, and a forgotten response would keep its connection for longer.
        self._self_response = weakref.ref(response)
        self._self_unread = 0
        self._self_failed_with: type[BaseException] | None = None

    readany = _read_by("readany")
    readline = _read_by("readline")
    readuntil = _read_by("readuntil")

    async def read(self, n: int = -1) -> Any:
        """A part, or all there is: then a refusal comes in place of the data, for there is no later read."""
        data = await self._await(self.__wrapped__.read, (n,), {})
        return self._show(data, is_all=n < 0)

    async def readexactly(self, n: int) -> Any:
        """What an unexpected end leaves is read as well."""
        try:
            data = await self._await(self.__wrapped__.readexactly, (n,), {})
        except asyncio.IncompleteReadError as error:
            self._show(error.partial, is_all=True)
            raise
        return self._show(data)

    async def readchunk(self) -> Any:
        """Data, and whether it ends an HTTP chunk: such an end without data is no end of the stream."""
        data, ends_chunk = await self._await(self.__wrapped__.readchunk, (), {})
        return self._show(data), ends_chunk

    async def wait_eof(self) -> None:
        """Reads nothing, and may learn that the stream is broken."""
        await self._await(self.__wrapped__.wait_eof, (), {})

    def read_nowait(self, n: int = -1) -> Any:
        """What is here already."""
        self._raise_refusal()
        return self._show(self.__wrapped__.read_nowait(n))

    def unread_data(self, data: bytes) -> None:
        """What is put back will be read again, and is not shown again."""
        self.__wrapped__.unread_data(data)
        self._self_unread += len(data)

    def iter_chunked(self, n: int) -> Any:
        return type(self.__wrapped__).iter_chunked(self, n)

    def iter_any(self) -> Any:
        return type(self.__wrapped__).iter_any(self)

    def iter_chunks(self) -> Any:
        return type(self.__wrapped__).iter_chunks(self)

    def __aiter__(self) -> Any:
        return type(self.__wrapped__).__aiter__(self)

    def __del__(self) -> None:
        self._self_tap.drop()

    def closed(self) -> None:
        """The response was closed, by the application or because a read of it failed."""
        error = sys.exc_info()[1]
        if error is not None and type(error) is self._self_failed_with:
            self._self_tap.fail(error)
        else:
            self._self_tap.close()

    async def _await(self, read: Callable[..., Any], arguments: Any, options: Any) -> Any:
        self._raise_refusal()
        try:
            return await read(*arguments, **options)
        except BaseException as error:
            # Its type alone: an exception holds frames, and these hold us.
            self._self_failed_with = type(error)
            if self.__wrapped__.exception() is not None:
                self._self_tap.fail(error)
            raise

    def _show(self, data: bytes, is_all: bool = False) -> bytes:
        """The part of ``data`` that the application may have. What is refused after it is raised by the next read."""
        tap = self._self_tap
        again = min(self._self_unread, len(data))
        self._self_unread -= again
        if again:
            data = data[:again] + tap.pass_on(data[again:])
        elif data:
            data = tap.pass_on(data)
        if tap.error is None and self.__wrapped__.at_eof():
            try:
                tap.end(EOF)
            except BaseException as refusal:
                tap.error = refusal
        if is_all or not data:
            self._raise_refusal()
        return data

    def _raise_refusal(self) -> None:
        tap = self._self_tap
        error, tap.error = tap.error, None
        if error is None:
            return
        tap.fail(error)
        response = self._self_response()
        if response is not None:
            response.close()
        raise error
