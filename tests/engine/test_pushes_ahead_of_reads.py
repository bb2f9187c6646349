# SPDX-License-Identifier: Apache-2.0
"""A webhook may be ahead of the store from which an agent answers reads: for a moment, and by its time stamps.

``backward-transition``, ``terminal-state-changed`` and ``artifact-truncated`` wait that moment, and no longer: an agent
whose reads still show the past after it has gone back.
"""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.engine.findings import Level
from otel_a2a.observations import Channel, Delivery, Method
from tests.support.marks import fires, legal
from tests.support.whole import TOKEN, WEBHOOK, Whole, artifact
from tests.support.world import COMPLETED, INPUT, SUBMITTED, WORKING, message

BACK = "backward-transition"
CHANGED = "terminal-state-changed"
GONE = "artifact-truncated"


def told(state: str, before: str = SUBMITTED, timestamp: float | None = None, **settings: Any) -> Whole:
    """A task that was shown in one state, and of which a webhook then tells another."""
    world = Whole(**settings)
    world.send(before, push=WEBHOOK)
    world.passes(60)
    world.delivers(state, timestamp=timestamp)
    return world


# --- for a moment it is legal


@legal(BACK)
@pytest.mark.parametrize("state", [WORKING, INPUT])
def test_a_read_of_the_same_moment_still_shows_submitted(state: str) -> None:
    """The replica that is asked has not heard of it yet; the newer state stands, and the next read confirms it."""
    world = told(state)
    world.passes(4)
    world.get("t1", SUBMITTED)
    assert not world.findings and world.task().state == state
    world.get("t1", state)
    assert not world.rules()


@legal(BACK)
def test_a_question_that_was_pushed_is_not_in_the_read_of_the_same_moment() -> None:
    """It stands, so that an agent which submits the task anew for the answer begins a new turn."""
    world = told(INPUT, before=WORKING)
    world.passes(1)
    world.get("t1", WORKING)
    assert world.task().state == INPUT
    world.message("t1", SUBMITTED)
    assert world.levels(BACK) == ["information"] and not world.rules()


def test_a_question_that_was_answered_is_none_any_more() -> None:
    """What a read shows after our message is what became of that."""
    world = told(INPUT, before=WORKING)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("yes", "m2"))
    world.get("t1", WORKING)
    assert world.task().state == WORKING and not world.findings


@legal(CHANGED)
@legal(BACK)
@pytest.mark.parametrize("later", [SUBMITTED, WORKING])
def test_an_ended_task_is_fetched_at_once(later: str) -> None:
    """The push says completed, the client fetches the result, and a replica shows the task as it was."""
    world = told(COMPLETED, before=later)
    world.get("t1", later)
    assert not world.findings and world.task().poison is None
    world.get("t1", COMPLETED)
    assert not world.rules() and world.task().state == COMPLETED


@legal(GONE)
def test_an_artifact_that_was_pushed_is_not_in_the_read_of_the_same_moment() -> None:
    """Nor in the snapshot of a task whose end was pushed; later it is."""
    world = told(WORKING)
    world.chunk(None, "a1", token=TOKEN)
    world.get("t1", WORKING)
    world.delivers(COMPLETED)
    world.get("t1", WORKING)
    world.passes(6)
    world.get("t1", COMPLETED, holds=("a1",))
    assert not world.rules()


@legal(GONE)
def test_what_an_artifact_has_grown_by_is_not_in_the_read_of_the_same_moment() -> None:
    """A push shows more of it than reads do yet, however often it is read."""
    world = Whole()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE, push=WEBHOOK)
    world.streams(stream, WORKING)
    for number in range(2):
        world.chunk(stream, "a1", f"part {number}, ", append=number > 0)
    world.ends(stream, "ReadError")
    world.shows(
        None,
        WORKING,
        artifact("a1", "part 0, part 1, part 2, "),
        channel=Channel.WEBHOOK,
        delivery=Delivery(token=TOKEN),
    )
    for _ in range(2):
        world.shows(world.leaves(Method.GET_TASK, "t1"), WORKING, artifact("a1", "part 0, part 1, "))
    assert not world.rules()
    world.passes(6)
    world.shows(world.leaves(Method.GET_TASK, "t1"), WORKING, artifact("a1", "part 0, part 1, "))
    assert world.rules() == [GONE]


