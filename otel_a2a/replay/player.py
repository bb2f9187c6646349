# SPDX-License-Identifier: Apache-2.0
"""Plays a script: every exchange goes through the seam that clients use, on a clock that shows the script's time.

Nothing is sent, and no telemetry is written. How a request is recognised, a stream framed and an answer judged is what
happens in an application: the code is the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Final

from opentelemetry._logs import NoOpLoggerProvider
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.trace import NoOpTracerProvider

from otel_a2a import engine, local, operation, runtime
from otel_a2a.config import Settings
from otel_a2a.engine.engine import Engine
from otel_a2a.engine.findings import Finding
from otel_a2a.engine.rules import Rule
from otel_a2a.exchange import RecordedExchange
from otel_a2a.observations import Delivery
from otel_a2a.operation import Operation
from otel_a2a.replay.script import Script
from otel_a2a.replay.steps import (
    AbandonTask,
    CallHints,
    CardCacheHit,
    CardRejected,
    DropArtifact,
    Event,
    ExpectState,
    HttpStep,
    MergeArtifact,
    PushStep,
    Response,
    SetTaskState,
    SseStep,
    Step,
    Stream,
)
from otel_a2a.replay.timeline import Act, Moment, timeline
from otel_a2a.wire import credentials, webhooks

BEGINNING: Final = datetime(2026, 1, 1, tzinfo=timezone.utc)
"""The wall clock's time at ``t`` 0."""
UPTIME: Final = 1_000.0
"""Seconds on the monotonic clock at ``t`` 0."""
_ENDS: Final = {
    "server_closed": operation.EOF,
    "server_close": operation.EOF,
    "client_closed": operation.CLOSED_EARLY,
    "client_close": operation.CLOSED_EARLY,
}
_EVENT_STREAM: Final = "text/event-stream"


class ScriptClock:
    """Shows the script's time. ``now``: seconds since its start."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return UPTIME + self.now

    def time_ns(self) -> int:
        return int((BEGINNING.timestamp() + self.now) * 1e9)


@dataclass(slots=True, frozen=True)
class Found:
    """A finding, and when it was made. A repeat of one that is already reported is none."""

    t: float
    step: int
    finding: Finding


@dataclass(slots=True)
class Played:
    """What a script gave. ``faults``: errors of our own, which must not happen."""

    found: list[Found] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class _HandDriven(Engine):
    """An engine whose time only ``pass_time`` moves: a timer has nothing to wait for."""

    @property
    def next_due(self) -> float | None:
        return None


class Observer:
    """An engine that lives in the script's time and notes at which step it finds what."""

    def __init__(self, settings: Settings, rules: Sequence[Rule]) -> None:
        self.played = Played()
        self.clock = ScriptClock()
        self.engine = _HandDriven(settings, rules, (self,), self.clock, self._fault)
        self._step = 0

    def come_to(self, t: float, step: int) -> None:
        """Let time pass until ``t``. What falls due on the way belongs to ``step``, which happens then."""
        self._step = step
        self.clock.now = t
        self.engine.pass_time()

    def export(self, finding: Finding, context: Any) -> None:
        """Take a finding from the engine."""
        self.played.found.append(Found(self.clock.now, self._step, finding))

    def _fault(self, where: str, error: Exception) -> None:
        self.played.faults.append(f"{where}: {type(error).__name__}: {error}")


def play(script: Script, settings: Settings, rules: Sequence[Rule]) -> Played:
    """Play ``script`` from its beginning to its end, and tell what was found.

    For that time the engine of the play is this process's engine, so that local decisions reach it.
    """
    observer = Observer(settings, rules)
    with _in_place_of_the_engine():
        looking = runtime.build(
            settings,
            engine=observer.engine,
            tracer_provider=NoOpTracerProvider(),
            meter_provider=NoOpMeterProvider(),
            logger_provider=NoOpLoggerProvider(),
        )
        player = _Player(looking)
        try:
            for moment in timeline(script):
                observer.come_to(moment.t, moment.step)
                player.perform(moment)
        finally:
            looking.worker.stop()
    return observer.played


