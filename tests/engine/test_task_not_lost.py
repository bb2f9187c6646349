# SPDX-License-Identifier: Apache-2.0
"""Answers of *not found* that tell of no loss: task-lost stays silent."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import STATES, TERMINAL, A2AError, Method
from tests.support.marks import late, legal
from tests.support.world import COMPLETED, WORKING, World

RULE = "task-lost"
LIVE = sorted(STATES - TERMINAL)
ASKING = (Method.GET_TASK, Method.SUBSCRIBE_TO_TASK, Method.SEND_MESSAGE, Method.SEND_STREAMING_MESSAGE)


def created(state: str = WORKING, **request: Any) -> World:
    """A task that was created five seconds ago."""
    world = World()
    world.send(state, **request)
    world.passes(5)
    return world


@legal(RULE)
def test_within_a_second_of_creation() -> None:
    """A task just made may not have reached every replica."""
    world = World()
    world.send(WORKING)
    world.passes(0.9)
    world.not_found("t1")
    assert not world.findings


def test_asked_within_a_second_and_answered_later() -> None:
    """A slow answer tells of when it was asked."""
    world = World()
    world.send(WORKING)
    asked = world.leaves(Method.GET_TASK, "t1")
    world.passes(5)
    world.fails(asked)
    assert not world.findings


def test_asked_before_the_task_was_seen() -> None:
    """A poll that left before anything was known of the task says nothing against it."""
    world = World()
    asked = world.leaves(Method.GET_TASK, "t1")
    world.send(WORKING)
    world.passes(5)
    world.fails(asked)
    assert not world.findings


@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_an_ended_task_may_be_forgotten(state: str) -> None:
    """Not found after the end is retention."""
    world = created(state)
    world.not_found("t1")
    assert not world.findings


def test_a_task_that_ended_while_it_was_asked_for() -> None:
    """The end arrives by a stream, the agent forgets the task, and the answer says so."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, WORKING)
    world.passes(5)
    asked = world.leaves(Method.GET_TASK, "t1")
    world.streams(stream, COMPLETED)
    world.fails(asked)
    assert not world.findings


@legal(RULE)
@pytest.mark.parametrize("answer", [WORKING, None])
def test_not_found_after_our_cancel(answer: str | None) -> None:
    """Some agents forget a task that is canceled, also where the cancel was not answered."""
    world = created()
    world.cancel("t1", answer)
    world.not_found("t1")
    assert not world.findings


def test_a_cancel_that_is_answered_not_found() -> None:
    """Seed 002's way out of an orphan is no violation."""
    world = created()
    world.not_found("t1", Method.CANCEL_TASK)
    assert not world.findings


def test_a_cancel_that_was_sent_before_the_task_was_known() -> None:
    """A late observer's first call about a task may be its cancel."""
    world = World()
    world.cancel("t1", WORKING)
    world.passes(5)
    world.not_found("t1")
    assert not world.findings


def test_a_cancel_that_overtakes_a_read() -> None:
    """A read under way while the cancel leaves may find nothing any more."""
    world = created()
    asked = world.leaves(Method.GET_TASK, "t1")
    world.cancel("t1", None)
    world.fails(asked)
    assert not world.findings


@legal(RULE)
@pytest.mark.parametrize("status", ["404", "410", "503", "ConnectError"])
def test_not_found_by_somebody_else(status: str) -> None:
    """A gateway's 404, a router's, a proxy's, and the network say nothing about a task."""
    world = created()
    world.fails(world.leaves(Method.GET_TASK, "t1"), status, from_agent=False)
    assert not world.findings


@pytest.mark.parametrize("error", [A2AError.UNSUPPORTED_OPERATION, A2AError.VERSION_NOT_SUPPORTED, "-32603", "-32602"])
def test_another_error(error: str) -> None:
    """Only not found is not found."""
    world = created()
    world.fails(world.leaves(Method.GET_TASK, "t1"), error)
    assert not world.findings


@pytest.mark.parametrize("method", [Method.GET_PUSH_CONFIG, Method.LIST_PUSH_CONFIGS, Method.CREATE_PUSH_CONFIG])
def test_not_found_of_something_else(method: str) -> None:
    """What is not found there may be the webhook's configuration."""
    world = created()
    world.not_found("t1", method)
    assert not world.findings


@late(RULE)
def test_a_task_that_was_never_seen() -> None:
    """An unknown id may well not exist."""
    world = created()
    world.not_found("t9")
    assert not world.findings


def test_a_task_that_has_no_state_yet() -> None:
    """Before the first known state there is nothing to lose."""
    world = World()
    world.send(None)
    world.passes(5)
    world.not_found("t1")
    assert not world.findings


def test_another_tenant() -> None:
    """Another tenant's task is another task."""
    world = created(tenant="a")
    world.not_found("t1", tenant="b")
    assert not world.findings


def test_another_agent() -> None:
    """Another agent does not know the task."""
    world = created()
    world.send(WORKING, task="t2", endpoint="https://other.example/a2a")
    world.not_found("t1", endpoint="https://other.example/a2a")
    assert not world.findings


def test_a_send_without_a_task_id() -> None:
    """Whatever is not found there, it is not a task that was named."""
    world = created()
    world.fails(world.leaves(Method.SEND_MESSAGE, context="c1"))
    assert not world.findings


def test_a_reused_port_with_another_card() -> None:
    """An agent of another name has lost nothing."""
    world = World()
    world.card(name="One")
    world.send(WORKING)
    world.card(name="Two")
    world.passes(5)
    world.not_found("t1")
    assert not world.findings


def test_an_ended_task_of_0_1_that_is_begun_anew() -> None:
    """A message under the id of an ended task of 0.1 may find nothing: that task had ended."""
    world = created(COMPLETED, version="0.1")
    world.not_found("t1", Method.SEND_MESSAGE, version="0.1")
    assert not world.findings


def test_a_life_of_0_1_just_begun() -> None:
    """The second of grace counts for every life."""
    world = created(COMPLETED, version="0.1")
    world.answers(world.leaves(Method.SEND_MESSAGE, "t1", version="0.1"), WORKING)
    world.not_found("t1", version="0.1")
    assert not world.findings
