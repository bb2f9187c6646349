# SPDX-License-Identifier: Apache-2.0
"""Information about cards: nobody did wrong, and somebody will want to know."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import Method
from tests.support.marks import fires, late, legal
from tests.support.whole import OLD_CARD_URL, Whole
from tests.support.world import COMPLETED, WORKING, message

CHANGED = "card-revision-changed"
DOWNGRADE = "discovery-downgrade"
MODES = "card-modes-changed"
UNAVAILABLE = "discovery-unavailable"
PER_POLL = "card-fetched-per-poll"
NO_CARD = "not-an-agent-card"
FEWER = ("pay",)


def cards(first: dict[str, Any], second: dict[str, Any]) -> Whole:
    """A card is fetched twice, and the second time says something else."""
    world = Whole()
    world.card(**first)
    world.card(**second)
    return world


@fires(CHANGED)
def test_another_revision() -> None:
    """And which live tasks lose something that they use."""
    world = Whole()
    world.card()
    for number, state in enumerate((WORKING, COMPLETED)):
        world.send(state, task=f"t{number}", sent=message(f"job {number}", f"m{number}"))
    world.card(skills=FEWER)
    assert CHANGED in world.information() and not world.rules()
    (said,) = [each.message for each in world.findings if each.rule == CHANGED]
    assert "1 live task(s)" in said and "t0" in said


@fires(CHANGED)
def test_a_card_that_flaps_is_told_once_each_way() -> None:
    """A/B/A/B."""
    world = cards({}, {"skills": FEWER})
    for _ in range(3):
        world.card()
        world.card(skills=FEWER)
    assert world.information().count(CHANGED) == 2


@legal(CHANGED)
@legal(DOWNGRADE)
@pytest.mark.parametrize(
    "second",
    [{}, {"description": "better words"}, {"name": "Another"}, {"url": OLD_CARD_URL}, {"credential": "token"}],
    ids=str,
)
def test_the_same_revision_or_another_document(second: dict[str, Any]) -> None:
    """Words, another agent at the address, another path and another reader are no change of this document."""
    less = {} if second in ({}, {"description": "better words"}) else {"skills": FEWER, "push": False}
    world = cards({}, second | less)
    assert CHANGED not in world.information() and DOWNGRADE not in world.information()


@late(CHANGED)
@late(DOWNGRADE)
@late(MODES)
def test_the_first_card_that_is_seen() -> None:
    """Nobody knows what it said before."""
    world = Whole()
    world.get("t1", WORKING)
    world.card(skills=FEWER, push=False, input_modes=("text/plain",))
    assert not world.findings


@fires(DOWNGRADE)
@pytest.mark.parametrize("withdrawn", [{"push": False}, {"streaming": False}, {"push": None, "streaming": None}])
def test_push_or_streaming_was_withdrawn(withdrawn: dict[str, Any]) -> None:
    """Back to polling (seed 004)."""
    assert DOWNGRADE in cards({}, withdrawn).information()


@legal(DOWNGRADE)
def test_what_was_never_offered_or_is_offered_now() -> None:
    """An upgrade, and a skill that is gone."""
    world = cards({"push": False}, {"skills": FEWER})
    assert CHANGED in world.information() and DOWNGRADE not in world.information()


@fires(MODES)
def test_other_media_types() -> None:
    """They are no part of the revision."""
    world = cards({"input_modes": ("text/plain",)}, {"input_modes": ("text/plain", "application/json")})
    assert world.information() == [MODES]


@legal(MODES)
def test_the_same_media_types() -> None:
    """In whatever order."""
    world = cards({"input_modes": ("a/a", "b/b")}, {"input_modes": ("b/b", "a/a"), "skills": FEWER})
    assert MODES not in world.information()


@fires(UNAVAILABLE)
def test_a_card_that_cannot_be_had_while_tasks_are_live() -> None:
    """Seed 004: they go on, by polling. Once per outage."""
    world = Whole()
    for _ in range(2):
        world.card()
        world.send(WORKING)
        for _ in range(3):
            world.card_fails(503)
            world.get("t1", WORKING)
    assert world.information() == [UNAVAILABLE, UNAVAILABLE]


@legal(UNAVAILABLE)
def test_failures_that_concern_no_task() -> None:
    """No task is live, or the failure is none (G8)."""
    world = Whole()
    world.card()
    world.send(COMPLETED)
    world.card_fails(503)
    world.card()
    world.send(WORKING, task="t2", sent=message("next", "m2"))
    slow, fast = world.asks_for_card(), world.asks_for_card()
    world.card(request=fast)
    world.card_fails("ReadTimeout", request=slow)
    world.card_fails(404, url=OLD_CARD_URL)
    world.card_fails(405)
    assert UNAVAILABLE not in world.information()


@late(UNAVAILABLE)
def test_a_card_that_was_never_had_here() -> None:
    """Whose tasks are concerned, nobody here knows."""
    world = Whole()
    world.get("t1", WORKING)
    world.card_fails(503)
    assert not world.findings


@fires(PER_POLL)
def test_the_card_with_every_poll() -> None:
    """Five times in a row (seed 004)."""
    world = Whole()
    world.card()
    world.send(WORKING)
    for _ in range(10):
        world.get("t1", WORKING)
        world.card()
    assert world.information() == [PER_POLL]


@legal(PER_POLL)
@pytest.mark.parametrize("habit", ["now and then", "before new work", "by contract"])
def test_cards_that_are_fetched_for_other_reasons(habit: str) -> None:
    """Now and then, before each new task, or where every turn re-validates by contract."""
    world = Whole(card_per_turn=habit == "by contract")
    world.card()
    world.send(WORKING)
    for number in range(10):
        if habit == "before new work":
            world.send(WORKING, task=f"t{number}", sent=message(f"job {number}", f"n{number}"))
        for _ in range(1 if habit == "by contract" else 3 if habit == "now and then" else 0):
            world.get("t1", WORKING)
        world.card()
    assert not world.information()


@late(PER_POLL)
def test_the_first_fetch_that_is_seen() -> None:
    """No habit yet."""
    world = Whole()
    for _ in range(5):
        world.leaves(Method.GET_TASK, "t1")
    world.card()
    assert not world.findings


@fires(NO_CARD)
@late(NO_CARD)
def test_a_document_that_is_no_card() -> None:
    """Something else answers at the card's address; once."""
    world = Whole()
    for _ in range(3):
        world.no_card()
    assert world.information() == [NO_CARD]


@legal(NO_CARD)
def test_a_card_and_its_confirmation() -> None:
    """A 304 has no document."""
    world = Whole()
    world.card()
    world.card_confirmed()
    assert not world.findings
