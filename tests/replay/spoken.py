# SPDX-License-Identifier: Apache-2.0
"""The world of the engine's tests, spoken aloud: what happens there is written in a dialect of A2A, and read by the
product as if it had been on the wire.

    with spoken(dialect) as world:
        play_all(Random(seed), world)

The engine is told directly of what the dialect has no words for: calls of 0.1; lists and tenants in 0.3; and over
HTTP+JSON a tenant at an agent that is not known yet, because a segment of a path says no more than another.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from opentelemetry._logs import NoOpLoggerProvider
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.trace import NoOpTracerProvider

from otel_a2a import engine, operation, runtime
from otel_a2a.engine.engine import Engine
from otel_a2a.engine.verdict import Verdict
from otel_a2a.exchange import RecordedExchange
from otel_a2a.observations import (
    A2AError,
    ArtifactSeen,
    CallFailed,
    CallStarted,
    CardFetched,
    CardFetchFailed,
    CardRequested,
    Channel,
    MessageSeen,
    Observation,
    StreamEnded,
    TaskSeen,
)
from otel_a2a.operation import Operation
from otel_a2a.replay.player import bytes_of, hinted
from otel_a2a.replay.steps import CallHints, Event, Request, Response
from otel_a2a.wire import webhooks
from otel_a2a_policies import RULES
from tests.replay import words
from tests.replay.dialects import HTTP_JSON, Dialect, Untranslatable, answers, calls
from tests.replay.dialects.errors import Refused
from tests.replay.dialects.reading import Object
from tests.support.whole import Whole

REFUSALS: Final = {
    A2AError.TASK_NOT_FOUND: Refused(-32001, "Task not found"),
    A2AError.TASK_NOT_CANCELABLE: Refused(-32002, "Task cannot be canceled - current state: completed"),
    A2AError.UNSUPPORTED_OPERATION: Refused(-32004, "This operation is not supported"),
}
EVENT_STREAM: Final = {"content-type": "text/event-stream"}
DELIVERED: Final = {"content-type": "application/json"}


class _HandDriven(Engine):
    """An engine whose time only the test moves."""

    @property
    def next_due(self) -> float | None:
        return None


class Exchange:
    """A call or a card's fetch under way."""

    def __init__(self, request: Request, opened: Operation, call: calls.Call | None) -> None:
        self.url = request.url
        self.opened = opened
        self.call = call
        self._is_streaming = False

    def answered(self, response: Object) -> None:
        whole = Response.model_validate(response)
        self.opened.respond(whole.status or 0, whole.header_fields().get, self.url)
        self.opened.body(whole.content)

    def streams(self, event: Object) -> None:
        if not self._is_streaming:
            self._is_streaming = True
            self.opened.respond(200, EVENT_STREAM.get, self.url)
        self.opened.feed(bytes_of(Event.model_validate({"t": 0, **event}), EVENT_STREAM))

    def ends(self, how: str) -> None:
        self.opened.end(how)


