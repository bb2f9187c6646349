# SPDX-License-Identifier: Apache-2.0
"""aiohttp, by ``ClientSession._request``.

Every call of a session goes through it, whichever method the application uses: redirects, middlewares and retries on a
lost connection lie within, and the spans of HTTP instrumentations, which are trace configs, become our children. The
answer's body is not there when it returns, so a ``Content`` is put in front of those who read it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from otel_a2a import operation, patching
from otel_a2a.clients._content import Content


def install(library: ModuleType) -> list[patching.Patch]:
    """Patch the request of sessions, and the two ways to close a response, or nothing.

    Raises:
        PatchPointMissing: the library lacks what is needed here.
    """
    for name in ("ClientSession", "ClientResponse", "ClientResponseError", "BytesPayload", "JsonPayload"):
        if not isinstance(getattr(library, name, None), type):
            raise patching.PatchPointMissing(f"{library.__name__} has no {name}")
    patching.find(library.ClientSession, "_build_url")
    points = (
        (library.ClientSession, "_request", functools.partial(_request, library=library)),
        (library.ClientResponse, "close", _close),
        (library.ClientResponse, "release", _close),
    )
    for owner, name, _ in points:
        patching.find(owner, name)
    return [patching.install(owner, name, build) for owner, name, build in points]


class AiohttpExchange:
    """An ``Exchange`` over the arguments of a call, of which aiohttp has yet to make a request.

    ``options`` are those that aiohttp will be given. ``body`` may replace ``json`` in them by what aiohttp would make
    of it, so that it is encoded once. The session is not kept, since some end by being forgotten.
    """

    __slots__ = ("_defaults", "_dumps", "_library", "_options", "_sent", "_url", "method")

    def __init__(self, library: ModuleType, session: Any, method: Any, url: Any, options: dict[str, Any]) -> None:
        self.method = str(method).upper()
        self._library = library
        self._options = options
        self._defaults = session.headers
        self._dumps = _dumps(session) if "json" in options else None
        self._sent: Any = None
        try:
            self._url: Any = session._build_url(url)
        except Exception:
            # What is wrong with it, aiohttp will say itself.
            self._url = None

    @property
    def path(self) -> str:
        return self._url.path if self._url is not None else ""

    def url(self) -> str:
        if self._url is None:
            return ""
        params = self._options.get("params")
        return str(self._url.update_query(params) if params else self._url)

    def header(self, name: str) -> str | None:
        if self._sent is not None:
            sent: str | None = self._sent.get(name)
            return sent
        value = _find(self._options.get("headers") or (), name)
        if value is None:
            value = self._defaults.get(name)
        if value is None and name == "content-type" and self._is_json():
            return "application/json"
        return value

    def body(self) -> bytes | None:
        if self._options.get("data") is None and self._is_json():
            self._options["data"] = self._library.JsonPayload(self._options["json"], dumps=self._dumps)
            del self._options["json"]
        data: Any = self._options.get("data")
        if isinstance(data, self._library.BytesPayload):
            data = data._value
        if isinstance(data, str):
            return data.encode(errors="replace")
        if data is None:
            return b""
        # Anything else is a form, a file or a generator, which only the network may read.
        return bytes(data) if isinstance(data, (bytes, bytearray, memoryview)) else None

    def has_left(self, headers: Any) -> None:
        """These are the headers that were sent in the end."""
        self._sent = headers

    def _is_json(self) -> bool:
        return self._options.get("json") is not None or isinstance(self._options.get("data"), self._library.JsonPayload)


def _dumps(session: Any) -> Callable[[Any], str]:
    """The session's way to write JSON, as text."""
    to_bytes = getattr(session, "_json_serialize_bytes", None)
    to_text: Callable[[Any], str] = session.json_serialize
    return to_text if to_bytes is None else lambda value: to_bytes(value).decode()


