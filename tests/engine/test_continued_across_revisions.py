# SPDX-License-Identifier: Apache-2.0
"""continued-across-revisions: a message into a task after its agent's card lost what the task uses.

What is no narrowing is in ``test_no_narrowing``.
"""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.engine.findings import Level
from otel_a2a.observations import INTERRUPTED, TERMINAL, Form, Method
from tests.support.marks import fires, late, legal
from tests.support.world import COMPLETED, INPUT, SUBMITTED, WORKING, World, message

RULE = "continued-across-revisions"
MOVED = "https://agent.example/v2"
NARROWER: dict[str, dict[str, Any]] = {
    "streaming gone": {"streaming": False},
    "push gone": {"push": False},
    "a skill gone": {"skills": ("pay",)},
    "all skills changed": {"skills": ("ship",)},
    "the interface moved": {"interfaces": (MOVED,)},
}


def streaming_task_with_webhook(**card: Any) -> World:
    """A task that uses all that a card can promise, and its agent's card."""
    world = World()
    world.card(**card)
    world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE, push=True), WORKING)
    return world


# --- it fires


@fires(RULE)
@pytest.mark.parametrize("change", NARROWER.values(), ids=NARROWER)
def test_a_narrowing_in_between(change: dict[str, Any]) -> None:
    """Each narrowing of what the task uses makes the next message into it a violation, which names the way out."""
    world = streaming_task_with_webhook()
    old = world.task().card_revision
    world.card(**change)
    assert world.task().disposition == "active"
    world.message("t1", WORKING)
    assert world.rules() == [RULE]
    finding = world.findings[0]
    assert (finding.task_card_revision, finding.level) == (old, Level.VIOLATION)
    assert finding.card_revision not in ("", old)
    assert "GetTask" in finding.message


@pytest.mark.parametrize("state", [SUBMITTED, WORKING, *sorted(INTERRUPTED)])
@pytest.mark.parametrize("method", [Method.SEND_MESSAGE, Method.SEND_STREAMING_MESSAGE])
def test_every_live_state_and_every_way_to_send(method: str, state: str) -> None:
    """Also an answer to a question needs the agent that asked it."""
    world = World()
    world.card()
    world.send(state)
    world.card(skills=("pay",))
    world.leaves(method, "t1", sent=message("yes", "m2"))
    assert world.rules() == [RULE]


def test_a_message_by_the_new_interface() -> None:
    """Where the interface moved, the task is the same at the new one."""
    world = World()
    world.card()
    world.send(WORKING)
    world.card(interfaces=(MOVED,))
    world.message("t1", WORKING, endpoint=MOVED)
    assert world.rules() == [RULE]


def test_a_webhook_registered_later_is_used_too() -> None:
    """What the task uses is what it uses when the card changes."""
    world = World()
    world.card()
    world.send(WORKING)
    world.leaves(Method.CREATE_PUSH_CONFIG, "t1", push=True)
    world.card(push=False)
    world.message("t1", WORKING)
    assert world.rules() == [RULE]


def test_a_subscription_is_streaming() -> None:
    """A task whose creating send did not stream may be streamed later."""
    world = World()
    world.card()
    world.send(WORKING)
    world.streams(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), WORKING)
    world.card(streaming=False)
    world.message("t1", WORKING)
    assert world.rules() == [RULE]


def test_each_message_until_the_task_is_read() -> None:
    """An answer to a message re-affirms nothing: the next message is a repeat."""
    world = World()
    world.card()
    world.send(WORKING)
    world.card(skills=("pay",))
    world.message("t1", WORKING)
    world.message("t1", WORKING, sent=message("and more", "m3"))
    assert [each.count for each in world.findings] == [1, 2]


def test_a_read_that_left_before_the_change() -> None:
    """What was asked before the change was seen re-affirms nothing."""
    world = World()
    world.card()
    world.send(WORKING)
    before = world.leaves(Method.GET_TASK, "t1")
    world.card(skills=("pay",))
    world.answers(before, WORKING)
    world.message("t1", WORKING)
    assert world.rules() == [RULE]


