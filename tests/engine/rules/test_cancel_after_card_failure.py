# SPDX-License-Identifier: Apache-2.0
"""cancel-after-card-failure: a live task was canceled right after a fetch of the agent's card had failed (seed 004)."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import Hints, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import OLD_CARD_URL, Whole
from tests.support.world import CARD_URL, COMPLETED, INPUT, WORKING

RULE = "cancel-after-card-failure"


def running(state: str = WORKING, **settings: Any) -> Whole:
    world = Whole(**settings)
    world.card()
    world.send(state)
    world.waits(60)
    return world


# --- it fires


@fires(RULE)
@pytest.mark.parametrize("state", [WORKING, INPUT])
@pytest.mark.parametrize("failure", [503, 404, "ConnectError", "invalid_agent_card"])
def test_a_cancel_right_after_the_failure(failure: int | str, state: str) -> None:
    """Seed 004: the card could not be had, and a task that was 90 % complete is destroyed."""
    world = running(state)
    world.card_fails(failure)
    world.passes(1)
    world.cancel("t1")
    assert world.levels(RULE) == ["violation"] and world.rules()[0] == RULE


@fires(RULE)
@pytest.mark.parametrize(
    ("asked", "acted", "level"), [(7, 7, "violation"), (7, 8, "improvement"), (0, 0, "improvement")]
)
def test_within_the_window(asked: int, acted: int, level: str) -> None:
    """A violation where a trace links the two, and otherwise an improvement."""
    world = running()
    world.card_fails(503, trace=asked)
    world.passes(29)
    world.cancel("t1", trace=acted)
    assert world.levels(RULE) == [level]


@fires(RULE)
def test_the_last_failure_counts() -> None:
    """A client that polls the card and gives up at the third failure."""
    world = running()
    for _ in range(3):
        world.card_fails(503)
        world.passes(20)
    world.cancel("t1")
    assert world.levels(RULE) == ["improvement"]


@fires(RULE)
def test_the_window_is_a_setting() -> None:
    """``card_failure_window`` in seconds."""
    world = running(card_failure_window=120)
    world.card_fails(503)
    world.passes(100)
    world.cancel("t1")
    assert world.levels(RULE) == ["improvement"]


@fires(RULE)
def test_in_raise_mode_the_cancel_does_not_leave() -> None:
    """The one cancel that is stopped: it would destroy work for nothing."""
    world = running(strictness="raise")
    world.card_fails(503)
    world.leaves(Method.CANCEL_TASK, "t1")
    assert type(world.last.error).__name__ == "TaskContinuationBlockedError"


# --- it does not fire


@legal(RULE)
@pytest.mark.parametrize("reason", ["user", "deadline", "transport"])
def test_a_cancel_with_a_reason(reason: str) -> None:
    """The application says why."""
    world = running()
    world.card_fails(503)
    world.cancel("t1", hints=Hints(reason=reason))
    assert not world.levels(RULE)


@legal(RULE)
def test_after_the_window() -> None:
    """A failure of half a minute ago is not why a task is canceled now."""
    world = running()
    world.card_fails(503)
    world.waits(31)
    world.cancel("t1")
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("word", ["get", "stream", "delivery", "error"])
def test_the_task_was_heard_of_since(word: str) -> None:
    """Seed 004: read the task. Whatever it said, the cancel may follow from that."""
    world = Whole()
    world.card()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, WORKING)
    world.card_fails(503)
    if word == "get":
        world.get("t1", WORKING)
    elif word == "stream":
        world.streams(stream, WORKING)
    elif word == "delivery":
        world.delivers(WORKING, verified=True)
    else:
        world.fails(world.leaves(Method.GET_TASK, "t1"), "-32603")
    world.cancel("t1")
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("again", ["card", "confirmed", "other path", "registry"])
def test_the_card_was_had_since(again: str) -> None:
    """The failure was transient."""
    world = running()
    world.card_fails(503)
    if again == "confirmed":
        world.card_confirmed()
    else:
        others = {"other path": OLD_CARD_URL, "registry": "https://registry.example/pay.json"}
        world.card(url=others.get(again, CARD_URL))
    world.cancel("t1")
    assert not world.rules()


@legal(RULE)
def test_failures_that_are_none() -> None:
    """The other well-known path, no HEAD, the extended card, and the loser of a race (G8)."""
    world = running()
    slow, fast = world.asks_for_card(), world.asks_for_card()
    world.card(request=fast)
    world.card_fails("ReadTimeout", request=slow)
    world.card_fails(404, url=OLD_CARD_URL)
    world.card_fails(405)
    world.card_fails(503, extended=True)
    world.cancel("t1")
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("status", [404, 410])
def test_a_card_where_none_ever_was(status: int) -> None:
    """A client that looks under the old path alone, before each of its calls, learns nothing new by that."""
    world = Whole()
    world.card_fails(status, url=OLD_CARD_URL)
    world.send(WORKING)
    world.waits(60)
    world.card_fails(status, url=OLD_CARD_URL)
    world.cancel("t1")
    assert not world.levels(RULE) and not world.levels("card-decided-task-fate")


@fires(RULE)
@pytest.mark.parametrize("old_too", [True, False])
def test_a_card_that_is_gone_for_a_client_that_began_late(old_too: bool) -> None:
    """Asked under the path of today, *not found* is a failure, also where this process never had the card."""
    world = Whole()
    world.send(WORKING)
    world.waits(60)
    world.card_fails(404)
    if old_too:
        world.card_fails(404, url=OLD_CARD_URL)
    world.cancel("t1")
    assert world.levels(RULE) == ["violation"]


@fires(RULE)
@pytest.mark.parametrize("failure", [503, "ConnectError"])
def test_an_outage_is_news_even_where_no_card_was_seen(failure: int | str) -> None:
    """The client may hold a card from before we looked; a server that is down says nothing about the task."""
    world = Whole()
    world.send(WORKING)
    world.waits(60)
    world.card_fails(failure)
    world.cancel("t1")
    assert world.levels(RULE) == ["violation"]


@legal(RULE)
def test_a_task_that_has_ended() -> None:
    """No live task, no harm."""
    world = running(COMPLETED)
    world.card_fails(503)
    world.cancel("t1", None)
    assert not world.rules()


@legal(RULE)
def test_another_agent_s_card() -> None:
    """Its outage has nothing to do with this task."""
    world = running()
    world.card_fails(503, url="https://other.example/.well-known/agent-card.json")
    world.cancel("t1")
    assert not world.rules()


@legal(RULE)
def test_the_client_goes_on_polling() -> None:
    """What seed 004 asks for: the task remains working, and is read."""
    world = running()
    for _ in range(3):
        world.card_fails(503)
        world.get("t1", WORKING)
        world.waits(10)
    world.get("t1", COMPLETED)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("by", ["the operator", "the application"])
def test_where_the_card_is_pinned(by: str) -> None:
    """Nothing depends on a fetch of it (G11)."""
    world = running(pinned_cards=("agent.example",) if by == "the operator" else ())
    world.card_fails(503)
    world.cancel("t1", hints=Hints(pinned_card=by == "the application"))
    assert not world.levels(RULE) and "card-decided-task-fate" not in world.rules()


# --- late


@late(RULE)
def test_a_task_that_was_not_seen() -> None:
    """Whether it was live, nobody here knows."""
    world = Whole()
    world.card_fails(503)
    world.cancel("t1")
    assert not world.levels(RULE)


@late(RULE)
def test_a_failure_that_was_not_seen() -> None:
    """Without a failure it is a cancel like any other."""
    world = Whole()
    world.get("t1", WORKING)
    world.cancel("t1")
    assert not world.findings
