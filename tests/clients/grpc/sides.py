# SPDX-License-Identifier: Apache-2.0
"""Programs over gRPC, and the comparison of what they see with and without us.

A program is a function that takes a ``Side`` and writes what it sees to ``side.log``; a coroutine uses ``grpc.aio``.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import logging
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_a2a import clients, message_operation, operation, runtime
from otel_a2a.config import Settings
from tests.clients.grpc.agent import DIALECTS, Agent, Dialect

Program = Callable[["Side"], Any]


@dataclass
class Side:
    """An agent, the dialect to speak to it, and the log of what a program sees."""

    agent: Agent
    dialect: Dialect
    log: list[object] = field(default_factory=list)

    @contextlib.contextmanager
    def stub(self, *interceptors: Any, **options: Any) -> Iterator[Any]:
        """A blocking stub on a channel of its own."""
        with grpc.insecure_channel(self.agent.target, **options) as channel:
            yield self.dialect.stub(grpc.intercept_channel(channel, *interceptors))

    @contextlib.asynccontextmanager
    async def aio_stub(self, *interceptors: Any, **options: Any) -> AsyncIterator[Any]:
        """A stub for asyncio on a channel of its own."""
        async with grpc.aio.insecure_channel(self.agent.target, interceptors=interceptors, **options) as channel:
            yield self.dialect.stub(channel)

    @contextlib.contextmanager
    def noting(self, call: Any = None) -> Iterator[None]:
        """Write the exception that ends the block to the log; and whether ``call`` raised itself."""
        try:
            yield
        except BaseException as error:
            self.log.append((describe(error), error is call))
        else:
            self.log.append("no exception")

    def see(self, *values: object) -> None:
        """Write down what a program has; it must not find a span of ours as its current one."""
        assert trace.get_current_span() is trace.INVALID_SPAN
        self.log.append(values)

    def look(self, call: Any) -> None:
        """Write down everything that a program can see of a blocking call."""
        self.see(
            type(call).__name__,
            type(call).__module__,
            isinstance(call, grpc.Call),
            isinstance(call, grpc.Future),
            isinstance(call, grpc.RpcError),
            plain(call),
            [name for name in NAMES if hasattr(call, name)],
        )

    def look_at_end(self, call: Any) -> None:
        """``look`` for a call that is over."""
        self.look(call)
        self.see(call.code(), call.details(), pairs(call.initial_metadata()), pairs(call.trailing_metadata()))


NAMES = (
    *("add_callback", "add_done_callback", "cancel", "cancelled", "code", "debug_error_string", "details", "done"),
    *("exception", "initial_metadata", "is_active", "next", "read", "result", "running", "time_remaining", "traceback"),
    *("trailing_metadata", "wait_for_connection", "no_such_name", "__next__", "__anext__", "__await__", "__aiter__"),
)


def pairs(metadata: Any) -> list[tuple[str, Any]]:
    return [(key, value) for key, value in metadata or ()]


def plain(value: object) -> str:
    """Its text, without what differs from run to run."""
    # The debug string has times, and in older versions its members in any order.
    text = re.sub(r"debug_error_string = .*", "(debug)", repr(value))
    text = re.sub(r"0x[0-9a-f]+|\d{4,}", "(number)", text)
    return text.replace("Stream removed (Deadline Exceeded)", "Deadline Exceeded")


def describe(error: BaseException | None) -> object:
    """Everything about an exception that a program can act on."""
    if error is None:
        return None
    told: list[object] = []
    if isinstance(error, grpc.RpcError) and hasattr(error, "code"):
        call: Any = error
        told = [call.code(), plain(call.details()), pairs(call.initial_metadata()), pairs(call.trailing_metadata())]
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    return (name, plain(error), told, describe(error.__cause__), describe(error.__context__))


def execute(program: Program, side: Side) -> list[object]:
    """Run ``program`` to its end, let what it left behind be finalised, and return its log."""
    if inspect.iscoroutinefunction(program):
        asyncio.run(_with_loop_errors_logged(program, side))
    else:
        program(side)
    gc.collect()
    return side.log


async def _with_loop_errors_logged(program: Program, side: Side) -> None:
    def on_error(_: asyncio.AbstractEventLoop, about: dict[str, Any]) -> None:
        side.log.append(("loop", plain(about["message"]), describe(about.get("exception"))))

    asyncio.get_running_loop().set_exception_handler(on_error)
    await program(side)


def compare(program: Program, agent: Agent, dialect: Dialect, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Run ``program`` without us and with us, and require that nothing differs. The spans' ``error.type``s."""
    runs = []
    spans = InMemorySpanExporter()
    begun: list[object] = []
    for watched in (contextlib.nullcontext(), watching(spans, begun)):
        agent.forget()
        caplog.clear()
        with watched, caplog.at_level(logging.WARNING):
            log = execute(program, Side(agent, dialect))
        # The server is in this process too, and logs what its own agent does.
        records = [record for record in caplog.records if record.name != "grpc._server"]
        log += [(record.name, plain(record.getMessage())) for record in records]
        runs.append((log, agent.log()))
        assert "Failed to detach context" not in caplog.text
    without, real = runs
    assert real == without
    calls = [span for span in spans.get_finished_spans() if "a2a.method.name" in (span.attributes or {})]
    assert len(calls) == len(begun), "each A2A call is one span, and each has ended"
    assert all(len(each) == (1 if begun else 0) for each in agent.traceparents())
    return [str((span.attributes or {}).get("error.type", "")) for span in calls]


@contextlib.contextmanager
def watching(spans: InMemorySpanExporter, begun: list[object]) -> Iterator[None]:
    """gRPC patched, and the real operation behind it; those that begin are counted."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    running = runtime.build(Settings(state_spans=False), tracer_provider=provider)
    begin = message_operation.begin

    def counted(exchange: Any) -> Any:
        found = begin(exchange)
        if found is not None:
            begun.append(found._request)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(message_operation, "begin", counted)
        operation.start(running)
        clients.install()
        try:
            yield
            gc.collect()
            running.worker.drain()
        finally:
            clients.uninstall()
            operation.stop()


class Situations(dict[str, Program]):
    """Programs by name, with the ``error.type`` of their first span."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: dict[str, str] = {}

    def __call__(self, error: str = "") -> Callable[[Program], Program]:
        """Register a program; ``?`` leaves open how its first call ends, ``-`` says that none is A2A."""

        def register(program: Program) -> Program:
            name = getattr(program, "__name__", "").replace("_", "-")
            self[name] = program
            self.errors[name] = error
            return program

        return register

    def run(self, name: str, agent: Agent, caplog: pytest.LogCaptureFixture) -> None:
        """Compare a program with and without us."""
        errors = compare(self[name], agent, DIALECTS["1.0"], caplog)
        expected = self.errors[name]
        if expected == "-":
            assert errors == []
        else:
            assert expected in (errors[0], "?")
