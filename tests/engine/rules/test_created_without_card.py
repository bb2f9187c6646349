# SPDX-License-Identifier: Apache-2.0
"""created-without-card: new work was sent to an agent whose card could not be fetched (rules.md, G8)."""

from __future__ import annotations

import pytest

from otel_a2a.observations import Hints, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import OLD_CARD_URL, Whole
from tests.support.world import CARD_URL, ENDPOINT, WORKING, message

RULE = "created-without-card"
FAILURES: tuple[int | str, ...] = (503, 500, 404, 410, 403, "ConnectError", "ReadTimeout", "invalid_agent_card")


# --- it fires


@fires(RULE)
@pytest.mark.parametrize("method", [Method.SEND_MESSAGE, Method.SEND_STREAMING_MESSAGE])
@pytest.mark.parametrize("failure", FAILURES)
def test_the_first_discovery_failed(failure: int | str, method: str) -> None:
    """Nothing is known of the agent, its card cannot be had, and new work leaves: a violation."""
    world = Whole()
    world.card_fails(failure)
    world.leaves(method)
    assert world.rules() == [RULE] and world.levels(RULE) == ["violation"]


@fires(RULE)
def test_an_unexpired_copy_makes_it_an_improvement() -> None:
    """A card that was had a minute ago, and states no age, still covers the interface."""
    world = Whole()
    world.card()
    world.waits(60)
    world.card_fails(503)
    world.send(WORKING)
    assert world.rules() == [RULE] and world.levels(RULE) == ["improvement"]


@fires(RULE)
def test_an_expired_copy_covers_nothing() -> None:
    """The copy is older than it may be, and a newer one cannot be had."""
    world = Whole()
    world.card(max_age=30)
    world.waits(60)
    world.card_fails(503)
    world.send(WORKING)
    assert world.rules() == [RULE] and world.levels(RULE) == ["violation"]


@fires(RULE)
def test_a_copy_that_the_application_refused_covers_nothing() -> None:
    """A rejected document is no document."""
    world = Whole()
    world.card()
    world.rejects_card()
    world.waits(60)
    world.card_fails(503)
    world.send(WORKING)
    assert world.levels(RULE) == ["violation"]


@fires(RULE)
@pytest.mark.parametrize("profile", ["authority", "version-fenced"])
def test_a_profile_that_takes_the_seeds_at_their_word(profile: str) -> None:
    """There an unexpired copy does not stand in for a card that cannot be fetched."""
    world = Whole(profile=profile)
    world.card()
    world.waits(60)
    world.card_fails(503)
    world.send(WORKING)
    assert world.levels(RULE) == ["violation"]


@fires(RULE)
def test_both_paths_failed() -> None:
    """The fallback to the older well-known path failed too."""
    world = Whole()
    world.card_fails(404)
    world.card_fails(404, url=OLD_CARD_URL)
    world.send(WORKING)
    assert world.rules() == [RULE]


@fires(RULE)
def test_once_per_outage() -> None:
    """Ten sends in one outage are one incident; the next outage is another."""
    world = Whole()
    for _ in range(2):
        world.card()
        world.waits(60)
        world.card_fails(503)
        for number in range(10):
            world.send(WORKING, task=f"t{number}", sent=message(f"job {number}", f"m{number}"))
    assert world.rules() == [RULE, RULE]


# --- it does not fire


