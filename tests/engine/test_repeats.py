# SPDX-License-Identifier: Apache-2.0
"""One incident in one rule is one finding: repeats raise a count, not a flood, and stop the application every time."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.engine.findings import Finding
from otel_a2a.observations import INTERRUPTED, Channel, Form, Method, TaskSeen
from tests.support.world import COMPLETED, FAILED, INPUT, SUBMITTED, WORKING, World, message


class Collected:
    """An exporter that keeps what it gets."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def export(self, finding: Finding, context: Any) -> None:
        self.findings.append(finding)

    @property
    def rules(self) -> list[str]:
        return [each.rule for each in self.findings]


@pytest.fixture
def exported() -> Collected:
    return Collected()


def test_a_poll_loop_on_a_task_that_went_back(exported: Collected) -> None:
    """However often it is read, the regression is exported once, and counted each time."""
    world = World(exporters=[exported])
    world.send(WORKING)
    for _ in range(50):
        world.get("t1", SUBMITTED)
    assert exported.rules == ["backward-transition"]
    assert [each.count for each in world.findings] == list(range(1, 51))


@pytest.mark.parametrize("last", sorted(INTERRUPTED | {WORKING}))
def test_whatever_it_had_been_before(last: str, exported: Collected) -> None:
    """A task with a longer past goes back from its last state, and the same poll again is no other incident."""
    world = World(exporters=[exported])
    world.send(INPUT)
    for state in (WORKING, last, SUBMITTED, SUBMITTED, SUBMITTED):
        world.get("t1", state)
    assert exported.rules == ["backward-transition"]
    assert exported.findings[0].previous_state == last


def test_it_is_raised_every_time(exported: Collected) -> None:
    """A client that catches and tries again is stopped again."""
    world = World(strictness="raise", exporters=[exported])
    world.send(COMPLETED)
    for _ in range(3):
        world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2"))
        assert world.last.error is not None
    assert exported.rules == ["terminal-task-reused"]


def test_other_states_are_another_incident(exported: Collected) -> None:
    """Two different ends of one task, and one more, are two."""
    world = World(exporters=[exported])
    world.send(COMPLETED)
    for state in (FAILED, "TASK_STATE_CANCELED", FAILED):
        world.get("t1", state)
    assert exported.rules == ["terminal-state-changed"] * 2


def test_another_revision_is_another_incident(exported: Collected) -> None:
    """A message after each of two narrowings."""
    world = World(exporters=[exported])
    world.card(skills=("a", "b", "c"))
    world.send(WORKING)
    for number, skills in enumerate((("a", "b"), ("a",))):
        world.card(skills=skills)
        for _ in range(2):
            world.message("t1", WORKING, sent=message(f"{number}", f"n{number}"))
    assert exported.rules.count("continued-across-revisions") == 2


@pytest.mark.parametrize(
    "elsewhere", [{"task": "t2"}, {"tenant": "b"}, {"endpoint": "https://other.example/a2a"}], ids=str
)
def test_another_task_is_another_incident(elsewhere: dict[str, Any], exported: Collected) -> None:
    """Another id, tenant or agent."""
    world = World(exporters=[exported])
    for where in ({}, elsewhere):
        task = where.get("task", "t1")
        where = {name: value for name, value in where.items() if name != "task"}
        world.send(WORKING, task=task, sent=message(task, task), **where)
        world.get(task, SUBMITTED, **where)
    assert exported.rules == ["backward-transition"] * 2


def test_a_level_is_another_incident(exported: Collected) -> None:
    """What was an improvement before is a violation now, and is not hidden by it."""
    world = World(exporters=[exported])
    world.send(WORKING, credential="mine")
    world.passes(5)
    for credential in ("other", "mine", "other", "mine"):
        world.not_found("t1", credential=credential)
    assert [each.level.value for each in exported.findings] == ["improvement", "violation"]


def test_several_rules_at_one_step(exported: Collected) -> None:
    """Each rule has its own incidents."""
    world = World(exporters=[exported])
    world.send(COMPLETED)
    for _ in range(2):
        world.get("t1", WORKING)
    assert sorted(exported.rules) == ["backward-transition", "terminal-state-changed"]


def test_the_context_of_the_observer_goes_along() -> None:
    """An exporter gets what the observer passed, to put the finding where it belongs."""
    contexts: list[Any] = []

    class Exporter:
        def export(self, finding: Finding, context: Any) -> None:
            contexts.append(context)

    world = World(exporters=[Exporter()])
    world.send(COMPLETED)
    call = world.leaves(Method.GET_TASK, "t1")
    seen = TaskSeen(call=call, channel=Channel.RESPONSE, form=Form.SNAPSHOT, task_id="t1", state=WORKING)
    world.engine.observe(seen, "where it was seen")
    assert contexts == ["where it was seen"] * 2
