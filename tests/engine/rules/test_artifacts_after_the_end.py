# SPDX-License-Identifier: Apache-2.0
"""Artifacts that come too late in a stream: artifact-after-terminal and artifact-after-seal; artifact-replaced."""

from __future__ import annotations

import pytest

from otel_a2a.observations import TERMINAL, CallStarted, Form, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import TOKEN, WEBHOOK, Whole, artifact
from tests.support.world import COMPLETED, WORKING

ENDED = "artifact-after-terminal"
SEALED = "artifact-after-seal"
REPLACED = "artifact-replaced"


def stream(*states: str) -> tuple[Whole, CallStarted]:
    """A stream that has told these states."""
    world = Whole()
    call = world.leaves(Method.SEND_STREAMING_MESSAGE, push=WEBHOOK)
    world.streams(call, *states)
    return world, call


# --- after the end


@fires(ENDED)
@pytest.mark.parametrize("state", sorted(TERMINAL))
@pytest.mark.parametrize("append", [True, False])
def test_an_update_after_the_terminal_state(append: bool, state: str) -> None:
    """Clients that stop at the end miss it."""
    world, call = stream(WORKING, state)
    world.chunk(call, "a1", "late", append=append, last=True)
    assert world.rules() == [ENDED] and world.levels(ENDED) == ["violation"]


@legal(ENDED)
def test_a_snapshot_after_the_end() -> None:
    """The whole task, once more: no update."""
    world, call = stream(WORKING)
    world.chunk(call, "a1", "text", last=True)
    world.streams(call, COMPLETED)
    world.streams(call, COMPLETED, form=Form.SNAPSHOT)
    world.shows(call, COMPLETED, artifact("a1", "text"), "a2", channel="stream")
    assert not world.rules()


@legal(ENDED)
def test_artifacts_before_the_end() -> None:
    """Also in one breath with it."""
    world, call = stream(WORKING)
    world.chunk(call, "a1", "one ")
    world.chunk(call, "a1", "two", append=True, last=True)
    world.streams(call, COMPLETED)
    world.ends(call)
    assert not world.rules()


@legal(ENDED)
def test_the_end_on_another_channel() -> None:
    """A poll tells the end, and the stream lags behind it."""
    world, call = stream(WORKING)
    world.get("t1", COMPLETED)
    world.chunk(call, "a1", "text", last=True)
    world.streams(call, COMPLETED)
    assert not world.rules()


@legal(ENDED)
def test_a_subscription_that_shows_the_task_and_then_what_led_there() -> None:
    """What was received before is no news."""
    world, call = stream(WORKING)
    world.chunk(call, "a1", "text", last=True)
    world.streams(call, COMPLETED)
    again = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.shows(again, COMPLETED, artifact("a1", "text"), channel="stream")
    world.chunk(again, "a1", "text", last=True)
    assert not world.rules()


@legal(ENDED)
def test_webhooks_come_as_they_like() -> None:
    """Late, twice and out of order."""
    world, _ = stream(WORKING, COMPLETED)
    world.chunk(None, "a1", "text", last=True, token=TOKEN)
    assert not world.rules()


@late(ENDED)
def test_an_end_that_came_before_we_looked() -> None:
    """A stream of which the end was not seen, and a task of which nothing was."""
    world = Whole()
    call = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.chunk(call, "a1", "text", last=True)
    world.get("t1", COMPLETED)
    world.chunk(call, "a2", "text", last=True)
    assert not world.rules()


# --- after the seal


@fires(SEALED)
def test_a_chunk_after_the_last_one() -> None:
    """Clients that had closed the artifact have a part of it."""
    world, call = stream(WORKING)
    world.chunk(call, "a1", "one", last=True)
    world.chunk(call, "a1", "two", append=True)
    assert world.rules() == [SEALED] and world.levels(SEALED) == ["improvement"]


@legal(SEALED)
def test_the_same_chunk_again() -> None:
    """A repetition is none more."""
    world, call = stream(WORKING)
    world.chunk(call, "a1", "one")
    world.chunk(call, "a1", "two", append=True, last=True)
    world.chunk(call, "a1", "two", append=True, last=True)
    assert not world.rules()


@legal(SEALED)
def test_an_empty_chunk() -> None:
    """Some agents close a stream with one: nothing is in it to be missed."""
    world, call = stream(WORKING)
    world.chunk(call, "a1", "all", last=True)
    world.chunk(call, "a1", "", append=True, last=True)
    assert not world.rules()


@legal(SEALED)
def test_an_artifact_that_begins_anew() -> None:
    """A static id, and a new version under it in every turn of the stream."""
    world, call = stream(WORKING)
    for turn in range(3):
        world.chunk(call, "result", f"turn {turn} ")
        world.chunk(call, "result", f"and more {turn}", append=True, last=True)
    assert not world.rules()


@legal(SEALED)
def test_another_artifact() -> None:
    """Each has a seal of its own."""
    world, call = stream(WORKING)
    world.chunk(call, "a1", "one", last=True)
    world.chunk(call, "a2", "two", append=True)
    assert not world.rules()


@legal(SEALED)
def test_a_new_stream() -> None:
    """Where the artifact goes on, or is played again."""
    world, call = stream(WORKING)
    world.chunk(call, "a1", "one", last=True)
    world.ends(call)
    again = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.streams(again, WORKING)
    world.chunk(again, "a1", "two", append=True, last=True)
    assert not world.rules()


@late(SEALED)
def test_a_seal_that_was_not_seen() -> None:
    """Whatever came before, this goes on."""
    world = Whole()
    world.get("t1", WORKING, holds=("a1",))
    call = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.chunk(call, "a1", "two", append=True)
    assert not world.rules()


# --- another content


@fires(REPLACED)
def test_another_content_of_the_same_length() -> None:
    """A rewrite: information."""
    world = Whole()
    world.send(WORKING)
    for content in ("one", "two"):
        world.shows(world.leaves(Method.GET_TASK, "t1"), WORKING, artifact("a1", content))
    assert world.information() == [REPLACED] and not world.rules()


@legal(REPLACED)
def test_the_same_content() -> None:
    """Shown again, or put together out of its chunks."""
    world, call = stream(WORKING)
    world.chunk(call, "a1", "one ")
    world.chunk(call, "a1", "two", append=True, last=True)
    for _ in range(2):
        world.shows(world.leaves(Method.GET_TASK, "t1"), WORKING, artifact("a1", "one two"))
    assert not world.findings


@late(REPLACED)
def test_the_first_content_that_is_seen() -> None:
    """There is nothing to compare it with."""
    world = Whole()
    world.shows(world.leaves(Method.GET_TASK, "t1"), WORKING, artifact("a1", "one"))
    assert not world.findings