@pytest.mark.parametrize(
    "answer",
    [{"context": "c2"}, {"holds": ()}, {"form": Form.LISTED}],
    ids=["other context", "an artifact missing", "trimmed"],
)
def test_a_read_that_does_not_show_the_task_whole(answer: dict[str, Any]) -> None:
    """Another context, a missing artifact, and a trimmed answer re-affirm nothing."""
    world = World()
    world.card()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, WORKING)
    world.artifact(stream, "a1")
    world.card(skills=("pay",))
    world.answers(world.leaves(Method.GET_TASK, "t1"), WORKING, **{"holds": ("a1",), **answer})
    world.message("t1", WORKING)
    assert world.rules() == [RULE]


def test_a_read_that_goes_back() -> None:
    """Seed 002: the task is there, but submitted again. That re-affirms nothing."""
    world = World()
    world.card()
    world.send(WORKING)
    world.card(streaming=False, skills=("pay",))
    world.get("t1", SUBMITTED)
    world.message("t1", SUBMITTED)
    assert RULE in world.rules()


@pytest.mark.parametrize("error", ["TASK_NOT_FOUND", "503"])
def test_a_read_that_fails(error: str) -> None:
    """An error affirms nothing."""
    world = World()
    world.card()
    world.send(WORKING)
    world.card(skills=("pay",))
    world.fails(world.leaves(Method.GET_TASK, "t1"), error, from_agent=error == "TASK_NOT_FOUND")
    world.message("t1", WORKING)
    assert RULE in world.rules()


def test_a_second_narrowing_after_the_read() -> None:
    """A read affirms what the card says now, not what it will say."""
    world = World()
    world.card(skills=("a", "b", "c"))
    world.send(WORKING)
    world.card(skills=("a", "b"))
    world.get("t1", WORKING)
    world.message("t1", WORKING)
    assert not world.rules()
    world.card(skills=("a",))
    world.message("t1", WORKING, sent=message("and more", "m3"))
    assert world.rules() == [RULE]


@late(RULE)
def test_a_late_observer_sees_the_change_it_sees() -> None:
    """A task first seen by a read is bound to the revision of that time."""
    world = World()
    world.card()
    world.get("t1", WORKING)
    world.card(skills=("pay",))
    world.message("t1", WORKING)
    assert world.rules() == [RULE]


def test_a_narrower_extended_card() -> None:
    """The extended card speaks for those to whom it is shown."""
    world = World()
    world.card(extended=True, credential="mine", skills=("pay", "secret"))
    world.send(WORKING, credential="mine")
    world.card(extended=True, credential="mine", skills=("pay",))
    world.message("t1", WORKING, credential="mine")
    assert world.rules() == [RULE]


# --- it does not fire: other calls


@legal(RULE)
@pytest.mark.parametrize(
    "method", [Method.GET_TASK, Method.SUBSCRIBE_TO_TASK, Method.CANCEL_TASK, Method.LIST_TASKS, Method.GET_PUSH_CONFIG]
)
def test_reads_and_cancel_are_free(method: str) -> None:
    """There is always a way to find out, and a way out."""
    world = streaming_task_with_webhook()
    world.card(skills=("pay",))
    world.leaves(method, "t1")
    assert not world.findings


def test_new_work_in_the_same_context() -> None:
    """A send without a task id continues no task."""
    world = World()
    world.card()
    world.send(WORKING)
    world.card(skills=("pay",))
    world.send(WORKING, task="t2", context="c1", sent=message("more", "m2", references=("t1",)))
    assert not world.rules()


@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_an_ended_task_is_another_rules_matter(state: str) -> None:
    """What is sent under the id of an ended task is terminal-task-reused alone."""
    world = World()
    world.card()
    world.send(state)
    world.card(skills=("pay",))
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2"))
    assert world.rules() == ["terminal-task-reused"]


def test_before_the_first_state() -> None:
    """Before the agent has told a state there is no task to continue (G11)."""
    world = World()
    world.card()
    world.send(None)
    world.card(skills=("pay",))
    world.message("t1", INPUT)
    assert not world.rules()


def test_a_task_that_nobody_has_seen() -> None:
    """A task id that comes from elsewhere has no revision here."""
    world = World()
    world.card()
    world.card(skills=("pay",))
    world.message("t9", COMPLETED)
    assert not world.rules()
