# SPDX-License-Identifier: Apache-2.0
"""What may raise and what may not (design §4, rules.md G10)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from otel_a2a.engine.findings import Level, Phase, Strictness
from otel_a2a.engine.verdict import Verdict
from otel_a2a.errors import (
    A2APolicyError,
    TaskResurrectionError,
)
from otel_a2a.observations import Channel, Form, Method, TaskSeen
from tests.support.world import COMPLETED, FAILED, INPUT, SUBMITTED, WORKING, World, message

MORE = message("more", "m2")


def lost(method: str, channel: str = Channel.RESPONSE) -> Callable[[World], Verdict]:
    """A request about a live task is answered with not found."""

    def happens(world: World) -> Verdict:
        world.send(WORKING)
        world.passes(5)
        return world.fails(world.leaves(method, "t1", sent=MORE), channel=channel)

    return happens


def gone_back(method: str, channel: str = Channel.RESPONSE, form: str = Form.SNAPSHOT) -> Callable[[World], Verdict]:
    """A request about a task that had ended is answered with a live state."""

    def happens(world: World) -> Verdict:
        world.send(COMPLETED)
        return world.answers(world.leaves(method, "t1"), WORKING, task="t1", channel=channel, form=form)

    return happens


def another_end(world: World) -> Verdict:
    """A message into a live task crosses its end on the way, and is answered by another end."""
    world.send(WORKING)
    call = world.leaves(Method.SEND_MESSAGE, "t1", sent=MORE)
    world.get("t1", COMPLETED)
    return world.answers(call, FAILED)


def context_only(world: World) -> Verdict:
    """A send that names no task is answered with one that had ended."""
    world.send(COMPLETED)
    return world.answers(world.leaves(Method.SEND_MESSAGE, context="c1", sent=MORE), WORKING)


def another_task(world: World) -> Verdict:
    """A send into one task is answered with another, which had ended."""
    world.send(COMPLETED, task="t2", sent=message("other", "m0"))
    world.send(INPUT)
    return world.answers(world.leaves(Method.SEND_MESSAGE, "t1", sent=MORE), WORKING, task="t2")


def in_a_stream(world: World) -> Verdict:
    return world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE, "t1"), WORKING, SUBMITTED)


def reopened_in_a_subscription(world: World) -> Verdict:
    return world.streams(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), COMPLETED, WORKING)


def message_into_an_ended_task(world: World) -> Verdict:
    world.send(COMPLETED)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=MORE)
    return world.last


RAISES: dict[str, Callable[[World], Verdict]] = {
    "a read is answered with a state that cannot be": gone_back(Method.GET_TASK),
    "a subscription is answered so, and not by a stream": gone_back(Method.SUBSCRIBE_TO_TASK),
    "a message into a task is answered so": another_end,
    "a read finds nothing": lost(Method.GET_TASK),
    "a subscription finds nothing": lost(Method.SUBSCRIBE_TO_TASK),
    "a message finds nothing": lost(Method.SEND_MESSAGE),
    "a message into an ended task leaves": message_into_an_ended_task,
}
ONLY_LOGS: dict[str, Callable[[World], Verdict]] = {
    "a list": gone_back(Method.LIST_TASKS, form=Form.LISTED),
    "a cancel": gone_back(Method.CANCEL_TASK),
    "an answer that gave a task to a send without one": context_only,
    "an answer with another task than the message named": another_task,
    "a stream": in_a_stream,
    "a subscription's stream": reopened_in_a_subscription,
    "an error in a stream": lost(Method.SUBSCRIBE_TO_TASK, Channel.STREAM),
}


@pytest.mark.parametrize("happens", RAISES.values(), ids=RAISES)
def test_it_raises(happens: Callable[[World], Verdict]) -> None:
    """In mode raise the verdict carries an exception, and the finding says so."""
    world = World(strictness="raise")
    verdict = happens(world)
    assert isinstance(verdict.error, TaskResurrectionError)
    assert {each.action for each in verdict.findings} == {Strictness.RAISE}
    assert verdict.error.findings[0] in verdict.findings


@pytest.mark.parametrize("happens", ONLY_LOGS.values(), ids=ONLY_LOGS)
def test_it_only_logs(happens: Callable[[World], Verdict]) -> None:
    """Something is found at level violation in mode raise, and the application is not stopped."""
    world = World(strictness="raise")
    verdict = happens(world)
    assert verdict.error is None
    assert Level.VIOLATION in {each.level for each in verdict.findings}
    assert {each.action for each in verdict.findings} == {Strictness.LOG}


@pytest.mark.parametrize(
    "happens",
    [reopened_in_a_subscription, lost(Method.SUBSCRIBE_TO_TASK, Channel.STREAM)],
    ids=["a subscription's stream", "an error in a stream"],
)
def test_a_stream_raises_where_it_may(happens: Callable[[World], Verdict]) -> None:
    """RAISE_IN_STREAM lets streams raise."""
    assert happens(World(strictness="raise", raise_in_stream=True)).error is not None


def test_a_creating_stream_never_raises() -> None:
    """Not even RAISE_IN_STREAM withholds the answer that created a task."""
    world = World(strictness="raise", raise_in_stream=True)
    assert world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE), WORKING, SUBMITTED).error is None
    assert world.rules() == ["backward-transition"]


@pytest.mark.parametrize("happens", [*RAISES.values(), *ONLY_LOGS.values()], ids=[*RAISES, *ONLY_LOGS])
@pytest.mark.parametrize("strictness", ["annotate", "log"])
def test_no_other_mode_raises(strictness: str, happens: Callable[[World], Verdict]) -> None:
    """annotate and log never carry an exception, and mark what would have raised."""
    world = World(strictness=strictness)
    verdict = happens(world)
    assert verdict.findings and verdict.error is None
    assert any(each.would_raise for each in verdict.findings) is (happens in RAISES.values())


def test_what_has_ended_cannot_be_stopped() -> None:
    """An observer that says so is never given an exception."""
    world = World(strictness="raise")
    world.send(COMPLETED)
    call = world.leaves(Method.GET_TASK, "t1")
    seen = TaskSeen(call=call, channel=Channel.RESPONSE, form=Form.UPDATE, task_id="t1", state=WORKING, context_id="c1")
    verdict = world.observe(seen, enforce=False)
    assert verdict.findings and verdict.error is None


def test_an_unknown_webhook_raises_nothing() -> None:
    """A delivery that nobody vouches for is not judged by these rules."""
    world = World(strictness="raise")
    world.send(COMPLETED)
    seen = TaskSeen(call=None, channel=Channel.WEBHOOK, form=Form.UPDATE, task_id="t1", state="TASK_STATE_FAILED")
    assert world.observe(seen).error is None


# --- before and after the request


def test_a_refused_request_has_not_left() -> None:
    """Request phase: no byte has left, and the ledger does not know the message."""
    world = World(strictness="raise")
    error = message_into_an_ended_task(world).error
    assert isinstance(error, A2APolicyError)
    assert (error.phase, error.request_sent) == (Phase.REQUEST, False)
    assert (error.task_id, error.context_id) == ("t1", "c1")
    assert world.task().message_seq == 0


def test_a_refused_answer_was_to_a_request_that_has_left() -> None:
    """Response phase: the agent has the request, and the ledger has the answer."""
    world = World(strictness="raise")
    error = gone_back(Method.GET_TASK)(world).error
    assert isinstance(error, A2APolicyError)
    assert (error.phase, error.request_sent) == (Phase.RESPONSE, True)
    assert world.task().state == WORKING


def test_the_exception_is_raised_every_time() -> None:
    """A repeat is no new finding, and stops the application all the same."""
    world = World(strictness="raise")
    world.send(WORKING)
    for count in (1, 2, 3):
        error = world.get("t1", SUBMITTED).error
        assert error is not None and error.findings[0].count == count
