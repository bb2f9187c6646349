# SPDX-License-Identifier: Apache-2.0
"""task-id-reused: the id of a task that was lost, or had ended, answers for another execution (seed 002)."""

from __future__ import annotations

import pytest

from otel_a2a.observations import TERMINAL, Channel, Form, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import WEBHOOK, Whole
from tests.support.world import CANCELED, COMPLETED, SUBMITTED, WORKING, message

RULE = "task-id-reused"
FLAPPING = "task-flapping"
AGAIN = message("once more", "m9")


def lost(state: str = WORKING, *holds: str) -> Whole:
    """A task that was last seen live, and is not found any more."""
    world = Whole()
    world.send(SUBMITTED)
    world.get("t1", state, holds=holds)
    world.passes(5)
    world.not_found("t1")
    return world


# --- it fires


@fires(RULE)
@pytest.mark.parametrize("method", [Method.GET_TASK, Method.SUBSCRIBE_TO_TASK, Method.SEND_MESSAGE])
def test_a_lost_task_answers_as_submitted(method: str) -> None:
    """Seed 002: freshly initialised under the same id."""
    world = lost()
    world.answers(world.leaves(method, "t1", sent=AGAIN), SUBMITTED)
    assert RULE in world.rules() and world.levels(RULE) == ["violation"]


@fires(RULE)
def test_a_lost_task_begins_again_with_a_message() -> None:
    """It had only been submitted, and a message brings it back: that is a new one."""
    world = lost(SUBMITTED)
    world.answers(world.leaves(Method.SEND_MESSAGE, "t1", sent=AGAIN), SUBMITTED)
    assert RULE in world.rules()


@fires(RULE)
@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_an_ended_task_answers_as_submitted(state: str) -> None:
    """It stands beside the rules about the edge."""
    world = Whole()
    world.send(state)
    world.get("t1", SUBMITTED)
    assert set(world.rules()) == {RULE, "backward-transition", "terminal-state-changed"}


@fires(RULE)
@pytest.mark.parametrize("state", [WORKING, COMPLETED])
def test_another_context(state: str) -> None:
    """The same id in another conversation."""
    world = lost() if state == WORKING else Whole()
    if state == COMPLETED:
        world.send(COMPLETED)
    world.get("t1", state, context="c9")
    assert RULE in world.rules()


@fires(RULE)
@pytest.mark.parametrize("now", [(), ("b1",)])
def test_a_lost_task_without_any_artifact_that_it_had(now: tuple[str, ...]) -> None:
    """Whole, and nothing of the first execution is in it."""
    world = lost(WORKING, "a1", "a2")
    world.get("t1", WORKING, holds=now)
    assert RULE in world.rules()


# --- it does not fire


@legal(RULE)
@pytest.mark.parametrize("holds", [(), ("a1",)])
@pytest.mark.parametrize("method", [Method.GET_TASK, Method.SUBSCRIBE_TO_TASK])
def test_a_replica_that_did_not_know_it(method: str, holds: tuple[str, ...]) -> None:
    """Found again, whole: flapping."""
    world = lost(WORKING, *holds)
    world.answers(world.leaves(method, "t1"), WORKING, holds=holds)
    assert world.rules() == ["task-lost"] and world.levels(FLAPPING) == ["information"]


@legal(RULE)
def test_a_replica_that_did_not_know_a_task_just_submitted() -> None:
    """It had never been more than submitted, and is found again as that."""
    world = lost(SUBMITTED)
    world.get("t1", SUBMITTED)
    assert world.rules() == ["task-lost"] and world.levels(FLAPPING) == ["information"]


@legal(RULE)
@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_reads_of_an_ended_task(state: str) -> None:
    """It shows what it is."""
    world = Whole()
    world.send(state)
    world.get("t1", state)
    assert not world.findings


