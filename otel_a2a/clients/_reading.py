# SPDX-License-Identifier: Apache-2.0
"""What is told of a file that an application reads an answer from, read by read.

``otel_a2a.clients._raw`` is the file's outside; here is what lies between a read and its operation. Nothing is read
ahead, held back or kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from otel_a2a.clients._tee import Listener, Tap
from otel_a2a.operation import CLOSED_EARLY, EOF


class Head:
    """The headers of an answer as they fit the bytes that are told: decoded ones have no ``content-encoding``."""

    __slots__ = ("_get", "decoded")

    def __init__(self, get: Callable[[str], str | None]) -> None:
        self._get = get
        self.decoded = False

    def __call__(self, name: str) -> str | None:
        return None if self.decoded and name == "content-encoding" else self._get(name)


class Reading:
    """What happens to one file, whoever reads it: the stand-in, or an iterator that it has given away."""

    __slots__ = ("_decodes", "_head", "_raw", "_tap", "is_asking")

    def __init__(self, raw: Any, operation: Listener, head: Head) -> None:
        self._raw = raw
        self._head = head
        self._tap = Tap(operation)
        self._decodes = False
        self.is_asking = False

    def __del__(self) -> None:
        self._tap.drop()

    def read(self, ask: Callable[[], Any], decodes: bool, *, whole: bool = False) -> Any:
        """What ``ask`` reads, as far as the application may have it; nothing means the end of the file.

        ``decodes``: the file was asked to undo the content's coding. ``whole``: this is all there is, so that what is
        refused is raised at once.
        """
        if self._tap.stopped:
            return b""
        chunk = self._take(ask, decodes, whole)
        if whole or not chunk:
            self._finish()
        return chunk

    def next(self, iterator: Iterator[Any], decodes: bool) -> Any:
        """The same for an iterator.

        Raises:
            StopIteration: it has come to its end.
        """
        if not self._tap.stopped:
            chunk = self._take(iterator.__next__, decodes)
            if chunk is not None:
                return chunk
            self._finish()
        raise StopIteration

    def close(self, close: Callable[[], Any]) -> Any:
        """The application closes the file. One that it has read up to the length announced, it has read to the end."""
        is_complete = getattr(self._raw, "length_remaining", None) == 0 and not self._has_decoder()
        try:
            return close()
        finally:
            self._tap.close(EOF if is_complete else CLOSED_EARLY)

    def ask(self, ask: Callable[[], Any], decodes: bool) -> Any:
        """Ask the file; meanwhile it is not we who are asked."""
        self._decodes = decodes
        self.is_asking = True
        try:
            return ask()
        finally:
            self.is_asking = False

    def ask_beneath(self, name: str, decodes: bool, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """A method that the application has put on the file, as in ``raw.read = partial(raw.read, …)``, asks for the
        one that was there."""
        self._decodes = decodes
        return getattr(self._raw.__class__, name)(self._raw, *args, **options)

    def _take(self, ask: Callable[[], Any], decodes: bool, whole: bool = False) -> Any:
        tap = self._tap
        if tap.error is not None:
            self._refuse(tap.error)
        try:
            chunk = self.ask(ask, decodes)
        except StopIteration:
            return None
        except (TypeError, RuntimeError):
            # It was asked wrongly, and can be asked again.
            raise
        except BaseException as error:
            tap.fail(error)
            raise
        if not chunk or not isinstance(chunk, bytes):
            return chunk
        # urllib3 decodes where it knows the coding, which it looks up at its first read.
        self._head.decoded = self._decodes and self._has_decoder()
        passed = tap.pass_on(chunk)
        # No bytes would mean the end.
        if tap.error is not None and (whole or not passed):
            self._refuse(tap.error)
        return passed

    def _has_decoder(self) -> bool:
        return getattr(self._raw, "_decoder", None) is not None

    def _finish(self) -> None:
        try:
            self._tap.end(EOF)
        except BaseException:
            self._stop()
            raise

    def _refuse(self, error: BaseException) -> None:
        self._tap.error = None
        self._tap.fail(error)
        self._stop()
        raise error

    def _stop(self) -> None:
        """Close the file by ourselves; an error of that must not hide the one that is about to be raised."""
        self._tap.stopped = True
        for name in ("close", "release_conn"):
            with suppress(Exception):
                getattr(self._raw, name)()


class Chunks:
    """A generator that the file has made. A plain object: one more generator would be one more finaliser."""

    __slots__ = ("_chunks", "_decodes", "_is_left", "_reading")

    def __init__(self, reading: Reading, chunks: Any, decodes: bool) -> None:
        self._reading = reading
        self._chunks = chunks
        self._decodes = decodes
        self._is_left = False

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._is_left:
            # Its end is not the file's.
            return next(self._chunks)  # type: ignore[no-any-return]
        chunk: bytes = self._reading.next(self._chunks, self._decodes)
        return chunk

    def send(self, value: None) -> bytes:
        """As ``__next__``: nothing that is sent means anything to a file."""
        return next(self)

    def throw(self, *error: Any) -> Any:
        """Throw into the file's generator."""
        self._is_left = True
        return self._chunks.throw(*error)

    def close(self) -> None:
        """Close the file's generator. That says nothing of the file yet."""
        self._is_left = True
        self._chunks.close()
