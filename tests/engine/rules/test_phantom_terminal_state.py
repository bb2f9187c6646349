# SPDX-License-Identifier: Apache-2.0
"""phantom-terminal-state: the client recorded an end of a task that the agent never told (seeds 000 and 004)."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import INTERRUPTED, TERMINAL, Form, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import TOKEN, WEBHOOK, Whole
from tests.support.world import COMPLETED, FAILED, REJECTED, SUBMITTED, WORKING

RULE = "phantom-terminal-state"


def running(state: str = WORKING, **request: Any) -> Whole:
    world = Whole()
    world.send(state, **request)
    world.waits(60)
    return world


# --- it fires


@fires(RULE)
@pytest.mark.parametrize("reason", ["", "user", "poll-empty", "stream-end", "capability"])
@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_an_end_that_the_agent_never_told(state: str, reason: str) -> None:
    """Whatever the client's reason, only the agent ends a task."""
    world = running()
    world.records(state, reason)
    assert world.levels(RULE) == ["violation"]
    found = next(each for each in world.findings if each.rule == RULE)
    assert (found.state, found.previous_state) == (state, WORKING)


@fires(RULE)
@pytest.mark.parametrize("reason", ["transport", "deadline"])
def test_a_timeout_is_an_improvement(reason: str) -> None:
    """Seed 000 allows that record; one read before it would have told more."""
    world = running()
    world.records(FAILED, reason)
    assert world.levels(RULE) == ["improvement"]


@fires(RULE)
@pytest.mark.parametrize("how", [Method.GET_TASK, Method.SUBSCRIBE_TO_TASK, Method.LIST_TASKS])
def test_a_timeout_after_a_read_is_information(how: str) -> None:
    """The client had looked, and the task was alive."""
    world = running()
    if how == Method.LIST_TASKS:
        world.answers(world.leaves(how), WORKING, form=Form.LISTED)
    else:
        world.answers(world.leaves(how, "t1"), WORKING)
    world.waits(60)
    world.records(FAILED, "transport")
    assert world.levels(RULE) == ["information"]


@fires(RULE)
def test_an_error_to_a_read_is_no_timeout() -> None:
    """The agent answered, and not that the task had ended."""
    world = running()
    world.get("t1", WORKING)
    world.fails(world.leaves(Method.GET_TASK, "t1"), "-32603")
    world.records(FAILED, "transport")
    assert world.levels(RULE) == ["violation"]


@fires(RULE)
def test_an_end_over_another_end() -> None:
    """The agent rejected the task, and the client books its own timeout over that."""
    world = running(REJECTED)
    world.records(FAILED, "transport")
    assert world.levels(RULE) == ["improvement"]


@fires(RULE)
@pytest.mark.parametrize("said", [COMPLETED, WORKING])
def test_confirmed_when_the_agent_says_otherwise(said: str) -> None:
    """Split brain: the record was wrong, whatever its reason was."""
    world = running()
    world.get("t1", WORKING)
    world.records(FAILED, "transport")
    world.get("t1", said)
    assert world.levels(RULE) == ["information", "violation"]


@fires(RULE)
def test_confirmed_by_a_webhook() -> None:
    """An end counts on every channel."""
    world = running(push=WEBHOOK)
    world.records(FAILED, "deadline")
    world.delivers(COMPLETED, token=TOKEN)
    assert world.levels(RULE) == ["improvement", "violation"]


@fires(RULE)
def test_an_end_said_to_be_the_agent_s() -> None:
    """It may have come where nobody looks: information, until the agent says otherwise."""
    world = running()
    world.records(COMPLETED, "server")
    assert world.levels(RULE) == ["information"]
    world.get("t1", WORKING)
    assert world.levels(RULE) == ["information", "violation"]


@fires(RULE)
@pytest.mark.parametrize(("request_", "level"), [({}, "improvement"), ({"push": WEBHOOK}, "information")])
def test_an_end_that_a_hook_noticed(request_: dict[str, Any], level: str) -> None:
    """Nobody gave a reason, and the agent may have said so unseen; not so where it then says otherwise."""
    world = running(**request_)
    world.records(FAILED, declared=False)
    assert world.levels(RULE) == [level]
    world.get("t1", WORKING)
    assert world.levels(RULE) == [level, "violation"]


# --- it does not fire


@legal(RULE)
@pytest.mark.parametrize("reason", ["server", "", "capability", "stream-end"])
@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_an_end_that_the_agent_told(state: str, reason: str) -> None:
    """A record of the agent's word."""
    world = running()
    world.get("t1", state)
    world.records(state, reason)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("state", [SUBMITTED, WORKING, *sorted(INTERRUPTED)])
def test_a_live_state(state: str) -> None:
    """Only ends are the agent's alone to tell."""
    world = running()
    world.records(state, "transport")
    assert not world.findings


@legal(RULE)
def test_a_record_that_proves_right() -> None:
    """The agent later says the same, and then goes back on it: that is the agent's affair."""
    world = running()
    world.records(COMPLETED, "server")
    world.get("t1", COMPLETED)
    world.get("t1", WORKING)
    assert world.levels(RULE) == ["information"]


@legal(RULE)
def test_an_agent_that_goes_back_on_its_word() -> None:
    """The client's record was the agent's word when it was made."""
    world = running()
    world.get("t1", COMPLETED)
    world.records(COMPLETED, "server")
    world.get("t1", WORKING)
    assert not world.levels(RULE)


@legal(RULE)
def test_an_answer_that_was_under_way() -> None:
    """A poll that left before the record tells of the time before it."""
    world = running()
    poll = world.leaves(Method.GET_TASK, "t1")
    world.records(COMPLETED, "server")
    world.answers(poll, WORKING)
    assert world.levels(RULE) == ["information"]


@legal(RULE)
def test_an_old_webhook() -> None:
    """A late notification of a live state says nothing about now."""
    world = running(push=WEBHOOK)
    world.records(COMPLETED, "server")
    world.delivers(WORKING)
    assert world.levels(RULE) == ["information"]


@legal(RULE)
def test_a_record_that_was_taken_back() -> None:
    """The client itself has corrected it."""
    world = running()
    world.records(COMPLETED, "server")
    world.records(WORKING, "server")
    world.get("t1", WORKING)
    assert world.levels(RULE) == ["information"]


@legal(RULE)
def test_an_ended_task_of_0_1_that_is_begun_anew() -> None:
    """What was recorded was the life before."""
    world = Whole()
    world.answers(world.leaves(Method.SEND_MESSAGE, "t1", version="0.1"), WORKING)
    world.records(COMPLETED, "server")
    world.get("t1", COMPLETED, version="0.1")
    world.answers(world.leaves(Method.SEND_MESSAGE, "t1", version="0.1"), WORKING)
    assert not world.rules()


# --- late


@late(RULE)
def test_a_task_that_was_not_seen() -> None:
    """Whether the agent told its end, nobody here knows."""
    world = Whole()
    world.records(FAILED, "transport")
    assert not world.findings


@late(RULE)
def test_a_task_whose_state_was_not_told_here() -> None:
    """No rule of disposition before the first state (G11)."""
    world = Whole()
    world.send(None)
    world.records(FAILED, "transport")
    assert not world.levels(RULE)