@contextmanager
def _in_place_of_the_engine() -> Iterator[None]:
    before = engine.current()
    try:
        yield
    finally:
        engine.set_current(before)


class _Player:
    """What happens at each moment of one script."""

    def __init__(self, looking: runtime.Runtime) -> None:
        self._runtime = looking
        self._calls: dict[int, Operation | None] = {}

    def perform(self, moment: Moment) -> None:
        step = moment.exchange
        if isinstance(step, HttpStep | SseStep):
            self._perform_call(moment, step)
        elif moment.act == Act.DELIVERY and isinstance(step, PushStep):
            deliver(self._runtime.engine, step)
        elif moment.act == Act.DECISION:
            decide(step)

    def _perform_call(self, moment: Moment, step: HttpStep | SseStep) -> None:
        if moment.act == Act.REQUEST:
            with hinted(step.hints):
                self._calls[moment.index] = operation.begin(exchange_of(step), self._runtime)
            return
        call, response = self._calls[moment.index], step.response
        if call is None or response is None:
            return
        if moment.act == Act.ANSWER:
            _answer(call, response, step.request.url)
        elif moment.event is not None:
            call.feed(bytes_of(moment.event, response.header_fields()))
        elif isinstance(response, Stream):
            call.end(_ENDS.get(response.end, response.end))


def _answer(call: Operation, response: Response, url: str) -> None:
    if response.error is not None:
        call.end(response.error)
        return
    call.respond(response.status or 0, response.header_fields().get, url)
    if not isinstance(response, Stream):
        call.body(response.content)


def exchange_of(step: HttpStep | SseStep) -> RecordedExchange:
    """The request as a client would show it."""
    request = step.request
    return RecordedExchange(request.method.upper(), request.url, request.header_fields(), request.content)


def bytes_of(event: Event, headers: dict[str, str]) -> bytes:
    """The event as it is on the wire: as it was sent, or its data, framed as the stream's ``headers`` state."""
    if event.raw is not None:
        return event.raw.encode("utf-8", "replace")
    data = json.dumps(event.data).encode()
    return b"data: " + data + b"\n\n" if headers["content-type"].startswith(_EVENT_STREAM) else data + b"\n"


@contextmanager
def hinted(hints: CallHints) -> Iterator[None]:
    """What the application says about the calls in this block."""
    given = hints.model_dump(exclude_none=True)
    if not given:
        yield
        return
    with local.hints(**given):
        yield


def deliver(engine: Engine, step: PushStep) -> None:
    """A webhook arrives, and its observations go to ``engine``."""
    request = step.request
    headers = request.header_fields().get
    delivery = Delivery(token=webhooks.token(headers), url=credentials.digest(request.url), verified=step.verified)
    for seen in webhooks.read_told(headers, request.content):
        seen.delivery = delivery
        engine.observe(seen, enforce=False)


def decide(step: Step) -> None:
    """The application decides something by itself, and says so."""
    if isinstance(step, SetTaskState):
        local.task_state(step.task_id, step.state, reason=step.reason, agent=step.agent, tenant=step.tenant)
    elif isinstance(step, DropArtifact):
        local.artifact_dropped(step.task_id, step.artifact_id, reason=step.reason, agent=step.agent, tenant=step.tenant)
    elif isinstance(step, MergeArtifact):
        local.artifact_merged(
            step.task_id, step.artifact_id, from_task=step.from_task_id, agent=step.agent, tenant=step.tenant
        )
    elif isinstance(step, AbandonTask):
        local.task_abandoned(step.task_id, reason=step.reason, agent=step.agent, tenant=step.tenant)
    elif isinstance(step, ExpectState):
        local.expect_state(step.task_id, step.state, within=step.within_s, agent=step.agent, tenant=step.tenant)
    elif isinstance(step, CardRejected):
        local.card_rejected(step.card_url, reason=step.reason)
    elif isinstance(step, CardCacheHit):
        local.card_from_cache(step.card_url, age=step.age_s)
