# SPDX-License-Identifier: Apache-2.0
"""Content codings (RFC 9110, section 8.4.1), decoded chunk by chunk beside the application's own decoder."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Final, Protocol


class CannotDecode(Exception):
    """The coding is unknown, the bytes are broken, or there are too many of them. Stays in this package."""


class Decoder(Protocol):
    """Turns chunks as they come into decoded bytes, at most ``most`` at a time."""

    def feed(self, chunk: bytes, most: int) -> bytes: ...
    def copy(self) -> Decoder | None:
        """An independent copy, or None where the library cannot make one."""
        ...


def decoder(content_encoding: str | None) -> Decoder | None:
    """A decoder for a ``Content-Encoding`` header, None where nothing is encoded.

    Raises:
        CannotDecode: a coding that is unknown, or whose library is not installed.
    """
    names = [name.strip().lower() for name in (content_encoding or "").split(",")]
    codings = [name for name in names if name and name != "identity"]
    if not codings:
        return None
    if len(codings) > 2:
        raise CannotDecode(content_encoding)
    made = []
    for name in reversed(codings):
        make = _CODINGS.get(name)
        if make is None:
            raise CannotDecode(name)
        made.append(make())
    return made[0] if len(made) == 1 else _Chain(made)


class _Gzip:
    """gzip, also of several members; what follows the last one is ignored."""

    __slots__ = ("_inflate",)

    def __init__(self, inflate: Any = None) -> None:
        self._inflate = inflate or zlib.decompressobj(31)

    def feed(self, chunk: bytes, most: int) -> bytes:
        if self._inflate.eof and self._inflate.unused_data:
            return b""
        found = _inflated(self._inflate, chunk, most)
        while self._inflate.eof and self._inflate.unused_data[:1] == b"\x1f":
            rest = self._inflate.unused_data
            self._inflate = zlib.decompressobj(31)
            found += _inflated(self._inflate, rest, most - len(found))
        return found

    def copy(self) -> _Gzip:
        return _Gzip(self._inflate.copy())


class _Deflate:
    """deflate: in zlib's wrapping, as it should be, or raw, as some servers send it."""

    __slots__ = ("_inflate", "_start")

    def __init__(self, inflate: Any = None, start: bytes = b"") -> None:
        self._inflate = inflate
        self._start = start

    def feed(self, chunk: bytes, most: int) -> bytes:
        if self._inflate is None:
            self._start += chunk
            if len(self._start) < 2:
                return b""
            chunk, self._start = self._start, b""
            is_zlib = chunk[0] & 0x0F == 8 and (chunk[0] << 8 | chunk[1]) % 31 == 0
            self._inflate = zlib.decompressobj() if is_zlib else zlib.decompressobj(-15)
        return _inflated(self._inflate, chunk, most)

    def copy(self) -> _Deflate:
        return _Deflate(self._inflate.copy() if self._inflate is not None else None, self._start)


class _Foreign:
    """A coding whose library is optional: its object has one method that decodes, and no copies."""

    __slots__ = ("_decode",)

    def __init__(self, decode: Callable[[bytes], bytes]) -> None:
        self._decode = decode

    def feed(self, chunk: bytes, most: int) -> bytes:
        try:
            found = self._decode(chunk)
        except Exception as error:
            # Each library has exceptions of its own, and none of them is known here.
            raise CannotDecode(str(error)) from error
        if len(found) > most:
            raise CannotDecode("too large")
        return found

    def copy(self) -> None:
        return None


class _Chain:
    """Several codings, in the order in which they have to be undone."""

    __slots__ = ("_decoders",)

    def __init__(self, decoders: list[Any]) -> None:
        self._decoders = decoders

    def feed(self, chunk: bytes, most: int) -> bytes:
        for step in self._decoders:
            chunk = step.feed(chunk, most)
        return chunk

    def copy(self) -> _Chain | None:
        copies = [step.copy() for step in self._decoders]
        return None if None in copies else _Chain(copies)


def _inflated(inflate: Any, chunk: bytes, most: int) -> bytes:
    try:
        found = inflate.decompress(chunk, max(most, 1))
    except zlib.error as error:
        raise CannotDecode(str(error)) from error
    if inflate.unconsumed_tail:
        raise CannotDecode("too large")
    return bytes(found)


def _brotli() -> _Foreign:
    for name in ("brotli", "brotlicffi"):
        library = _library(name)
        if library is not None:
            made = library.Decompressor()
            return _Foreign(getattr(made, "process", None) or made.decompress)
    raise CannotDecode("br")


def _zstandard() -> _Foreign:
    library = _library("zstandard")
    if library is not None:
        return _Foreign(library.ZstdDecompressor().decompressobj().decompress)
    library = _library("compression.zstd")
    if library is not None:
        return _Foreign(library.ZstdDecompressor().decompress)
    raise CannotDecode("zstd")


@cache
def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None


_CODINGS: Final[dict[str, Callable[[], Any]]] = {
    "gzip": _Gzip,
    "x-gzip": _Gzip,
    "deflate": _Deflate,
    "br": _brotli,
    "zstd": _zstandard,
}
