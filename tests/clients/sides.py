# SPDX-License-Identifier: Apache-2.0
"""One program for four clients, and the comparison of what it sees with and without us.

A program is a coroutine that takes a ``Side`` and writes what it sees to ``side.log``. Written once, it runs on httpx
and httpx2, sync and async: on a sync client it never really suspends, and is driven to its end by hand.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import functools
import gc
import importlib
import logging
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_a2a import clients, operation, runtime
from otel_a2a.config import Settings
from tests.clients.loopback import PATIENCE, Server
from tests.clients.recording import Recorder

Program = Callable[["Side"], Coroutine[Any, Any, None]]

LIBRARIES = ("httpx", "httpx2")
KINDS = ("sync", "async")
CALL = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"messageId": "m", "parts": []}}}
"""A request that is A2A to the real operation as well."""


@functools.cache
def _tls() -> ssl.SSLContext:
    # Made once: httpx makes one for each client, and nothing here is encrypted.
    return ssl.create_default_context()


@dataclass
class Side:
    """One client library, used one way, with the log of what its program sees."""

    library: ModuleType
    asynchronous: bool
    server: Server
    log: list[object] = field(default_factory=list)

    def url(self, path: str) -> str:
        return self.server.url + path

    def client(self, kind: Any = None, **options: Any) -> Any:
        kind = kind or (self.library.AsyncClient if self.asynchronous else self.library.Client)
        options.setdefault("timeout", PATIENCE)
        return kind(**{"verify": _tls(), "trust_env": False, **options})

    @contextlib.asynccontextmanager
    async def open(self, manager: Any) -> AsyncIterator[Any]:
        if self.asynchronous:
            async with manager as value:
                yield value
        else:
            with manager as value:
                yield value

    async def do(self, value: Any) -> Any:
        return await value if self.asynchronous else value

    def method(self, owner: Any, name: str) -> Any:
        """``read`` or ``aread``, as the side requires."""
        return getattr(owner, f"a{name}" if self.asynchronous else name)

    def each(self, response: Any, name: str = "iter_lines", *args: Any) -> AsyncIterator[Any]:
        return Iterate(self.method(response, name)(*args))

    async def close(self, response: Any) -> None:
        await self.do(self.method(response, "close")())

    @contextlib.contextmanager
    def noting(self, expected: type[BaseException] = Exception) -> Iterator[None]:
        """Write the exception that ends the block to the log."""
        try:
            yield
        except expected as error:
            self.log.append(describe(error))
        else:
            self.log.append("no exception")

    def look(self, response: Any) -> None:
        """Write down everything a program can see of a response without reading it."""
        try:
            elapsed: object = isinstance(response.elapsed, datetime.timedelta)
        except Exception as error:
            elapsed = describe(error)
        stream = response.stream
        self.log += [
            (response.status_code, response.reason_phrase, str(response.url), response.http_version),
            [(name, value) for name, value in response.headers.multi_items() if name != "date"],
            (response.is_closed, response.is_stream_consumed, response.num_bytes_downloaded, elapsed),
            [(past.status_code, str(past.url)) for past in response.history],
            (isinstance(stream, self.library.SyncByteStream), isinstance(stream, self.library.AsyncByteStream)),
        ]


class Iterate:
    """An asynchronous face on any iterator. No generator, which would keep the inner one alive longer."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __aiter__(self) -> Iterate:
        return self

    async def __anext__(self) -> Any:
        try:
            if hasattr(self._inner, "__anext__"):
                item = await self._inner.__anext__()
            else:
                item = next(self._inner)
        except StopIteration:
            raise StopAsyncIteration from None
        # The application runs between two chunks, and it must not find a span of ours as its current one.
        assert trace.get_current_span() is trace.INVALID_SPAN
        return item


def describe(error: BaseException | None) -> object:
    """Everything about an exception that a program can act on."""
    if error is None:
        return None
    return (
        f"{type(error).__module__}.{type(error).__qualname__}",
        without_addresses(repr(error.args)),
        describe(error.__cause__),
        describe(error.__context__),
        error.__suppress_context__,
    )


