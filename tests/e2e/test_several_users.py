# SPDX-License-Identifier: Apache-2.0
"""One process, several users: who asks is told apart by traces, or where there is none by execution contexts."""

from __future__ import annotations

import contextvars
from collections.abc import Callable

import pytest

from tests.support.agents import send
from tests.support.incidents import Application, lives, running
from tests.support.telemetry import Telemetry

Asks = Callable[[Callable[[], object]], object]


def in_one_s_own_context(ask: Callable[[], object]) -> object:
    """As each task of asyncio and each new thread does."""
    return contextvars.Context().run(ask)


def read_to_the_end_and_beyond(app: Application, asks: Asks) -> None:
    app.call("SendMessage", send("order", "m1"))
    for _ in range(5):
        asks(lambda: app.call("GetTask", {"id": "t-1"}))


def test_five_users_read_an_ended_task(telemetry: Telemetry) -> None:
    """Each asks once, within a moment: no loop."""
    with running(lives("WORKING", "COMPLETED"), telemetry) as app:
        read_to_the_end_and_beyond(app, in_one_s_own_context)
    assert telemetry.findings() == []


def test_five_requests_with_a_trace_of_their_own(telemetry: Telemetry) -> None:
    """A web server's requests on one thread: each has its span."""

    def ask(work: Callable[[], object]) -> object:
        with telemetry.tracer_provider.get_tracer("application").start_as_current_span("GET /orders/1"):
            return work()

    with running(lives("WORKING", "COMPLETED"), telemetry) as app:
        read_to_the_end_and_beyond(app, ask)
    assert telemetry.findings() == []


@pytest.mark.parametrize("traced", [True, False])
def test_a_loop_that_does_not_know_the_end(telemetry: Telemetry, traced: bool) -> None:
    """It asks again and again in one place."""
    with running(lives("WORKING", "COMPLETED"), telemetry) as app:
        if traced:
            with telemetry.tracer_provider.get_tracer("application").start_as_current_span("job"):
                read_to_the_end_and_beyond(app, lambda work: work())
        else:
            read_to_the_end_and_beyond(app, lambda work: work())
    assert telemetry.findings() == [("terminal-state-ignored", "improvement")]
