# SPDX-License-Identifier: Apache-2.0
"""retry-of-live-task: a task was retried that had not ended, or under its own id (seed 000)."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import INTERRUPTED, TERMINAL, Hints, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import Whole
from tests.support.world import CANCELED, COMPLETED, FAILED, SUBMITTED, WORKING, message

RULE = "retry-of-live-task"
RETRY = Hints(retry_of="t1")
OTHER = "https://other.example/a2a"


def retry(world: Whole, **request: Any) -> None:
    """The work of t1 is sent again, as a task of its own."""
    world.send(WORKING, task="t2", sent=message("charge", "m2"), hints=RETRY, **request)


# --- it fires


@fires(RULE)
@pytest.mark.parametrize("state", [SUBMITTED, WORKING, *sorted(INTERRUPTED)])
def test_a_task_that_is_still_live(state: str) -> None:
    """Both may run."""
    world = Whole()
    world.send(state)
    retry(world)
    assert world.rules() == [RULE] and world.levels(RULE) == ["violation"]


@fires(RULE)
def test_a_retry_at_another_agent() -> None:
    """A second agent does the same thing while the first is at it."""
    world = Whole()
    world.send(WORKING)
    retry(world, endpoint=OTHER)
    assert world.rules() == [RULE]


@fires(RULE)
def test_a_cancel_that_was_not_confirmed() -> None:
    """The agent answered that the task goes on."""
    world = Whole()
    world.send(WORKING)
    world.cancel("t1", WORKING)
    retry(world)
    assert world.rules() == [RULE]


@fires(RULE)
@pytest.mark.parametrize("state", [WORKING, FAILED])
def test_under_its_own_id(state: str) -> None:
    """Mint a new task id, whatever became of the old one (seed 000)."""
    world = Whole()
    world.send(state)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("charge", "m2"), hints=RETRY)
    assert RULE in world.rules()


# --- it does not fire


@legal(RULE)
@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_a_task_that_has_ended(state: str) -> None:
    """A retry after the end takes a new task, in the same context."""
    world = Whole()
    world.send(state)
    retry(world, context="c1")
    assert not world.rules()


@legal(RULE)
def test_after_a_confirmed_cancel() -> None:
    """Cancel first, then try again."""
    world = Whole()
    world.send(WORKING)
    world.cancel("t1", CANCELED)
    retry(world)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("trouble", ["lost", "canceled and unknown", "poisoned", "diverged", "abandoned", "missed"])
def test_a_task_that_nobody_can_wait_for(trouble: str) -> None:
    """What is lost, cannot be trusted, was left behind, or was given up may be retried."""
    world = Whole()
    world.send(WORKING)
    world.passes(5)
    if trouble == "lost":
        world.not_found("t1")
    elif trouble == "canceled and unknown":
        world.not_found("t1", Method.CANCEL_TASK)
    elif trouble == "poisoned":
        world.get("t1", SUBMITTED)
    elif trouble == "diverged":
        world.answers(world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m3")), WORKING, task="t9")
    elif trouble == "abandoned":
        world.abandons()
    else:
        world.expects(COMPLETED, within=10)
        world.waits(11)
    retry(world)
    assert RULE not in world.rules()


@legal(RULE)
def test_an_orphan_under_fenced() -> None:
    """Seed 002: any change of the card orphans the task."""
    world = Whole(profile="fenced")
    world.card()
    world.send(WORKING)
    world.card(skills=("pay", "refund", "ship"))
    retry(world)
    assert not world.rules()


@legal(RULE)
def test_an_ended_task_of_0_1_is_begun_anew_under_its_id() -> None:
    """In 0.1 the client names every task."""
    world = Whole()
    world.answers(world.leaves(Method.SEND_MESSAGE, "t1", version="0.1"), FAILED)
    world.answers(world.leaves(Method.SEND_MESSAGE, "t1", version="0.1", hints=RETRY), WORKING)
    assert not world.rules()


@legal(RULE)
def test_reads_under_the_hint() -> None:
    """The hint may lie around more than the send."""
    world = Whole()
    world.send(WORKING)
    world.get("t1", WORKING, hints=RETRY)
    world.cancel("t1", hints=RETRY)
    assert not world.rules()


# --- late


@late(RULE)
def test_a_task_that_was_not_seen() -> None:
    """Of an unknown task nobody knows that it is live."""
    world = Whole()
    retry(world)
    assert not world.rules()


@late(RULE)
def test_a_task_first_seen_ended() -> None:
    """A read told its end; how it began does not matter."""
    world = Whole()
    world.get("t1", FAILED)
    retry(world)
    assert not world.rules()
