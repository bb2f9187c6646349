# SPDX-License-Identifier: Apache-2.0
"""backward-transition: what goes back, and all that only looks as if it did. New turns are in ``test_new_turn``."""

from __future__ import annotations

import pytest

from otel_a2a.engine.findings import Level
from otel_a2a.observations import STATES, TERMINAL, Channel, Form, Method, TaskSeen
from tests.support.marks import fires, late, legal
from tests.support.world import AUTH, COMPLETED, INPUT, SUBMITTED, WORKING, World, message

RULE = "backward-transition"
BEYOND_SUBMITTED = sorted(STATES - TERMINAL - {SUBMITTED})
LIVE = sorted(STATES - TERMINAL)


# --- it fires


@fires(RULE)
@pytest.mark.parametrize("earlier", BEYOND_SUBMITTED)
def test_a_read_that_left_afterwards_shows_submitted(earlier: str) -> None:
    """Any live state, then submitted in the answer to a read that left after it was received, is a violation."""
    world = World()
    world.send(earlier)
    world.get("t1", SUBMITTED)
    assert world.rules() == [RULE]
    finding = world.findings[0]
    assert (finding.previous_state, finding.state, finding.task_id) == (earlier, SUBMITTED, "t1")
    assert finding.level is Level.VIOLATION


@fires(RULE)
@pytest.mark.parametrize("later", LIVE)
@pytest.mark.parametrize("ended", sorted(TERMINAL))
def test_an_ended_task_shown_alive(ended: str, later: str) -> None:
    """A terminal state, then a live one by a read that left afterwards, is a violation of two rules."""
    world = World()
    world.send(ended)
    world.get("t1", later)
    assert sorted(world.rules()) == [RULE, "terminal-state-changed"]


@fires(RULE)
def test_within_one_stream() -> None:
    """Inside a stream the order of events is the order of states."""
    world = World()
    world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE), SUBMITTED, WORKING, SUBMITTED)
    assert world.rules() == [RULE]


def test_within_one_stream_after_the_end() -> None:
    """A live state after the terminal one in the same stream goes back."""
    world = World()
    world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE), WORKING, COMPLETED, WORKING)
    assert sorted(world.rules()) == [RULE, "terminal-state-changed"]


def test_a_stream_goes_back_though_another_event_came_between() -> None:
    """The furthest state of a stream counts, not the last one of the task."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, SUBMITTED, WORKING)
    world.get("t1", INPUT)
    world.streams(stream, SUBMITTED)
    assert world.rules() == [RULE]


def test_a_subscription_that_left_afterwards() -> None:
    """The first event of a new subscription is an answer to a read."""
    world = World()
    world.send(WORKING)
    world.streams(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), SUBMITTED, form=Form.SNAPSHOT)
    assert world.rules() == [RULE]


def test_a_list_that_left_afterwards() -> None:
    """A list omits artifacts, but what state it tells is told."""
    world = World()
    world.send(WORKING)
    world.answers(world.leaves(Method.LIST_TASKS), SUBMITTED, task="t1", form=Form.LISTED)
    assert world.rules() == [RULE]


def test_the_answer_to_a_message_into_a_working_task() -> None:
    """Only a question can be answered: submitted after a message into a working task goes back."""
    world = World()
    world.send(WORKING)
    world.message("t1", SUBMITTED)
    assert world.rules() == [RULE]


@late(RULE)
def test_a_late_observer_sees_what_happens_before_its_eyes() -> None:
    """A task first seen by a read may go back like any other."""
    world = World()
    world.get("t1", WORKING)
    world.get("t1", SUBMITTED)
    assert world.rules() == [RULE]


def test_both_revisions_are_named_where_the_agent_was_redeployed() -> None:
    """Where the card changed in between, the finding tells from what to what."""
    world = World()
    world.card()
    world.send(WORKING)
    old = world.task().card_revision
    world.card(streaming=False)
    world.get("t1", SUBMITTED)
    finding = world.findings[-1]
    assert finding.rule == RULE and finding.task_card_revision == old
    assert finding.card_revision not in ("", old)


# --- it does not fire: repeats and jumps


@pytest.mark.parametrize("state", sorted(STATES))
def test_the_same_state_again(state: str) -> None:
    """A state seen again is no transition."""
    world = World()
    world.send(state)
    world.get("t1", state)
    world.get("t1", state)
    assert not world.findings


@legal(RULE)
@pytest.mark.parametrize("first", LIVE)
@pytest.mark.parametrize("then", sorted(STATES - {SUBMITTED}))
def test_every_other_jump(first: str, then: str) -> None:
    """From a live state to any but submitted is legal, since what is seen is a sample."""
    world = World()
    world.send(first)
    world.get("t1", then)
    assert not world.findings


def test_interrupted_states_come_and_go() -> None:
    """Interrupted and working states follow each other in any order, without our message too."""
    world = World()
    world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE), SUBMITTED, AUTH, WORKING, INPUT, AUTH, INPUT, WORKING)
    assert not world.findings


def test_a_state_that_nobody_knows() -> None:
    """A missing or invented state is no state: nothing is learned from it."""
    world = World()
    world.send(WORKING)
    world.get("t1", None)
    world.get("t1", WORKING)
    assert not world.findings


# --- it does not fire: order is not certain


def test_a_poll_that_raced_the_stream() -> None:
    """A read that left before working was received may have been answered before it was true."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, SUBMITTED)
    poll = world.leaves(Method.GET_TASK, "t1")
    world.streams(stream, WORKING)
    world.answers(poll, SUBMITTED)
    assert not world.findings


