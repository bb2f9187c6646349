# SPDX-License-Identifier: Apache-2.0
"""The profiles that decide otherwise what a changed card means: seed 002 to the letter, and seeds 000 and 004."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.engine.findings import Strictness
from otel_a2a.errors import TaskResurrectionError
from otel_a2a.observations import READS, SENDS, TERMINAL, Method
from tests.support.world import ENDPOINT, SUBMITTED, WORKING, World, message

RULE = "continued-across-revisions"
CHANGES: dict[str, dict[str, Any]] = {
    "a skill gone": {"skills": ("pay",)},
    "a skill more": {"skills": ("pay", "refund", "ship")},
    "streaming gone, unused": {"streaming": False},
    "an interface more": {"interfaces": (ENDPOINT, "https://grpc.example")},
}


# --- fenced


def changed(change: dict[str, Any], **settings: Any) -> World:
    world = World(profile="fenced", **settings)
    world.card()
    world.send(WORKING)
    world.card(**change)
    return world


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("method", sorted(READS | SENDS))
def test_fenced_any_change(method: str, change: dict[str, Any]) -> None:
    """A get, a subscription or a message after any change is a violation."""
    world = changed(change)
    world.leaves(method, "t1", sent=message("more", "m2"))
    assert world.rules() == [RULE]
    assert "GetTask" not in world.findings[0].message


def test_fenced_the_same_card() -> None:
    """Words are no change, nor is a confirmation."""
    world = changed({"description": "better words"})
    world.card_confirmed()
    world.get("t1", WORKING)
    world.message("t1", WORKING)
    assert not world.rules()


def test_fenced_back_to_the_revision_of_its_creation() -> None:
    """A, B, A is no change."""
    world = changed({"skills": ("ship",)})
    world.card()
    world.message("t1", WORKING)
    assert not world.rules()


@pytest.mark.parametrize("method", [Method.CANCEL_TASK, Method.GET_PUSH_CONFIG, Method.DELETE_PUSH_CONFIG])
def test_fenced_cancel_is_free(method: str) -> None:
    """An orphan may be canceled."""
    world = changed({"skills": ("pay",)}, strictness="raise")
    world.leaves(method, "t1")
    assert not world.rules() and world.last.error is None


def test_fenced_nothing_re_affirms() -> None:
    """A read is found, never stopped, and changes nothing: the message after it is stopped."""
    world = changed({"skills": ("pay",)}, strictness="raise")
    world.get("t1", WORKING)
    assert world.last.error is None
    assert [each.action for each in world.findings] == [Strictness.LOG]
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2"))
    assert isinstance(world.last.error, TaskResurrectionError)
    assert not world.last.error.request_sent


@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_fenced_an_ended_task_may_be_read(state: str) -> None:
    """An ended task is continued by nobody."""
    world = World(profile="fenced")
    world.card()
    world.send(state)
    world.card(skills=("pay",))
    world.get("t1", state)
    assert not world.rules()


def test_fenced_new_work_is_free() -> None:
    """The card of now governs new work."""
    world = changed({"skills": ("pay",)})
    world.send(WORKING, task="t2", sent=message("other", "m2"))
    world.get("t2", WORKING)
    world.message("t2", WORKING, sent=message("more", "m3"))
    assert not world.rules()


# --- authority


def test_authority_the_card_gates_nothing() -> None:
    """The finding is information, and nothing is stopped."""
    world = World(profile="authority", strictness="raise")
    world.card()
    world.send(WORKING)
    world.card(skills=("pay",))
    world.message("t1", WORKING)
    assert world.levels(RULE) == ["information"] and world.last.error is None


def test_authority_keeps_the_other_rules() -> None:
    """A task that goes back is a violation in every profile that judges it."""
    world = World(profile="authority")
    world.send(WORKING)
    world.get("t1", SUBMITTED)
    assert world.rules() == ["backward-transition"]


# --- spec


def test_spec_judges_only_what_the_specification_forbids() -> None:
    """Submitted again is legal in every released version, and an end is an end."""
    world = World(profile="spec")
    world.send(WORKING)
    world.get("t1", SUBMITTED)
    assert not world.findings
    world.get("t1", "TASK_STATE_COMPLETED")
    world.get("t1", WORKING)
    assert world.rules() == ["backward-transition", "terminal-state-changed"]
