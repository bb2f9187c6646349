# SPDX-License-Identifier: Apache-2.0
"""The file that an application reads an answer from, with a tap in front of everything that hands out bytes.

``response.raw`` of requests is urllib3's ``HTTPResponse``, or any file that an adapter has put there. Its stand-in is a
``wrapt.ObjectProxy``: ``isinstance`` and every attribute are those of the inner file. It has only those methods that
the inner file has, since requests and others ask for them. Nothing is read ahead, held back or kept.
"""

from __future__ import annotations

import copy
import functools
import io
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import wrapt

from otel_a2a.clients._tee import Listener, Tap

if TYPE_CHECKING:
    Proxy = wrapt.ObjectProxy[Any]
else:
    Proxy = wrapt.ObjectProxy


class Head:
    """The headers of an answer as they fit the bytes that are told: decoded ones have no ``content-encoding``."""

    __slots__ = ("_get", "decoded")

    def __init__(self, get: Callable[[str], str | None]) -> None:
        self._get = get
        self.decoded = False

    def __call__(self, name: str) -> str | None:
        return None if self.decoded and name == "content-encoding" else self._get(name)


def told(raw: Any, operation: Listener, head: Head) -> Any:
    """A stand-in for ``raw``: every read of it is told to ``operation`` before the application has the bytes."""
    return _stand_in(raw.__class__)(raw, _Reading(raw, operation, head))


class _Reading:
    """What happens to one file, whoever reads it: the stand-in, or an iterator that it has given away."""

    __slots__ = ("_head", "_raw", "_tap")

    def __init__(self, raw: Any, operation: Listener, head: Head) -> None:
        self._raw = raw
        self._head = head
        self._tap = Tap(operation)

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
            self._tap.close("eof" if is_complete else "closed-early")

    def _take(self, ask: Callable[[], Any], decodes: bool, whole: bool = False) -> Any:
        tap = self._tap
        if tap.error is not None:
            self._refuse(tap.error)
        try:
            chunk = ask()
        except StopIteration:
            return None
        except BaseException as error:
            tap.fail(error)
            raise
        if not chunk or not isinstance(chunk, bytes):
            return chunk
        # urllib3 decodes where it knows the coding, which it looks up at its first read.
        self._head.decoded = decodes and self._has_decoder()
        passed = tap.pass_on(chunk)
        # No bytes would mean the end.
        if tap.error is not None and (whole or not passed):
            self._refuse(tap.error)
        return passed

    def _has_decoder(self) -> bool:
        return getattr(self._raw, "_decoder", None) is not None

    def _finish(self) -> None:
        try:
            self._tap.end("eof")
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


class _Chunks:
    """An iterator that the file has made. A plain object: one more generator would be one more finaliser."""

    __slots__ = ("_chunks", "_decodes", "_reading")

    def __init__(self, reading: _Reading, chunks: Any, decodes: bool) -> None:
        self._reading = reading
        self._chunks = chunks
        self._decodes = decodes

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        chunk: bytes = self._reading.next(self._chunks, self._decodes)
        return chunk

    def __getattr__(self, name: str) -> Any:
        """``close``, ``send`` and ``throw``, where it is a generator."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._chunks, name)


class _StandIn(Proxy):
    def __init__(self, raw: Any, reading: _Reading) -> None:
        super().__init__(raw)
        self._self_reading = reading

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __copy__(self) -> Any:
        return copy.copy(self.__wrapped__)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copy.deepcopy(self.__wrapped__, memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__wrapped__.__reduce_ex__(protocol)

    def __enter__(self) -> Any:
        entered = self.__wrapped__.__enter__()
        return self if entered is self.__wrapped__ else entered

    def __exit__(self, *error: Any) -> Any:
        return self._self_reading.close(functools.partial(self.__wrapped__.__exit__, *error))


@functools.lru_cache(maxsize=32)
def _stand_in(inner: type[Any]) -> type[Any]:
    return type("RawTee", (_StandIn,), {name: method for name, method in _METHODS.items() if hasattr(inner, name)})


def _decodes(raw: Any, args: tuple[Any, ...], options: dict[str, Any], default: bool | None = None) -> bool:
    """Whether a read is asked to decode: by urllib3's second argument, else ``default``, else the file's attribute."""
    asked = args[1] if len(args) > 1 else options.get("decode_content")
    if asked is None:
        asked = getattr(raw, "decode_content", False) if default is None else default
    return bool(asked)


def _reads(name: str) -> Callable[..., Any]:
    def read(self: Any, *args: Any, **options: Any) -> Any:
        raw = self.__wrapped__
        ask = functools.partial(getattr(raw, name), *args, **options)
        amount = args[0] if args else options.get("amt")
        if amount == 0:
            return ask()
        is_whole = name == "read" and (amount is None or (isinstance(amount, int) and amount < 0))
        return self._self_reading.read(ask, _decodes(raw, args, options), whole=is_whole)

    return read


def _iterates(name: str) -> Callable[..., Any]:
    def iterate(self: Any, *args: Any, **options: Any) -> _Chunks:
        raw = self.__wrapped__
        # urllib3 always decodes lines; of the chunked coding, it decodes nothing unless told to.
        default = True if name == "__iter__" else False if getattr(raw, "chunked", False) else None
        return _Chunks(self._self_reading, getattr(raw, name)(*args, **options), _decodes(raw, args, options, default))

    return iterate


def _next(self: Any) -> Any:
    raw = self.__wrapped__
    return self._self_reading.next(raw, _decodes(raw, (), {}))


def _readinto(self: Any, buffer: Any) -> Any:
    raw, count = self.__wrapped__, 0

    def ask() -> bytes:
        nonlocal count
        count = raw.readinto(buffer)
        return bytes(memoryview(buffer).cast("B")[:count]) if count else b""

    if len(buffer) == 0:
        return raw.readinto(buffer)
    chunk = self._self_reading.read(ask, _decodes(raw, (), {}))
    return len(chunk) if chunk else count


def _readlines(self: Any, hint: Any = None, /) -> list[bytes]:
    raw = self.__wrapped__
    lines: list[bytes] = []

    def ask() -> bytes:
        lines.extend(raw.readlines(hint))
        return b"".join(lines)

    # Python reads lines by iterating.
    passed = self._self_reading.read(ask, True, whole=hint is None or hint <= 0)
    return lines if len(passed) == sum(map(len, lines)) else list(io.BytesIO(passed))


def _data(self: Any) -> Any:
    raw = self.__wrapped__
    return self._self_reading.read(lambda: raw.data, _decodes(raw, (), {}), whole=True)


def _json(self: Any) -> Any:
    self.data  # noqa: B018  # from then on the file has it at hand
    return self.__wrapped__.json()


def _close(self: Any) -> Any:
    return self._self_reading.close(self.__wrapped__.close)


_METHODS: Final[dict[str, Any]] = {
    "read": _reads("read"),
    "read1": _reads("read1"),
    "readline": _reads("readline"),
    "readlines": _readlines,
    "readinto": _readinto,
    "stream": _iterates("stream"),
    "read_chunked": _iterates("read_chunked"),
    "__iter__": _iterates("__iter__"),
    "__next__": _next,
    "data": property(_data),
    "json": _json,
    "close": _close,
}
