# SPDX-License-Identifier: Apache-2.0
"""Information about tasks: legal, though worth a line in a trace."""

from __future__ import annotations

import pytest

from otel_a2a.observations import TERMINAL, A2AError, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import Whole
from tests.support.world import CANCELED, COMPLETED, FAILED, WORKING, message

ORPHANED = "task-orphaned"
REAFFIRMED = "task-reaffirmed"
FLAPPING = "task-flapping"
REFUSED = "live-operation-refused"
PARTIAL = "artifacts-partial-unverified"
FEWER = ("pay",)


def running(*holds: str) -> Whole:
    world = Whole()
    world.card()
    world.send(WORKING)
    world.get("t1", WORKING, holds=holds)
    world.passes(5)
    return world


# --- unknown after a cancel


@fires(ORPHANED)
@pytest.mark.parametrize("how", ["to the cancel", "after it"])
def test_not_found_after_our_cancel(how: str) -> None:
    """Seed 002: accept it as a confirmation that the task is an orphan."""
    world = running()
    cancel = world.leaves(Method.CANCEL_TASK, "t1")
    if how == "after it":
        world.breaks(cancel)
        cancel = world.leaves(Method.GET_TASK, "t1")
    world.fails(cancel)
    world.not_found("t1")
    assert world.information() == [ORPHANED] and not world.rules()


@legal(ORPHANED)
@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_not_found_after_the_end(state: str) -> None:
    """Ended tasks are forgotten."""
    world = running()
    world.get("t1", state)
    world.not_found("t1", Method.CANCEL_TASK)
    assert not world.findings


@late(ORPHANED)
def test_a_task_that_was_not_seen() -> None:
    """It may never have been."""
    world = Whole()
    world.not_found("t1", Method.CANCEL_TASK)
    assert not world.findings


# --- shown whole after a change


@fires(REAFFIRMED)
def test_a_read_after_a_narrowing_change() -> None:
    """The agent answers for the task under its new card: messages may go on."""
    world = running("a1")
    world.card(skills=FEWER)
    world.get("t1", WORKING, holds=("a1",))
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2"))
    assert REAFFIRMED in world.information() and not world.rules()


@legal(REAFFIRMED)
def test_reads_that_re_affirm_nothing() -> None:
    """Nothing has narrowed, the read was under way, or it shows less."""
    world = running("a1")
    poll = world.leaves(Method.GET_TASK, "t1")
    world.card(skills=("pay", "refund", "ship"))
    world.get("t1", WORKING, holds=("a1",))
    world.card(skills=FEWER)
    world.answers(poll, WORKING, holds=("a1",))
    world.get("t1", WORKING)
    assert REAFFIRMED not in world.information()


@late(REAFFIRMED)
def test_a_task_first_seen_after_the_change() -> None:
    """It is of this revision."""
    world = Whole()
    world.card()
    world.card(skills=FEWER)
    world.get("t1", WORKING)
    world.get("t1", WORKING)
    assert REAFFIRMED not in world.information()


# --- lost and found


@fires(FLAPPING)
def test_a_lost_task_that_is_there_again() -> None:
    """One of several replicas does not know it."""
    world = running("a1")
    world.not_found("t1")
    world.get("t1", WORKING, holds=("a1",))
    assert world.information() == [FLAPPING] and world.rules() == ["task-lost"]


@legal(FLAPPING)
def test_a_task_that_was_never_lost() -> None:
    """Busy servers, and routers that do not find a path, lose no task."""
    world = running()
    for error in (503, 404, "ReadTimeout"):
        world.breaks(world.leaves(Method.GET_TASK, "t1"), error)
        world.get("t1", WORKING)
    assert not world.findings


@late(FLAPPING)
def test_a_task_that_was_not_found_before_it_was_seen() -> None:
    """It may not have been there yet."""
    world = Whole()
    world.not_found("t1")
    world.get("t1", WORKING)
    assert not world.findings


# --- refused


@fires(REFUSED)
@pytest.mark.parametrize("method", [Method.GET_TASK, Method.SUBSCRIBE_TO_TASK, Method.CANCEL_TASK])
@pytest.mark.parametrize("error", ["-32601", A2AError.UNSUPPORTED_OPERATION])
def test_an_operation_that_is_no_longer_supported(error: str, method: str) -> None:
    """Seed 000, case 1: that is about the operation, not about the task."""
    world = running()
    world.fails(world.leaves(method, "t1"), error)
    world.get("t1", WORKING)
    assert world.information() == [REFUSED] and not world.rules()


@legal(REFUSED)
def test_refusals_of_something_else() -> None:
    """Of an ended task, of a message, of a webhook, by a proxy, or for another reason."""
    world = running()
    world.breaks(world.leaves(Method.GET_TASK, "t1"), 501)
    world.fails(world.leaves(Method.GET_TASK, "t1"), "-32603")
    world.fails(world.leaves(Method.CREATE_PUSH_CONFIG, "t1"), "-32601")
    world.fails(world.leaves(Method.SEND_MESSAGE, "t1"), A2AError.UNSUPPORTED_OPERATION)
    world.get("t1", COMPLETED)
    world.fails(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), A2AError.UNSUPPORTED_OPERATION)
    assert REFUSED not in world.information()


@late(REFUSED)
def test_a_refusal_for_an_unknown_task() -> None:
    """Whether it was live, nobody here knows."""
    world = Whole()
    world.fails(world.leaves(Method.GET_TASK, "t1"), "-32601")
    assert not world.findings


# --- ended by the client, with artifacts


@fires(PARTIAL)
@pytest.mark.parametrize("state", [FAILED, CANCELED])
def test_a_local_end_with_artifacts(state: str) -> None:
    """Seed 000: preserve them as partial but unverified."""
    world = running("a1", "a2")
    world.records(state, "transport")
    assert PARTIAL in world.information() and not world.rules()


@legal(PARTIAL)
def test_local_ends_that_leave_nothing_partial() -> None:
    """There are no artifacts, or the agent itself has ended the task."""
    world = running()
    world.records(FAILED, "transport")
    ended = running("a1")
    ended.get("t1", FAILED, holds=("a1",))
    ended.records(FAILED, "server")
    assert not world.levels(PARTIAL) and not ended.levels(PARTIAL)


@late(PARTIAL)
def test_a_record_of_a_task_that_was_not_seen() -> None:
    """What it has, nobody here knows."""
    world = Whole()
    world.records(FAILED, "transport")
    assert not world.findings
