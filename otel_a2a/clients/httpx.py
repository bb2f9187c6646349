# SPDX-License-Identifier: Apache-2.0
"""httpx and httpx2, by their logical send.

``Client.send`` and ``AsyncClient.send`` see one call of the application as one call: redirects and auth flows lie
within, every transport and every client that exists already lie below, and the spans of HTTP instrumentations, which
wrap transports, become our children. The two libraries have the same names, so one module serves both.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from otel_a2a import operation, patching
from otel_a2a.clients._tee import AsyncTee, SyncTee

Tee = Callable[[Any, operation.Operation], Any]


def install(library: ModuleType) -> list[patching.Patch]:
    """Patch ``send`` of both clients of ``library``, or of none.

    Raises:
        PatchPointMissing: the library lacks what is needed here, as httpx 1.0's previews lack ``AsyncClient``.
    """
    for name in ("Client", "AsyncClient", "Request", "SyncByteStream", "AsyncByteStream"):
        if not isinstance(getattr(library, name, None), type):
            raise patching.PatchPointMissing(f"{library.__name__} has no {name}")
    sync_tee = type("SyncTee", (SyncTee, library.SyncByteStream), {})
    async_tee = type("AsyncTee", (AsyncTee, library.AsyncByteStream), {})
    points = (
        (library.Client, functools.partial(_sync_send, request_type=library.Request, tee=sync_tee)),
        (library.AsyncClient, functools.partial(_async_send, request_type=library.Request, tee=async_tee)),
    )
    for client, _ in points:
        patching.find(client, "send")
    return [patching.install(client, "send", build) for client, build in points]


class HttpxExchange:
    """An ``Exchange`` over a request of httpx, read when asked for."""

    __slots__ = ("_headers", "_request")

    def __init__(self, request: Any) -> None:
        self._request = request
        self._headers: dict[bytes, bytes] | None = None

    @property
    def method(self) -> str:
        method: str = self._request.method
        return method

    @property
    def path(self) -> str:
        path: str = self._request.url.path
        return path

    def url(self) -> str:
        return str(self._request.url)

    def header(self, name: str) -> str | None:
        # httpx goes through all of them for each that is asked for, and of an A2A request a dozen are.
        if self._headers is None:
            self._headers = {key.lower(): value for key, value in reversed(self._request.headers.raw)}
        value = self._headers.get(name.encode())
        return value.decode(self._request.headers.encoding) if value is not None else None

    def body(self) -> bytes | None:
        return _content(self._request)

    def set_header(self, name: str, value: str) -> None:
        self._request.headers[name] = value

    def has_left(self) -> None:
        """Auth flows have set theirs by now."""
        self._headers = None


def _sync_send(patch: patching.Patch, request_type: type[Any], tee: type[Any]) -> patching.Method:
    original = patch.original

    def send(self: Any, request: Any, **options: Any) -> Any:
        exchange = HttpxExchange(request)
        ours = _begin(exchange) if patch.active and isinstance(request, request_type) else None
        if ours is None:
            return original(self, request, **options)
        try:
            with ours.attached():
                response = original(self, request, **options)
        except BaseException as error:
            ours.fail(error)
            raise
        _observe(ours, exchange, response, tee)
        return response

    return send


def _async_send(patch: patching.Patch, request_type: type[Any], tee: type[Any]) -> patching.Method:
    original = patch.original

    async def send(self: Any, request: Any, **options: Any) -> Any:
        exchange = HttpxExchange(request)
        ours = _begin(exchange) if patch.active and isinstance(request, request_type) else None
        if ours is None:
            return await original(self, request, **options)
        try:
            with ours.attached():
                response = await original(self, request, **options)
        except BaseException as error:
            ours.fail(error)
            raise
        _observe(ours, exchange, response, tee)
        return response

    return send


def _begin(exchange: HttpxExchange) -> operation.Operation | None:
    ours = operation.begin(exchange)
    if ours is not None:
        ours.propagate(exchange.set_header)
    return ours


def _observe(ours: operation.Operation, exchange: HttpxExchange, response: Any, tee: Tee) -> None:
    """Hand the answer to the operation: its body where it is there already, else a tee in front of the readers."""
    try:
        exchange.has_left()
        url = str(response.url)
        ours.respond(response.status_code, response.headers.get, url, from_cache=_is_from_cache(response))
        content = _content(response)
        if content is None:
            response.stream = tee(response.stream, ours)
    except Exception as error:
        ours.fail(error)
        return
    if content is not None:
        ours.body(content)


def _is_from_cache(response: Any) -> bool:
    """Whether a caching transport (hishel) answered without asking anybody."""
    caching = response.extensions.get("caching")
    return isinstance(caching, dict) and bool(caching.get("from_cache")) and not caching.get("revalidated")


def _content(message: Any) -> bytes | None:
    try:
        content = message.content
    except Exception:
        # RequestNotRead, ResponseNotRead: only a generator, or the network, has it.
        return None
    return content if isinstance(content, bytes) else None
