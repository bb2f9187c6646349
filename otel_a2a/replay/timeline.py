# SPDX-License-Identifier: Apache-2.0
"""All that happens in a script, on one timeline.

Sorted by time, then by step; within a step a request comes before its answer. A stream overlaps with whatever else
happens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from otel_a2a.replay.script import Script
from otel_a2a.replay.steps import Event, HttpStep, PushStep, SseStep, Step, Stream

OPEN: Final = "open"


class Act:
    """What can happen."""

    REQUEST: Final = "request"
    ANSWER: Final = "answer"
    """A whole answer, the head of a stream, or the transport's error in place of both."""
    EVENT: Final = "event"
    END: Final = "end"
    DELIVERY: Final = "delivery"
    DECISION: Final = "decision"
    PASS: Final = "pass"


@dataclass(slots=True, frozen=True)
class Moment:
    """Something happens. ``index`` is the exchange's place in the script, ``t`` in seconds from its start."""

    t: float
    index: int
    act: str
    exchange: Step
    event: Event | None = None

    @property
    def step(self) -> int:
        return self.exchange.step


def timeline(script: Script) -> list[Moment]:
    """Everything in the order in which it happens."""
    moments = [moment for index, exchange in enumerate(script.exchanges) for moment in _moments(index, exchange)]
    # The sort is stable, so that what happens at one time in one step keeps its order.
    return sorted(moments, key=lambda moment: (moment.t, moment.step))


def _moments(index: int, exchange: Step) -> Iterator[Moment]:
    at = exchange.t
    if isinstance(exchange, HttpStep | SseStep):
        yield Moment(at, index, Act.REQUEST, exchange)
        response = exchange.response
        if response is None:
            return
        at = max(at, response.t or 0.0)
        yield Moment(at, index, Act.ANSWER, exchange)
        if isinstance(response, Stream) and response.error is None:
            yield from _stream(index, exchange, response, at)
    elif isinstance(exchange, PushStep):
        yield Moment(at, index, Act.DELIVERY, exchange)
    else:
        yield Moment(at, index, Act.PASS if exchange.type == "clock" else Act.DECISION, exchange)


def _stream(index: int, exchange: Step, stream: Stream, opened: float) -> Iterator[Moment]:
    last = opened
    for event in sorted(stream.events, key=lambda event: event.t):
        if stream.end_t is not None and event.t > stream.end_t:
            # Sent, perhaps, but by then nobody listened.
            break
        last = max(opened, event.t)
        yield Moment(last, index, Act.EVENT, exchange, event)
    if stream.end != OPEN:
        yield Moment(max(last, stream.end_t or 0.0), index, Act.END, exchange)
