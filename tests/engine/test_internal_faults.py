# SPDX-License-Identifier: Apache-2.0
"""Faults of our own: ``observe`` never raises, whatever breaks, and everything else goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from otel_a2a.config import Settings
from otel_a2a.engine.findings import Finding, Level, Party, Phase
from otel_a2a.engine.records import Task
from otel_a2a.engine.rules import Hit, Rule, View, rule
from otel_a2a.errors import CardTaskBoundaryError
from otel_a2a.observations import CallStarted, Method, Observation, TaskSeen
from otel_a2a_policies import RULES
from tests.support.world import COMPLETED, SUBMITTED, WORKING, VirtualClock, World, message


def judging(name: str, function: Callable[[Any, View, Settings], Iterator[Hit]]) -> Rule:
    return rule(
        name=name,
        boundary="lifecycle",
        level=Level.VIOLATION,
        party=Party.AGENT,
        phase=Phase.RESPONSE,
        exception=CardTaskBoundaryError,
        on=(TaskSeen, CallStarted),
        origin="test",
        summary="A rule of a test.",
        ruleset="test",
    )(function)


def fails_at_once(observation: Observation, view: View, settings: Settings) -> Iterator[Hit]:
    raise KeyError("a fault")


def fails_in_the_middle(observation: Observation, view: View, settings: Settings) -> Iterator[Hit]:
    if isinstance(observation, TaskSeen):
        yield Hit("found before the fault", discriminator=str(observation.seq))
        raise KeyError("a fault")


class Exported:
    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def export(self, finding: Finding, context: Any) -> None:
        self.findings.append(finding)


class Broken:
    def export(self, finding: Finding, context: Any) -> None:
        raise OSError("disk full")


def life(world: World) -> None:
    """A task goes back."""
    world.send(WORKING)
    world.get("t1", SUBMITTED)


def test_a_rule_that_fails() -> None:
    """The other rules judge, the ledger remembers, and the fault is told with the rule's name."""
    world = World(rule_set=(judging("broken", fails_at_once), *RULES))
    life(world)
    assert world.rules() == ["backward-transition"]
    assert world.task().disposition == "poisoned"
    assert world.internal_errors and all(each.startswith("rule broken: KeyError") for each in world.internal_errors)


def test_a_rule_that_fails_in_the_middle() -> None:
    """What it had found stands."""
    world = World(rule_set=(judging("broken", fails_in_the_middle), *RULES))
    life(world)
    assert world.rules() == ["broken", "broken", "backward-transition"]


def test_a_rule_that_fails_does_not_disarm_the_others() -> None:
    """Mode raise still stops what another rule forbids."""
    world = World(strictness="raise", rule_set=(judging("broken", fails_at_once), *RULES))
    world.send(COMPLETED)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2"))
    assert world.last.error is not None


def test_an_exporter_that_fails() -> None:
    """The other exporters get every finding, and the caller its verdict."""
    exported = Exported()
    world = World(exporters=[Broken(), exported])
    life(world)
    assert [each.rule for each in exported.findings] == world.rules() == ["backward-transition"]
    assert world.internal_errors == ["exporter Broken: OSError('disk full')"]


@pytest.mark.parametrize("broken", ["monotonic", "time_ns"])
def test_a_clock_that_fails(broken: str) -> None:
    """Order does not depend on time: what can be judged without it is judged."""
    clock = VirtualClock()

    def fail() -> float:
        raise OSError("no clock")

    setattr(clock, broken, fail)
    world = World(clock=clock, strictness="raise")
    life(world)
    assert world.rules() == ["backward-transition"] and world.last.error is not None
    assert world.internal_errors and all(each.startswith("clock: OSError") for each in world.internal_errors)


def test_a_clock_that_fails_for_a_while() -> None:
    """The last time known is used, and no task is lost before it could be."""
    clock = VirtualClock()
    world = World(clock=clock)
    world.send(WORKING)
    world.passes(5)
    good = clock.monotonic

    def fail() -> float:
        raise OSError("no clock")

    clock.monotonic = fail  # type: ignore[method-assign]
    world.not_found("t1")
    assert not world.findings
    clock.monotonic = good  # type: ignore[method-assign]
    world.not_found("t1")
    assert world.rules() == ["task-lost"]


def test_a_ledger_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was judged is told and raised, whatever becomes of the ledger."""
    world = World(strictness="raise")
    world.send(WORKING)

    def fail(task: Task) -> None:
        raise KeyError("a fault")

    monkeypatch.setattr(world.engine.ledger, "touch", fail)
    world.get("t1", SUBMITTED)
    assert world.last.error is not None
    assert any(each.startswith("ledger: ") for each in world.internal_errors)


def test_an_observation_that_nobody_knows() -> None:
    """A kind of observation without rules and without effect is passed over."""
    world = World()
    verdict = world.observe(Observation())
    assert not verdict.findings and not world.internal_errors


def test_the_one_who_is_told_fails() -> None:
    """A callback for faults that is at fault itself reaches nobody."""

    def tell(where: str, error: Exception) -> None:
        raise RuntimeError("who watches the watchers")

    world = World(rule_set=(judging("broken", fails_at_once), *RULES), exporters=[Broken()], on_internal_error=tell)
    life(world)
    assert world.rules() == ["backward-transition"]


def test_a_schedule_that_fails() -> None:
    """The one who is told that something may be due may fail too."""
    world = World(task_deadline=30)

    def fail() -> None:
        raise RuntimeError("can't start new thread")

    world.engine.on_schedule = fail
    world.send(WORKING)
    world.get("t1", SUBMITTED)
    assert "backward-transition" in world.rules()
    assert world.internal_errors == ['schedule: RuntimeError("can\'t start new thread")']