class Spoken(Whole):
    """A world whose agents and clients speak ``dialect``. ``said``: how much went over the wire; ``unsaid``: what did
    not."""

    def __init__(self, dialect: Dialect, **settings: Any) -> None:
        super().__init__(**settings)
        self.dialect = dialect
        self.said = 0
        self.unsaid: list[Observation] = []
        self.engine = _HandDriven(self.engine.settings, RULES, (), self.clock, self._fault)
        # Repeats included, as in the world that this one speaks for.
        self.engine.watchers = (self.findings,)
        self.runtime = runtime.build(
            self.engine.settings,
            engine=self.engine,
            tracer_provider=NoOpTracerProvider(),
            meter_provider=NoOpMeterProvider(),
            logger_provider=NoOpLoggerProvider(),
        )
        # An observation is kept with its exchange, so that no other one gets its place in memory.
        self._under_way: dict[int, tuple[Observation, Exchange]] = {}

    def _fault(self, where: str, error: Exception) -> None:
        self.internal_errors.append(f"{where}: {error!r}")

    def observe(self, observation: Observation, *, enforce: bool = True) -> Verdict:
        """Let it be said and heard; where that cannot be, let it be known. What is found is in ``findings``."""
        if self._is_said(observation):
            self.said += 1
            return Verdict()
        self.unsaid.append(observation)
        return self.engine.observe(words.measured(observation), enforce=enforce)

    def _is_said(self, seen: Observation) -> bool:
        if isinstance(seen, CallStarted):
            return self._asks(seen)
        if isinstance(seen, CardRequested):
            return not seen.extended and self._leaves(seen, {"method": "GET", "url": seen.url}, None)
        if isinstance(seen, TaskSeen) and seen.call is None:
            return self._delivers(seen)
        asked = getattr(seen, "call", None) or getattr(seen, "request", None)
        if id(asked) not in self._under_way:
            return False
        self._hears(self._under_way[id(asked)][1], seen)
        return True

    # --- requests

    def _asks(self, call: CallStarted) -> bool:
        hides_tenant = call.tenant and self.dialect.binding == HTTP_JSON and not self.engine.knows(call.endpoint)
        if call.protocol_version == "0.1" or hides_tenant:
            return False
        asked = calls.Call(call.method, call.endpoint, words.params(call), "r", self.dialect)
        try:
            request = calls.write(asked, self.dialect)
        except Untranslatable:
            return False
        given = {name: value for name in CallHints.model_fields if (value := getattr(call.hints, name, None))}
        with hinted(CallHints(**given)):
            return self._leaves(call, request, asked)

    def _leaves(self, seen: Observation, written: Object, call: calls.Call | None) -> bool:
        request = Request.model_validate(written)
        exchange = RecordedExchange(request.method, request.url, request.header_fields(), request.content)
        opened = operation.begin(exchange, self.runtime)
        assert opened is not None, written
        self._under_way[id(seen)] = seen, Exchange(request, opened, call)
        return True

    # --- answers

    def _hears(self, exchange: Exchange, seen: Observation) -> None:
        if isinstance(seen, CardFetched):
            exchange.answered(words.card_answer(seen, self.dialect))
        elif isinstance(seen, CardFetchFailed):
            _fails(exchange, seen.status, seen.reason)
        elif isinstance(seen, StreamEnded):
            exchange.ends(seen.reason)
        elif isinstance(seen, CallFailed):
            self._refuses(exchange, seen)
        elif isinstance(seen, TaskSeen | ArtifactSeen | MessageSeen):
            self._tells(exchange, seen)

    def _tells(self, exchange: Exchange, seen: TaskSeen | ArtifactSeen | MessageSeen) -> None:
        assert exchange.call is not None
        told = words.told(seen)
        if seen.channel != Channel.STREAM:
            exchange.answered(answers.write(exchange.call, told, self.dialect))
            return
        event = answers.write_event(exchange.call, told, self.dialect)
        assert event is not None
        exchange.streams(event)

    def _refuses(self, exchange: Exchange, failed: CallFailed) -> None:
        call = exchange.call
        if not failed.from_agent or call is None:
            _fails(exchange, failed.status, failed.error)
            return
        refused = REFUSALS[failed.error]
        if not answers.refuses_in_stream(call, self.dialect):
            exchange.answered(answers.write(call, refused, self.dialect))
            return
        event = answers.write_event(call, refused, self.dialect)
        if event is not None:
            exchange.streams(event)
        exchange.ends("RemoteProtocolError" if event is None else operation.EOF)

    def _delivers(self, seen: TaskSeen) -> bool:
        member = {"task": "task", "status-update": "statusUpdate"}
        told = words.told(seen)
        body = answers.write_delivery({member[told.kind]: told.value}, self.dialect)
        for heard in webhooks.read_told(DELIVERED.get, json.dumps(body).encode()):
            heard.delivery = seen.delivery
            self.engine.observe(heard, enforce=False)
        return True


def _fails(exchange: Exchange, status: int | None, reason: str) -> None:
    """What answers is no agent, or nobody does."""
    if status is not None or reason == "invalid_agent_card":
        exchange.answered({"status": status or 200, "raw": "<html>"})
    else:
        exchange.ends(reason)


@contextmanager
def spoken(dialect: Dialect, **settings: Any) -> Iterator[Spoken]:
    """A world that speaks ``dialect``, in place of this process's engine for as long as the block runs."""
    before = engine.current()
    world = Spoken(dialect, **settings)
    try:
        yield world
    finally:
        world.runtime.worker.stop()
        engine.set_current(before)
