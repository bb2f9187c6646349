# SPDX-License-Identifier: Apache-2.0
"""Finalisers run anywhere, inside the engine's lock too: they wait for nothing, and what they tell is not lost."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from otel_a2a.config import Settings
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.rules import Hit, Rule, View, rule
from otel_a2a.errors import CardTaskBoundaryError
from otel_a2a.observations import CallStarted, Channel, Form, Method, TaskSeen
from otel_a2a_policies import RULES
from tests.support.threads import together
from tests.support.world import COMPLETED, INPUT, SUBMITTED, WORKING, VirtualClock, World, message


def seen(call: CallStarted, state: str, *, form: str = Form.SNAPSHOT, channel: str = Channel.RESPONSE) -> TaskSeen:
    return TaskSeen(call=call, channel=channel, form=form, task_id="t1", context_id="c1", state=state)


class Forgotten:
    """An object in a cycle, that observes when the collector finds it."""

    def __init__(self, observe: Callable[[], object]) -> None:
        self.me = self
        self.observe = observe

    def __del__(self) -> None:
        self.observe()


class CollectingClock(VirtualClock):
    """A clock whose reading, inside the engine's lock, starts the collector."""

    def monotonic(self) -> float:
        gc.collect()
        return super().monotonic()


def collecting_rule() -> Rule:
    @rule(
        name="collects",
        boundary="lifecycle",
        level=Level.INFORMATION,
        party=Party.AGENT,
        phase=Phase.RESPONSE,
        exception=CardTaskBoundaryError,
        on=(TaskSeen,),
        origin="test",
        summary="Starts the collector while it judges.",
        ruleset="test",
    )
    def judge(observation: TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
        gc.collect()
        yield from ()

    return judge


@pytest.mark.parametrize(
    "world",
    [lambda: World(clock=CollectingClock()), lambda: World(rule_set=(collecting_rule(), *RULES))],
    ids=["in the clock", "in a rule"],
)
def test_a_finaliser_inside_the_lock(world: Callable[[], World]) -> None:
    """It does not wait for itself, gets an empty verdict, and what it told is taken at the next observation."""
    here = world()
    verdicts: list[Any] = []

    def happens() -> None:
        here.send(WORKING)
        read = here.leaves(Method.GET_TASK, "t1")
        late = here.leaves(Method.GET_TASK, "t1")
        gc.disable()
        try:
            Forgotten(lambda: verdicts.append(here.engine.observe(seen(read, INPUT))))
            here.answers(late, WORKING)
        finally:
            gc.enable()
        assert len(verdicts) == 1 and not verdicts[0].findings and verdicts[0].task is None
        assert here.task().state == WORKING
        here.get("t9", WORKING)
        assert here.task().state == INPUT

    together(lambda number: happens(), threads=1)
    assert not here.internal_errors


def test_what_a_finaliser_told_is_judged() -> None:
    """Its finding is exported like any other, with the context that it passed; nothing is raised at somebody else."""
    exported: list[tuple[str, Any]] = []

    class Exporter:
        def export(self, finding: Any, context: Any) -> None:
            exported.append((finding.rule, context))

    here = World(clock=CollectingClock(), exporters=[Exporter()], strictness="raise")

    def happens() -> None:
        here.send(WORKING)
        read = here.leaves(Method.GET_TASK, "t1")
        gc.disable()
        try:
            Forgotten(lambda: here.engine.observe(seen(read, SUBMITTED), "the finaliser's"))
            here.send(WORKING, task="t2", sent=message("other", "m2"))
        finally:
            gc.enable()
        assert here.get("t2", WORKING).error is None

    together(lambda number: happens(), threads=1)
    assert exported == [("backward-transition", "the finaliser's")]


def test_a_finaliser_outside_the_lock_is_served_at_once() -> None:
    """Elsewhere an observation in a finaliser is one like any other."""
    here = World()
    here.send(WORKING)
    read = here.leaves(Method.GET_TASK, "t1")
    Forgotten(lambda: here.engine.observe(seen(read, INPUT)))
    gc.collect()
    assert here.task().state == INPUT


def test_asking_inside_the_lock_gives_no_answer() -> None:
    """A finaliser that asks, or lets time pass, in the middle of a judgement changes nothing."""
    here = World(clock=CollectingClock(), task_deadline=1)
    answers: list[Any] = []

    def happens() -> None:
        here.send(COMPLETED)
        call = here.leaves(Method.GET_TASK, "t1")
        gc.disable()
        try:
            Forgotten(lambda: answers.extend((here.engine.ask(seen(call, WORKING)), here.engine.pass_time())))
            here.get("t1", COMPLETED)
        finally:
            gc.enable()

    together(lambda number: happens(), threads=1)
    assert answers == [(), ()] and not here.internal_errors
