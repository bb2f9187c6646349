# SPDX-License-Identifier: Apache-2.0
"""terminal-task-reused: an ended task takes no message."""

from __future__ import annotations

import pytest

from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.errors import TaskResurrectionError
from otel_a2a.observations import SENDS, STATES, TERMINAL, CallStarted, Form, Method
from tests.support.marks import fires, late, legal
from tests.support.world import COMPLETED, ENDPOINT, FAILED, WORKING, World, message

RULE = "terminal-task-reused"
FREE = sorted({value for name, value in vars(Method).items() if not name.startswith("_")} - SENDS - {Method.GET_CARD})


# --- it fires


@fires(RULE)
@pytest.mark.parametrize("version", ["0.2", "0.3", "1.0"])
@pytest.mark.parametrize("method", sorted(SENDS))
@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_a_message_into_an_ended_task(state: str, method: str, version: str) -> None:
    """Any message under the id of a task that has ended in any way, in every version whose agents name tasks."""
    world = World()
    world.send(state, version=version)
    world.leaves(method, "t1", sent=message("more", "m2"), version=version)
    assert world.rules() == [RULE]
    finding = world.findings[0]
    assert (finding.level, finding.phase, finding.party) == (Level.VIOLATION, Phase.REQUEST, Party.CLIENT)
    assert finding.previous_state == state and finding.message_id == "m2"


@pytest.mark.parametrize("channel", ["stream", "list", "cancel", "read"])
def test_whoever_told_the_end(channel: str) -> None:
    """A terminal state counts from any channel."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, WORKING)
    if channel == "stream":
        world.streams(stream, COMPLETED)
    elif channel == "list":
        world.answers(world.leaves(Method.LIST_TASKS), COMPLETED, task="t1", form=Form.LISTED)
    elif channel == "cancel":
        world.cancel("t1")
    else:
        world.get("t1", COMPLETED)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2"))
    assert world.rules() == [RULE]


@late(RULE)
def test_a_late_observer() -> None:
    """An end first seen by a read is an end."""
    world = World()
    world.get("t1", FAILED)
    world.leaves(Method.SEND_MESSAGE, "t1")
    assert world.rules() == [RULE]


def test_a_task_that_was_reopened_had_ended_all_the_same() -> None:
    """What an agent takes back stays received."""
    world = World()
    world.send(COMPLETED)
    world.get("t1", WORKING)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2"))
    assert RULE in world.rules()


def test_nothing_leaves_in_mode_raise() -> None:
    """The message is stopped, once for each time, and the ledger knows that it did not leave."""
    world = World(strictness="raise")
    world.send(COMPLETED)
    for _ in range(3):
        world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2"))
        assert isinstance(world.last.error, TaskResurrectionError) and not world.last.error.request_sent
    assert world.task().message_seq == 0
    assert [each.count for each in world.findings] == [1, 2, 3]


# --- it does not fire


@pytest.mark.parametrize("state", sorted(STATES - TERMINAL))
def test_a_live_task(state: str) -> None:
    """A message into a live task is what task ids are for."""
    world = World()
    world.send(state)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2"))
    assert not world.findings


@legal(RULE)
@pytest.mark.parametrize("method", FREE)
def test_everything_but_a_message(method: str) -> None:
    """Reads, cancel and webhooks are no messages."""
    world = World()
    world.send(COMPLETED)
    world.leaves(method, "t1")
    assert not world.findings


def test_a_message_that_left_before_the_end_was_received() -> None:
    """A message crosses the end on its way."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, WORKING)
    crossing = world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2"))
    world.streams(stream, COMPLETED)
    world.fails(crossing, "UNSUPPORTED_OPERATION")
    assert not world.findings


@legal(RULE)
def test_a_message_whose_place_was_taken_before_the_end() -> None:
    """A call that is only understood later has left when it left."""
    world = World()
    world.send(WORKING)
    place = world.engine.tick()
    world.get("t1", COMPLETED)
    call = CallStarted(
        method=Method.SEND_MESSAGE,
        binding="JSONRPC",
        protocol_version="1.0",
        endpoint=ENDPOINT,
        server_address="agent.example",
        server_port=None,
        task_id="t1",
        message=message("more", "m2"),
    )
    call.seq = place
    world.observe(call)
    assert not world.rules()


def test_a_reference_to_an_ended_task() -> None:
    """A follow-up in the same context, with a reference, is the way to go on."""
    world = World()
    world.send(COMPLETED)
    world.leaves(Method.SEND_MESSAGE, context="c1", sent=message("more", "m2", references=("t1",)))
    assert not world.findings


def test_0_1_reuses_ids() -> None:
    """In 0.1 the client names tasks, and a message under an old id begins a new one."""
    world = World()
    world.send(COMPLETED, task="mine", version="0.1")
    for _ in range(2):
        world.answers(world.leaves(Method.SEND_MESSAGE, "mine", version="0.1"), COMPLETED)
    assert not world.findings


def test_an_unknown_state_ends_nothing() -> None:
    """A state that nobody knows is no end."""
    world = World()
    world.send(WORKING)
    world.get("t1", None)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2"))
    assert not world.findings


def test_neither_an_error_nor_the_end_of_a_stream_ends_a_task() -> None:
    """An error is no state, and a stream may end at any time."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, WORKING)
    world.ends(stream)
    world.fails(world.leaves(Method.GET_TASK, "t1"), "500", from_agent=False)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2"))
    assert not world.findings


@pytest.mark.parametrize("elsewhere", [{"endpoint": "https://other.example/a2a"}, {"tenant": "b"}], ids=str)
def test_the_same_id_somewhere_else(elsewhere: dict[str, str]) -> None:
    """Another agent's, or another tenant's, task of that id has not ended."""
    world = World()
    world.send(COMPLETED)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2"), **elsewhere)  # type: ignore[arg-type]
    assert not world.findings


def test_an_agent_of_another_name() -> None:
    """A reused port: the task of that id had ended at somebody else's."""
    world = World()
    world.card(name="One")
    world.send(COMPLETED)
    world.card(name="Two")
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2"))
    assert not world.findings
