# SPDX-License-Identifier: Apache-2.0
"""Several agents behind one URL, told apart by their tenants: the card of one says nothing about the others."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import Hints, Method
from tests.support.marks import fires, legal
from tests.support.whole import WEBHOOK, Whole
from tests.support.world import HOST, INPUT, WORKING

ACROSS = "continued-across-revisions"
URLS = {name: f"https://{HOST}/{name}/.well-known/agent-card.json" for name in ("pay", "play")}


def shows(world: Whole, name: str, **card: Any) -> None:
    """The card of one of the gateway's agents is fetched."""
    world.card(url=URLS[name], tenant=name, name=name, **card)


def gateway(**other: Any) -> Whole:
    """A gateway with two agents; ``other``: what the card of the one that is not called says."""
    world = Whole()
    shows(world, "pay", skills=("pay",))
    shows(world, "play", **({"skills": ("chess", "go")} | other))
    return world


# --- the other agent's card says nothing


@legal(ACROSS)
@pytest.mark.parametrize("profile", ["default", "fenced"])
def test_the_other_agent_loses_a_skill(profile: str) -> None:
    """That is no change of the agent that has the task."""
    world = Whole(profile=profile)
    shows(world, "pay", skills=("pay",))
    shows(world, "play", skills=("chess", "go"))
    world.send(INPUT, tenant="pay")
    shows(world, "play", skills=("chess",))
    world.message("t1", tenant="pay")
    world.waits(3600)
    assert not world.rules()


@legal("operation-not-advertised")
@legal("webhook-denied-by-card")
def test_the_other_agent_streams_nothing_and_delivers_nothing() -> None:
    """What it denies is denied to its own callers."""
    world = gateway(streaming=False, push=False)
    world.leaves(Method.SEND_STREAMING_MESSAGE, tenant="pay", push=WEBHOOK)
    assert not world.rules()


@legal("created-without-card")
@legal("cancel-after-card-failure")
@legal("card-decided-task-fate")
def test_the_other_agent_s_card_cannot_be_had() -> None:
    """Neither new work nor a cancel has to do with that."""
    world = gateway()
    world.send(WORKING, tenant="pay")
    world.card_fails(503, url=URLS["play"])
    world.cancel("t1", tenant="pay")
    world.send(WORKING, task="t2", tenant="pay")
    assert not world.rules()


@legal("waiting-on-withdrawn-webhook")
def test_the_other_agent_withdraws_push() -> None:
    """A webhook with this one goes on."""
    world = gateway()
    world.send(WORKING, tenant="pay", push=WEBHOOK)
    shows(world, "play", push=False, skills=("chess", "go"))
    world.waits(3600)
    assert not world.rules()


# --- nor does it excuse anything


@fires("skill-not-advertised")
def test_only_the_other_agent_has_the_skill() -> None:
    """It is not to be had here."""
    world = gateway()
    world.send(WORKING, tenant="pay", hints=Hints(skill="chess"))
    assert world.rules() == ["skill-not-advertised"]


@fires("created-from-stale-card")
def test_only_the_other_agent_s_card_is_fresh() -> None:
    """A card is as old as its own fetch."""
    world = Whole()
    shows(world, "pay", max_age=60)
    world.waits(100)
    shows(world, "play")
    world.send(WORKING, tenant="pay")
    assert world.rules() == ["created-from-stale-card"]


@fires(ACROSS)
def test_the_agent_that_has_the_task_loses_a_skill() -> None:
    """Its own card does say something, and a card without a tenant speaks for all."""
    for tenant in ("pay", ""):
        world = Whole()
        world.card(url=URLS["pay"], tenant=tenant, skills=("pay", "refund"))
        world.send(INPUT, tenant="pay")
        world.card(url=URLS["pay"], tenant=tenant, skills=("pay",))
        world.message("t1", tenant="pay")
        assert world.rules() == [ACROSS]


@fires("operation-not-advertised")
def test_a_call_that_names_no_tenant() -> None:
    """It may be for any agent there: a tenant may follow from the credential."""
    world = Whole()
    shows(world, "pay", streaming=False)
    world.leaves(Method.SEND_STREAMING_MESSAGE)
    assert world.rules() == ["operation-not-advertised"]