def test_a_poll_that_raced_the_end() -> None:
    """The same with a terminal state: it was alive when it was asked."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, WORKING)
    poll = world.leaves(Method.GET_TASK, "t1")
    world.streams(stream, COMPLETED)
    world.answers(poll, WORKING)
    assert not world.findings
    assert world.task().state == COMPLETED


@legal(RULE)
def test_two_polls_answered_in_the_other_order() -> None:
    """Of two reads under way at once, the later answer may be the older one."""
    world = World()
    world.send(SUBMITTED)
    first, second = world.leaves(Method.GET_TASK, "t1"), world.leaves(Method.GET_TASK, "t1")
    world.answers(second, WORKING)
    world.answers(first, SUBMITTED)
    assert not world.findings
    assert world.task().state == WORKING


def test_a_stream_that_lags() -> None:
    """A stream opened before a read may tell later what the read already knew."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, SUBMITTED)
    world.get("t1", WORKING)
    world.get("t1", COMPLETED)
    world.streams(stream, WORKING, COMPLETED)
    assert not world.findings


def test_a_first_event_that_lags() -> None:
    """Even submitted, the first event of the creating stream, may come after a poll."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.get("t1", WORKING)
    world.streams(stream, SUBMITTED, WORKING)
    assert not world.findings


def test_a_second_stream_that_lags() -> None:
    """Two streams have no order between them."""
    world = World()
    first = world.leaves(Method.SEND_STREAMING_MESSAGE)
    second = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.streams(first, SUBMITTED, WORKING, COMPLETED)
    world.streams(second, SUBMITTED, WORKING, COMPLETED)
    assert not world.findings


def test_a_blocking_send_that_answers_late() -> None:
    """A send answers with what was true at some time since it left."""
    world = World()
    world.send(INPUT)
    answer = world.leaves(Method.SEND_MESSAGE, "t1", sent=message("yes", "m2"))
    world.get("t1", WORKING)
    world.get("t1", COMPLETED)
    world.answers(answer, WORKING)
    assert not world.findings


def test_a_webhook() -> None:
    """Deliveries come late, twice and out of order: they have no place in any order."""
    world = World()
    world.send(WORKING)
    call = world.leaves(Method.GET_TASK, "t1")
    world.answers(call, WORKING)
    world.observe(TaskSeen(call=None, channel=Channel.WEBHOOK, form=Form.UPDATE, task_id="t1", state=SUBMITTED))
    assert not world.findings


@legal(RULE)
def test_a_subscription_that_plays_the_life_again() -> None:
    """Events that are older by their time stamps, told to a new subscriber, go back nowhere."""
    world = World()
    world.answers(world.leaves(Method.SEND_MESSAGE), WORKING, timestamp=100.0)
    again = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.streams(again, SUBMITTED, timestamp=10.0)
    world.streams(again, WORKING, timestamp=100.0)
    assert not world.findings


@legal(RULE)
@pytest.mark.parametrize("timestamp", [None, 96.0, 104.0])
@pytest.mark.parametrize("known", [WORKING, COMPLETED])
def test_a_subscription_that_plays_the_life_again_without_telling_times(known: str, timestamp: float | None) -> None:
    """0.3 lets an agent play missed events to a new subscriber; times that say nothing make no news of them."""
    world = World()
    world.answers(world.leaves(Method.SEND_MESSAGE), known, timestamp=100.0)
    again = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.streams(again, SUBMITTED, WORKING, COMPLETED, timestamp=timestamp)
    assert not world.findings
    assert world.task().state == COMPLETED


@legal(RULE)
def test_a_subscription_that_shows_the_end_and_then_the_life_that_led_there() -> None:
    """A snapshot comes first, and older events by their time stamps after it."""
    world = World()
    again = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.streams(again, COMPLETED, form=Form.SNAPSHOT, timestamp=100.0)
    world.streams(again, SUBMITTED, WORKING, timestamp=10.0)
    assert not world.findings
    assert world.task().state == COMPLETED


def test_an_end_by_a_clock_that_is_behind() -> None:
    """Another replica, whose clock is another, tells the end to a new subscriber: it is one."""
    world = World()
    world.answers(world.leaves(Method.SEND_MESSAGE), WORKING, timestamp=100.0)
    world.streams(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), COMPLETED, timestamp=10.0)
    assert not world.findings and world.task().state == COMPLETED


def test_an_old_event_re_affirms_nothing() -> None:
    """What a subscription plays again was said before the card changed."""
    world = World()
    world.card()
    world.send(INPUT)
    world.card(streaming=True, skills=("pay",))
    world.streams(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), SUBMITTED)
    world.message("t1")
    assert world.rules() == ["continued-across-revisions"]


def test_a_subscription_that_tells_news() -> None:
    """A time stamp beyond the clock's skew makes it another execution."""
    world = World()
    world.answers(world.leaves(Method.SEND_MESSAGE), WORKING, timestamp=100.0)
    world.streams(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), SUBMITTED, timestamp=200.0)
    assert world.rules() == [RULE]


def test_a_subscription_that_goes_back_in_itself() -> None:
    """Inside one stream the order is certain, whoever asked for it."""
    world = World()
    world.send(WORKING)
    world.streams(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), WORKING, SUBMITTED)
    assert world.rules() == [RULE]


def test_a_read_does_not_hide_behind_an_old_time_stamp() -> None:
    """A restored snapshot answers a read with an old time stamp, and has gone back all the same."""
    world = World()
    world.answers(world.leaves(Method.SEND_MESSAGE), WORKING, timestamp=100.0)
    world.answers(world.leaves(Method.GET_TASK, "t1"), SUBMITTED, timestamp=10.0)
    assert world.rules() == [RULE]
