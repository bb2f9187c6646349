# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the file that an application reads an answer from: everything that hands out bytes is told.

``response.raw`` of requests is urllib3's ``HTTPResponse``, or any file that an adapter has put there. The stand-in has
only those methods that the inner file has, since requests and others ask for them.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from typing import Any, Final

from otel_a2a.clients._proxy import Proxy
from otel_a2a.clients._reading import Chunks, Head, Reading
from otel_a2a.clients._tee import Listener


def told(raw: Any, operation: Listener, head: Head) -> Any:
    """A stand-in for ``raw``: every read of it is told to ``operation`` before the application has the bytes."""
    return _stand_in(raw.__class__)(raw, Reading(raw, operation, head))


class _StandIn(Proxy):
    def __init__(self, raw: Any, reading: Reading) -> None:
        super().__init__(raw)
        self._self_reading = reading

    def __setattr__(self, name: str, value: Any) -> None:
        # wrapt would keep what has a name of ours, and urllib3's own methods would not find it.
        if name.startswith(("_self_", "__")):
            super().__setattr__(name, value)
        else:
            setattr(self.__wrapped__, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__wrapped__, name)

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
        raw, reading = self.__wrapped__, self._self_reading
        decodes = _decodes(raw, args, options)
        if reading.is_asking:
            return reading.ask_beneath(name, decodes, args, options)
        ask = functools.partial(getattr(raw, name), *args, **options)
        amount = args[0] if args else options.get("amt")
        if amount == 0:
            return reading.ask(ask, decodes)
        is_whole = name == "read" and (amount is None or (isinstance(amount, int) and amount < 0))
        return reading.read(ask, decodes, whole=is_whole)

    return read


def _iterates(name: str) -> Callable[..., Any]:
    def iterate(self: Any, *args: Any, **options: Any) -> Any:
        raw, reading = self.__wrapped__, self._self_reading
        # urllib3 always decodes lines; of the chunked coding, it decodes nothing unless told to.
        default = True if name == "__iter__" else False if getattr(raw, "chunked", False) else None
        decodes = _decodes(raw, args, options, default)
        if reading.is_asking:
            return reading.ask_beneath(name, decodes, args, options)
        chunks = reading.ask(functools.partial(getattr(raw, name), *args, **options), decodes)
        return self if chunks is raw else Chunks(reading, chunks, decodes)

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
