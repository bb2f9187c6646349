# SPDX-License-Identifier: Apache-2.0
"""orphan-unresolved, under the profile fenced: a task that a change of the card has orphaned, and nobody resolves."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import Method
from tests.support.marks import fires, late, legal
from tests.support.whole import Whole
from tests.support.world import CANCELED, COMPLETED, INPUT, WORKING

RULE = "orphan-unresolved"
MORE = ("pay", "refund", "ship")


def orphan(state: str = WORKING, profile: str = "fenced", **settings: Any) -> Whole:
    """Any change orphans, also one that takes nothing away."""
    world = Whole(profile=profile, **settings)
    world.card()
    world.send(state)
    world.waits(10)
    world.card(skills=MORE)
    return world


@fires(RULE)
@pytest.mark.parametrize("state", [WORKING, INPUT])
def test_a_minute_after_the_change(state: str) -> None:
    """Seed 002: cancel it, or abandon it and record that."""
    world = orphan(state)
    world.waits(59)
    assert not world.rules()
    world.waits(1)
    assert world.rules() == [RULE] and world.levels(RULE) == ["improvement"]


@legal(RULE)
@pytest.mark.parametrize("way", ["cancel", "cancel in vain", "cancel of an unknown one", "abandon"])
def test_a_way_out(way: str) -> None:
    """What the seed asks for, whatever the agent makes of it."""
    world = orphan()
    if way == "abandon":
        world.abandons()
    else:
        call = world.leaves(Method.CANCEL_TASK, "t1")
        if way == "cancel":
            world.answers(call, CANCELED)
        elif way == "cancel in vain":
            world.breaks(call)
        else:
            world.fails(call)
    world.waits(3600)
    assert RULE not in world.rules()


@legal(RULE)
@pytest.mark.parametrize("profile", ["default", "authority", "version-fenced", "declared-history", "spec"])
def test_another_profile(profile: str) -> None:
    """Elsewhere a task goes on, whatever the card says."""
    world = orphan(profile=profile)
    world.waits(3600)
    assert RULE not in world.rules()


@legal(RULE)
def test_a_card_that_returns() -> None:
    """A/B/A behind a load balancer: the agent is back at the revision of the task."""
    world = orphan()
    world.waits(30)
    world.card()
    world.waits(3600)
    assert not world.rules()


@legal(RULE)
def test_a_task_that_has_ended() -> None:
    """It was over before the card changed, or ends within the minute."""
    world = orphan(COMPLETED)
    world.waits(3600)
    assert not world.rules()


@legal(RULE)
def test_words_are_no_change() -> None:
    """The revision is what tasks depend on."""
    world = Whole(profile="fenced")
    world.card()
    world.send(WORKING)
    world.card(description="better words")
    world.waits(3600)
    assert not world.rules()


@legal(RULE)
def test_a_pinned_card() -> None:
    """What the agent serves says nothing to whoever pinned another card."""
    world = orphan(pinned_cards=("agent.example",))
    world.waits(3600)
    assert not world.rules()


@late(RULE)
def test_a_task_first_seen_after_the_change() -> None:
    """It belongs to the revision under which it was first seen (G7)."""
    world = Whole(profile="fenced")
    world.card()
    world.card(skills=MORE)
    world.get("t1", WORKING)
    world.waits(3600)
    assert not world.rules()


@late(RULE)
def test_a_card_first_seen_after_the_task() -> None:
    """What it said before, nobody here knows."""
    world = Whole(profile="fenced")
    world.send(WORKING)
    world.card(skills=MORE)
    world.waits(3600)
    assert not world.rules()
