# SPDX-License-Identifier: Apache-2.0
"""What a finding tells besides what its rule had to know: since when the card is another, and where the task began."""

from __future__ import annotations

from otel_a2a.engine.clock import utc
from otel_a2a.engine.findings import Finding
from otel_a2a.observations import Method, SpanRef
from tests.support.whole import Whole
from tests.support.world import COMPLETED, SUBMITTED, WORKING

CHANGED = SpanRef(0xB, 2)
"""The fetch that brings the second card."""


def redeployed() -> tuple[Whole, int]:
    """A task at work, whose agent's card changed a while ago and was fetched again since; and when it changed."""
    world = Whole()
    world.card(trace=0xA)
    world.send(WORKING, trace=0xD)
    world.passes(60)
    changed_at = world.engine.clock.time_ns()
    world.card(skills=("pay",), trace=CHANGED.trace_id)
    world.passes(60)
    world.card(skills=("pay",), trace=0xC)
    return world, changed_at


def only(world: Whole, rule: str) -> Finding:
    [found] = [finding for finding in world.findings if finding.rule == rule]
    return found


def test_a_task_that_went_back_tells_when_the_card_changed() -> None:
    """In its sentence, as a time, and as the span of the fetch that brought the change, not of a later one."""
    world, changed_at = redeployed()
    world.get("t1", SUBMITTED)
    found = only(world, "backward-transition")
    assert found.card_since_ns == changed_at
    assert f" at {utc(changed_at)}" in found.message
    assert found.card_span == CHANGED
    assert found.task_span == SpanRef(0xD, 1)


def test_a_rule_that_knows_nothing_of_cards_tells_of_the_change_too() -> None:
    """A task that had ended and is used again: its agent was deployed anew in between."""
    world, changed_at = redeployed()
    world.get("t1", COMPLETED)
    world.message("t1")
    found = only(world, "terminal-task-reused")
    assert (found.card_since_ns, found.card_span) == (changed_at, CHANGED)
    assert found.card_revision != found.task_card_revision == world.task().card_revision


def test_where_the_card_did_not_change_nothing_is_said_of_it() -> None:
    """The same without a second card: there is no revision to look for."""
    world = Whole()
    world.card(trace=0xA)
    world.send(WORKING)
    world.get("t1", SUBMITTED)
    found = only(world, "backward-transition")
    assert (found.card_revision, found.task_card_revision, found.card_since_ns, found.card_span) == ("", "", 0, None)
    assert "card" not in found.message


def test_the_change_itself_is_told_when_it_is_found() -> None:
    """The finding is made in the very fetch that brings it: there is no other span to go to."""
    world = Whole()
    world.card(trace=0xA)
    world.passes(60)
    world.card(skills=("pay",), trace=CHANGED.trace_id)
    found = only(world, "card-revision-changed")
    assert found.card_since_ns == found.time_unix_nano
    assert found.card_span is None


def test_a_card_that_came_back_is_known_since_it_did() -> None:
    """A, B, A: what counts is the last time."""
    world = Whole()
    world.card(max_age=10, trace=0xA)
    world.card(skills=("pay",), trace=0xB)
    world.passes(60)
    back_at = world.engine.clock.time_ns()
    world.card(max_age=10, trace=0xC)
    world.passes(60)
    world.leaves(Method.SEND_MESSAGE)
    found = only(world, "created-from-stale-card")
    assert (found.card_since_ns, found.card_span) == (back_at, SpanRef(0xC, 2))