@legal(RULE)
@pytest.mark.parametrize("first", [404, 405])
def test_a_fallback_to_the_older_path(first: int) -> None:
    """404 on one well-known path and 200 on the other is one discovery, and it succeeded."""
    world = Whole()
    world.card_fails(first)
    world.card(url=OLD_CARD_URL)
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("seconds", [0, 3600])
def test_the_path_that_the_agent_does_not_have(seconds: float) -> None:
    """A 404 on the other path says nothing, however long after the card was had."""
    world = Whole()
    world.card(url=OLD_CARD_URL)
    world.waits(seconds)
    world.card_fails(404)
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("status", [401, 403])
def test_turned_away_and_let_in_with_a_credential(status: int) -> None:
    """A card that is only for those who say who they are."""
    world = Whole()
    world.card_fails(status)
    world.card(credential="digest(token)")
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
def test_somebody_without_the_credential_is_turned_away_later() -> None:
    """Another component asks without a credential: the card is where it was."""
    world = Whole()
    world.card(credential="digest(token)")
    world.waits(60)
    world.card_fails(401)
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
def test_the_loser_of_hedged_fetches() -> None:
    """Two fetches leave at once; one has the card, the other is cut off."""
    world = Whole()
    slow, fast = world.asks_for_card(), world.asks_for_card()
    world.card(request=fast)
    world.card_fails("ReadTimeout", request=slow)
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
def test_the_loser_that_failed_first() -> None:
    """Of two fetches one fails, then the other has the card."""
    world = Whole()
    slow, fast = world.asks_for_card(), world.asks_for_card()
    world.card_fails(503, request=fast)
    world.card(request=slow)
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("answer", ["card", "confirmed"])
def test_a_retry_after_a_5xx(answer: str) -> None:
    """The fetch is repeated, and the card is had or confirmed."""
    world = Whole()
    world.card()
    world.card_fails(503)
    if answer == "card":
        world.card()
    else:
        world.card_confirmed()
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
def test_a_card_out_of_a_registry() -> None:
    """Its well-known path is empty, and the card comes from another address."""
    world = Whole()
    world.card_fails(404)
    world.card(url="https://registry.example/agents/pay.json")
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
def test_an_extended_card_that_cannot_be_had() -> None:
    """The extended card is an extra: the public one admits work."""
    world = Whole()
    world.card()
    world.card_fails(503, extended=True, url=CARD_URL)
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
def test_a_pinned_card() -> None:
    """The operator, or the application, relies on a card of its own on purpose."""
    world = Whole(pinned_cards=("agent.example",))
    world.card_fails(503)
    world.send(WORKING)
    hinted = Whole()
    hinted.card_fails(503)
    hinted.send(WORKING, hints=Hints(pinned_card=True))
    assert not world.rules() and not hinted.rules()


@legal(RULE)
def test_work_in_flight_goes_on() -> None:
    """A message into a task, or to the context of a live one, reads and cancels need no card."""
    world = Whole()
    world.card()
    world.send(WORKING)
    world.card_fails(503)
    world.message("t1", WORKING)
    world.leaves(Method.SEND_MESSAGE, context="c1", sent=message("one more word", "m3"))
    world.get("t1", WORKING)
    world.waits(31)
    world.cancel("t1")
    assert not world.rules()


@legal(RULE)
def test_an_agent_that_only_answers_with_messages() -> None:
    """Where there are no tasks, nothing is created (G11)."""
    world = Whole()
    world.says(world.leaves(Method.SEND_MESSAGE))
    world.card_fails(503)
    world.says(world.leaves(Method.SEND_MESSAGE))
    assert not world.rules()


@legal(RULE)
def test_another_agent_s_outage() -> None:
    """What one agent's card does says nothing about another agent."""
    world = Whole()
    world.card()
    world.card_fails(503, url="https://other.example/.well-known/agent-card.json")
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
def test_a_neighbour_at_the_same_host() -> None:
    """The root of a host has no card, and the agent below it has one."""
    world = Whole()
    world.card(url=f"{ENDPOINT}/.well-known/agent-card.json")
    world.card_fails(404)
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("status", [301, 307])
def test_a_redirect_to_wherever_the_card_is(status: int) -> None:
    """It counts by its end, which need not look like a card's address."""
    world = Whole()
    world.card_fails(status)
    world.send(WORKING)
    assert not world.rules()


@legal(RULE)
def test_a_copy_on_the_client_s_disk_that_is_confirmed() -> None:
    """Its content was never seen here, but the agent has just said that it holds. The next failure is one again."""
    world = Whole()
    world.card_fails(503)
    world.card_confirmed()
    world.send(WORKING)
    assert not world.rules()
    world.card_fails(503)
    world.send(WORKING, task="t2")
    assert world.rules() == [RULE]


# --- late


@late(RULE)
def test_who_had_the_card_before_we_looked() -> None:
    """The client had worked with the agent before its card was asked for here: it may hold a copy, so no violation."""
    world = Whole()
    world.get("t0", WORKING)
    world.waits(600)
    world.card_fails(503)
    world.send(WORKING, sent=message("next", "m2"))
    assert world.levels(RULE) == ["improvement"]


@late(RULE)
def test_a_card_that_was_never_asked_for_here() -> None:
    """Without any discovery nothing is known of one."""
    world = Whole()
    world.send(WORKING)
    assert not world.findings