@legal(RULE)
def test_answers_that_were_under_way() -> None:
    """They left before the end, or the loss, was known."""
    world = Whole()
    world.send(SUBMITTED)
    slow, slower = world.leaves(Method.GET_TASK, "t1"), world.leaves(Method.GET_TASK, "t1")
    world.passes(5)
    world.not_found("t1")
    world.answers(slow, SUBMITTED)
    world.get("t1", COMPLETED)
    world.answers(slower, SUBMITTED)
    assert world.rules() == ["task-lost"]


@legal(RULE)
def test_a_subscription_that_plays_the_whole_life() -> None:
    """Old events by their time stamps go back nowhere."""
    world = Whole()
    world.shows(world.leaves(Method.SEND_MESSAGE), COMPLETED, timestamp=100.0)
    stream = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.streams(stream, SUBMITTED, timestamp=10.0)
    world.streams(stream, WORKING, timestamp=20.0)
    world.streams(stream, COMPLETED, timestamp=100.0)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("partial", ["cancel", "list", "stream", "trimmed"])
def test_answers_that_show_no_whole_task(partial: str) -> None:
    """An answer to a cancel, a list, a first event of a stream: what is not in them may be there."""
    world = lost(WORKING, "a1")
    if partial == "cancel":
        world.cancel("t1", CANCELED)
    elif partial == "list":
        world.answers(world.leaves(Method.LIST_TASKS), WORKING, task="t1", form=Form.LISTED)
    elif partial == "stream":
        world.shows(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), WORKING, channel=Channel.STREAM)
    else:
        world.answers(world.leaves(Method.GET_TASK, "t1", trimmed=True), WORKING, form=Form.LISTED)
    assert world.rules() == ["task-lost"]


@legal(RULE)
def test_an_answer_with_a_part_of_the_history() -> None:
    """Some agents leave out artifacts with it."""
    world = lost(WORKING, "a1")
    call = world.leaves(Method.GET_TASK, "t1")
    call.limits_history = True
    world.answers(call, WORKING)
    assert world.rules() == ["task-lost"]


@legal(RULE)
def test_one_artifact_of_several() -> None:
    """Something of the first execution is there: what is missing is artifact-truncated's."""
    world = lost(WORKING, "a1", "a2")
    world.get("t1", WORKING, holds=("a1",))
    assert RULE not in world.rules()


@legal(RULE)
def test_a_context_that_was_sent_for_the_task() -> None:
    """0.x agents answer with one context and know the other one too."""
    world = Whole()
    world.answers(world.leaves(Method.SEND_MESSAGE, context="mine", version="0.3"), COMPLETED, context="yours")
    world.get("t1", COMPLETED, context="mine", version="0.3")
    assert not world.rules()


@legal(RULE)
def test_0_1_where_an_ended_task_is_begun_anew() -> None:
    """The client names tasks, and may name one twice."""
    world = Whole()
    for _ in range(2):
        world.answers(world.leaves(Method.SEND_MESSAGE, "t1", version="0.1"), SUBMITTED)
        world.get("t1", COMPLETED, version="0.1")
    assert not world.rules()


@legal(RULE)
def test_a_late_webhook() -> None:
    """Submitted, delivered after the end."""
    world = Whole()
    world.send(WORKING, push=WEBHOOK)
    world.get("t1", COMPLETED)
    world.delivers(SUBMITTED)
    assert not world.rules()


@legal(RULE)
def test_ids_behind_a_gateway() -> None:
    """They are the gateway's to give."""
    world = Whole(gateway_rewrites_ids=True)
    world.send(COMPLETED)
    world.get("t1", COMPLETED, context="c9")
    assert not world.rules()


# --- late


@late(RULE)
def test_a_task_whose_loss_was_not_seen() -> None:
    """Submitted is how tasks begin (G7)."""
    world = Whole()
    world.not_found("t1")
    world.passes(5)
    world.get("t1", SUBMITTED)
    assert not world.findings
