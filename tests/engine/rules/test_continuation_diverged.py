# SPDX-License-Identifier: Apache-2.0
"""continuation-diverged and client-chosen-task-id: a message named a task, and what answers is not what was named."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import A2AError, Form, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import Whole
from tests.support.world import COMPLETED, INPUT, WORKING, message

DIVERGED = "continuation-diverged"
CHOSEN = "client-chosen-task-id"
MORE = message("more", "m2")


def asked(version: str = "1.0", state: str = INPUT, **settings: Any) -> Whole:
    """A task that waits for an answer."""
    world = Whole(**settings)
    world.send(state, version=version)
    return world


def answered(world: Whole, task: str, version: str = "1.0", method: str = Method.SEND_MESSAGE, **told: Any) -> None:
    """A message into t1 is answered with ``task``."""
    call = world.leaves(method, "t1", version=version, sent=MORE)
    world.answers(call, WORKING, task=task, **told)


# --- another task answers


@fires(DIVERGED)
@pytest.mark.parametrize("version", ["1.0", "1.1"])
@pytest.mark.parametrize("state", [INPUT, WORKING])
def test_a_fresh_task_answers_the_continuation(state: str, version: str) -> None:
    """Seed 001: the old task is left as it was, and nobody will ever end it."""
    world = asked(version, state)
    answered(world, "t2", version)
    assert world.rules() == [DIVERGED] and world.levels(DIVERGED) == ["violation"]
    assert world.findings[0].task_id == "t1" and "t2" in world.findings[0].message
    assert world.task("t1").disposition == "diverged"


@fires(DIVERGED)
def test_a_fresh_task_in_the_stream() -> None:
    """The first task that the stream tells of."""
    world = asked()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", sent=MORE)
    world.streams(stream, WORKING, COMPLETED, task="t2")
    assert world.rules() == [DIVERGED]


@fires(DIVERGED)
@pytest.mark.parametrize("version", ["0.2", "0.3"])
def test_0_x_is_less_explicit(version: str) -> None:
    """Information, unless the card in force declares history, or the profile keeps to 1.0's word."""
    world = asked(version)
    answered(world, "t2", version)
    assert world.levels(DIVERGED) == ["information"]
    strict = asked(version, profile="spec")
    answered(strict, "t2", version)
    assert strict.levels(DIVERGED) == ["violation"]
    declared = Whole()
    declared.card(history=True)
    declared.send(INPUT, version=version)
    answered(declared, "t2", version)
    assert declared.levels(DIVERGED) == ["violation"]


@legal(DIVERGED)
@pytest.mark.parametrize("method", [Method.SEND_MESSAGE, Method.SEND_STREAMING_MESSAGE])
def test_the_named_task_answers(method: str) -> None:
    """As it should be."""
    world = asked()
    answered(world, "t1", method=method)
    assert not world.findings


@legal(DIVERGED)
def test_a_message_answers() -> None:
    """An agent may answer with a message, into a task or not."""
    world = asked()
    world.says(world.leaves(Method.SEND_MESSAGE, "t1", sent=MORE))
    assert not world.findings


@legal(DIVERGED)
def test_an_error_answers() -> None:
    """The agent refuses: it has lost the task, or takes no message now."""
    world = asked()
    world.fails(world.leaves(Method.SEND_MESSAGE, "t1", sent=MORE), A2AError.UNSUPPORTED_OPERATION)
    assert not world.findings


@legal(DIVERGED)
def test_only_the_context_was_named() -> None:
    """Then it is for the agent to say which task, an old one or a new one."""
    world = asked(state=WORKING)
    world.answers(world.leaves(Method.SEND_MESSAGE, context="c1", sent=MORE), WORKING, task="t2")
    assert not world.rules()


@legal(DIVERGED)
def test_further_tasks_in_the_stream() -> None:
    """The named task answers first; what else the stream tells of are its helpers."""
    world = asked()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", sent=MORE)
    world.streams(stream, WORKING)
    world.streams(stream, WORKING, task="helper", context="c9")
    assert not world.rules()


@legal(DIVERGED)
def test_an_event_without_an_id() -> None:
    """Empty is absent."""
    world = asked()
    call = world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", sent=MORE)
    world.shows(call, WORKING, task_id="", form=Form.UPDATE, channel="stream")
    world.streams(call, WORKING)
    assert not world.findings


@legal(DIVERGED)
def test_a_task_that_had_ended_is_another_rule_s() -> None:
    """Who sends into an ended task gets what he gets: one finding, and it is the client's."""
    world = asked(state=COMPLETED)
    answered(world, "t2")
    assert world.rules() == ["terminal-task-reused"]


@legal(DIVERGED)
def test_a_gateway_that_rewrites_ids() -> None:
    """Seed 001: then an id is no key for reconciliation."""
    world = asked(gateway_rewrites_ids=True)
    answered(world, "t2", context="c9")
    assert not world.findings and world.task("t1").disposition != "diverged"


@legal(DIVERGED)
def test_0_1_where_clients_name_tasks() -> None:
    """There the id in an answer may be the agent's own."""
    world = asked("0.1")
    answered(world, "t2", "0.1")
    assert not world.rules()


@late(DIVERGED)
def test_a_named_task_that_was_not_seen() -> None:
    """It may have ended before we looked: information."""
    world = Whole()
    answered(world, "t2")
    assert world.levels(DIVERGED) == ["information"] and not world.rules()


# --- an id of the client's own


@fires(CHOSEN)
def test_an_id_that_the_agent_had_not_made() -> None:
    """This process has not seen it before: information, since another one may have."""
    world = Whole()
    answered(world, "t1")
    assert world.information() == [CHOSEN] and not world.rules()


@fires(CHOSEN)
def test_where_this_process_sees_the_whole_life() -> None:
    """There the client has made it up."""
    world = Whole(sees_whole_life=True)
    answered(world, "t1")
    assert world.rules() == [CHOSEN] and world.levels(CHOSEN) == ["improvement"]


@legal(CHOSEN)
@pytest.mark.parametrize("how", ["send", "get", "list", "stream"])
def test_an_id_that_was_seen(how: str) -> None:
    """By an answer, a read, a list or a stream."""
    world = Whole(sees_whole_life=True)
    if how == "send":
        world.send(INPUT)
    elif how == "get":
        world.get("t1", INPUT)
    elif how == "list":
        world.answers(world.leaves(Method.LIST_TASKS), INPUT, task="t1", form=Form.LISTED)
    else:
        world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE), INPUT)
    answered(world, "t1")
    assert not world.findings


@legal(CHOSEN)
@pytest.mark.parametrize("version", ["0.1"])
def test_clients_that_choose(version: str) -> None:
    """In 0.1 they all do."""
    world = Whole(sees_whole_life=True)
    answered(world, "t1", version)
    assert not world.findings


@legal(CHOSEN)
def test_an_agent_that_does_not_take_the_id() -> None:
    """It refuses, or starts a task of its own."""
    world = Whole(sees_whole_life=True)
    world.fails(world.leaves(Method.SEND_MESSAGE, "t1", sent=MORE))
    assert not world.findings
    answered(world, "t2")
    assert not world.levels(CHOSEN)


@legal(CHOSEN)
def test_ids_behind_a_gateway() -> None:
    """They may be anybody's."""
    world = Whole(sees_whole_life=True, gateway_rewrites_ids=True)
    answered(world, "t1")
    assert not world.findings


@late(CHOSEN)
def test_a_task_that_another_process_had_created() -> None:
    """It looks the same from here, and accuses nobody."""
    world = Whole()
    answered(world, "t1")
    world.get("t1", COMPLETED)
    assert not world.rules()
