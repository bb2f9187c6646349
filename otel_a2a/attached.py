# SPDX-License-Identifier: Apache-2.0
"""While a library makes a call of ours, its span is the current one, and the libraries beneath stay quiet."""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import Any

from opentelemetry.context import Context, attach, detach

_inside: ContextVar[bool] = ContextVar("otel_a2a_inside", default=False)


def is_inside() -> bool:
    """Whether a library of ours does its own call, so that one beneath it (httpx over aiohttp) must not count it
    again."""
    return _inside.get()


class Attached:
    """A context manager. A plain class, because this is entered on every call."""

    __slots__ = ("_context", "_inside_token", "_token")

    def __init__(self, context: Context | None) -> None:
        self._context = context
        self._token: Any = None
        self._inside_token: Token[bool] | None = None

    def __enter__(self) -> None:
        self._inside_token = _inside.set(True)
        if self._context is not None:
            self._token = attach(self._context)

    def __exit__(self, *exc_info: object) -> None:
        if self._token is not None:
            detach(self._token)
        if self._inside_token is not None:
            _inside.reset(self._inside_token)
