# SPDX-License-Identifier: Apache-2.0
"""Two fetches of a card at once, answered in the other order: the one that left last says what the card is (G2)."""

from __future__ import annotations

from otel_a2a.observations import Hints, Method
from tests.support.whole import Whole
from tests.support.world import INPUT, message

FLIES = Hints(skill="fly")
OLD, NEW = ("pay",), ("pay", "fly")


def test_an_older_card_that_arrives_last_takes_nothing_away() -> None:
    """Hedged fetches in a rolling deploy: the client works with the answer that it had first."""
    world = Whole()
    old, new = world.asks_for_card(), world.asks_for_card()
    world.card(skills=NEW, request=new)
    world.card(skills=OLD, request=old)
    world.leaves(Method.SEND_MESSAGE, hints=FLIES)
    assert not world.rules()


def test_a_newer_card_that_arrives_first_has_narrowed() -> None:
    """The older answer does not give back what the newer one has taken."""
    world = Whole()
    world.card(skills=NEW)
    world.send(INPUT, hints=FLIES)
    old, new = world.asks_for_card(), world.asks_for_card()
    world.card(skills=OLD, request=new)
    world.card(skills=NEW, request=old)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("go on", "m2"), hints=FLIES)
    assert world.rules() == ["continued-across-revisions"]


def test_a_card_that_was_confirmed_since_is_the_newer_one() -> None:
    """A 304 says that the card is still what it was when that was asked."""
    world = Whole()
    world.card(skills=NEW)
    old = world.asks_for_card()
    world.card_confirmed()
    world.card(skills=OLD, request=old)
    world.leaves(Method.SEND_MESSAGE, hints=FLIES)
    assert not world.rules()


def test_cards_one_after_the_other() -> None:
    """The next fetch is the newer one, whatever it says."""
    world = Whole()
    for skills in (NEW, OLD, NEW, OLD):
        world.card(skills=skills)
    world.leaves(Method.SEND_MESSAGE, hints=FLIES)
    assert world.rules() == ["skill-not-advertised"]
