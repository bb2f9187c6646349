# SPDX-License-Identifier: Apache-2.0
"""requests, by its logical send.

``Session.send`` sees every call of the application: redirects, digest auth and urllib3's retries lie within, adapters
of any kind and sessions that exist already lie below. It calls itself for each redirect, and is then inside an
operation.
"""

from __future__ import annotations

import functools
import operator
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from otel_a2a import operation, patching
from otel_a2a.clients._raw import told
from otel_a2a.clients._reading import Head


def install(library: ModuleType) -> list[patching.Patch]:
    """Patch ``Session.send``.

    Raises:
        PatchPointMissing: the library lacks what is needed here.
    """
    for name in ("Session", "PreparedRequest"):
        if not isinstance(getattr(library, name, None), type):
            raise patching.PatchPointMissing(f"{library.__name__} has no {name}")
    build = functools.partial(_send, request_type=library.PreparedRequest)
    return [patching.install(library.Session, "send", build)]


class RequestsExchange:
    """An ``Exchange`` over a request of requests, read when asked for."""

    __slots__ = ("_request",)

    def __init__(self, request: Any) -> None:
        self._request = request

    @property
    def method(self) -> str:
        method: str = self._request.method
        return method

    @property
    def path(self) -> str:
        try:
            return urlsplit(self.url()).path or "/"
        except ValueError:
            # Of schemes that are not HTTP's the library takes any text.
            return "/"

    def url(self) -> str:
        return self._request.url or ""

    def header(self, name: str) -> str | None:
        # A request that nobody has prepared has no headers, and fails in its own way.
        value = (self._request.headers or {}).get(name)
        return value.decode("latin-1") if isinstance(value, bytes) else value

    def body(self) -> bytes | None:
        body = self._request.body
        if isinstance(body, str):
            return body.encode(errors="replace")
        if body is None:
            return b""
        # Anything else is a file or a generator, which only the network may read.
        return body if isinstance(body, bytes) else None


def _send(patch: patching.Patch, request_type: type[Any]) -> patching.Method:
    original = patch.original

    def send(self: Any, request: Any, **options: Any) -> Any:
        if not patch.active or not isinstance(request, request_type):
            return original(self, request, **options)
        ours = operation.begin(RequestsExchange(request))
        if ours is None:
            return original(self, request, **options)
        ours.propagate(functools.partial(operator.setitem, request.headers))
        try:
            with ours.attached():
                response = original(self, request, **options)
        except BaseException as error:
            ours.fail(error)
            raise
        _observe(ours, response)
        return response

    return send


def _observe(ours: operation.Operation, response: Any) -> None:
    """Hand the answer to the operation: its body where it is there already, else a tap in front of the readers."""
    try:
        head = Head(response.headers.get)
        ours.respond(response.status_code, head, response.url, from_cache=_is_from_cache(response))
        content = _content(response)
        if content is None:
            response.raw = told(response.raw, ours, head)
    except Exception as error:
        ours.fail(error)
        return
    if content is not None:
        ours.body(content)


def _is_from_cache(response: Any) -> bool:
    """Whether a caching adapter (CacheControl) answered without asking anybody: where it asks, it sends conditions."""
    if not getattr(response, "from_cache", False):
        return False
    sent = response.request.headers
    return "if-none-match" not in sent and "if-modified-since" not in sent


def _content(response: Any) -> bytes | None:
    # ``response.content`` would read it, and wait for the network.
    content = response._content
    if content is None or (content is False and response.raw is None):
        # An adapter may answer without a body at all.
        return b""
    return content if isinstance(content, bytes) else None
