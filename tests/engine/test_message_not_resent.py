# SPDX-License-Identifier: Apache-2.0
"""Messages that repeat nothing, or repeat it where nothing is wrong: message-resent-after-regression stays silent."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.engine.findings import Level
from otel_a2a.observations import A2AError, Decision, Hints, LocalDecision, Method, SentMessage
from tests.support.marks import late, legal
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


@pytest.mark.parametrize("kind", KINDS)
def test_another_message(kind: str) -> None:
    """Other words under another id repeat nothing."""
    world = troubled(kind)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=OTHER)
    world.leaves(Method.SEND_MESSAGE, sent=OTHER, context="c1")
    assert not resent(world)


@pytest.mark.parametrize("context", ["", "c1"])
@pytest.mark.parametrize("task", ["", "t1"])
def test_a_task_without_trouble(task: str, context: str) -> None:
    """A client that repeats itself while all is well repeats nothing of ours."""
    world = World()
    world.send(WORKING, sent=ORIGINAL)
    world.leaves(Method.SEND_MESSAGE, task, sent=ORIGINAL, context=context)
    assert not resent(world)


@legal(RULE)
@pytest.mark.parametrize("error", ["ReadTimeout", "ConnectError", "503"])
def test_a_retry_of_a_send_without_an_answer(error: str) -> None:
    """A transport retry of a message that was not answered comes after no trouble."""
    world = World()
    for _ in range(3):
        world.fails(world.leaves(Method.SEND_MESSAGE, sent=ORIGINAL), error, from_agent=False)
    world.send(WORKING, sent=ORIGINAL)
    assert not world.findings


def test_a_repetition_that_left_before_the_trouble_was_received() -> None:
    """A hedged request was under way when the task went back."""
    world = World()
    world.send(WORKING, sent=ORIGINAL)
    read = world.leaves(Method.GET_TASK, "t1")
    world.leaves(Method.SEND_MESSAGE, "t1", sent=ORIGINAL)
    world.answers(read, SUBMITTED)
    assert not resent(world)


def test_after_a_whole_read() -> None:
    """Once the task is shown whole again there is no trouble."""
    for kind in ("went back", "lost"):
        world = troubled(kind)
        world.get("t1", WORKING)
        world.leaves(Method.SEND_MESSAGE, "t1", sent=ORIGINAL)
        world.leaves(Method.SEND_MESSAGE, sent=ORIGINAL)
        assert not resent(world)


def test_after_a_whole_read_in_mode_raise() -> None:
    """A read whose answer was withheld is made good by one that is not."""
    world = troubled(strictness="raise")
    world.get("t1", WORKING)
    world.leaves(Method.SEND_MESSAGE, sent=ORIGINAL)
    assert not resent(world) and world.last.error is None


def test_a_message_answered_not_found_was_not_taken() -> None:
    """Where the agent itself said that it did not take the message, a whole read makes all good, in mode raise too."""
    world = World(strictness="raise")
    world.send(INPUT, sent=ORIGINAL)
    world.passes(5)
    world.not_found("t1", Method.SEND_MESSAGE, sent=OTHER)
    assert world.last.error is not None
    world.get("t1", INPUT)
    for sent in (OTHER, ORIGINAL):
        world.leaves(Method.SEND_MESSAGE, "t1", sent=sent)
        assert world.last.error is None and not resent(world)


def test_a_new_turn_is_no_trouble() -> None:
    """An agent that submits every turn anew has not gone back."""
    world = World()
    world.send(INPUT, sent=message("yes", "m1"))
    world.message("t1", SUBMITTED, sent=message("yes", "m2"))
    world.get("t1", INPUT)
    world.message("t1", SUBMITTED, sent=message("yes", "m3"))
    assert not resent(world)


@pytest.mark.parametrize("cancel_answer", [WORKING, None])
def test_not_found_after_our_cancel_is_no_trouble(cancel_answer: str | None) -> None:
    """Cancel, not found, and the same again under a new id: seed 000's and 002's way out."""
    world = World()
    world.send(WORKING, sent=ORIGINAL)
    world.passes(5)
    world.cancel("t1", cancel_answer)
    world.not_found("t1")
    world.leaves(Method.SEND_MESSAGE, sent=SAME_WORDS, context="c1")
    assert not world.findings


def test_a_second_cancel_makes_a_loss_no_trouble() -> None:
    """Whoever asks twice has asked before."""
    world = World()
    world.send(WORKING, sent=ORIGINAL)
    world.passes(5)
    world.cancel("t1", None)
    world.not_found("t1")
    world.cancel("t1", None)
    world.leaves(Method.SEND_MESSAGE, sent=SAME_WORDS, context="c1")
    world.leaves(Method.SEND_MESSAGE, "t1", sent=ORIGINAL)
    assert not world.findings


def test_an_abandoned_task() -> None:
    """An application that says that it gives a task up may do its work again."""
    world = troubled()
    world.observe(LocalDecision(decision=Decision.ABANDONED, task_id="t1"))
    world.leaves(Method.SEND_MESSAGE, sent=ORIGINAL)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=ORIGINAL)
    assert not resent(world)


def test_another_credentials_not_found_is_no_trouble() -> None:
    """What another user does not see is not lost."""
    world = World()
    world.send(WORKING, sent=ORIGINAL, credential="one")
    world.passes(5)
    world.not_found("t1", credential="two")
    world.leaves(Method.SEND_MESSAGE, sent=ORIGINAL, credential="one")
    assert not resent(world)


@pytest.mark.parametrize("error", [A2AError.UNSUPPORTED_OPERATION, "-32603"])
def test_another_error_is_no_trouble(error: str) -> None:
    """An agent that fails has not lost the task."""
    world = World()
    world.send(WORKING, sent=ORIGINAL)
    world.passes(5)
    world.fails(world.leaves(Method.GET_TASK, "t1"), error)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=ORIGINAL)
    assert not world.findings


@pytest.mark.parametrize("elsewhere", [{"endpoint": "https://other.example/a2a"}, {"tenant": "b"}], ids=str)
def test_the_same_message_to_somebody_else(elsewhere: dict[str, Any]) -> None:
    """The same message to another agent, or for another tenant, repeats nothing here."""
    world = troubled()
    world.leaves(Method.SEND_MESSAGE, sent=ORIGINAL, **elsewhere)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=ORIGINAL, **elsewhere)
    assert not resent(world)


def test_the_same_message_into_another_task() -> None:
    """The row names the same task id, or none."""
    world = troubled()
    world.send(WORKING, task="t2", sent=OTHER)
    world.leaves(Method.SEND_MESSAGE, "t2", sent=SAME_WORDS)
    assert not resent(world)


def test_a_message_without_id_or_readable_parts() -> None:
    """Two messages of which nothing is known are not the same message."""
    world = World()
    empty = SentMessage(message_id="", parts="")
    world.send(WORKING, sent=empty)
    world.get("t1", SUBMITTED)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=empty)
    world.leaves(Method.SEND_MESSAGE, sent=empty, context="c1")
    assert not resent(world)


@legal(RULE)
@pytest.mark.parametrize("task", ["", "t1"])
def test_a_declared_retry(task: str) -> None:
    """An application that says that it retries knows what it does."""
    world = troubled()
    world.leaves(Method.SEND_MESSAGE, task, sent=ORIGINAL, hints=Hints(retry_of="t1"))
    assert not resent(world)


@pytest.mark.parametrize("method", [Method.GET_TASK, Method.CANCEL_TASK, Method.SUBSCRIBE_TO_TASK])
def test_reads_and_cancel_send_nothing(method: str) -> None:
    """Only messages can be sent again."""
    world = troubled(strictness="raise")
    world.leaves(method, "t1")
    assert world.last.error is None and not resent(world)


@late(RULE)
def test_a_late_observer_does_not_know_what_was_sent() -> None:
    """A task that another process made, or an earlier run, has no creating message here."""
    world = World()
    world.get("t1", WORKING)
    world.get("t1", SUBMITTED)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=ORIGINAL)
    assert not resent(world)
    assert world.findings[0].level is Level.VIOLATION
