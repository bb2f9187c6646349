# SPDX-License-Identifier: Apache-2.0
"""Deliveries to a WSGI application: Flask, Django, Bottle, …"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from otel_a2a.webhooks.collect import Collected, Watch
from otel_a2a.webhooks.observe import Verify

App = Callable[[dict[str, Any], Any], Iterable[bytes]]

_UNPREFIXED: Final = ("CONTENT_TYPE", "CONTENT_LENGTH")


class A2AWebhookWSGIMiddleware:
    """Sees the push notifications that a WSGI application receives. Arguments as of ``A2AWebhookMiddleware``."""

    def __init__(self, app: App, paths: str | Iterable[str] = "*", verified: bool | Verify = False) -> None:
        self.app = app
        self._watch = Watch(paths, verified)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        root = environ.get("SCRIPT_NAME", "")
        path = root + environ.get("PATH_INFO", "")
        collected = self._watch.open(environ["REQUEST_METHOD"], path, root, lambda: _headers(environ))
        if collected is not None:
            environ["wsgi.input"] = Input(environ["wsgi.input"], collected)
        return self.app(environ, start_response)


def _headers(environ: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in environ.items():
        if name.startswith("HTTP_"):
            yield name[5:].replace("_", "-"), value
        elif name in _UNPREFIXED and value:
            yield name.replace("_", "-"), value


class Input:
    """``wsgi.input``, read along. What the server's stream has beside the methods of PEP 3333, this one has too."""

    def __init__(self, stream: Any, collected: Collected) -> None:
        self._stream = stream
        self._collected = collected

    def read(self, *size: Any, **by_name: Any) -> bytes:
        chunk: bytes = self._stream.read(*size, **by_name)
        asked = _asked(size, by_name)
        self._took(chunk, at_end=asked < 0 or _is_end(chunk, asked))
        return chunk

    def readline(self, *size: Any, **by_name: Any) -> bytes:
        line: bytes = self._stream.readline(*size, **by_name)
        self._took(line, at_end=_is_end(line, _asked(size, by_name)))
        return line

    def readlines(self, *hint: Any, **by_name: Any) -> list[bytes]:
        lines: list[bytes] = self._stream.readlines(*hint, **by_name)
        self._took(b"".join(lines), at_end=not hint and not by_name)
        return lines

    def __iter__(self) -> Iterator[bytes]:
        for line in self._stream:
            self._took(line, at_end=False)
            yield line
        self._collected.end()

    def __next__(self) -> bytes:
        line: bytes = next(self._stream)
        self._took(line, at_end=False)
        return line

    def __getattr__(self, name: str) -> Any:
        own = getattr(self._stream, name)
        if name == "read1":
            return lambda *size: self._read_some(own, *size)
        if name in ("readinto", "readinto1"):
            return lambda buffer: self._read_into(own, buffer)
        return own

    def _read_some(self, read: Callable[..., bytes], *size: Any) -> bytes:
        chunk = read(*size)
        self._took(chunk, at_end=_is_end(chunk, _asked(size, {})))
        return chunk

    def _read_into(self, read: Callable[[Any], int | None], buffer: Any) -> int | None:
        count = read(buffer)
        chunk = bytes(memoryview(buffer).cast("B")[:count]) if count else b""
        self._took(chunk, at_end=count == 0 and len(buffer) > 0)
        return count

    def _took(self, chunk: bytes, *, at_end: bool) -> None:
        if chunk:
            self._collected.take(chunk)
        if at_end:
            self._collected.end()


def _asked(size: tuple[Any, ...], by_name: Mapping[str, Any]) -> int:
    """How many bytes were asked for; -1 for all that there are."""
    given = next(iter((*size, *by_name.values())), None)
    return given if isinstance(given, int) else -1


def _is_end(chunk: bytes, asked: int) -> bool:
    return not chunk and asked != 0
