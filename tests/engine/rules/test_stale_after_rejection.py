# SPDX-License-Identifier: Apache-2.0
"""stale-after-rejection: the endpoint turned a call away, and new work was sent there without looking at the card."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.engine.apply.calls import NEED_NOT_BE_THERE
from otel_a2a.observations import Method
from tests.support.marks import fires, late, legal
from tests.support.whole import Whole
from tests.support.world import ENDPOINT, WORKING, message

RULE = "stale-after-rejection"
NEXT = message("next", "m2")


def turned_away(status: int = 404, method: str = Method.SEND_MESSAGE, **request: Any) -> Whole:
    """An agent whose card is known, and whose endpoint turned a call away."""
    world = Whole()
    world.card()
    world.waits(60)
    world.breaks(world.leaves(method, "" if method == Method.SEND_MESSAGE else "t1", **request), status)
    return world


# --- it fires


@fires(RULE)
@pytest.mark.parametrize("method", [Method.SEND_MESSAGE, Method.GET_TASK, Method.CANCEL_TASK])
@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_new_work_without_a_look_at_the_card(status: int, method: str) -> None:
    """Whatever call was turned away by something that is no agent, new work follows to the same place."""
    world = turned_away(status, method)
    world.send(WORKING, sent=NEXT)
    assert world.rules() == [RULE] and world.levels(RULE) == ["improvement"]


@fires(RULE)
def test_the_same_message_again_as_it_was() -> None:
    """To send the same thing to a closed door once more is no answer to that."""
    world = turned_away(404)
    world.send(WORKING)
    assert world.rules() == [RULE]


@fires(RULE)
def test_a_card_had_before_the_rejection_does_not_count() -> None:
    """Only a look after it can tell what became of the interface."""
    world = Whole()
    world.card()
    call = world.leaves(Method.SEND_MESSAGE)
    world.card()
    world.breaks(call, 410)
    world.send(WORKING, sent=NEXT)
    assert world.rules() == [RULE]


# --- it does not fire


@legal(RULE)
@pytest.mark.parametrize("answer", ["card", "confirmed"])
def test_a_look_at_the_card_first(answer: str) -> None:
    """Seed 000: re-fetch on 401, 403 and 404, for the admission of new work."""
    world = turned_away()
    if answer == "card":
        world.card()
    else:
        world.card_confirmed()
    world.send(WORKING, sent=NEXT)
    assert not world.rules()


@legal(RULE)
def test_a_look_that_failed_is_another_rule_s() -> None:
    """The fetch has finished, if in vain: created-without-card says what there is to say."""
    world = turned_away()
    world.card_fails(503)
    world.send(WORKING, sent=NEXT)
    assert world.rules() == ["created-without-card"]


@legal(RULE)
@pytest.mark.parametrize("status", [401, 403])
def test_the_same_message_with_another_credential(status: int) -> None:
    """The token had run out, and was renewed."""
    world = turned_away(status, credential="old")
    world.send(WORKING, credential="new")
    assert not world.rules()


@legal(RULE)
def test_several_messages_turned_away_at_once() -> None:
    """The token ran out under three sends; all three leave again with the new one."""
    world = Whole()
    world.card()
    sends = [message(f"job {number}", f"m{number}") for number in range(3)]
    calls = [world.leaves(Method.SEND_MESSAGE, sent=sent, credential="old") for sent in sends]
    for call in calls:
        world.breaks(call, 401)
    again = [world.leaves(Method.SEND_MESSAGE, sent=sent, credential="new") for sent in sends]
    for number, call in enumerate(again):
        world.answers(call, WORKING, task=f"t{number}")
    assert not world.rules()


@legal(RULE)
def test_another_client_has_another_credential() -> None:
    """That one user is turned away says nothing about another one."""
    world = turned_away(403, credential="one")
    world.send(WORKING, sent=NEXT, credential="two")
    assert not world.rules()


@legal(RULE)
def test_another_interface_of_the_card() -> None:
    """A client that tries one binding, and then the other: that door is not the one that was closed."""
    other = f"{ENDPOINT}/jsonrpc"
    world = Whole()
    world.card(interfaces=(ENDPOINT, other))
    world.breaks(world.leaves(Method.SEND_MESSAGE), 404)
    world.send(WORKING, endpoint=other)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("status", [404, 410])
@pytest.mark.parametrize("method", sorted(NEED_NOT_BE_THERE))
def test_an_operation_that_the_agent_does_not_have(method: str, status: int) -> None:
    """Over HTTP+JSON each operation has a path, and a router does not know those that nobody wrote."""
    world = over_http_json(method, status)
    assert not world.rules()


@fires(RULE)
@pytest.mark.parametrize(
    ("method", "status"), [(Method.LIST_TASKS, 403), (Method.GET_TASK, 404), (Method.CANCEL_TASK, 410)]
)
def test_over_http_json_too(method: str, status: int) -> None:
    """Every agent can be read and cancelled at, and a door that is closed is closed for all."""
    assert over_http_json(method, status).rules() == [RULE]


def over_http_json(method: str, status: int) -> Whole:
    world = Whole()
    world.card()
    call = world.leaves(method, "" if method == Method.LIST_TASKS else "t1")
    call.binding = "HTTP+JSON"
    world.breaks(call, status)
    world.send(WORKING, sent=NEXT)
    return world


@legal(RULE)
def test_a_success_in_between() -> None:
    """A read that is answered shows that the door is open."""
    world = turned_away()
    world.get("t1", WORKING)
    world.send(WORKING, task="t2", sent=NEXT)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("status", [400, 408, 409, 429, 500, 502, 503])
def test_another_status(status: int) -> None:
    """Too many requests, a conflict, a fault of the server: the interface is where it was."""
    world = turned_away(status)
    world.send(WORKING, sent=NEXT)
    assert not world.rules()


@legal(RULE)
def test_an_error_that_the_agent_itself_gave() -> None:
    """Not found in the shape of A2A is about the task, not about the interface."""
    world = Whole()
    world.card()
    world.not_found("t9")
    world.send(WORKING, sent=NEXT)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("status", [401, 403, 404])
def test_the_extended_card_was_refused(status: int) -> None:
    """Who may see it is another matter than who may bring work."""
    world = Whole()
    world.card(extended_card=True)
    world.breaks(world.leaves(Method.GET_EXTENDED_CARD), status)
    world.send(WORKING, sent=NEXT)
    assert not world.rules()


@legal(RULE)
def test_work_in_flight_goes_on() -> None:
    """A message into a task is no new work."""
    world = Whole()
    world.card()
    world.send(WORKING)
    world.breaks(world.leaves(Method.GET_TASK, "t1"), 404)
    world.message("t1", WORKING)
    assert not world.rules()


@legal(RULE)
def test_a_send_that_was_under_way() -> None:
    """It left before the other one was turned away."""
    world = Whole()
    world.card()
    first, second = world.leaves(Method.SEND_MESSAGE), world.leaves(Method.SEND_MESSAGE, sent=NEXT)
    world.breaks(first, 404)
    world.answers(second, WORKING)
    assert not world.rules()


# --- late


@late(RULE)
def test_a_card_that_was_never_seen_here() -> None:
    """Of an agent without a card, or whose card was had before we looked, none can be asked for again."""
    world = Whole()
    world.breaks(world.leaves(Method.SEND_MESSAGE), 404)
    world.send(WORKING, sent=NEXT)
    assert not world.rules()
