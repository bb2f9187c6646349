# SPDX-License-Identifier: Apache-2.0
"""artifact-truncated: an artifact that had been received is gone, or shorter than it was (seed 000)."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.engine.findings import Party
from otel_a2a.observations import ArtifactFacts, Channel, Form, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import TOKEN, WEBHOOK, Whole, artifact
from tests.support.world import CANCELED, COMPLETED, WORKING, message

RULE = "artifact-truncated"
FIRST, SECOND, THIRD = "once upon a time ", "there was an agent ", "that forgot"


def received(*holds: str, **settings: Any) -> Whole:
    """A task whose artifacts a read has shown."""
    world = Whole(**settings)
    world.send(WORKING)
    world.get("t1", WORKING, holds=holds)
    return world


def grown(*chunks: str, last: bool = False) -> tuple[Whole, Any]:
    """An artifact that a stream has brought in pieces."""
    world = Whole()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE, push=WEBHOOK)
    world.streams(stream, WORKING)
    for number, chunk in enumerate(chunks):
        world.chunk(stream, "a1", chunk, append=number > 0, last=last and number == len(chunks) - 1)
    return world, stream


def reads(world: Whole, content: str, state: str = COMPLETED) -> None:
    world.shows(world.leaves(Method.GET_TASK, "t1"), state, artifact("a1", content))


# --- it fires


@fires(RULE)
@pytest.mark.parametrize("method", [Method.GET_TASK, Method.SEND_MESSAGE])
def test_gone_from_a_whole_answer(method: str) -> None:
    """Seed 000: artifact stores are append-only per task."""
    world = received("a1", "a2")
    world.answers(world.leaves(method, "t1", sent=message("more", "m2")), WORKING, holds=("a2",))
    assert world.rules() == [RULE] and world.levels(RULE) == ["violation"]
    assert world.findings[0].party is Party.AGENT and "a1" in world.findings[0].message


@fires(RULE)
def test_an_empty_artifact_counts_by_its_id() -> None:
    """Seed 000, case 2: an artifact without parts is one."""
    world = Whole()
    world.send(WORKING)
    reads(world, "", WORKING)
    world.get("t1", COMPLETED)
    assert world.rules() == [RULE]


@fires(RULE)
def test_what_a_stream_had_brought() -> None:
    """The task has ended, and its stored form lacks what was sent."""
    world, stream = grown(FIRST)
    world.streams(stream, COMPLETED)
    world.get("t1", COMPLETED)
    assert world.rules() == [RULE]


@fires(RULE)
def test_shorter_than_it_had_grown() -> None:
    """Only the last chunk was stored."""
    world, stream = grown(FIRST, SECOND, THIRD, last=True)
    world.streams(stream, COMPLETED)
    reads(world, THIRD)
    assert world.rules() == [RULE] and "had grown" in world.findings[0].message


@fires(RULE)
def test_replaced_by_a_shorter_last_chunk() -> None:
    """The last chunk takes the place of the whole, and is a part of it."""
    world, stream = grown(FIRST, SECOND)
    world.chunk(stream, "a1", THIRD, last=True)
    assert world.rules() == [RULE]


@fires(RULE)
def test_dropped_by_the_client() -> None:
    """The other party: what was received stays valid, whatever the reason."""
    world = received("a1")
    world.drops("a1")
    assert world.rules() == [RULE] and world.findings[0].party is Party.CLIENT


@fires(RULE)
def test_where_artifacts_are_keyed_by_skill_it_is_information() -> None:
    """Seed 000's condition: there the invariant does not hold."""
    world = received("a1", artifacts_keyed_by_skill=True)
    world.get("t1", WORKING)
    world.drops("a1")
    assert not world.rules() and world.levels(RULE) == ["information", "information"]


# --- it does not fire


@legal(RULE)
def test_artifacts_that_become_more_and_longer() -> None:
    """Snapshots of a task that gets on."""
    world = Whole()
    world.send(WORKING)
    for turn in range(1, 5):
        held = [artifact(f"a{number}", "text " * turn) for number in range(turn)]
        world.shows(world.leaves(Method.GET_TASK, "t1"), WORKING, *held)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("partial", ["list", "trimmed", "cancel", "webhook", "stream", "subscription"])
def test_answers_that_prove_nothing(partial: str) -> None:
    """A list, a trimmed read, an answer to a cancel, a webhook, a first event of a stream."""
    world = Whole()
    world.send(WORKING, push=WEBHOOK)
    world.get("t1", WORKING, holds=("a1", "a2"))
    if partial == "list":
        world.answers(world.leaves(Method.LIST_TASKS), WORKING, task="t1", form=Form.LISTED)
    elif partial == "trimmed":
        world.answers(world.leaves(Method.GET_TASK, "t1", trimmed=True), WORKING, form=Form.LISTED)
    elif partial == "cancel":
        world.cancel("t1", CANCELED)
    elif partial == "webhook":
        world.delivers(WORKING)
        world.chunk(None, "a1", "", last=True, token=TOKEN)
    else:
        method = Method.SUBSCRIBE_TO_TASK if partial == "subscription" else Method.SEND_STREAMING_MESSAGE
        call = world.leaves(method, "t1", sent=message("more", "m2"))
        world.streams(call, WORKING, form=Form.SNAPSHOT)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("method", [Method.GET_TASK, Method.SEND_MESSAGE])
def test_an_answer_with_a_part_of_the_history(method: str) -> None:
    """Some agents leave out artifacts with it: that is information."""
    world = received("a1")
    call = world.leaves(method, "t1", sent=message("more", "m2"))
    call.limits_history = True
    world.answers(call, WORKING)
    assert not world.rules() and world.levels(RULE) == ["information"]


