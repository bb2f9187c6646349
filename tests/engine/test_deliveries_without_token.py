# SPDX-License-Identifier: Apache-2.0
"""Webhooks that were registered without a token, and of which the application says nothing: what they bring moves
nothing and accuses nobody, and whoever was told by them has not been left in silence."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import Hints, Method, PushBinding
from tests.support.marks import fires, legal
from tests.support.whole import WEBHOOK, Whole
from tests.support.world import CANCELED, COMPLETED, INPUT, SUBMITTED, WORKING

BARE = PushBinding(url=WEBHOOK.url)
DURATION = Hints(expected_duration=60)


def waiting(hook: PushBinding = BARE, *, hints: Hints | None = None, **settings: Any) -> Whole:
    """A task that works, and whose client waits for its webhook."""
    world = Whole(**settings)
    world.card()
    world.send(WORKING, push=hook, hints=hints)
    world.passes(30)
    return world


@legal("task-stuck")
@legal("unprobed-wait")
@legal("task-unwatched")
def test_the_end_was_delivered() -> None:
    """The application knows it, and neither reads the task again nor calls its agent stuck."""
    world = waiting(hints=DURATION)
    world.delivers(COMPLETED, token="")
    world.waits(600)
    assert not world.rules() and world.task().state == WORKING


@legal("task-stuck")
@legal("task-unwatched")
def test_progress_was_delivered() -> None:
    """Each delivery is one, also one of an artifact."""
    world = waiting(task_deadline=60, webhook_silence=60)
    for _ in range(5):
        world.delivers(WORKING, token="")
        world.waits(40)
        world.chunk(None, token="")
        world.waits(40)
    assert not world.rules()


@legal("task-lost")
def test_the_agent_forgot_a_task_of_which_the_end_was_delivered() -> None:
    """It may; since nobody can check that end, it is told as information."""
    world = waiting()
    world.delivers(COMPLETED, token="")
    world.passes(7200)
    world.not_found()
    assert world.levels("task-lost") == ["information"]


@legal("cancel-unconfirmed")
@legal("waiting-on-withdrawn-webhook")
@legal("expected-state-missed")
def test_what_was_waited_for_was_delivered() -> None:
    """The confirmation of a cancel, after the card had dropped push, and a state that was expected."""
    world = waiting()
    world.expects(INPUT, 30)
    world.card(push=False)
    world.cancel("t1", WORKING, hints=Hints(reason="user"))
    world.passes(10)
    world.delivers(INPUT, token="")
    world.delivers(CANCELED, token="")
    world.waits(600)
    assert not world.rules()


@legal("backward-transition")
@legal("terminal-state-changed")
@pytest.mark.parametrize("state", [SUBMITTED, COMPLETED])
def test_it_accuses_nobody(state: str) -> None:
    """Whatever a read shows next."""
    world = waiting()
    world.delivers(state, token="")
    world.passes(60)
    world.get("t1", WORKING)
    assert not world.rules()


@fires("task-stuck")
def test_a_read_that_shows_it_alive_after_its_rumoured_end() -> None:
    """What the agent itself says holds, and its deadline runs."""
    world = waiting(task_deadline=60)
    world.delivers(COMPLETED, token="")
    world.get("t1", WORKING)
    world.waits(60)
    assert world.rules() == ["task-stuck"]


@fires("task-lost")
def test_a_loss_after_it_was_shown_alive_again() -> None:
    """The rumour is refuted."""
    world = waiting()
    world.delivers(COMPLETED, token="")
    world.get("t1", WORKING)
    world.passes(60)
    world.not_found()
    assert world.levels("task-lost") == ["violation"]


@fires("task-stuck")
@pytest.mark.parametrize("token", ["", "digest(guessed)"])
def test_a_stranger_excuses_nothing(token: str) -> None:
    """Where a token was registered, a delivery without it is not the agent's."""
    world = waiting(WEBHOOK, task_deadline=60)
    world.delivers(COMPLETED, token=token)
    world.waits(60)
    assert world.rules() == ["task-stuck"]


@fires("task-stuck")
def test_no_delivery_at_all() -> None:
    """A webhook alone is no sign of life."""
    world = waiting(task_deadline=60)
    world.leaves(Method.LIST_TASKS)
    world.waits(60)
    assert world.rules() == ["task-stuck"]
