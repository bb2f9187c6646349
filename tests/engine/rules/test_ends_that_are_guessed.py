# SPDX-License-Identifier: Apache-2.0
"""Ends that clients guess: failure-inferred-from-missing-poll and stream-end-as-task-end."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import TERMINAL, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import WEBHOOK, Whole
from tests.support.world import CANCELED, COMPLETED, FAILED, INPUT, WORKING

POLL = "failure-inferred-from-missing-poll"
STREAM = "stream-end-as-task-end"
PHANTOM = "phantom-terminal-state"


def polled() -> Whole:
    world = Whole()
    world.send(WORKING)
    world.waits(30)
    return world


def streamed(*states: str, **request: Any) -> Whole:
    """A stream that told these states, and has ended."""
    world = Whole()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE, **request)
    world.streams(stream, *states)
    world.ends(stream)
    return world


# --- an empty poll


@fires(POLL)
@pytest.mark.parametrize("outcome", ["never asked", "timeout", "not found"])
def test_a_failure_out_of_an_empty_poll(outcome: str) -> None:
    """Seed 004: no answer is no failure; it stands beside the phantom."""
    world = polled()
    if outcome == "timeout":
        world.breaks(world.leaves(Method.GET_TASK, "t1"))
    elif outcome == "not found":
        world.not_found("t1")
    world.records(FAILED, "poll-empty")
    assert {POLL, PHANTOM} <= set(world.rules()) and world.levels(POLL) == ["violation"]


@legal(POLL)
@pytest.mark.parametrize("reason", ["transport", "deadline", "user", "server", ""])
def test_a_failure_for_another_reason(reason: str) -> None:
    """Seed 000 allows a failure by timeout, and it has a rule of its own."""
    world = polled()
    world.records(FAILED, reason)
    assert not world.levels(POLL)


@legal(POLL)
def test_the_agent_had_told_the_failure() -> None:
    """The record is the agent's word, whatever the text says."""
    world = polled()
    world.get("t1", FAILED)
    world.records(FAILED, "poll-empty")
    assert not world.rules()


@legal(POLL)
def test_no_failure_was_recorded() -> None:
    """To go on waiting after an empty poll is what one does."""
    world = polled()
    world.breaks(world.leaves(Method.GET_TASK, "t1"))
    world.records(WORKING, "poll-empty")
    world.abandons()
    assert not world.findings


@late(POLL)
def test_a_task_whose_beginning_was_not_seen() -> None:
    """An unknown task may have failed where nobody looks; one that a read told alive has not."""
    world = Whole()
    world.records(FAILED, "poll-empty")
    assert not world.findings
    world.get("t1", WORKING)
    world.records(FAILED, "poll-empty")
    assert world.levels(POLL) == ["violation"]


# --- the end of a stream


@fires(STREAM)
@pytest.mark.parametrize("last", [WORKING, INPUT])
@pytest.mark.parametrize("recorded", sorted(TERMINAL))
def test_an_end_because_the_stream_ended(recorded: str, last: str) -> None:
    """A clean close is no completion."""
    world = streamed(WORKING, last)
    world.records(recorded, "stream-end")
    assert world.levels(STREAM) == ["violation"] and set(world.rules()) == {STREAM, PHANTOM}


@fires(STREAM)
def test_a_read_that_showed_it_alive() -> None:
    """The client looked, and booked an end all the same."""
    world = streamed(WORKING)
    world.get("t1", WORKING)
    world.records(COMPLETED, "stream-end")
    assert world.levels(STREAM) == ["violation"]


@legal(STREAM)
@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_the_end_came_in_the_stream(state: str) -> None:
    """That is how most tasks end."""
    world = streamed(WORKING, state)
    world.records(state, "stream-end")
    assert not world.rules()


@legal(STREAM)
@pytest.mark.parametrize("how", ["get", "subscribe", "webhook"])
def test_the_end_was_told_otherwise(how: str) -> None:
    """The stream broke off, and the client looked."""
    world = streamed(WORKING, push=WEBHOOK)
    if how == "get":
        world.get("t1", COMPLETED)
    elif how == "subscribe":
        world.streams(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), COMPLETED)
    else:
        world.delivers(COMPLETED)
    world.records(COMPLETED, "stream-end")
    assert not world.rules()


@legal(STREAM)
def test_a_stream_that_ended_and_is_taken_up_again() -> None:
    """A client that leaves early, or is cut off, and reads on."""
    world = streamed(WORKING)
    world.records(WORKING, "stream-end")
    again = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.streams(again, WORKING)
    world.ends(again, "closed-early")
    world.get("t1", COMPLETED)
    assert not world.rules()


@legal(STREAM)
def test_another_reason() -> None:
    """Given up by the user while the stream was open: a phantom, and no confusion of the two ends."""
    world = streamed(WORKING)
    world.records(CANCELED, "user")
    assert world.rules() == [PHANTOM]


@late(STREAM)
def test_a_stream_that_was_not_seen() -> None:
    """It may well have brought the end."""
    world = Whole()
    world.records(COMPLETED, "stream-end")
    assert not world.findings
