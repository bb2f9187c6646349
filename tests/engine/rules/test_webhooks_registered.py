# SPDX-License-Identifier: Apache-2.0
"""Registered webhooks: webhook-denied-by-card, webhook-from-stale-card, webhook-for-terminal-task (seed 004)."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import TERMINAL, A2AError, Hints, Method, PushBinding
from tests.support.marks import fires, late, legal
from tests.support.whole import WEBHOOK, Whole
from tests.support.world import COMPLETED, INPUT, WORKING, message

DENIED = "webhook-denied-by-card"
STALE = "webhook-from-stale-card"
TERMINAL_TASK = "webhook-for-terminal-task"
OTHER = PushBinding(url="digest(other)")
NO_WRITES = (Method.GET_PUSH_CONFIG, Method.LIST_PUSH_CONFIGS, Method.DELETE_PUSH_CONFIG)


def registers(world: Whole, task: str = "t1", push: PushBinding = WEBHOOK, **request: Any) -> None:
    world.done(world.leaves(Method.CREATE_PUSH_CONFIG, task, push=push, **request))


def running(push: bool | None = True, **card: Any) -> Whole:
    """A task of an agent whose card offers push, or does not."""
    world = Whole()
    world.card(push=push, **card)
    world.send(WORKING)
    return world


# --- the card denies it


@fires(DENIED)
@pytest.mark.parametrize("denied", [False, None])
@pytest.mark.parametrize("inline", [False, True])
def test_a_webhook_that_the_card_denies(inline: bool, denied: bool | None) -> None:
    """By its own method or inline; where there are capabilities, absent is denied."""
    world = running(denied)
    if inline:
        world.send(WORKING, task="t2", sent=message("next", "m2"), push=WEBHOOK)
    else:
        registers(world)
    assert world.rules() == [DENIED] and world.levels(DENIED) == ["violation"]


@fires(DENIED)
def test_push_that_was_withdrawn() -> None:
    """Seed 004: registered on the memory of a card that offered it; the fresh one does not."""
    world = running()
    world.card(push=False)
    registers(world)
    assert world.levels(DENIED) == ["violation"]


@fires(DENIED)
def test_a_card_without_capabilities_says_less() -> None:
    """Some cards of 0.x leave the whole object out."""
    world = running(None, has_capabilities=False)
    registers(world)
    assert world.levels(DENIED) == ["improvement"]


@fires(DENIED)
def test_a_card_that_flaps() -> None:
    """Two revisions answer by turns during a deploy: neither has decided."""
    world = running()
    world.card(push=False)
    world.card()
    world.card(push=False)
    registers(world)
    assert world.levels(DENIED) == ["improvement"]


@fires(DENIED)
def test_in_raise_mode_it_is_not_registered() -> None:
    """The agent's 200 would be no consent."""
    world = Whole(strictness="raise")
    world.card(push=False)
    world.send(WORKING)
    world.leaves(Method.CREATE_PUSH_CONFIG, "t1", push=WEBHOOK)
    assert type(world.last.error).__name__ == "AgentCardStalenessError"


@legal(DENIED)
def test_a_webhook_that_the_card_offers() -> None:
    """With a fresh card, by its own method and inline."""
    world = running()
    registers(world)
    world.send(WORKING, task="t2", sent=message("next", "m2"), push=WEBHOOK)
    assert not world.rules()


@legal(DENIED)
@pytest.mark.parametrize("method", NO_WRITES)
def test_looking_at_webhooks_and_taking_them_back(method: str) -> None:
    """Get, list and delete register nothing."""
    world = running(False)
    world.leaves(method, "t1")
    assert not world.rules()


@legal(DENIED)
def test_polling_instead() -> None:
    """What seed 004 asks for where push is not offered."""
    world = running(False)
    for state in (WORKING, COMPLETED):
        world.get("t1", state)
    assert not world.rules()


@legal(DENIED)
def test_an_agent_that_promises_push_and_refuses_it() -> None:
    """-32003: the client did everything right, and goes on polling. No webhook is waited for."""
    world = running()
    world.fails(world.leaves(Method.CREATE_PUSH_CONFIG, "t1", push=WEBHOOK), A2AError.PUSH_NOT_SUPPORTED)
    inline = world.leaves(Method.SEND_MESSAGE, "t1", push=WEBHOOK, sent=message("more", "m2"))
    world.fails(inline, A2AError.PUSH_NOT_SUPPORTED)
    world.card(push=False)
    world.waits(3600)
    assert not world.rules() and not world.task().pushed


@legal(DENIED)
@legal(STALE)
@pytest.mark.parametrize("pinned", ["setting", "hint"])
def test_a_pinned_card(pinned: str) -> None:
    """Its owner knows what is offered, and how old it may be."""
    world = Whole(pinned_cards=("agent.example",) if pinned == "setting" else ())
    world.card(push=False)
    world.send(WORKING)
    world.waits(600)
    registers(world, hints=Hints(pinned_card=pinned == "hint"))
    assert not world.rules()


