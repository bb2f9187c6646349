# SPDX-License-Identifier: Apache-2.0
"""duplicate-send: a message was sent again after its first send had ended without an answer."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import Hints, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import Whole
from tests.support.world import COMPLETED, INPUT, WORKING, message

RULE = "duplicate-send"
HARMFUL = Hints(side_effect=True)
IN_DOUBT: tuple[int | str, ...] = ("ReadTimeout", "ReadError", "RemoteProtocolError", "CancelledError", 500, 503)


def unanswered(error: int | str = "ReadTimeout", **request: Any) -> Whole:
    """A send whose outcome nobody knows."""
    world = Whole()
    world.breaks(world.leaves(Method.SEND_MESSAGE, **request), error)
    return world


# --- it fires


@fires(RULE)
@pytest.mark.parametrize("error", IN_DOUBT)
def test_the_same_message_id(error: int | str) -> None:
    """A timeout, a cut, a 5xx: the agent may have the message."""
    world = unanswered(error)
    world.send(WORKING)
    assert world.levels(RULE) == ["information"] and not world.rules()


@fires(RULE)
@pytest.mark.parametrize("error", IN_DOUBT)
def test_a_violation_where_running_it_twice_does_harm(error: int | str) -> None:
    """The application said so."""
    world = unanswered(error)
    world.send(WORKING, hints=HARMFUL)
    assert world.rules() == [RULE] and world.levels(RULE) == ["violation"]


@fires(RULE)
def test_the_same_parts_in_the_same_context() -> None:
    """A new message id does not make another message of it."""
    world = unanswered(context="c1")
    world.send(WORKING, context="c1", sent=message(message_id="m2"), hints=HARMFUL)
    assert world.rules() == [RULE]


@pytest.mark.parametrize("events", [pytest.param(0, marks=fires(RULE)), pytest.param(1, marks=legal(RULE))])
def test_a_stream_that_broke_off(events: int) -> None:
    """Before its first event nothing had answered; after it, the agent had."""
    world = Whole()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, *[WORKING] * events)
    world.ends(stream, "ReadError")
    world.leaves(Method.SEND_STREAMING_MESSAGE, hints=HARMFUL)
    assert world.rules() == ([] if events else [RULE])


@fires(RULE)
def test_a_message_into_a_task() -> None:
    """A reply may be taken twice as well."""
    world = Whole()
    world.send(INPUT)
    world.breaks(world.leaves(Method.SEND_MESSAGE, "t1", sent=message("yes", "m2")))
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("yes", "m2"), hints=HARMFUL)
    assert world.rules() == [RULE]


@fires(RULE)
def test_an_unanswered_repetition_is_in_doubt_too() -> None:
    """Each further one may be one execution more."""
    world = unanswered()
    for _ in range(2):
        world.breaks(world.leaves(Method.SEND_MESSAGE, hints=HARMFUL))
    assert world.levels(RULE) == ["violation", "violation"]


# --- it does not fire


@legal(RULE)
@pytest.mark.parametrize("error", ["ConnectError", "ConnectTimeout", "PoolTimeout", "ClientConnectorError"])
def test_what_certainly_did_not_arrive(error: str) -> None:
    """Without a connection there is nothing that the agent may have."""
    world = unanswered(error)
    world.send(WORKING, hints=HARMFUL)
    assert not world.findings


@legal(RULE)
@pytest.mark.parametrize("status", [400, 401, 408, 413, 429])
def test_what_was_turned_away(status: int) -> None:
    """A 4xx says that the message was not taken."""
    world = unanswered(status)
    world.send(WORKING, hints=HARMFUL)
    assert not world.findings


@legal(RULE)
def test_an_error_of_the_agent_is_an_answer() -> None:
    """The agent itself said what became of the message."""
    world = Whole()
    world.fails(world.leaves(Method.SEND_MESSAGE), "-32603")
    world.send(WORKING, hints=HARMFUL)
    assert not world.findings


@legal(RULE)
def test_sends_in_flight_at_once() -> None:
    """Hedged sends do not follow from one another."""
    world = Whole()
    first, second = world.leaves(Method.SEND_MESSAGE), world.leaves(Method.SEND_MESSAGE, hints=HARMFUL)
    world.breaks(first)
    world.answers(second, WORKING)
    assert not world.findings


@legal(RULE)
def test_an_answered_first() -> None:
    """Whoever says the same thing twice may mean it."""
    world = Whole()
    world.send(WORKING, context="c1")
    world.send(WORKING, task="t2", context="c1", hints=HARMFUL)
    assert not world.findings


@legal(RULE)
def test_a_declared_retry() -> None:
    """The application knows what it does."""
    world = unanswered()
    world.send(WORKING, hints=Hints(side_effect=True, retry_of="t0"))
    assert not world.findings


@legal(RULE)
def test_the_same_words_in_another_context() -> None:
    """A new conversation may begin like the last one; so may two that have no context yet."""
    for first, second in (("c1", "c2"), ("", "")):
        world = unanswered(context=first)
        again = world.leaves(Method.SEND_MESSAGE, context=second, sent=message(message_id="m2"), hints=HARMFUL)
        world.answers(again, WORKING, context=second or "c3")
        assert not world.findings


@legal(RULE)
def test_the_same_word_to_another_task() -> None:
    """*Yes* to one question and *yes* to another, in one conversation or in two tenants."""
    for task, tenant in (("t2", ""), ("t1", "acme")):
        world = unanswered(task="t1", context="c1", sent=message("yes", "m2"))
        again = message("yes", "m3")
        world.leaves(Method.SEND_MESSAGE, task, tenant=tenant, context="c1", sent=again, hints=HARMFUL)
        assert not world.findings


@pytest.mark.parametrize("asks_again", [pytest.param(False, marks=fires(RULE)), pytest.param(True, marks=legal(RULE))])
def test_the_same_word_after_the_agent_went_on(asks_again: bool) -> None:
    """A poll shows that the answer which timed out has arrived: again it may do harm, unless the agent asks again."""
    world = Whole()
    world.send(INPUT)
    world.breaks(world.leaves(Method.SEND_MESSAGE, "t1", context="c1", sent=message("yes", "m2"), hints=HARMFUL))
    world.get("t1", WORKING)
    if asks_again:
        world.get("t1", INPUT)
    world.message("t1", WORKING, context="c1", sent=message("yes", "m3"), hints=HARMFUL)
    assert world.rules() == ([] if asks_again else [RULE])


@legal(RULE)
def test_the_same_word_to_a_later_run_of_a_task_of_0_1() -> None:
    """There a task that has ended is begun anew under its id, and what was lost may have been taken."""
    world = Whole()
    world.send(INPUT, version="0.1")
    world.breaks(world.leaves(Method.SEND_MESSAGE, "t1", sent=message("again", ""), version="0.1"))
    world.get("t1", COMPLETED, version="0.1")
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("again", ""), version="0.1", hints=HARMFUL)
    assert not world.findings


@legal(RULE)
def test_another_agent() -> None:
    """A failover is no repetition to the same agent."""
    world = unanswered()
    world.send(WORKING, endpoint="https://other.example/a2a", hints=HARMFUL)
    assert not world.findings


@legal(RULE)
def test_more_than_ten_minutes_later() -> None:
    """By then somebody has looked."""
    world = unanswered()
    world.waits(601)
    world.send(WORKING, hints=HARMFUL)
    assert not world.findings


@legal(RULE)
def test_the_same_word_after_a_repetition_was_answered() -> None:
    """A lost *yes* was repeated and taken; the *yes* to the next question repeats neither."""
    world = Whole()
    world.send(INPUT)
    yes: dict[str, Any] = {"context": "c1", "hints": HARMFUL}
    world.breaks(world.leaves(Method.SEND_MESSAGE, "t1", sent=message("yes", "m2"), **yes))
    world.message("t1", INPUT, sent=message("yes", "m2"), **yes)
    assert world.levels(RULE) == ["violation"]
    world.message("t1", WORKING, sent=message("yes", "m3"), **yes)
    assert world.levels(RULE) == ["violation"]


@legal(RULE)
def test_reads_may_be_repeated() -> None:
    """A read that was lost is read again."""
    world = Whole()
    world.send(WORKING)
    world.breaks(world.leaves(Method.GET_TASK, "t1"))
    world.get("t1", WORKING, hints=HARMFUL)
    assert not world.findings


# --- late


@late(RULE)
def test_a_first_send_that_was_not_seen() -> None:
    """The repetition looks like the first."""
    world = Whole()
    world.send(WORKING, hints=HARMFUL)
    assert not world.findings
