# SPDX-License-Identifier: Apache-2.0
"""Waiting: unprobed-wait, expected-state-missed, expectation-downgraded, interrupted-unanswered, orphan-unresolved."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import INTERRUPTED, TERMINAL, Form, Hints, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import WEBHOOK, Whole
from tests.support.world import AUTH, COMPLETED, FAILED, INPUT, SUBMITTED, WORKING, message

UNPROBED = "unprobed-wait"
MISSED = "expected-state-missed"
DOWNGRADED = "expectation-downgraded"
UNANSWERED = "interrupted-unanswered"
ORPHAN = "orphan-unresolved"
STUCK = "task-stuck"
BRIEF = Hints(expected_duration=30)


def brief(state: str = WORKING, **settings: Any) -> Whole:
    """A task that is expected to take half a minute."""
    world = Whole(**settings)
    world.send(state, hints=BRIEF)
    return world


# --- nobody looks


@fires(UNPROBED)
@pytest.mark.parametrize("state", [SUBMITTED, WORKING])
def test_past_its_duration_and_never_read(state: str) -> None:
    """Seed 001: probe with a read before anything is assumed. It stands beside task-stuck, the agent's part."""
    world = brief(state)
    world.waits(30)
    assert sorted(world.rules()) == [STUCK, UNPROBED] and world.levels(UNPROBED) == ["improvement"]


@fires(UNPROBED)
def test_the_skill_s_duration_counts_too() -> None:
    """As the card declares it."""
    world = Whole()
    world.card(durations=(("pay", 30.0),))
    world.send(SUBMITTED, hints=Hints(skill="pay"))
    world.waits(30)
    assert UNPROBED in world.rules()


@legal(UNPROBED)
@pytest.mark.parametrize("look", ["read", "read in vain", "list", "stream", "delivery"])
def test_somebody_has_looked(look: str) -> None:
    """A read, answered or not, a list, a stream or a delivery."""
    world = Whole()
    if look == "stream":
        world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE, hints=BRIEF), WORKING)
    else:
        world.send(WORKING, hints=BRIEF, push=WEBHOOK)
    world.passes(10)
    if look == "read":
        world.get("t1", WORKING)
    elif look == "read in vain":
        world.breaks(world.leaves(Method.GET_TASK, "t1"))
    elif look == "list":
        world.answers(world.leaves(Method.LIST_TASKS), WORKING, form=Form.LISTED)
    elif look == "delivery":
        world.delivers(WORKING)
    world.waits(60)
    assert UNPROBED not in world.rules() and "task-unwatched" not in world.rules()


@legal(UNPROBED)
@pytest.mark.parametrize("state", [*sorted(INTERRUPTED), *sorted(TERMINAL)])
def test_nothing_is_waited_for(state: str) -> None:
    """It has ended, or waits for us."""
    world = brief(state)
    world.waits(3600)
    assert not world.rules()


@legal(UNPROBED)
def test_no_duration_is_expected() -> None:
    """A deadline alone says nothing about how long a task may go unread."""
    world = Whole(task_deadline=30)
    world.send(WORKING)
    world.waits(3600)
    assert world.rules() == [STUCK]


@legal(UNPROBED)
def test_another_process_waits() -> None:
    """The operator says so; or the application has given it up."""
    world = brief(watched_elsewhere=True)
    world.waits(3600)
    assert not world.rules()
    world = brief()
    world.abandons()
    world.waits(3600)
    assert not world.rules()


@late(UNPROBED)
def test_a_task_of_which_only_a_read_is_known() -> None:
    """That was a look, and no hint of the creating call is known."""
    world = Whole()
    world.get("t1", WORKING, hints=BRIEF)
    world.waits(3600)
    assert UNPROBED not in world.rules()


# --- an expectation


@fires(MISSED)
@pytest.mark.parametrize(("state", "expected"), [(WORKING, INPUT), (SUBMITTED, WORKING), (INPUT, WORKING)])
def test_an_expectation_that_was_not_met(state: str, expected: str) -> None:
    """Seed 001: the client waits for a state that never comes."""
    world = Whole()
    world.send(state)
    world.expects(expected, within=60)
    world.waits(59)
    assert not world.findings
    world.waits(1)
    assert world.rules() == [MISSED] and world.levels(MISSED) == ["violation"]
    assert (world.findings[0].state, world.findings[0].previous_state) == (expected, state)
    assert world.task().disposition == "diverged"