@pytest.mark.parametrize("chunks", [pytest.param(2, marks=legal(GONE)), pytest.param(3, marks=fires(GONE))])
def test_a_stream_that_lags_behind_the_push(chunks: int) -> None:
    """Only once it has brought as much as was pushed do reads have to show that."""
    world = Whole()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE, push=WEBHOOK)
    world.streams(stream, WORKING)
    pushed = artifact("a1", "part 0, part 1, part 2, ")
    world.chunk(stream, "a1", "part 0, ")
    world.shows(None, WORKING, pushed, channel=Channel.WEBHOOK, delivery=Delivery(token=TOKEN))
    for number in range(1, chunks):
        world.chunk(stream, "a1", f"part {number}, ", append=True)
    world.ends(stream, "ReadError")
    world.shows(world.leaves(Method.GET_TASK, "t1"), WORKING, artifact("a1", "part 0, part 1, "))
    assert world.rules() == ([] if chunks == 2 else [GONE])


@legal(BACK)
def test_a_read_that_left_before_another_one_confirmed_it() -> None:
    """Two reads leave in the same moment, and the one that was answered by the slow replica comes last."""
    world = told(WORKING)
    slow, fast = world.leaves(Method.GET_TASK, "t1"), world.leaves(Method.GET_TASK, "t1")
    world.answers(fast, WORKING)
    world.passes(30)
    world.answers(slow, SUBMITTED)
    assert not world.rules() and world.task().state == WORKING


@legal(BACK)
@pytest.mark.parametrize(("state", "shown"), [(WORKING, SUBMITTED), (COMPLETED, WORKING)])
def test_a_read_that_is_older_by_its_time_stamp(state: str, shown: str) -> None:
    """However long the replica takes: both bear a time, and the answer's is the earlier one."""
    world = told(state, before=shown, timestamp=100.0)
    world.passes(600)
    world.shows(world.leaves(Method.GET_TASK, "t1"), shown, timestamp=10.0)
    assert not world.rules() and world.task().state == state


@legal(BACK)
def test_a_new_turn_after_a_question_that_was_pushed() -> None:
    """The agent submits the task anew for the answer: that is news, and nothing that lags."""
    world = told(INPUT, before=WORKING)
    world.message("t1", SUBMITTED)
    assert not world.rules() and world.task().state == SUBMITTED


# --- and no longer


@fires(BACK)
@pytest.mark.parametrize("seconds", [5.5, 3600])
def test_a_read_long_after_it_has_gone_back(seconds: float) -> None:
    """Seed 002: a client with a webhook reads a task that was redeployed away."""
    world = told(WORKING)
    world.passes(seconds)
    world.get("t1", SUBMITTED)
    assert world.rules() == [BACK] and world.findings[0].level is Level.VIOLATION


@fires(CHANGED)
def test_an_end_that_was_pushed_is_an_end() -> None:
    """A terminal state is accepted from any channel."""
    world = told(COMPLETED, before=WORKING)
    world.passes(60)
    world.get("t1", WORKING)
    assert world.rules() == [BACK, CHANGED]


@fires(BACK)
@pytest.mark.parametrize("timestamp", [None, 96.0, 200.0])
def test_time_stamps_that_do_not_explain_it(timestamp: float | None) -> None:
    """Absent, within the skew, or newer: the task was submitted after it had worked."""
    world = told(WORKING, timestamp=100.0)
    world.passes(60)
    world.shows(world.leaves(Method.GET_TASK, "t1"), SUBMITTED, timestamp=timestamp)
    assert world.rules() == [BACK]


@fires(BACK)
def test_what_a_read_has_confirmed_holds_at_once() -> None:
    """From then on it is the agent's own answer that is taken back."""
    world = told(WORKING)
    world.get("t1", WORKING)
    world.get("t1", SUBMITTED)
    assert world.rules() == [BACK]


@fires(BACK)
def test_the_moment_is_the_clock_skew() -> None:
    """An operator who knows that the store is slow says so."""
    for skew, found in ((5.0, [BACK]), (60.0, [])):
        world = told(WORKING, clock_skew=skew)
        world.passes(30)
        world.get("t1", SUBMITTED)
        assert world.rules() == found


@fires(GONE)
def test_an_artifact_that_was_pushed_stays_received() -> None:
    """A read a minute later has to hold it."""
    world = told(WORKING)
    world.chunk(None, "a1", token=TOKEN)
    world.passes(60)
    world.get("t1", WORKING)
    assert world.rules() == [GONE]


@fires(BACK)
def test_the_message_that_is_sent_again_after_it() -> None:
    """The client takes submitted for not begun: both are found."""
    world = told(WORKING)
    world.passes(60)
    world.get("t1", SUBMITTED)
    world.message("t1", sent=message())
    assert "message-resent-after-regression" in world.rules()


def test_a_webhook_that_nobody_vouches_for_accuses_nobody() -> None:
    """Whoever can reach the URL can post there."""
    world = Whole()
    world.send(SUBMITTED, push=WEBHOOK)
    world.delivers(WORKING, token="digest(guessed)")
    world.passes(60)
    world.get("t1", SUBMITTED)
    assert not world.rules()