def _find(headers: Any, name: str) -> str | None:
    """The value of a header in anything that aiohttp takes for headers, but for an iterator, which ends by reading."""
    pairs = headers if isinstance(headers, (list, tuple)) else headers.items() if hasattr(headers, "items") else ()
    for key, value in pairs:
        if str(key).lower() == name:
            return str(value)
    return None


def _request(patch: patching.Patch, library: ModuleType) -> patching.Method:
    original = patch.original
    undone = _undone(library)

    async def request(self: Any, method: Any, str_or_url: Any, **options: Any) -> Any:
        if not patch.active:
            return await original(self, method, str_or_url, **options)
        exchange = AiohttpExchange(library, self, method, str_or_url, options)
        ours = operation.begin(exchange)
        if ours is None:
            return await original(self, method, str_or_url, **options)
        ours.propagate(functools.partial(_set_header, options))
        try:
            with ours.attached():
                response = await original(self, method, str_or_url, **options)
        except BaseException as error:
            _fail(ours, exchange, error, library.ClientResponseError)
            raise
        decompress = options.get("auto_decompress")
        is_decoded = self.auto_decompress if decompress is None else decompress
        _observe(ours, exchange, response, undone if is_decoded else frozenset())
        return response

    return request


def _close(patch: patching.Patch) -> patching.Method:
    original = patch.original

    def close(self: Any) -> Any:
        try:
            return original(self)
        finally:
            # Afterwards: a connection is worth more than a span.
            if type(self.content) is Content:
                self.content.closed()

    return close


def _undone(library: ModuleType) -> frozenset[str]:
    """The content codings that aiohttp undoes, and leaves in the headers all the same."""
    knows_zstd = hasattr(getattr(library, "compression_utils", None), "HAS_ZSTD")
    return frozenset(("gzip", "deflate", "br", "zstd") if knows_zstd else ("gzip", "deflate", "br"))


def _set_header(options: dict[str, Any], name: str, value: str) -> None:
    """Set a header of the call, and leave the application's own object as it is."""
    from multidict import CIMultiDict

    headers = CIMultiDict(options.get("headers") or ())
    headers[name] = value
    options["headers"] = headers


def _fail(ours: operation.Operation, exchange: AiohttpExchange, error: Any, for_status: type[Any]) -> None:
    """The call raised. Where that was for its status, the agent has answered, with a body that nobody reads."""
    try:
        # A cause is a fault in the head of the answer, or a proxy's.
        if type(error) is not for_status or error.status < 400 or error.__cause__ is not None:
            ours.fail(error)
            return
        exchange.has_left(error.request_info.headers)
        ours.respond(error.status, _header(error.headers, frozenset()), str(error.request_info.url))
    except Exception:
        ours.fail(error)
        return
    ours.body(b"")


def _observe(ours: operation.Operation, exchange: AiohttpExchange, response: Any, undone: frozenset[str]) -> None:
    """Hand the answer to the operation: its body where it is known already, else by a stand-in for its reader."""
    try:
        exchange.has_left((response.history or (response,))[0].request_info.headers)
        header = _header(response.headers, undone)
        ours.respond(response.status, header, str(response.url))
        content = _content(response) if header("content-encoding") is None else None
        if content is None:
            response.content = Content(response.content, response, ours)
    except Exception as error:
        ours.fail(error)
        return
    if content is not None:
        ours.body(content)


def _header(headers: Any, undone: frozenset[str]) -> Callable[[str], str | None]:
    """Looks a header of the answer up, as it fits the bytes that are read: decoded ones have no coding."""

    def header(name: str) -> str | None:
        value: str | None = headers.get(name)
        return None if name == "content-encoding" and value is not None and value.lower() in undone else value

    return header


def _content(response: Any) -> bytes | None:
    # A middleware or a trace config may have read it, and there may be none at all.
    content: bytes | None = response._body
    if content is None and response.content.at_eof() and not response.content.total_bytes:
        return b""
    return content
