# SPDX-License-Identifier: Apache-2.0
"""Several agents whose cards are at one path, told apart by the query (LangGraph: ``?assistant_id=…``)."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.wire import urls
from tests.support.marks import fires, legal
from tests.support.whole import Whole
from tests.support.world import HOST, INPUT, SUBMITTED, WORKING, message

ACROSS = "continued-across-revisions"
WITHOUT = "created-without-card"


def card_url(name: str) -> str:
    """Where the card of an assistant is."""
    return urls.fetch_url(f"https://{HOST}/.well-known/agent-card.json?assistant_id={name}")


def endpoint(name: str) -> str:
    """Where an assistant takes calls."""
    return f"https://{HOST}/a2a/{name}"


def shows(world: Whole, assistant: str, **card: Any) -> None:
    """The card of an assistant is fetched."""
    world.card(url=card_url(assistant), interfaces=(endpoint(assistant),), **card)


@legal(ACROSS)
@pytest.mark.parametrize("profile", ["default", "fenced"])
def test_the_other_assistant_s_card(profile: str) -> None:
    """It is another document: neither a change of this one nor the end of its interface."""
    world = Whole(profile=profile)
    shows(world, "one")
    world.send(INPUT, endpoint=endpoint("one"))
    shows(world, "two", skills=("chess",))
    world.message("t1", endpoint=endpoint("one"))
    assert not world.rules()


@fires(ACROSS)
def test_its_own_card() -> None:
    """What changes there is a change."""
    world = Whole()
    shows(world, "one")
    world.send(INPUT, endpoint=endpoint("one"))
    shows(world, "two")
    shows(world, "one", skills=("chess",))
    world.message("t1", endpoint=endpoint("one"))
    assert world.rules() == [ACROSS]


@fires("backward-transition")
def test_assistants_of_two_names() -> None:
    """Neither stands in the other's place: the tasks of both are remembered."""
    world = Whole()
    shows(world, "one", name="One")
    world.send(WORKING, endpoint=endpoint("one"))
    shows(world, "two", name="Two")
    world.get("t1", SUBMITTED, endpoint=endpoint("one"))
    assert world.rules() == ["backward-transition"]


@legal(WITHOUT)
def test_the_other_assistant_s_card_cannot_be_had() -> None:
    """That says nothing of this one's."""
    world = Whole()
    shows(world, "one")
    world.card_fails(500, url=card_url("two"))
    world.send(WORKING, endpoint=endpoint("one"))
    assert not world.rules()


@fires(WITHOUT)
@pytest.mark.parametrize("neighbour", [True, False])
def test_its_own_card_cannot_be_had(neighbour: bool) -> None:
    """Whether or not another one's could."""
    world = Whole()
    if neighbour:
        shows(world, "one")
    world.card_fails(500, url=card_url("two"))
    world.send(WORKING, endpoint=endpoint("two"))
    assert world.rules() == [WITHOUT] and world.levels(WITHOUT) == ["violation"]


@legal(WITHOUT)
def test_an_agent_that_was_forgotten() -> None:
    """With it goes what became of its discovery: alone, that would accuse whoever calls it again."""
    world = Whole(max_agents=1)
    world.card_fails(500, url=card_url("one"))
    world.get("t1", WORKING, endpoint=endpoint("one"))
    world.get("t1", WORKING, endpoint="https://other.example/a2a")
    world.send(WORKING, endpoint=endpoint("one"), sent=message("next", "m9"))
    assert WITHOUT not in world.rules()
