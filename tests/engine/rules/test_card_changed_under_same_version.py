# SPDX-License-Identifier: Apache-2.0
"""card-changed-under-same-version: the card changed in what tasks depend on, but kept its version (seed 004)."""

from __future__ import annotations

from tests.support.marks import fires, late, legal
from tests.support.whole import OLD_CARD_URL, Whole
from tests.support.world import CARD_URL

RULE = "card-changed-under-same-version"
FEWER = ("pay",)


# --- it fires


@fires(RULE)
def test_another_revision_under_the_same_version() -> None:
    """A2A promises nothing of a version, and most operators never change it: information."""
    world = Whole()
    world.card()
    world.card(skills=FEWER)
    assert world.levels(RULE) == ["information"] and not world.rules()


@fires(RULE)
def test_a_violation_where_versions_are_declared_immutable() -> None:
    """Seed 004, condition 1: the operator has published that they are."""
    world = Whole(immutable_per_version=True)
    world.card()
    world.card(skills=FEWER)
    assert world.rules() == [RULE] and world.levels(RULE) == ["violation"]


@fires(RULE)
def test_a_card_that_flaps_is_one_incident() -> None:
    """Two replicas behind a load balancer say two things under one version, over and over."""
    world = Whole(immutable_per_version=True)
    for _ in range(3):
        world.card()
        world.card(skills=FEWER)
    assert world.rules() == [RULE]


# --- it does not fire


@legal(RULE)
def test_another_version() -> None:
    """That is what versions are for, forwards and backwards."""
    world = Whole(immutable_per_version=True)
    world.card(version="1")
    world.card(version="2", skills=FEWER)
    world.card(version="1")
    assert not world.rules() and not world.levels(RULE)


@legal(RULE)
def test_words_and_modes_are_not_what_tasks_depend_on() -> None:
    """The same revision, whatever else has changed."""
    world = Whole(immutable_per_version=True)
    world.card()
    world.card(description="better words", input_modes=("text/plain",))
    world.card_confirmed()
    assert not world.levels(RULE)


@legal(RULE)
def test_a_card_without_a_version() -> None:
    """An empty version promises nothing."""
    world = Whole(immutable_per_version=True)
    world.card(version="")
    world.card(version="", skills=FEWER)
    assert not world.levels(RULE)


@legal(RULE)
def test_documents_are_compared_with_their_own_history() -> None:
    """Another path, another kind and another credential are other documents (G6)."""
    world = Whole(immutable_per_version=True)
    world.card()
    world.card(url=OLD_CARD_URL, skills=FEWER)
    world.card(extended=True, skills=("pay", "refund", "ship"), credential="one")
    world.card(extended=True, skills=("pay",), credential="two")
    assert not world.levels(RULE)


@legal(RULE)
def test_another_agent_at_the_same_address() -> None:
    """Another name is another record (G3)."""
    world = Whole(immutable_per_version=True)
    world.card(name="One")
    world.card(name="Two", skills=FEWER)
    assert not world.levels(RULE)


@legal(RULE)
def test_an_old_copy_out_of_a_cache() -> None:
    """A cache hit is no word of the agent."""
    world = Whole(immutable_per_version=True)
    world.card()
    world.card(skills=FEWER, from_cache=True)
    assert not world.findings


@legal(RULE)
def test_a_pinned_card() -> None:
    """Whoever pins a card does not ask what the agent serves."""
    world = Whole(immutable_per_version=True, pinned_cards=("agent.example",))
    world.card()
    world.card(skills=FEWER)
    assert not world.levels(RULE)


# --- late


@late(RULE)
def test_the_first_card_that_is_seen() -> None:
    """Nobody knows what it said before."""
    world = Whole(immutable_per_version=True)
    world.card(url=CARD_URL)
    assert not world.findings
