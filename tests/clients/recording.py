# SPDX-License-Identifier: Apache-2.0
"""An operation that observes every request, as the real one observes A2A, and writes down what it was told."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from opentelemetry import context, trace

from otel_a2a.exchange import Exchange

SPAN = trace.NonRecordingSpan(trace.SpanContext(0xA2A, 0xA2A, is_remote=False))


@dataclass
class RecordingOperation:
    """``cut`` decides what ``feed`` answers, ``judge`` what ``body`` and an ``end`` at the end of the stream raise."""

    exchange: Exchange
    cut: Callable[[bytes], int | None] = lambda chunk: None
    judge: Callable[[], BaseException | None] = lambda: None
    refusal: BaseException | None = None
    propagated: dict[str, str] = field(default_factory=dict)

    error: BaseException | None = None
    request: dict[str, Any] = field(default_factory=dict)
    response: tuple[int, str | None, str] | None = None
    fed: list[bytes] = field(default_factory=list)
    content: bytes | None = None
    attachments: int = 0
    calls: list[str] = field(default_factory=list)
    ending: tuple[str, str] | None = None
    """How it ended and why: what counts, the first and nothing else."""
    later: str | None = None

    def __post_init__(self) -> None:
        exchange = self.exchange
        self.request = {
            "method": exchange.method,
            "path": exchange.path,
            "url": exchange.url(),
            "content-type": exchange.header("content-type"),
            "body": exchange.body(),
        }

    @contextlib.contextmanager
    def attached(self) -> Iterator[None]:
        self.attachments += 1
        token = context.attach(trace.set_span_in_context(SPAN))
        try:
            yield
        finally:
            context.detach(token)

    def headers(self) -> dict[str, str]:
        return self.propagated

    def propagate(self, set_header: Callable[[str, str], object]) -> None:
        for name, value in self.propagated.items():
            set_header(name, value)

    def respond(self, status: int, header: Callable[[str], str | None], url: str, *, from_cache: bool = False) -> None:
        self.calls.append("respond")
        self.response = (status, header("content-type"), url)

    def body(self, content: bytes) -> None:
        self.calls.append("body")
        self.content = content
        self._end("body", "")
        error = self.judge()
        if error is not None:
            raise error

    def feed(self, chunk: bytes) -> int | None:
        assert self.ending is None, "fed after its end"
        cut = self.cut(chunk)
        self.fed.append(chunk if cut is None else chunk[:cut])
        if cut is not None:
            self.error = self.refusal
        return cut

    def fail(self, error: BaseException) -> None:
        self.calls.append("end")
        self._end(type(error).__name__, type(error).__name__)

    def end(self, reason: str) -> None:
        self.calls.append("end")
        first = self.ending is None
        self._end(reason, "")
        verdict = self.judge() if first and reason == "eof" else None
        if verdict is not None:
            raise verdict

    def end_later(self, reason: str) -> None:
        self.calls.append("end_later")
        self.later = reason

    def settle(self) -> tuple[str, str] | None:
        """The ending, with what finalisers have said taken in."""
        if self.later is not None:
            self._end(self.later, "")
        return self.ending

    def _end(self, reason: str, error: str) -> None:
        if self.ending is None:
            self.ending = (reason, error)


@dataclass
class Recorder:
    """Stands in for ``operation.begin``: each exchange that ``wanted`` picks becomes a ``RecordingOperation``."""

    wanted: Callable[[Exchange], bool] = lambda exchange: True
    options: dict[str, Any] = field(default_factory=dict)
    operations: list[RecordingOperation] = field(default_factory=list)
    asked: int = 0
    refuses: BaseException | None = None
    """Raised before anything has left, as by a rule of the request phase."""

    def __call__(self, exchange: Exchange) -> RecordingOperation | None:
        self.asked += 1
        if self.refuses is not None:
            raise self.refuses
        # Within an operation nested libraries stay quiet.
        if trace.get_current_span() is SPAN or not self.wanted(exchange):
            return None
        operation = RecordingOperation(exchange, **self.options)
        self.operations.append(operation)
        return operation

    @property
    def only(self) -> RecordingOperation:
        (operation,) = self.operations
        return operation
