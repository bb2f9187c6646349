# SPDX-License-Identifier: Apache-2.0
"""What is used and not offered: skill-not-advertised and operation-not-advertised."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_a2a.errors import AgentCardStalenessError
from otel_a2a.observations import CardRequested, Hints, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import Whole
from tests.support.world import ENDPOINT, HOST, INPUT, WORKING, message

SKILL = "skill-not-advertised"
OPERATION = "operation-not-advertised"
SHIP = Hints(skill="ship")


# --- skills


@fires(SKILL)
def test_a_skill_that_the_agent_does_not_offer() -> None:
    """Seed 000: where the required skill is absent, do not create the task."""
    world = Whole()
    world.card()
    world.send(WORKING, hints=SHIP)
    assert world.rules() == [SKILL] and world.levels(SKILL) == ["violation"]


@fires(SKILL)
def test_a_skill_that_was_revoked() -> None:
    """The newest document counts."""
    world = Whole()
    world.card(skills=("pay", "ship"))
    world.card(skills=("pay",))
    world.send(WORKING, hints=SHIP)
    assert world.levels(SKILL) == ["violation"]


@fires(SKILL)
def test_a_stale_card_may_be_wrong_about_skills() -> None:
    """What is too old to rely on accuses less."""
    world = Whole()
    world.card(max_age=60)
    world.waits(61)
    world.send(WORKING, hints=SHIP)
    assert world.levels(SKILL) == ["improvement"]


@fires(SKILL)
def test_the_extended_card_may_offer_it() -> None:
    """The public card announces an extended one, which nobody has fetched here."""
    world = Whole()
    world.card(extended_card=True)
    world.send(WORKING, hints=SHIP)
    assert world.levels(SKILL) == ["improvement"]
    world.card(extended=True, credential="digest(token)", extended_card=True)
    world.send(WORKING, task="t2", sent=message("next", "m2"), hints=SHIP)
    assert world.levels(SKILL) == ["improvement", "violation"]


@legal(SKILL)
@pytest.mark.parametrize("where", ["public", "extended", "registry"])
def test_a_skill_that_any_accepted_document_offers(where: str) -> None:
    """The extended card, or one of a catalogue, may offer more than the public one."""
    world = Whole()
    world.card(skills=("pay", "ship") if where == "public" else ("pay",))
    if where == "extended":
        world.card(skills=("ship",), extended=True, credential="digest(token)")
    elif where == "registry":
        world.card(skills=("ship",), url="https://registry.example/agents/pay.json")
    world.card_confirmed()
    world.send(WORKING, hints=SHIP)
    assert not world.rules()


@legal(SKILL)
def test_no_skill_is_hinted() -> None:
    """The wire names no skill, and nothing is guessed."""
    world = Whole()
    world.card(skills=())
    world.send(WORKING)
    world.send(WORKING, task="t2", sent=message("next", "m2"), hints=Hints(side_effect=True))
    assert not world.rules()


@legal(SKILL)
def test_a_task_in_flight_keeps_its_skill() -> None:
    """Seed 000: a revoked skill is no reason to stop what runs, once the agent has answered for it."""
    world = Whole()
    world.card(skills=("ship",))
    world.send(INPUT, hints=SHIP)
    world.card(skills=())
    world.get("t1", INPUT)
    world.message("t1", WORKING, hints=SHIP)
    world.cancel("t1", hints=replace(SHIP, reason="user"))
    assert not world.rules()


@legal(SKILL)
def test_a_pinned_card_s_skills_are_its_owner_s_affair() -> None:
    """What the agent serves says nothing to whoever pinned another card."""
    world = Whole()
    world.card()
    world.send(WORKING, hints=replace(SHIP, pinned_card=True))
    assert not world.rules()


@late(SKILL)
def test_skills_of_a_card_that_was_not_seen() -> None:
    """No card, no word about skills."""
    world = Whole()
    world.send(WORKING, hints=SHIP)
    assert not world.rules()


# --- operations


@fires(OPERATION)
@pytest.mark.parametrize("denied", [False, None])
def test_a_stream_that_the_card_denies(denied: bool | None) -> None:
    """Where there are capabilities, an absent flag is a denial."""
    world = Whole()
    world.card(streaming=denied)
    world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE), WORKING)
    assert world.rules() == [OPERATION] and world.levels(OPERATION) == ["violation"]


@fires(OPERATION)
@pytest.mark.parametrize("denied", [False, None])
def test_an_extended_card_that_the_card_denies(denied: bool | None) -> None:
    """A request for what is not announced."""
    world = Whole()
    world.card(extended_card=denied)
    world.leaves(Method.GET_EXTENDED_CARD)
    assert world.rules() == [OPERATION] and world.levels(OPERATION) == ["violation"]


def extended_card_over_http_json(world: Whole) -> None:
    """The extended card is fetched like a document: so it is over HTTP+JSON."""
    url = f"{ENDPOINT}/extendedAgentCard"
    world.observe(CardRequested(url=url, server_address=HOST, extended=True, endpoint=ENDPOINT))


@fires(OPERATION)
def test_an_extended_card_over_http_json_that_the_card_denies() -> None:
    """Where it is no call of JSON-RPC, asking for what is not announced is the same."""
    world = Whole()
    world.card()
    extended_card_over_http_json(world)
    assert world.rules() == [OPERATION] and world.levels(OPERATION) == ["violation"]


@fires(OPERATION)
def test_an_extended_card_over_http_json_is_not_asked_for_in_mode_raise() -> None:
    """It can be stopped, as the call over JSON-RPC can."""
    world = Whole(strictness="raise")
    world.card()
    extended_card_over_http_json(world)
    assert isinstance(world.last.error, AgentCardStalenessError)


@legal(OPERATION)
def test_an_extended_card_over_http_json_that_is_offered_or_unheard_of() -> None:
    """Announced, pinned by the operator, or asked of an agent whose card is not known."""
    offered, pinned, unknown = Whole(), Whole(pinned_cards=(HOST,)), Whole()
    offered.card(extended_card=True)
    pinned.card()
    for world in (offered, pinned, unknown):
        extended_card_over_http_json(world)
        assert not world.rules()


@fires(OPERATION)
@pytest.mark.parametrize("method", [Method.SEND_STREAMING_MESSAGE, Method.GET_EXTENDED_CARD])
def test_a_card_without_capabilities_says_less(method: str) -> None:
    """Some cards of 0.x leave the whole object out, and their agents stream."""
    world = Whole()
    world.card(streaming=None, extended_card=None, has_capabilities=False)
    world.leaves(method)
    assert world.levels(OPERATION) == ["improvement"]


@fires(OPERATION)
def test_a_flag_in_a_card_without_capabilities_is_a_word() -> None:
    """supportsAuthenticatedExtendedCard: false is not absent."""
    world = Whole()
    world.card(extended_card=False, has_capabilities=False)
    world.leaves(Method.GET_EXTENDED_CARD)
    assert world.levels(OPERATION) == ["violation"]


@legal(OPERATION)
def test_what_the_card_offers() -> None:
    """Streaming and the extended card, both offered."""
    world = Whole()
    world.card(extended_card=True)
    world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE), WORKING)
    world.leaves(Method.GET_EXTENDED_CARD)
    assert not world.rules()


@legal(OPERATION)
def test_the_extended_card_in_force_offers_it() -> None:
    """Extended goes before public."""
    world = Whole()
    world.card(extended=True, credential="digest(token)", extended_card=True)
    world.card(streaming=False)
    world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE), WORKING)
    assert not world.rules()


@legal(OPERATION)
def test_streams_of_tasks_that_exist() -> None:
    """A message into a task, and a subscription, start nothing new."""
    world = Whole()
    world.card(streaming=False)
    world.send(WORKING)
    world.streams(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), WORKING)
    world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", sent=message("more", "m2")), WORKING)
    assert not world.rules()


@legal(OPERATION)
def test_a_plain_send_to_an_agent_that_does_not_stream() -> None:
    """The way back, for which nothing has to be offered."""
    world = Whole()
    world.card(streaming=False)
    world.send(WORKING)
    world.get("t1", WORKING)
    assert not world.rules()


@legal(OPERATION)
def test_a_pinned_card_s_operations() -> None:
    """Whoever pins a card goes by that one."""
    world = Whole(pinned_cards=("agent.*",))
    world.card(streaming=False)
    world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE), WORKING)
    assert not world.rules()


@late(OPERATION)
def test_operations_of_an_agent_whose_card_was_not_seen() -> None:
    """No card, no denial."""
    world = Whole()
    world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE), WORKING)
    world.leaves(Method.GET_EXTENDED_CARD)
    assert not world.rules()
