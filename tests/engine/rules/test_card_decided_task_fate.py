# SPDX-License-Identifier: Apache-2.0
"""card-decided-task-fate: a task was failed, canceled or pruned because of its agent's card (seeds 000 and 004)."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import Hints, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import Whole
from tests.support.world import CANCELED, COMPLETED, FAILED, REJECTED, SUBMITTED, WORKING, message

RULE = "card-decided-task-fate"
DROPPED: dict[str, Any] = {"skills": ("pay",)}


def running(**settings: Any) -> Whole:
    """A task that works, with an artifact, under a card that is known."""
    world = Whole(**settings)
    world.card()
    world.send(WORKING)
    world.get("t1", WORKING, holds=("a1",))
    world.waits(60)
    return world


def cancels(world: Whole, **request: Any) -> None:
    world.cancel("t1", **request)


# --- it fires: the application says so


@fires(RULE)
@pytest.mark.parametrize("state", [FAILED, CANCELED, REJECTED])
def test_a_state_recorded_with_a_capability_reason(state: str) -> None:
    """Seed 000, case 1: the skill is gone, and the task is booked as failed."""
    world = running()
    world.card(**DROPPED)
    world.records(state, "capability")
    assert world.levels(RULE) == ["violation"]


@fires(RULE)
def test_an_artifact_dropped_with_a_capability_reason() -> None:
    """Seed 000, case 2: pruned, because the skill that made it is no longer offered."""
    world = running()
    world.get("t1", COMPLETED, holds=("a1",))
    world.card(**DROPPED)
    world.drops("a1", "capability")
    assert world.levels(RULE) == ["violation"]


@fires(RULE)
def test_a_cancel_with_a_capability_reason() -> None:
    """The hint around the cancel names the card."""
    world = running()
    cancels(world, hints=Hints(reason="capability"))
    assert world.levels(RULE) == ["violation"]


# --- it fires: one follows from the other


@fires(RULE)
@pytest.mark.parametrize(("asked", "acted"), [(7, 7), (0, 0)])
def test_a_cancel_that_a_failed_fetch_caused(asked: int, acted: int) -> None:
    """The same trace, or, where there is none, within two seconds (G9)."""
    world = running()
    world.card_fails(503, trace=asked)
    world.passes(1.5)
    cancels(world, trace=acted)
    assert world.levels(RULE) == ["violation"]
    assert world.rules() == ["cancel-after-card-failure", RULE]


@fires(RULE)
def test_a_record_that_a_failed_fetch_caused() -> None:
    """A terminal state recorded without a reason, right after the card could not be had."""
    world = running()
    world.card_fails(503)
    world.records(FAILED)
    assert world.levels(RULE) == ["violation"]


@fires(RULE)
def test_an_agent_that_was_not_reached_for_its_card_alone() -> None:
    """Seed 004: a card's 503 is taken for the task's, though nobody has asked about the task."""
    world = running()
    world.card_fails(503)
    world.records(FAILED, "transport")
    assert world.levels(RULE) == ["violation"]


@fires(RULE)
@pytest.mark.parametrize("act", ["cancel", "record"])
def test_what_a_narrowing_change_caused(act: str) -> None:
    """The card lost a skill, and the task is ended for it."""
    world = running()
    world.card(**DROPPED, trace=7)
    world.passes(10)
    if act == "cancel":
        cancels(world, trace=7)
    else:
        world.records(FAILED, trace=7)
    assert world.levels(RULE) == ["violation"]


@fires(RULE)
@pytest.mark.parametrize(("asked", "acted", "seconds"), [(7, 8, 0), (0, 7, 0), (7, 0, 0), (0, 0, 3), (7, 7, 31)])
def test_without_a_link_it_is_information(asked: int, acted: int, seconds: float) -> None:
    """Two traces, half a trace, too late, or so late in one long trace that it proves nothing."""
    world = running()
    world.card_fails(503, trace=asked)
    world.passes(seconds)
    cancels(world, trace=acted)
    assert world.levels(RULE) == ["information"]


# --- it does not fire


@legal(RULE)
@pytest.mark.parametrize("reason", ["user", "deadline"])
def test_a_cancel_with_a_reason_of_its_own(reason: str) -> None:
    """The user pressed stop while the card could not be had."""
    world = running()
    world.card_fails(503)
    cancels(world, hints=Hints(reason=reason))
    world.records(CANCELED, reason)
    assert not world.rules() and not world.levels(RULE)


@legal(RULE)
@pytest.mark.parametrize("change", ["failure", "narrowing"])
def test_a_cancel_after_the_task_was_heard_of(change: str) -> None:
    """The agent answered for the task since: whatever follows, follows from that."""
    world = running()
    if change == "failure":
        world.card_fails(503)
    else:
        world.card(**DROPPED)
    world.get("t1", WORKING, holds=("a1",))
    cancels(world)
    assert not world.levels(RULE)


@legal(RULE)
@pytest.mark.parametrize("reason", ["deadline", "server", "user", "poll-empty", "stream-end"])
def test_a_stated_reason_stands_for_itself(reason: str) -> None:
    """Whatever became of the card, it is another reason."""
    world = running()
    world.card_fails("ConnectError")
    world.records(FAILED, reason)
    assert not world.levels(RULE)


@legal(RULE)
@pytest.mark.parametrize("tried", ["read", "message", "cancel", "stream", "webhook"])
def test_a_task_that_was_not_reached_either(tried: str) -> None:
    """Seed 000: on timeout, mark it failed with a transport reason; the card's outage is the same outage."""
    world = running()
    if tried == "read":
        world.fails(world.leaves(Method.GET_TASK, "t1"), "ReadTimeout", from_agent=False)
    elif tried == "message":
        world.fails(
            world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2")), "ReadTimeout", from_agent=False
        )
    elif tried == "cancel":
        world.fails(world.leaves(Method.CANCEL_TASK, "t1"), "ReadTimeout", from_agent=False)
    elif tried == "stream":
        stream = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
        world.streams(stream, WORKING)
        world.ends(stream, "ReadError")
    else:
        world.leaves(Method.CREATE_PUSH_CONFIG, "t1", push=True)
    world.card_fails("ConnectError")
    world.records(FAILED, "transport")
    assert not world.levels(RULE)


