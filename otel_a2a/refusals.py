# SPDX-License-Identifier: Apache-2.0
"""One call of a library that tries several requests: once one of them was refused, no other takes its place.

python-a2a catches whatever a send raises, and posts the same words again: to other paths, and at last in a format of
its own, which is no A2A. A hook says where such a call begins and ends; the seam notes what it refuses there and
refuses what the library would post next to the same server. Nothing is compared, and nothing outlives the call.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from urllib.parse import urlsplit

from opentelemetry.instrumentation.utils import is_instrumentation_enabled

from otel_a2a.errors import A2APolicyError
from otel_a2a.exchange import Exchange


@dataclass(slots=True, eq=False)
class Attempts:
    """What one call of a library tries, and how the first refusal ended it."""

    refusal: A2APolicyError | None = None
    server: str = ""


_attempts: ContextVar[Attempts | None] = ContextVar("otel_a2a_attempts", default=None)


@contextmanager
def one_call() -> Iterator[None]:
    """Within it, the posts of this execution context are attempts at one and the same thing. Not to be held across a
    yield."""
    token = _attempts.set(Attempts())
    try:
        yield
    finally:
        _attempts.reset(token)


def note(error: A2APolicyError, exchange: Exchange) -> None:
    """``exchange`` was refused with ``error``, or its answer was."""
    attempts = _attempts.get()
    if attempts is not None and attempts.refusal is None:
        attempts.refusal, attempts.server = error, _server(exchange)


def standing(exchange: Exchange) -> A2APolicyError | None:
    """The refusal that ``exchange`` would get around; None almost always."""
    attempts = _attempts.get()
    if attempts is None or attempts.refusal is None or exchange.method != "POST":
        return None
    # Exporters and their like switch instrumentation off for their own posts.
    if not is_instrumentation_enabled() or _server(exchange) != attempts.server:
        return None
    return attempts.refusal


def _server(exchange: Exchange) -> str:
    return urlsplit(exchange.url()).netloc