@legal(RULE)
def test_bytes_that_have_become_a_url() -> None:
    """What was streamed is stored elsewhere by the end, and the task says where."""
    world, _ = grown(FIRST, SECOND)
    stored = ArtifactFacts("a1", "digest(url)", 1, is_elsewhere=True)
    world.shows(world.leaves(Method.GET_TASK, "t1"), COMPLETED, stored)
    assert not world.rules()


@legal(RULE)
def test_a_poll_that_the_stream_has_overtaken() -> None:
    """The read left before the second chunk, and tells of the time before it (G2)."""
    world, stream = grown(FIRST)
    poll = world.leaves(Method.GET_TASK, "t1")
    world.chunk(stream, "a1", SECOND, append=True)
    world.chunk(stream, "a2", THIRD)
    world.streams(stream, COMPLETED)
    world.shows(poll, COMPLETED, artifact("a1", FIRST))
    assert not world.rules()


@legal(RULE)
def test_a_stream_that_a_poll_has_overtaken() -> None:
    """The snapshot has it all; the stream still brings it, piece by piece."""
    world, stream = grown(FIRST)
    reads(world, FIRST + SECOND + THIRD, WORKING)
    world.chunk(stream, "a1", SECOND, append=True)
    world.chunk(stream, "a1", THIRD, append=True, last=True)
    world.streams(stream, COMPLETED)
    reads(world, FIRST + SECOND + THIRD)
    assert not world.rules()


@legal(RULE)
def test_a_subscription_that_plays_all_chunks_again() -> None:
    """The connection broke, and the new stream begins at the beginning."""
    world, stream = grown(FIRST, SECOND)
    world.ends(stream, "ReadError")
    again = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.streams(again, WORKING)
    for number, chunk in enumerate((FIRST, SECOND, THIRD)):
        world.chunk(again, "a1", chunk, append=number > 0, last=number == 2)
    world.streams(again, COMPLETED)
    reads(world, FIRST + SECOND + THIRD)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("channel", ["stream", "webhook"])
def test_chunks_that_are_sent_twice(channel: str) -> None:
    """A repeated chunk adds nothing."""
    world, stream = grown(FIRST, SECOND)
    if channel == "stream":
        world.chunk(stream, "a1", SECOND, append=True)
    else:
        for chunk in (FIRST, SECOND):
            world.chunk(None, "a1", chunk, append=True, token=TOKEN)
    world.streams(stream, COMPLETED)
    reads(world, FIRST + SECOND)
    assert not world.rules()


@legal(RULE)
def test_a_final_snapshot_with_the_full_text() -> None:
    """The last chunk replaces the pieces by their sum."""
    world, stream = grown(FIRST, SECOND)
    world.chunk(stream, "a1", FIRST + SECOND + THIRD, last=True)
    world.streams(stream, COMPLETED)
    reads(world, FIRST + SECOND + THIRD)
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("content", [(FIRST + SECOND).strip(), f"\n{FIRST}{SECOND}\n"])
def test_white_space_at_the_ends(content: str) -> None:
    """A text that was sent in pieces is trimmed when it is put together."""
    world, stream = grown(FIRST, SECOND)
    world.streams(stream, COMPLETED)
    reads(world, content)
    assert not world.rules()


@legal(RULE)
def test_rewrites_that_were_never_appended_to() -> None:
    """A draft, and a shorter second draft under the same id: nothing had grown."""
    world, stream = grown(FIRST + SECOND)
    world.chunk(stream, "a1", THIRD)
    world.chunk(stream, "a1", "", last=True)
    reads(world, "done")
    assert not world.rules()


@legal(RULE)
@pytest.mark.parametrize("shown", [None, FIRST])
def test_what_an_open_stream_is_still_making(shown: str | None) -> None:
    """Some agents store an artifact when it is whole: until then a read may show less of it."""
    world, _ = grown(FIRST, SECOND)
    if shown is None:
        world.get("t1", WORKING)
    else:
        reads(world, shown, WORKING)
    assert not world.rules()


@legal(RULE)
def test_artifacts_without_an_id() -> None:
    """0.1 numbers them, and nothing tells which one is which."""
    world = Whole()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", version="0.1")
    world.shows(stream, WORKING, artifact("", FIRST), channel=Channel.STREAM)
    world.chunk(stream, "", SECOND, append=True)
    world.streams(stream, COMPLETED)
    world.get("t1", COMPLETED, version="0.1")
    assert not world.rules()


@legal(RULE)
def test_a_life_of_0_1_that_is_begun_anew() -> None:
    """The artifacts of the life before are not in the next one."""
    world = Whole()
    for turn in range(2):
        world.answers(world.leaves(Method.SEND_MESSAGE, "t1", version="0.1"), COMPLETED, holds=(f"a{turn}",))
        world.get("t1", COMPLETED, version="0.1", holds=(f"a{turn}",))
    assert not world.rules()


@legal(RULE)
def test_dropping_what_was_never_received() -> None:
    """There is nothing to lose."""
    world = received("a1")
    world.drops("a9")
    assert not world.rules()


@late(RULE)
def test_artifacts_from_before_we_looked() -> None:
    """What was not received here is not missed here."""
    world = Whole()
    world.get("t1", WORKING, holds=("a2",))
    stream = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.chunk(stream, "a3", SECOND, append=True)
    world.streams(stream, COMPLETED)
    world.shows(world.leaves(Method.GET_TASK, "t1"), COMPLETED, "a2", artifact("a3", FIRST + SECOND))
    world.drops("a1", task="t9")
    assert not world.rules()