@legal(RULE)
def test_a_task_that_another_process_could_not_reach() -> None:
    """What that process has met is not seen here: its word for it counts."""
    world = running(watched_elsewhere=True)
    world.card_fails("ConnectError")
    world.records(FAILED, "transport")
    assert not world.levels(RULE)


@legal(RULE)
def test_a_transport_failure_long_after_that_of_the_card() -> None:
    """Nothing links the two; and what a hook noticed is a timeout of its library."""
    world = running()
    world.card_fails("ConnectError")
    world.records(FAILED, "transport", declared=False)
    world.passes(3)
    world.records(FAILED, "transport")
    assert not world.levels(RULE)


@legal(RULE)
@pytest.mark.parametrize("reason", ["", "capability"])
def test_a_record_of_what_the_agent_has_said(reason: str) -> None:
    """The agent ended it; that the card is gone as well decides nothing any more."""
    world = running()
    world.get("t1", FAILED, holds=("a1",))
    world.card_fails(503)
    world.records(FAILED, reason)
    assert not world.findings[1:] and not world.levels(RULE)


@legal(RULE)
@pytest.mark.parametrize("change", [{"skills": ("pay", "refund", "ship")}, {"description": "better words"}])
def test_a_cancel_after_a_change_that_takes_nothing_away(change: dict[str, Any]) -> None:
    """More skills, or better words, are no reason for anything."""
    world = running()
    world.card(**change)
    cancels(world)
    assert not world.levels(RULE)


@legal(RULE)
@pytest.mark.parametrize("trouble", ["lost", "poisoned", "diverged", "abandoned"])
def test_the_way_out_of_trouble(trouble: str) -> None:
    """Seed 002: re-resolve the card, then cancel the orphan, or abandon it."""
    world = running()
    if trouble == "lost":
        world.not_found("t1")
    elif trouble == "poisoned":
        world.get("t1", SUBMITTED, holds=("a1",))
    elif trouble == "diverged":
        world.answers(world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2")), WORKING, task="t2")
    else:
        world.abandons()
    world.card_fails(503)
    cancels(world)
    assert not world.levels(RULE) and "cancel-after-card-failure" not in world.rules()


@legal(RULE)
def test_a_change_under_fenced_frees_the_cancel() -> None:
    """Seed 002 to the letter: an orphan is to be canceled."""
    world = running(profile="fenced")
    world.card(**DROPPED)
    cancels(world, hints=Hints(reason="capability"))
    assert not world.levels(RULE)


@legal(RULE)
def test_where_the_card_is_validated_on_every_turn_by_contract() -> None:
    """Seed 000's scope: there it may decide."""
    world = running(card_per_turn=True)
    world.card(**DROPPED)
    world.records(FAILED, "capability")
    assert not world.levels(RULE)


@legal(RULE)
@pytest.mark.parametrize("change", ["failure", "narrowing"])
def test_where_the_card_is_pinned(change: str) -> None:
    """What the agent serves moves nobody there (G11); a record that names the card as its reason counts still."""
    world = running(pinned_cards=("*",))
    if change == "failure":
        world.card_fails(503)
    else:
        world.card(**DROPPED)
    cancels(world)
    world.records(FAILED)
    assert not world.levels(RULE)
    world.records(REJECTED, "capability")
    assert world.levels(RULE) == ["violation"]


@legal(RULE)
def test_artifacts_that_are_keyed_by_skill() -> None:
    """Seed 000's condition: where a deployment keys them so, it may drop them so."""
    world = running(artifacts_keyed_by_skill=True)
    world.drops("a1", "capability")
    assert not world.rules() and not world.levels(RULE)


@legal(RULE)
def test_a_task_that_has_ended_is_canceled() -> None:
    """There is nothing to decide any more."""
    world = running()
    world.get("t1", REJECTED, holds=("a1",))
    world.card_fails(503)
    cancels(world, state=None)
    assert not world.levels(RULE)


@legal(RULE)
def test_no_state_was_told_yet() -> None:
    """Before the first state there is only admission, and that is the card's (seed 000)."""
    world = Whole()
    world.card()
    world.send(None)
    world.card(**DROPPED)
    world.records(FAILED, "capability")
    assert not world.levels(RULE)


# --- late


@late(RULE)
def test_a_task_that_was_not_seen() -> None:
    """Nothing is known of it, so nothing was decided about it."""
    world = Whole()
    world.card_fails(503)
    cancels(world)
    world.records(FAILED, "capability", task="t9")
    assert not world.levels(RULE)


@late(RULE)
def test_a_task_first_seen_after_the_change() -> None:
    """A change that came before the task was first seen took nothing from it."""
    world = Whole()
    world.card()
    world.card(**DROPPED)
    world.get("t1", WORKING)
    cancels(world)
    assert not world.levels(RULE)