def without_addresses(text: str) -> str:
    return re.sub(r"\b(0x)?[0-9a-f]{10,}\b", "(address)", text)


def execute(program: Program, side: Side) -> None:
    """Run ``program`` to its end, and let what it left behind be finalised."""
    if side.asynchronous:
        asyncio.run(_with_loop_errors_logged(program, side))
    else:
        coroutine = program(side)
        with pytest.raises(StopIteration):
            coroutine.send(None)
    gc.collect()


async def _with_loop_errors_logged(program: Program, side: Side) -> None:
    def on_error(_: asyncio.AbstractEventLoop, about: dict[str, Any]) -> None:
        side.log.append(("loop", without_addresses(about["message"]), describe(about.get("exception"))))

    asyncio.get_running_loop().set_exception_handler(on_error)
    await program(side)


def compare(program: Program, library: str, kind: str, server: Server, caplog: pytest.LogCaptureFixture) -> Recorder:
    """Run ``program`` without us, with a recorder and with the real operation, and require that nothing differs.

    What the recorder saw is returned.
    """

    def run() -> list[object]:
        side = Side(importlib.import_module(library), kind == "async", server)
        execute(program, side)
        return side.log

    return compare_runs(run, server, caplog)


def compare_runs(run: Callable[[], list[object]], server: Server, caplog: pytest.LogCaptureFixture) -> Recorder:
    """``compare`` for a program of any library: ``run`` runs it, and returns what it has seen."""
    recorder = Recorder()
    runs: list[tuple[list[object], list[object]]] = []
    for watched in (contextlib.nullcontext(), watching(recorder), watching_for_real()):
        server.forget()
        caplog.clear()
        with watched, caplog.at_level(logging.WARNING):
            log = run()
        log += [(record.name, without_addresses(record.getMessage())) for record in caplog.records]
        runs.append((log, server.log()))
        assert "Failed to detach context" not in caplog.text
        assert trace.get_current_span() is trace.INVALID_SPAN
    without, recorded, real = runs
    assert recorded == without
    assert real == without
    for seen in recorder.operations:
        assert seen.settle() is not None, "an operation never ended"
        assert seen.attachments == 1
    calls = [seen for seen in recorder.operations if b"SendMessage" in (seen.request["body"] or b"")]
    ended = [span for span in _real()[1].get_finished_spans() if span.name == "SendMessage"]
    assert len(ended) == len(calls), "each A2A call is one span, and each has ended"
    return recorder


def record(side: Side, program: Callable[[Any], Coroutine[Any, Any, None]], **options: Any) -> Recorder:
    """Run ``program``, which takes a client, with a recorder made with ``options``, and return it."""

    async def with_client(side: Side) -> None:
        async with side.open(side.client()) as client:
            await program(client)

    with watching(Recorder(**options)) as recorder:
        execute(with_client, side)
    return recorder


@contextlib.contextmanager
def watching(recorder: Recorder) -> Iterator[Recorder]:
    """Every client patched, and ``recorder`` in place of the real ``operation.begin``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operation, "begin", recorder)
        clients.install()
        try:
            yield recorder
        finally:
            clients.uninstall()


@functools.cache
def _real() -> tuple[runtime.Runtime, InMemorySpanExporter]:
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    return runtime.build(Settings(), tracer_provider=provider), spans


@contextlib.contextmanager
def watching_for_real() -> Iterator[None]:
    """Every client patched, and the real operation behind it."""
    running, spans = _real()
    spans.clear()
    operation.start(running)
    clients.install()
    try:
        yield
    finally:
        clients.uninstall()
        operation.stop()


async def within(awaitable: Awaitable[Any]) -> Any:
    """Await what must come, without hanging where it does not."""
    return await asyncio.wait_for(awaitable, PATIENCE)
