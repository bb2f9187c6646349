# SPDX-License-Identifier: Apache-2.0
"""An export request as it came, and what is in it."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from otel_a2a.cli.otlp import records

SIGNALS: Final = ("traces", "logs", "metrics")
MAX_BODY: Final = 32 * 1024 * 1024
"""Bytes of a request, compressed or not; no exporter sends nearly as much."""


@dataclass(slots=True)
class Received:
    """One export request, with its bytes as they came; names of headers in lower case."""

    signal: str
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


Take = Callable[[Received], None]
"""What is done with a request. Raises ``ValueError`` where it is refused."""


@dataclass(slots=True, frozen=True)
class Export:
    """What one request holds; only the list of its signal is ever filled."""

    spans: tuple[records.Span, ...] = ()
    logs: tuple[records.LogEvent, ...] = ()
    points: tuple[records.Point, ...] = ()


def read(request: Received) -> Export:
    """What is in the request.

    Raises:
        ValueError: the body is not what the signal's protocol says, or too large.
    """
    try:
        body = _plain(request)
        return Export(
            spans=tuple(records.spans(body)) if request.signal == "traces" else (),
            logs=tuple(records.logs(body)) if request.signal == "logs" else (),
            points=tuple(records.points(body)) if request.signal == "metrics" else (),
        )
    except Exception as error:  # whatever is wrong with a body, its sender has to know
        raise ValueError(f"not an OTLP {request.signal} request: {error}") from error


def _plain(request: Received) -> bytes:
    encoding = request.headers.get("content-encoding", "identity").lower()
    if encoding == "identity":
        return request.body
    if encoding not in ("gzip", "deflate"):
        raise ValueError(f"unknown content-encoding {encoding}")
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)  # both formats, told apart by their first bytes
    body = inflate.decompress(request.body, MAX_BODY)
    if not inflate.eof:
        raise ValueError("the compressed body is cut off, or too large")
    return body
