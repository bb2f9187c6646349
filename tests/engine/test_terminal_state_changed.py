# SPDX-License-Identifier: Apache-2.0
"""terminal-state-changed: an end is an end."""

from __future__ import annotations

from itertools import permutations

import pytest

from otel_a2a.engine.findings import Level
from otel_a2a.observations import STATES, TERMINAL, Form, Method
from tests.support.marks import fires, late, legal
from tests.support.world import CANCELED, COMPLETED, FAILED, INPUT, REJECTED, SUBMITTED, WORKING, World, message

RULE = "terminal-state-changed"
PAIRS = list(permutations(sorted(TERMINAL), 2))
LIVE = sorted(STATES - TERMINAL)


# --- it fires


@fires(RULE)
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_two_different_ends(first: str, second: str) -> None:
    """Of two different terminal states one is wrong, whichever they are."""
    world = World()
    world.send(first)
    world.get("t1", second)
    assert world.rules() == [RULE]
    finding = world.findings[0]
    assert (finding.previous_state, finding.state, finding.level) == (first, second, Level.VIOLATION)


@pytest.mark.parametrize(("first", "second"), [(COMPLETED, FAILED), (FAILED, COMPLETED)])
def test_two_ends_have_no_order(first: str, second: str) -> None:
    """A read that left before the end was received counts too: no order makes both true."""
    world = World()
    world.send(WORKING)
    poll = world.leaves(Method.GET_TASK, "t1")
    world.get("t1", first)
    world.answers(poll, second)
    assert world.rules() == [RULE]


def test_two_ends_in_one_stream() -> None:
    """A stream that ends a task twice."""
    world = World()
    world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE), WORKING, COMPLETED, FAILED)
    assert world.rules() == [RULE]


def test_two_ends_in_two_streams() -> None:
    """A second stream that ends the task otherwise."""
    world = World()
    first = world.leaves(Method.SEND_STREAMING_MESSAGE)
    second = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.streams(first, WORKING, COMPLETED)
    world.streams(second, WORKING, CANCELED)
    assert world.rules() == [RULE]


def test_a_cancel_that_was_confirmed_and_not_obeyed() -> None:
    """The answer to a cancel is an end, and the stream may not tell another."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, WORKING)
    world.cancel("t1", CANCELED)
    world.streams(stream, COMPLETED)
    assert world.rules() == [RULE]


def test_a_list_tells_another_end() -> None:
    """What state a list tells is told."""
    world = World()
    world.send(COMPLETED)
    world.answers(world.leaves(Method.LIST_TASKS), FAILED, task="t1", form=Form.LISTED)
    assert world.rules() == [RULE]


@fires(RULE)
@pytest.mark.parametrize("later", LIVE)
def test_an_end_that_is_taken_back(later: str) -> None:
    """Terminal → live by a read that left afterwards, beside backward-transition."""
    world = World()
    world.send(COMPLETED)
    world.get("t1", later)
    assert sorted(world.rules()) == ["backward-transition", RULE]


def test_a_message_that_reopens() -> None:
    """An agent that goes on with an ended task changes its end, beside the message's own fault."""
    world = World()
    world.send(COMPLETED)
    world.message("t1", WORKING)
    assert sorted(world.rules()) == ["backward-transition", RULE, "terminal-task-reused"]


@late(RULE)
def test_a_late_observer() -> None:
    """A task first seen when it had ended may not end otherwise."""
    world = World()
    world.get("t1", CANCELED)
    world.get("t1", COMPLETED)
    assert world.rules() == [RULE]


def test_an_end_that_comes_and_goes() -> None:
    """Back to the first end is no further incident, and the other end again is a repeat."""
    world = World()
    world.send(COMPLETED)
    for state in (FAILED, COMPLETED, FAILED):
        world.get("t1", state)
    assert [each.count for each in world.findings] == [1, 2]


def test_the_id_is_poisoned_for_good() -> None:
    """No read withdraws the poison of two ends."""
    world = World()
    world.send(COMPLETED)
    world.get("t1", FAILED)
    world.get("t1", COMPLETED)
    assert world.task().disposition == "poisoned"


def test_the_first_end_is_kept() -> None:
    """What the task had ended as stays known, for whatever comes after."""
    world = World()
    world.send(COMPLETED)
    world.get("t1", FAILED)
    assert world.task().terminal == COMPLETED


# --- it does not fire


@legal(RULE)
@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_the_same_end_by_every_channel(state: str) -> None:
    """One end told by an answer, a stream, a read, a list and a cancel is one end."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, WORKING, state, state)
    world.get("t1", state)
    world.answers(world.leaves(Method.LIST_TASKS), state, task="t1", form=Form.LISTED)
    world.cancel("t1", state)
    assert not world.findings


@pytest.mark.parametrize("ended", sorted(TERMINAL))
@pytest.mark.parametrize("live", LIVE)
def test_every_end_of_every_live_state(live: str, ended: str) -> None:
    """Any live state may end in any way."""
    world = World()
    world.send(live)
    world.get("t1", ended)
    assert not world.findings


@legal(RULE)
def test_live_states_of_reads_under_way_and_of_streams_that_lag() -> None:
    """What left before the end was received tells of the time before it."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    subscription = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    polls = [world.leaves(Method.GET_TASK, "t1") for _ in LIVE]
    world.streams(stream, SUBMITTED, WORKING, COMPLETED)
    for poll, state in zip(polls, LIVE, strict=True):
        world.answers(poll, state)
    world.streams(subscription, SUBMITTED, WORKING, INPUT, WORKING, COMPLETED)
    assert not world.findings
    assert world.task().state == COMPLETED


def test_a_cancel_that_came_too_late() -> None:
    """A cancel answered by how the task had ended changes nothing."""
    world = World()
    world.send(WORKING)
    cancel = world.leaves(Method.CANCEL_TASK, "t1")
    world.get("t1", COMPLETED)
    world.answers(cancel, COMPLETED)
    assert not world.findings


def test_an_error_is_no_state() -> None:
    """Neither an error nor not found nor the end of a stream is another end."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, WORKING, COMPLETED)
    world.ends(stream)
    world.passes(5)
    world.not_found("t1")
    world.fails(world.leaves(Method.GET_TASK, "t1"), "500", from_agent=False)
    assert not world.findings


def test_two_tasks_in_one_context() -> None:
    """A follow-up that gets a task of its own may end otherwise."""
    world = World()
    world.send(COMPLETED, task="t1")
    world.send(FAILED, task="t2", context="c1", sent=message("more", "m2", references=("t1",)))
    assert not world.findings


def test_the_same_id_at_another_agent_or_tenant() -> None:
    """Two agents, or two tenants, may use one id."""
    world = World()
    world.send(COMPLETED)
    world.send(FAILED, endpoint="https://other.example/a2a")
    world.send(REJECTED, tenant="b")
    assert not world.findings


def test_a_task_of_0_1_ends_once_per_life() -> None:
    """In 0.1 a task that was begun anew may end otherwise, and an answer of the life before is no second end."""
    world = World()
    world.send(COMPLETED, task="mine", version="0.1")
    poll = world.leaves(Method.GET_TASK, "mine", version="0.1")
    world.answers(world.leaves(Method.SEND_MESSAGE, "mine", version="0.1"), FAILED)
    world.answers(poll, COMPLETED)
    assert not world.findings
