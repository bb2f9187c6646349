# SPDX-License-Identifier: Apache-2.0
"""poisoned-task-used: a task whose id can no longer be trusted was written to, or merged from (seed 000)."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import Method
from tests.support.marks import fires, late, legal
from tests.support.whole import WEBHOOK, Whole
from tests.support.world import COMPLETED, FAILED, SUBMITTED, WORKING, message

RULE = "poisoned-task-used"
NEXT = message("next", "m2")


def poisoned(*states: str, **settings: Any) -> Whole:
    """Working, and submitted again."""
    world = Whole(**settings)
    world.send(WORKING)
    world.get("t1", WORKING, holds=("a1",))
    for state in states or (SUBMITTED,):
        world.get("t1", state, holds=("a1",))
    assert world.task().disposition == "poisoned"
    return world


@fires(RULE)
def test_a_message_into_it() -> None:
    """The id may stand for two executions."""
    world = poisoned()
    world.leaves(Method.SEND_MESSAGE, "t1", sent=NEXT)
    assert world.rules()[-1] == RULE and world.levels(RULE) == ["violation"]


@fires(RULE)
def test_a_webhook_for_it() -> None:
    """Whose notifications would come, nobody knows."""
    world = poisoned()
    world.leaves(Method.CREATE_PUSH_CONFIG, "t1", push=WEBHOOK)
    assert world.rules()[-1] == RULE


@fires(RULE)
@pytest.mark.parametrize("states", [(SUBMITTED,), (COMPLETED, WORKING), (COMPLETED, FAILED)])
def test_updates_merged_from_it(states: tuple[str, ...]) -> None:
    """Seed 000: treat the id as poisoned, and refuse to merge."""
    world = poisoned(*states)
    world.get("t1", states[-1], holds=("a1", "a2"))
    world.merges("a2", "t1")
    assert RULE in world.rules()


@fires(RULE)
def test_updates_merged_from_it_into_another() -> None:
    """The source counts."""
    world = poisoned()
    world.send(WORKING, task="t2", sent=NEXT)
    world.merges("a9", "t1", into="t2")
    assert RULE in world.rules()


@fires(RULE)
@pytest.mark.parametrize("write", ["message", "webhook"])
def test_in_raise_mode_nothing_leaves(write: str) -> None:
    """Both can be stopped."""
    world = poisoned(strictness="raise")
    if write == "message":
        world.leaves(Method.SEND_MESSAGE, "t1", sent=NEXT)
    else:
        world.leaves(Method.CREATE_PUSH_CONFIG, "t1", push=WEBHOOK)
    assert type(world.last.error).__name__ == "TaskResurrectionError"


@legal(RULE)
@pytest.mark.parametrize(
    "method",
    [
        Method.GET_TASK,
        Method.SUBSCRIBE_TO_TASK,
        Method.CANCEL_TASK,
        Method.LIST_TASKS,
        Method.GET_PUSH_CONFIG,
        Method.LIST_PUSH_CONFIGS,
        Method.DELETE_PUSH_CONFIG,
    ],
)
def test_reads_and_the_way_out(method: str) -> None:
    """To find out, and to get out, is always free."""
    world = poisoned(strictness="raise")
    world.leaves(method, "t1")
    assert RULE not in world.rules() and world.last.error is None


@legal(RULE)
def test_a_task_that_a_read_has_shown_whole() -> None:
    """A slip that was taken back."""
    world = poisoned()
    world.get("t1", WORKING, holds=("a1",))
    world.message("t1", WORKING)
    world.merges("a1", "t1")
    assert RULE not in world.rules()


@legal(RULE)
def test_what_was_under_way() -> None:
    """It left before the trouble was seen."""
    world = Whole()
    world.send(WORKING)
    call = world.leaves(Method.SEND_MESSAGE, "t1", sent=NEXT)
    world.get("t1", SUBMITTED)
    world.answers(call, WORKING)
    assert RULE not in world.rules()


@legal(RULE)
def test_what_was_received_before() -> None:
    """The first result is kept, and may be stored."""
    world = poisoned(COMPLETED, WORKING)
    world.merges("a1", "t1")
    assert RULE not in world.rules()


@legal(RULE)
def test_rules_that_say_more() -> None:
    """A message that repeats one of the task's, and one into a task that had ended."""
    world = poisoned()
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message())
    assert world.rules()[-1] == "message-resent-after-regression" and RULE not in world.rules()
    world = poisoned(COMPLETED, WORKING)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=NEXT)
    assert world.rules()[-1] == "terminal-task-reused" and RULE not in world.rules()


@legal(RULE)
def test_another_task() -> None:
    """New work, in the same context, is the way on."""
    world = poisoned()
    world.cancel("t1")
    world.send(WORKING, task="t2", context="c1", sent=NEXT)
    world.merges("a1", "t2", into="t2")
    assert RULE not in world.rules()


@late(RULE)
def test_a_task_whose_trouble_was_not_seen() -> None:
    """From here it looks like any other."""
    world = Whole()
    world.get("t1", SUBMITTED)
    world.message("t1", WORKING)
    world.merges("a1", "t1")
    assert not world.rules()
