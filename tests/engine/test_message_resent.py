# SPDX-License-Identifier: Apache-2.0
"""message-resent-after-regression: the side effect that may run twice."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.errors import TaskResurrectionError
from otel_a2a.observations import Method, SentMessage
from tests.support.marks import fires
from tests.support.world import COMPLETED, FAILED, INPUT, SUBMITTED, WORKING, World, message

RULE = "message-resent-after-regression"
ORIGINAL = message("charge", "m1")
SAME_ID = message("charge, please", "m1")
SAME_WORDS = message("charge", "m2")
OTHER = message("and now?", "m3")


def troubled(kind: str = "went back", **settings: Any) -> World:
    """A task whose creating message is ``ORIGINAL``, in trouble of a kind."""
    world = World(**settings)
    world.send(WORKING, sent=ORIGINAL)
    world.passes(5)
    if kind == "went back":
        world.get("t1", SUBMITTED)
    elif kind == "lost":
        world.not_found("t1")
    elif kind == "reopened":
        world.get("t1", COMPLETED)
        world.get("t1", WORKING)
    elif kind == "two ends":
        world.get("t1", COMPLETED)
        world.get("t1", FAILED)
    return world


KINDS = ("went back", "lost", "reopened", "two ends")


def resent(world: World) -> list[str]:
    return world.levels(RULE)


# --- it fires: into the same task


@fires(RULE)
@pytest.mark.parametrize("sent", [ORIGINAL, SAME_ID, SAME_WORDS], ids=["original", "same id", "same words"])
@pytest.mark.parametrize("kind", KINDS)
def test_into_the_same_task(kind: str, sent: SentMessage) -> None:
    """The same message id or the same parts under the same task id, whatever the trouble."""
    world = troubled(kind)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=sent)
    assert resent(world) == ["violation"]
    assert world.findings[-1].task_id == "t1"


def test_the_last_accepted_message_counts_too() -> None:
    """Not only the creating message has side effects."""
    world = World()
    world.send(INPUT, sent=ORIGINAL)
    world.message("t1", WORKING, sent=OTHER)
    world.get("t1", SUBMITTED)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=OTHER)
    assert resent(world) == ["violation"]


def test_by_a_stream() -> None:
    """A streaming send is a send."""
    world = troubled()
    world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", sent=ORIGINAL)
    assert resent(world) == ["violation"]


# --- it fires: without the task id


@fires(RULE)
@pytest.mark.parametrize(
    ("kind", "expected"),
    [("went back", "violation"), ("lost", "improvement"), ("reopened", "violation"), ("two ends", "violation")],
)
@pytest.mark.parametrize(
    ("sent", "context"),
    [(ORIGINAL, ""), (SAME_ID, ""), (ORIGINAL, "c1"), (SAME_WORDS, "c1"), (ORIGINAL, "c9")],
    ids=["same message", "same id", "all the same", "same words in the same context", "same id in another context"],
)
def test_without_the_task_id(sent: SentMessage, context: str, kind: str, expected: str) -> None:
    """The same id, or the same parts in the same context: a violation unless the task was only lost."""
    world = troubled(kind)
    world.leaves(Method.SEND_MESSAGE, sent=sent, context=context)
    assert resent(world) == [expected]


@fires(RULE)
@pytest.mark.parametrize("context", ["", "c9"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_words_in_a_new_conversation(kind: str, context: str) -> None:
    """A new conversation with the same words is information, and raises nowhere."""
    world = troubled(kind, strictness="raise")
    world.leaves(Method.SEND_MESSAGE, sent=SAME_WORDS, context=context)
    assert resent(world)[-1:] == ["information"]
    assert world.last.error is None


def test_the_gravest_of_several_tasks_with_the_same_words() -> None:
    """A newer task with the same words does not hide that the message is another one's."""
    world = troubled()
    world.send(WORKING, task="t2", sent=SAME_WORDS)
    world.get("t2", SUBMITTED, context="c2")
    world.leaves(Method.SEND_MESSAGE, sent=ORIGINAL)
    assert resent(world) == ["information", "violation"]
    assert [each.task_id for each in world.findings if each.rule == RULE] == ["t1", "t1"]


# --- it fires: after our own refusal


def test_after_a_refused_answer() -> None:
    """The seed's client in mode raise: the read raises, the client sends again, and nothing leaves."""
    world = troubled(strictness="raise")
    assert isinstance(world.last.error, TaskResurrectionError) and world.last.error.request_sent
    world.leaves(Method.SEND_MESSAGE, sent=SAME_WORDS, context="c1")
    error = world.last.error
    assert isinstance(error, TaskResurrectionError) and not error.request_sent
    assert error.findings[0].rule == RULE and error.task_id == "t1"


def test_after_a_refused_loss() -> None:
    """Without the task id a lost task is an improvement, unless it was we who withheld the answer."""
    world = troubled("lost", strictness="raise")
    world.leaves(Method.SEND_MESSAGE, sent=ORIGINAL)
    assert resent(world) == ["violation"] and world.last.error is not None


def test_a_refused_message_three_times_by_a_retry_loop() -> None:
    """The answer to a message is withheld, the loop sends it again and again: not one of them leaves."""
    world = World(strictness="raise", rules="terminal-task-reused=off")
    world.send(COMPLETED, sent=ORIGINAL)
    world.message("t1", WORKING, sent=OTHER)
    assert world.last.error is not None and world.last.error.request_sent
    for _ in range(3):
        world.leaves(Method.SEND_MESSAGE, "t1", sent=OTHER)
        assert world.last.error is not None and not world.last.error.request_sent
    assert len(resent(world)) == 3 and [each.count for each in world.findings if each.rule == RULE] == [1, 2, 3]


def test_a_whole_read_does_not_free_a_message_whose_answer_was_withheld() -> None:
    """That the task is whole does not say that the message was not taken."""
    world = World(strictness="raise")
    world.send(WORKING, sent=ORIGINAL)
    world.message("t1", SUBMITTED, sent=OTHER)
    assert world.last.error is not None
    world.get("t1", WORKING)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=OTHER)
    assert resent(world) == ["violation"]