@legal(DENIED)
def test_the_extended_card_offers_it() -> None:
    """Extended goes before public."""
    world = running(False)
    world.card(extended=True, credential="digest(token)")
    registers(world)
    assert not world.rules()


@late(DENIED)
@late(STALE)
def test_a_card_that_was_not_seen() -> None:
    """What it says about push, and when it was fetched, nobody here knows."""
    world = Whole()
    world.get("t1", WORKING)
    registers(world)
    assert not world.rules()


# --- the card is too old for it


@fires(STALE)
@pytest.mark.parametrize("inline", [False, True])
def test_a_card_of_more_than_a_minute_ago(inline: bool) -> None:
    """Seed 004: re-validate unconditionally, right before."""
    world = running()
    world.waits(61)
    if inline:
        world.send(WORKING, task="t2", sent=message("next", "m2"), push=WEBHOOK)
    else:
        registers(world)
    assert world.rules() == [STALE] and world.levels(STALE) == ["improvement"]


@fires(STALE)
@pytest.mark.parametrize(("settings", "level"), [({"webhook_card_window": 5}, "improvement"), ({}, "violation")])
def test_the_window_is_a_setting(settings: dict[str, float], level: str) -> None:
    """The profile version-fenced has ten seconds, and calls it a violation."""
    world = Whole(profile="default" if settings else "version-fenced", **settings)
    world.card()
    world.send(WORKING)
    world.waits(11)
    registers(world)
    assert world.levels(STALE) == [level]


@fires(STALE)
def test_a_card_that_the_application_had_refused() -> None:
    """The newest document is no basis for a binding."""
    world = running()
    world.rejects_card()
    registers(world)
    assert STALE in world.rules()


@fires(STALE)
def test_a_hit_in_a_cache_is_no_fetch() -> None:
    """The copy is as old as it was."""
    world = running()
    world.waits(61)
    world.card(from_cache=True)
    registers(world)
    assert world.rules() == [STALE]


@fires(STALE)
def test_once_per_agent_and_revision() -> None:
    """A habit is one incident."""
    world = running()
    world.waits(61)
    for number in range(5):
        world.send(WORKING, task=f"t{number}", sent=message(f"job {number}", f"n{number}"), push=WEBHOOK)
    assert world.rules() == [STALE]


@legal(STALE)
@pytest.mark.parametrize("fresh", ["card", "confirmed", "extended"])
def test_right_after_a_fetch(fresh: str) -> None:
    """A fetch, a confirmation, or the extended card."""
    world = running()
    world.waits(600)
    if fresh == "card":
        world.card()
    elif fresh == "confirmed":
        world.card_confirmed()
    else:
        world.card(extended=True, credential="digest(token)")
    world.waits(60)
    registers(world)
    assert not world.rules()


@legal(STALE)
def test_the_same_configuration_again() -> None:
    """Sent along with every message: no registration."""
    world = running()
    registers(world)
    world.waits(600)
    registers(world)
    world.message("t1", WORKING, push=WEBHOOK)
    world.leaves(Method.GET_PUSH_CONFIG, "t1")
    assert not world.rules()
    registers(world, push=OTHER)
    assert world.rules() == [STALE]


# --- the task has ended


@fires(TERMINAL_TASK)
@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_a_webhook_for_a_task_that_has_ended(state: str) -> None:
    """Nothing will be delivered."""
    world = Whole()
    world.send(state)
    registers(world)
    assert world.rules() == [TERMINAL_TASK] and world.levels(TERMINAL_TASK) == ["improvement"]


@legal(TERMINAL_TASK)
def test_a_webhook_for_a_task_that_lives() -> None:
    """Also while its end is under way."""
    world = Whole()
    world.send(INPUT)
    call = world.leaves(Method.CREATE_PUSH_CONFIG, "t1", push=WEBHOOK)
    world.get("t1", COMPLETED)
    world.done(call)
    assert not world.rules()


@legal(TERMINAL_TASK)
@pytest.mark.parametrize("method", NO_WRITES)
def test_webhooks_of_an_ended_task_are_looked_at(method: str) -> None:
    """And taken back, which is tidy."""
    world = Whole()
    world.send(COMPLETED)
    world.leaves(method, "t1")
    assert not world.rules()


@legal(TERMINAL_TASK)
def test_an_ended_task_of_0_1_that_is_begun_anew() -> None:
    """The webhook is for the next life."""
    world = Whole()
    for _ in range(2):
        world.answers(world.leaves(Method.SEND_MESSAGE, "t1", version="0.1", push=WEBHOOK), COMPLETED)
    assert not world.rules()


@late(TERMINAL_TASK)
def test_an_end_that_was_not_seen() -> None:
    """The task may live."""
    world = Whole()
    registers(world)
    assert not world.findings
