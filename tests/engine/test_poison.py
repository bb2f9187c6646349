# SPDX-License-Identifier: Apache-2.0
"""A task that went back is poisoned, until a read shows it whole again."""

from __future__ import annotations

import pytest

from otel_a2a.observations import Form, Method
from tests.support.world import COMPLETED, INPUT, SUBMITTED, WORKING, World


def test_a_regression_poisons() -> None:
    """A task that went back is poisoned."""
    world = World()
    world.send(WORKING)
    world.get("t1", SUBMITTED)
    assert world.task().disposition == "poisoned"


@pytest.mark.parametrize("state", [WORKING, INPUT, COMPLETED])
def test_a_whole_read_withdraws_poison(state: str) -> None:
    """A later read at or past the old state, with context and artifacts intact, takes the poison back."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, WORKING)
    world.artifact(stream, "a1")
    world.get("t1", SUBMITTED, holds=("a1",))
    world.get("t1", state, holds=("a1", "a2"))
    assert world.task().poison is None
    assert not world.task().agent.troubled


@pytest.mark.parametrize(
    ("state", "context", "holds"),
    [(SUBMITTED, "c1", ("a1",)), (WORKING, "c2", ("a1",)), (WORKING, "c1", ()), (None, "c1", ("a1",))],
    ids=["still back", "other context", "artifact missing", "no state"],
)
def test_a_read_that_is_not_whole_withdraws_nothing(state: str | None, context: str, holds: tuple[str, ...]) -> None:
    """Anything less than the whole task leaves the poison."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, WORKING)
    world.artifact(stream, "a1")
    world.get("t1", SUBMITTED)
    world.get("t1", state, context=context, holds=holds)
    assert world.task().disposition == "poisoned"


def test_a_read_that_left_before_the_regression_withdraws_nothing() -> None:
    """What was asked before tells what was before."""
    world = World()
    world.send(WORKING)
    before = world.leaves(Method.GET_TASK, "t1")
    world.get("t1", SUBMITTED)
    world.answers(before, WORKING)
    assert world.task().disposition == "poisoned"


@pytest.mark.parametrize("form", [Form.LISTED, Form.UPDATE])
def test_less_than_a_snapshot_withdraws_nothing(form: str) -> None:
    """A list, a trimmed read or an event shows no whole task."""
    world = World()
    world.send(WORKING)
    world.get("t1", SUBMITTED)
    world.answers(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), WORKING, form=form)
    assert world.task().disposition == "poisoned"


def test_nothing_withdraws_the_poison_of_a_reopened_task() -> None:
    """After a terminal state was left, no read makes the task whole again."""
    world = World()
    world.send(COMPLETED)
    world.get("t1", WORKING)
    world.get("t1", COMPLETED)
    assert world.task().disposition == "poisoned"


def test_artifacts_that_arrive_while_the_read_is_under_way() -> None:
    """A read need not hold what was received after it left."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, WORKING)
    world.get("t1", SUBMITTED)
    read = world.leaves(Method.GET_TASK, "t1")
    world.artifact(stream, "a1")
    world.answers(read, WORKING)
    assert world.task().poison is None
