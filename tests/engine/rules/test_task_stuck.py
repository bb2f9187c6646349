# SPDX-License-Identifier: Apache-2.0
"""task-stuck: a task showed no progress for longer than it may (seed 001)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from otel_a2a.observations import INTERRUPTED, TERMINAL, CallStarted, Channel, Form, Hints, Method, SentMessage
from tests.support.marks import fires, late, legal
from tests.support.whole import TOKEN, WEBHOOK, Whole, artifact
from tests.support.world import COMPLETED, FAILED, INPUT, SUBMITTED, WORKING, message

RULE = "task-stuck"
DEADLINE = 300.0


def started(state: str = WORKING, **settings: Any) -> Whole:
    world = Whole(task_deadline=DEADLINE, **settings)
    world.send(state)
    return world


def said(world: Whole) -> str:
    return next(each.message for each in world.findings if each.rule == RULE)


# --- it fires


@fires(RULE)
@pytest.mark.parametrize("state", [SUBMITTED, WORKING])
def test_nothing_for_the_deadline(state: str) -> None:
    """No traffic is needed: the timer alone finds it, and marks that nobody has asked."""
    world = started(state)
    world.waits(DEADLINE - 1)
    assert not world.findings
    world.waits(1)
    assert world.rules() == [RULE] and world.levels(RULE) == ["violation"]
    assert "probed=false" in said(world) and world.task().disposition == "diverged"


@fires(RULE)
def test_polls_that_show_the_same() -> None:
    """The agent says that it works, and shows nothing of it."""
    world = started()
    for _ in range(5):
        world.waits(60)
        world.shows(
            world.leaves(Method.GET_TASK, "t1"), WORKING, has_message=True, status_message_id="busy", timestamp=1.0
        )
    assert not world.rules()
    world.waits(60)
    assert world.rules() == [RULE] and "probed=true" in said(world)


@fires(RULE)
def test_an_open_stream_that_is_silent() -> None:
    """Comments keep it alive, and no event comes."""
    world = Whole(task_deadline=DEADLINE)
    world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE), WORKING)
    world.waits(DEADLINE)
    assert world.rules() == [RULE] and "probed=true" in said(world)


@fires(RULE)
def test_events_that_repeat_the_state() -> None:
    """working, working, working is no progress."""
    world = Whole(task_deadline=DEADLINE)
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    for _ in range(7):
        world.streams(stream, WORKING)
        world.waits(50)
    assert world.rules() == [RULE]


@fires(RULE)
@pytest.mark.parametrize(
    ("hints", "setting"),
    [
        (Hints(expected_duration=30), None),
        (Hints(expected_duration=30), DEADLINE),
        (Hints(skill="pay"), None),
        (Hints(skill="pay"), DEADLINE),
    ],
)
def test_the_hint_and_the_hinted_skill_s_duration_are_deadlines(hints: Hints, setting: float | None) -> None:
    """The more exact one counts."""
    world = Whole(task_deadline=setting)
    world.card(durations=(("refund", 5.0), ("pay", 30.0)))
    world.send(WORKING, hints=hints)
    world.get("t1", WORKING)
    world.waits(29)
    assert not world.rules()
    world.waits(1)
    assert world.rules() == [RULE]


@fires(RULE)
def test_once_per_task() -> None:
    """It is stuck once, however long."""
    world = started()
    for _ in range(5):
        world.waits(DEADLINE)
        world.get("t1", WORKING)
    assert world.levels(RULE) == ["violation"]


# --- it does not fire


@legal(RULE)
@pytest.mark.parametrize("hints", [None, Hints(skill="ship"), Hints(side_effect=True)])
def test_without_a_deadline(hints: Hints | None) -> None:
    """Some tasks take a week."""
    world = Whole()
    world.card(skills=("pay", "ship"), durations=(("pay", 30.0),))
    world.send(WORKING, hints=hints)
    world.waits(7 * 86_400)
    assert not world.rules()


EVENT: dict[str, Any] = {"channel": Channel.STREAM, "form": Form.UPDATE, "has_message": True}
PROGRESS: dict[str, Callable[[Whole, CallStarted, int], object]] = {
    "a state": lambda world, stream, turn: world.get("t1", WORKING if turn % 2 else INPUT),
    "a status message": lambda world, stream, turn: world.shows(stream, WORKING, status_message_id=str(turn), **EVENT),
    "a message without an id": lambda world, stream, turn: world.shows(stream, WORKING, **EVENT),
    "a chunk": lambda world, stream, turn: world.chunk(stream, "a1", f"line {turn}", append=turn > 0),
    "an artifact": lambda world, stream, turn: world.get("t1", WORKING, holds=tuple(map(str, range(turn + 1)))),
    "a longer artifact": lambda world, stream, turn: world.shows(
        world.leaves(Method.GET_TASK, "t1"), WORKING, artifact("a1", "line" * (turn + 1))
    ),
    "a message": lambda world, stream, turn: world.says(world.leaves(Method.SEND_MESSAGE, "t1", sent=more(turn))),
    "a delivery": lambda world, stream, turn: world.chunk(None, "a1", f"line {turn}", append=turn > 0, token=TOKEN),
}


def more(turn: int) -> SentMessage:
    return message(f"more {turn}", f"m{turn + 2}")


@legal(RULE)
@pytest.mark.parametrize("progress", PROGRESS.values(), ids=PROGRESS)
def test_progress_of_any_kind(progress: Callable[[Whole, CallStarted, int], object]) -> None:
    """A state, a status message, an artifact or more of one, by answer, stream or webhook."""
    world = Whole(task_deadline=DEADLINE)
    world.send(SUBMITTED, push=WEBHOOK)
    stream = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.streams(stream, WORKING)
    for turn in range(5):
        world.waits(DEADLINE - 1)
        progress(world, stream, turn)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("state", [*sorted(INTERRUPTED), *sorted(TERMINAL)])
def test_a_task_that_waits_or_has_ended(state: str) -> None:
    """An interrupted task waits for us, for as long as we like."""
    world = started(state)
    world.waits(10 * DEADLINE)
    assert not world.rules()


@legal(RULE)
def test_a_long_task_within_its_deadline() -> None:
    """Polled for an hour, and done."""
    world = Whole(task_deadline=7200)
    world.send(WORKING)
    for _ in range(60):
        world.waits(60)
        world.get("t1", WORKING)
    world.get("t1", COMPLETED)
    world.waits(7200)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("why", ["lost", "orphaned", "abandoned", "watched elsewhere"])
def test_a_task_that_nobody_waits_for_here(why: str) -> None:
    """Its loss was told, it was given up, or another process has it."""
    world = started(watched_elsewhere=why == "watched elsewhere")
    world.passes(5)
    if why == "lost":
        world.not_found("t1")
    elif why == "orphaned":
        world.not_found("t1", Method.CANCEL_TASK)
    elif why == "abandoned":
        world.abandons()
    world.waits(10 * DEADLINE)
    assert RULE not in world.rules()


@legal(RULE)
def test_an_answer_of_the_last_moment() -> None:
    """The end arrives right before the deadline."""
    world = started()
    world.waits(DEADLINE - 1)
    world.get("t1", FAILED)
    world.waits(DEADLINE)
    assert not world.rules()


# --- late


@late(RULE)
def test_a_task_first_seen_in_the_middle_of_its_life() -> None:
    """The deadline begins at first sight: how long it had been at it before, nobody here knows."""
    world = Whole(task_deadline=DEADLINE)
    world.waits(10 * DEADLINE)
    world.shows(world.leaves(Method.GET_TASK, "t1"), WORKING, "a1", timestamp=1.0)
    world.waits(DEADLINE - 1)
    assert not world.rules()
    world.waits(1)
    assert world.rules() == [RULE]
