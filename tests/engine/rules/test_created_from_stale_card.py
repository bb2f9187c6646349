# SPDX-License-Identifier: Apache-2.0
"""created-from-stale-card: new work was sent on a card that was too old, or that the application had refused."""

from __future__ import annotations

import pytest

from otel_a2a.observations import CardFetched, Hints, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import Whole
from tests.support.world import COMPLETED, WORKING, message

RULE = "created-from-stale-card"


# --- it fires


@fires(RULE)
def test_older_than_the_card_allows() -> None:
    """The card's own max-age counts."""
    world = Whole()
    world.card(max_age=60)
    world.waits(61)
    world.send(WORKING)
    assert world.rules() == [RULE] and world.levels(RULE) == ["improvement"]


@fires(RULE)
def test_the_time_in_shared_caches_counts() -> None:
    """The header Age says how old the answer was when it came."""
    world = Whole()
    world.card(max_age=60, age=50)
    world.waits(11)
    world.send(WORKING)
    assert world.rules() == [RULE]


@fires(RULE)
def test_a_card_that_may_not_be_kept() -> None:
    """no-cache: the card is good for the call it was fetched for."""
    world = Whole()
    world.card(max_age=0)
    world.waits(6)
    world.send(WORKING)
    assert world.rules() == [RULE]


@fires(RULE)
def test_older_than_the_setting_allows() -> None:
    """max_card_age speaks where the card does not."""
    world = Whole(max_card_age=120)
    world.card()
    world.waits(121)
    world.send(WORKING)
    assert world.rules() == [RULE]


@fires(RULE)
def test_older_than_the_task_will_take() -> None:
    """Seed 004: re-validate where the copy is older than the task's expected duration."""
    world = Whole()
    world.card()
    world.waits(31)
    world.send(WORKING, hints=Hints(expected_duration=30))
    assert world.rules() == [RULE]


@fires(RULE)
def test_a_card_that_the_application_had_refused() -> None:
    """Every document that lists the interface was rejected."""
    world = Whole()
    world.card()
    world.rejects_card()
    world.send(WORKING)
    assert world.rules() == [RULE]


@fires(RULE)
def test_a_hit_in_a_cache_is_no_fetch() -> None:
    """A copy that comes out of a cache again is as old as it was."""
    world = Whole()
    world.card(max_age=60)
    world.waits(61)
    world.card(max_age=60, from_cache=True)
    world.send(WORKING)
    assert world.rules() == [RULE]


@fires(RULE)
def test_a_violation_where_cards_are_fenced() -> None:
    """Seed 004 to the letter: 120 seconds, whatever the card states."""
    world = Whole(profile="version-fenced")
    world.card(max_age=3600)
    world.waits(121)
    world.send(WORKING)
    assert world.levels(RULE) == ["violation"]


@fires(RULE)
def test_once_per_stale_period() -> None:
    """Ten sends on one old card are one incident, and the next old card is another."""
    world = Whole()
    for _ in range(2):
        world.card(max_age=60)
        world.waits(61)
        for number in range(10):
            world.send(COMPLETED, task=f"t{number}", sent=message(f"job {number}", f"m{number}"))
    assert world.rules() == [RULE, RULE]


# --- it does not fire


@legal(RULE)
def test_where_nothing_says_how_old_a_card_may_be() -> None:
    """Most cards state no age, and most operators set none."""
    world = Whole()
    world.card()
    world.waits(86_400)
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
def test_a_card_that_is_young_enough() -> None:
    """At its age limit it is not older than that."""
    world = Whole(max_card_age=120)
    world.card()
    world.waits(120)
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("stated", [60, None])
def test_a_card_that_was_confirmed(stated: float | None) -> None:
    """A 304 is as good as a 200; where it states no age, the answer that it confirms does."""
    world = Whole(max_card_age=30)
    world.card(max_age=60)
    world.waits(100)
    world.card_confirmed(max_age=stated)
    world.waits(59)
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
def test_a_card_that_was_confirmed_under_a_renewed_token() -> None:
    """The client goes on with the copy that it has (G6), for as long as that states."""
    world = Whole()
    world.card(max_age=60, credential="old")
    world.waits(100)
    world.observe(CardFetched(request=world.asks_for_card(credential="new"), status=304, confirmed=True))
    world.waits(50)
    world.send(WORKING, credential="new")
    assert not world.rules()
    world.waits(50)
    world.send(WORKING, task="t2", credential="new")
    assert world.rules() == [RULE]


@legal(RULE)
def test_a_card_fetched_for_this_very_call() -> None:
    """no-cache, and the call leaves a moment later."""
    world = Whole()
    world.card(max_age=0)
    world.waits(4)
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
def test_a_younger_extended_card() -> None:
    """One fresh document that lists the interface is enough."""
    world = Whole()
    world.card(max_age=60)
    world.waits(61)
    world.card(extended=True, credential="digest(token)")
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
def test_a_refused_card_that_was_fetched_again() -> None:
    """The application looked again, and had no objection."""
    world = Whole()
    world.card()
    world.rejects_card()
    world.card()
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
def test_a_refused_card_of_two() -> None:
    """Another document that lists the interface was accepted."""
    world = Whole()
    world.card()
    world.card(url="https://registry.example/agents/pay.json")
    world.rejects_card()
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
def test_work_in_flight_needs_no_fresh_card() -> None:
    """A task that runs does not depend on how old the card has become (seed 004)."""
    world = Whole(max_card_age=60)
    world.card()
    world.send(WORKING)
    world.waits(3600)
    world.message("t1", WORKING)
    world.get("t1", COMPLETED)
    assert not world.rules()


@legal(RULE)
def test_a_pinned_card_is_never_stale() -> None:
    """Whoever pins a card says how old it may be: any age."""
    world = Whole(pinned_cards=("*",), max_card_age=60)
    world.card()
    world.waits(3600)
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
def test_an_agent_that_only_answers_with_messages() -> None:
    """Where there are no tasks, nothing is created (G11)."""
    world = Whole()
    world.card(max_age=60)
    world.says(world.leaves(Method.SEND_MESSAGE))
    world.waits(3600)
    world.says(world.leaves(Method.SEND_MESSAGE))
    assert not world.rules()


# --- late


@late(RULE)
def test_a_card_fetched_before_we_looked() -> None:
    """Of a card that was not seen, no age is known."""
    world = Whole(max_card_age=60)
    world.get("t0", WORKING)
    world.waits(3600)
    world.send(WORKING)
    assert not world.rules()


@late(RULE)
def test_a_cached_copy_is_the_first_that_is_seen() -> None:
    """How old it is, only its header says; where that is silent, it is as young as it may be."""
    world = Whole(max_card_age=60)
    world.card(from_cache=True)
    world.send(WORKING)
    assert not world.rules()
