# SPDX-License-Identifier: Apache-2.0
"""task-lost: the agent does not know a task any more that it had not ended."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.engine.findings import Level
from otel_a2a.observations import STATES, TERMINAL, Form, Method
from tests.support.marks import fires, late
from tests.support.world import WORKING, World, message

RULE = "task-lost"
LIVE = sorted(STATES - TERMINAL)
ASKING = (Method.GET_TASK, Method.SUBSCRIBE_TO_TASK, Method.SEND_MESSAGE, Method.SEND_STREAMING_MESSAGE)


def created(state: str = WORKING, **request: Any) -> World:
    """A task that was created five seconds ago."""
    world = World()
    world.send(state, **request)
    world.passes(5)
    return world


# --- it fires


@fires(RULE)
@pytest.mark.parametrize("state", LIVE)
@pytest.mark.parametrize("method", ASKING)
def test_not_found(method: str, state: str) -> None:
    """An A2A not found to a read or a message, for a task last seen alive."""
    world = created(state)
    world.not_found("t1", method)
    assert world.rules() == [RULE]
    assert (world.findings[0].previous_state, world.findings[0].level) == (state, Level.VIOLATION)


def test_not_found_after_more_than_a_second() -> None:
    """Replication may take a second and no longer."""
    world = World()
    world.send(WORKING)
    world.passes(1.1)
    world.not_found("t1")
    assert world.rules() == [RULE]


@late(RULE)
def test_a_late_observer_knows_what_it_has_seen() -> None:
    """A task first seen by a read is lost like any other."""
    world = World()
    world.get("t1", WORKING)
    world.passes(5)
    world.not_found("t1")
    assert world.rules() == [RULE]


def test_a_task_that_only_a_list_has_shown() -> None:
    """What a list has told, the agent has told."""
    world = World()
    world.answers(world.leaves(Method.LIST_TASKS), WORKING, task="t1", form=Form.LISTED)
    world.passes(5)
    world.not_found("t1")
    assert world.rules() == [RULE]


@fires(RULE)
def test_another_credential_is_an_improvement() -> None:
    """Not found then also means: not yours."""
    world = created(credential="mine")
    world.not_found("t1", credential="rotated")
    assert world.levels(RULE) == ["improvement"]
    assert world.task().disposition == "active"


def test_another_credential_does_not_hide_a_loss() -> None:
    """The own credential's not found is another incident than the one before."""
    world = created(credential="mine")
    world.not_found("t1", credential="rotated")
    world.not_found("t1", credential="mine")
    assert world.rules() == [RULE, RULE]
    assert world.levels(RULE) == ["improvement", "violation"]


def test_the_credential_of_the_last_success_counts() -> None:
    """After a read with the new token, the new token's not found is a loss."""
    world = created(credential="old")
    world.get("t1", WORKING, credential="new")
    world.not_found("t1", credential="new")
    assert world.levels(RULE) == ["violation"]


def test_once_per_task() -> None:
    """However often it is asked for, a task is lost once."""
    world = created()
    for method in ASKING:
        world.not_found("t1", method, sent=message("more", "m2"))
    assert world.rules() == [RULE]
    assert [each.count for each in world.findings] == [1, 2, 3, 4]


def test_every_lost_task_is_an_incident_of_its_own() -> None:
    """A restart loses many tasks, and each is named."""
    world = World()
    for number in range(3):
        world.send(WORKING, task=f"t{number}", sent=message(f"job {number}", f"m{number}"))
    world.passes(5)
    for number in range(3):
        world.not_found(f"t{number}")
    assert [each.task_id for each in world.findings] == ["t0", "t1", "t2"]


def test_a_loss_is_no_state() -> None:
    """The task's state stays what the agent last told; the task is an orphan."""
    world = created()
    world.not_found("t1")
    assert (world.task().state, world.task().disposition) == (WORKING, "orphaned")


def test_a_lost_task_that_answers_again() -> None:
    """A whole read takes the loss back, and another loss is a repeat."""
    world = created()
    world.not_found("t1")
    world.get("t1", WORKING)
    assert world.task().disposition == "active" and not world.task().agent.troubled
    world.not_found("t1")
    assert [each.count for each in world.findings] == [1, 2]


def test_a_read_that_left_before_the_loss_does_not_take_it_back() -> None:
    """What was asked before tells what was before."""
    world = created()
    before = world.leaves(Method.GET_TASK, "t1")
    world.not_found("t1")
    world.answers(before, WORKING)
    assert world.task().disposition == "orphaned"
