# SPDX-License-Identifier: Apache-2.0
"""Webhooks that are waited for, and what they bring: waiting-on-withdrawn-webhook, task-unwatched, late- and
unverified-notification. More about deliveries is in ``tests/webhooks``."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import INTERRUPTED, TERMINAL, Form, Hints, Method, PushBinding
from tests.support.marks import fires, late, legal
from tests.support.whole import TOKEN, WEBHOOK, Whole
from tests.support.world import COMPLETED, SUBMITTED, WORKING, message

WITHDRAWN = "waiting-on-withdrawn-webhook"
UNWATCHED = "task-unwatched"
LATE = "late-notification"
UNVERIFIED = "unverified-notification"
LOOKS = ("read", "read in vain", "list", "stream", "delivery")


def awaited(state: str = WORKING, hints: Hints | None = None, **settings: Any) -> Whole:
    """A task whose webhook is registered with a card that offers push."""
    world = Whole(**settings)
    world.card()
    world.send(state, push=WEBHOOK, hints=hints)
    return world


def looks(world: Whole, how: str) -> None:
    if how == "read":
        world.get("t1", WORKING)
    elif how == "read in vain":
        world.breaks(world.leaves(Method.GET_TASK, "t1"))
    elif how == "list":
        world.answers(world.leaves(Method.LIST_TASKS), WORKING, task="t1", form=Form.LISTED)
    elif how == "stream":
        world.streams(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), WORKING)
    else:
        world.delivers(WORKING)


# --- the card has withdrawn push


@fires(WITHDRAWN)
@pytest.mark.parametrize("state", [SUBMITTED, WORKING])
def test_a_minute_after_push_was_withdrawn(state: str) -> None:
    """Seed 004: deliveries are dropped without a word, and the client waits."""
    world = awaited(state)
    world.waits(10)
    world.card(push=False)
    world.waits(59)
    assert not world.rules()
    world.waits(1)
    assert world.rules() == [WITHDRAWN] and world.levels(WITHDRAWN) == ["violation"]


@legal(WITHDRAWN)
@pytest.mark.parametrize("look", LOOKS)
def test_back_to_polling(look: str) -> None:
    """Seed 004: transition the delivery mode to polling, and continue."""
    world = awaited()
    world.card(push=False)
    world.waits(30)
    looks(world, look)
    world.waits(3600)
    assert not world.rules()


@legal(WITHDRAWN)
def test_a_card_that_offers_push_again() -> None:
    """Flapping within a minute is a deploy."""
    world = awaited()
    world.card(push=False)
    world.waits(30)
    world.card()
    world.waits(3600)
    assert not world.rules()


@legal(WITHDRAWN)
@pytest.mark.parametrize("state", [*sorted(TERMINAL), *sorted(INTERRUPTED)])
def test_nothing_is_waited_for(state: str) -> None:
    """It has ended, or waits for us."""
    world = awaited(state)
    world.card(push=False)
    world.waits(3600)
    assert not world.rules()


@legal(WITHDRAWN)
@pytest.mark.parametrize("why", ["deleted", "abandoned", "lost", "watched elsewhere", "pinned"])
def test_nobody_waits_here(why: str) -> None:
    """The webhook is taken back, the task is given up, or the operator knows more."""
    world = awaited(watched_elsewhere=why == "watched elsewhere", pinned_cards=("*",) if why == "pinned" else ())
    world.card(push=False)
    world.passes(5)
    if why == "deleted":
        world.leaves(Method.DELETE_PUSH_CONFIG, "t1")
    elif why == "abandoned":
        world.abandons()
    elif why == "lost":
        world.not_found("t1")
    world.waits(3600)
    assert WITHDRAWN not in world.rules()


@legal(WITHDRAWN)
def test_a_task_that_never_had_a_webhook() -> None:
    """It is polled, and no card decides that."""
    world = Whole()
    world.card()
    world.send(WORKING)
    world.card(push=False)
    world.waits(3600)
    assert not world.rules()


@late(WITHDRAWN)
def test_a_card_that_was_first_seen_without_push() -> None:
    """Whether it had ever offered it, nobody here knows."""
    world = Whole()
    world.send(WORKING, push=WEBHOOK)
    world.card(push=False)
    world.waits(3600)
    assert not world.rules()


# --- nobody looks


@fires(UNWATCHED)
def test_past_the_expected_duration() -> None:
    """Nothing was delivered, and nothing was read."""
    world = awaited(hints=Hints(expected_duration=60))
    world.waits(59)
    assert not world.rules()
    world.waits(1)
    assert UNWATCHED in world.rules() and world.levels(UNWATCHED) == ["improvement"]


@fires(UNWATCHED)
def test_silence_where_silence_is_limited() -> None:
    """The last delivery was too long ago."""
    world = awaited(webhook_silence=60)
    world.waits(50)
    world.delivers(WORKING)
    world.waits(59)
    assert not world.rules()
    world.waits(1)
    assert world.rules() == [UNWATCHED]


@legal(UNWATCHED)
@pytest.mark.parametrize("look", LOOKS)
def test_somebody_looks_in_time(look: str) -> None:
    """A delivery, a read, answered or not, a list or a stream."""
    world = awaited(hints=Hints(expected_duration=60))
    world.waits(30)
    looks(world, look)
    world.waits(3600)
    assert UNWATCHED not in world.rules()


@legal(UNWATCHED)
def test_no_duration_is_expected() -> None:
    """Tasks may take their time."""
    world = awaited()
    world.waits(86_400)
    assert not world.rules()


@legal(UNWATCHED)
@pytest.mark.parametrize("state", [*sorted(TERMINAL), *sorted(INTERRUPTED)])
def test_a_task_that_has_ended_or_waits_for_us(state: str) -> None:
    """Nothing is to be delivered."""
    world = awaited(state, webhook_silence=60)
    world.waits(3600)
    assert not world.rules()


@late(UNWATCHED)
def test_a_webhook_that_was_registered_elsewhere() -> None:
    """Of which nothing is known here."""
    world = Whole(webhook_silence=60)
    world.get("t1", WORKING)
    world.waits(3600)
    assert not world.rules()


# --- what webhooks bring


@fires(LATE)
def test_a_live_state_after_the_end() -> None:
    """An old notification, not a step back."""
    world = awaited()
    world.get("t1", COMPLETED)
    world.delivers(WORKING)
    assert world.information() == [LATE] and not world.rules() and world.task().state == COMPLETED


@legal(LATE)
def test_deliveries_in_order_and_twice() -> None:
    """A duplicate is not late."""
    world = awaited(SUBMITTED)
    for state in (WORKING, WORKING, COMPLETED, COMPLETED):
        world.delivers(state)
    assert not world.findings


@late(LATE)
def test_a_delivery_for_a_task_that_was_not_seen() -> None:
    """There is nothing that it could be later than."""
    world = Whole()
    world.delivers(WORKING, verified=True)
    assert not world.findings


@fires(UNVERIFIED)
@pytest.mark.parametrize("token", ["", "digest(guess)"])
def test_a_delivery_without_the_token(token: str) -> None:
    """Anybody may have sent it: it moves nothing."""
    world = awaited()
    world.delivers(COMPLETED, token=token)
    assert world.information() == [UNVERIFIED] and world.task().state == WORKING


@legal(UNVERIFIED)
@pytest.mark.parametrize("verified", [False, True])
def test_a_delivery_that_can_be_believed(verified: bool) -> None:
    """With the token that was registered, or vouched for by the application."""
    world = awaited()
    world.delivers(COMPLETED, token="" if verified else TOKEN, verified=verified)
    assert not world.findings and world.task().state == COMPLETED


@legal(UNVERIFIED)
def test_an_earlier_webhook_s_token() -> None:
    """A task may have several."""
    world = awaited()
    other = PushBinding(url="digest(other)", token="digest(second)")
    world.message("t1", WORKING, push=other, sent=message("more", "m2"))
    world.delivers(WORKING, token=TOKEN)
    world.delivers(COMPLETED, token="digest(second)")
    assert not world.information()


@late(UNVERIFIED)
def test_a_webhook_that_this_process_did_not_register() -> None:
    """Its token is not known here."""
    world = Whole()
    world.get("t1", WORKING)
    world.delivers(COMPLETED, token="digest(whose?)")
    assert not world.findings