@fires(MISSED)
def test_each_expectation_at_its_time() -> None:
    """One told later may be due earlier, and no traffic is needed for either."""
    world = Whole()
    world.send(SUBMITTED)
    world.expects(COMPLETED, within=100)
    world.expects(WORKING, within=10)
    world.waits(10)
    assert [each.state for each in world.findings] == [WORKING]
    world.waits(90)
    assert [each.state for each in world.findings] == [WORKING, COMPLETED]


@legal(MISSED)
def test_an_expectation_that_was_met_in_passing() -> None:
    """The question came, was answered, and the task works again when the time is up; so once more."""
    world = Whole()
    world.send(WORKING)
    for turn in range(2):
        world.expects(INPUT, within=60)
        world.passes(20)
        world.get("t1", INPUT)
        world.message("t1", WORKING, sent=message("yes", f"m{turn + 2}"))
        world.waits(60)
    assert not world.rules()


@legal(MISSED)
def test_a_webhook_met_it() -> None:
    """Any channel will do."""
    world = Whole()
    world.send(WORKING, push=WEBHOOK)
    world.expects(AUTH, within=60)
    world.delivers(AUTH)
    world.get("t1", WORKING)
    world.waits(3600)
    assert not world.rules()


@legal(MISSED)
@pytest.mark.parametrize("expected", [COMPLETED, INPUT])
def test_a_task_that_has_ended_otherwise(expected: str) -> None:
    """Seed 001: an agent that returns an error has not broken its contract."""
    world = Whole()
    world.send(WORKING)
    world.expects(expected, within=60)
    world.get("t1", FAILED)
    world.waits(3600)
    assert not world.rules() and world.levels(DOWNGRADED) == ["information"]


@legal(MISSED)
def test_a_task_that_is_in_that_state_already() -> None:
    """There is nothing to wait for."""
    world = Whole()
    world.send(INPUT)
    world.expects(INPUT, within=60)
    world.message("t1", WORKING)
    world.waits(3600)
    assert not world.rules()


@late(MISSED)
def test_an_expectation_of_a_task_that_was_not_seen() -> None:
    """Of an unknown task nobody knows what has become."""
    world = Whole()
    world.expects(COMPLETED, within=60)
    world.get("t1", WORKING)
    world.waits(3600)
    assert not world.findings


@fires(DOWNGRADED)
@pytest.mark.parametrize("first", ["expectation", "end"])
def test_an_expectation_that_cannot_be_met_any_more(first: str) -> None:
    """The task has ended, or ends, in another state."""
    world = Whole()
    world.send(WORKING)
    if first == "end":
        world.get("t1", FAILED)
    world.expects(COMPLETED, within=60)
    if first == "expectation":
        world.get("t1", FAILED)
    assert world.information() == [DOWNGRADED]


@legal(DOWNGRADED)
def test_an_expectation_that_is_met_by_the_end() -> None:
    """It ends as was expected, or has ended so."""
    world = Whole()
    world.send(WORKING)
    world.expects(COMPLETED, within=60)
    world.get("t1", COMPLETED)
    world.expects(COMPLETED, within=60)
    world.waits(3600)
    assert not world.findings


@late(DOWNGRADED)
def test_the_end_of_a_task_that_was_expected_elsewhere() -> None:
    """No expectation was told here."""
    world = Whole()
    world.expects(COMPLETED, within=60)
    world.get("t1", FAILED)
    assert not world.findings


# --- a question that nobody answers


@fires(UNANSWERED)
@pytest.mark.parametrize("state", sorted(INTERRUPTED))
def test_a_question_older_than_the_deadline(state: str) -> None:
    """The agent waits for us, which is no fault of its: information."""
    world = Whole(task_deadline=300)
    world.send(state)
    world.waits(300)
    assert world.information() == [UNANSWERED] and not world.rules()


@legal(UNANSWERED)
@pytest.mark.parametrize("way", ["answered", "ended", "abandoned", "working", "no deadline"])
def test_a_question_that_needs_no_answer(way: str) -> None:
    """It was answered, the task goes on or has ended, or nobody set a deadline."""
    world = Whole(task_deadline=None if way == "no deadline" else 300)
    world.send(WORKING if way == "working" else INPUT)
    world.waits(100)
    if way == "answered":
        world.leaves(Method.SEND_MESSAGE, "t1", sent=message("yes", "m2"))
    elif way == "ended":
        world.cancel("t1")
    elif way == "abandoned":
        world.abandons()
    world.waits(3600)
    assert not world.levels(UNANSWERED)


@late(UNANSWERED)
def test_a_question_first_seen_by_a_read() -> None:
    """Its time begins when it is seen."""
    world = Whole(task_deadline=300)
    world.waits(3600)
    world.get("t1", INPUT)
    world.waits(299)
    assert not world.findings
