# SPDX-License-Identifier: Apache-2.0
"""state-skipped and input-required-without-working: only under the profile declared-history (seed 001)."""

from __future__ import annotations

import pytest

from otel_a2a.observations import TERMINAL, Form, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import WEBHOOK, Whole
from tests.support.world import COMPLETED, INPUT, SUBMITTED, WORKING

SKIPPED = "state-skipped"
ASKED = "input-required-without-working"


def declared(history: bool | None = True, profile: str = "declared-history") -> Whole:
    world = Whole(profile=profile, task_deadline=3600)
    world.card(history=history)
    return world


def streamed(world: Whole, *states: str, context: str = "", form: str = Form.UPDATE) -> None:
    """The stream of a creating send."""
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE, context=context)
    world.streams(stream, *states, form=form, context=context or "c1")
    world.ends(stream)


@fires(SKIPPED)
@pytest.mark.parametrize("state", sorted(TERMINAL))
@pytest.mark.parametrize("first", [(SUBMITTED,), ()])
def test_an_end_without_working(first: tuple[str, ...], state: str) -> None:
    """The card declares that every transition is shown, and the whole stream was seen."""
    world = declared()
    streamed(world, *first, state)
    assert world.rules() == [SKIPPED] and world.levels(SKIPPED) == ["improvement"]


@fires(ASKED)
@pytest.mark.parametrize("first", [(SUBMITTED,), ()])
def test_a_question_without_working(first: tuple[str, ...]) -> None:
    """Seed 001: working comes before input-required."""
    world = declared()
    streamed(world, *first, INPUT)
    assert world.rules() == [ASKED] and world.levels(ASKED) == ["violation"]


@fires(ASKED)
def test_a_new_task_in_a_context() -> None:
    """Submitted was seen, so the task began here."""
    world = declared()
    streamed(world, SUBMITTED, INPUT, context="c1")
    assert world.rules() == [ASKED]


@pytest.mark.parametrize(
    ("last", "rule"),
    [pytest.param(INPUT, ASKED, marks=fires(ASKED)), pytest.param(COMPLETED, SKIPPED, marks=fires(SKIPPED))],
)
def test_a_task_that_its_client_named(last: str, rule: str) -> None:
    """0.1, the words of seed 001: its messages name their task, and the first one under an id creates it."""
    world = declared()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", context="c1", version="0.1")
    world.streams(stream, SUBMITTED, last, task="t1")
    assert world.rules() == [rule]


@late(SKIPPED)
@late(ASKED)
@pytest.mark.parametrize("last", [INPUT, COMPLETED])
def test_a_task_that_its_client_may_have_named_before(last: str) -> None:
    """0.1: not shown as submitted, it may be older than what was seen; and the second message begins another turn."""
    world = declared()
    world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", version="0.1"), last, task="t1")
    again = world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", version="0.1")
    world.streams(again, SUBMITTED, last, task="t1")
    assert not world.rules()


@legal(SKIPPED)
@legal(ASKED)
@pytest.mark.parametrize("last", [INPUT, COMPLETED])
@pytest.mark.parametrize("first", [(SUBMITTED, WORKING), (WORKING,)])
def test_working_was_shown(first: tuple[str, ...], last: str) -> None:
    """As declared."""
    world = declared()
    streamed(world, *first, last)
    assert not world.rules()


@legal(SKIPPED)
@legal(ASKED)
@pytest.mark.parametrize("last", [INPUT, COMPLETED])
@pytest.mark.parametrize("history", [False, None])
def test_a_card_that_declares_nothing(history: bool | None, last: str) -> None:
    """1.0 has no such flag, and submitted straight to completed is legal."""
    world = declared(history)
    streamed(world, SUBMITTED, last)
    assert not world.rules()


@legal(SKIPPED)
@legal(ASKED)
@pytest.mark.parametrize("last", [INPUT, COMPLETED])
@pytest.mark.parametrize("profile", ["default", "authority", "fenced", "spec"])
def test_another_profile(profile: str, last: str) -> None:
    """A2A never promised that a declared history is a complete one."""
    world = declared(profile=profile)
    streamed(world, SUBMITTED, last)
    assert not world.rules()


@legal(SKIPPED)
@legal(ASKED)
@pytest.mark.parametrize("last", [INPUT, COMPLETED])
@pytest.mark.parametrize("channel", ["read", "webhook"])
def test_working_was_shown_on_another_channel(channel: str, last: str) -> None:
    """A poll, or a delivery, told it."""
    world = declared()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE, push=WEBHOOK)
    world.streams(stream, SUBMITTED)
    if channel == "read":
        world.get("t1", WORKING)
    else:
        world.delivers(WORKING)
    world.streams(stream, last)
    assert not world.rules()


@legal(SKIPPED)
@legal(ASKED)
@pytest.mark.parametrize("last", [INPUT, COMPLETED])
def test_what_is_no_whole_stream(last: str) -> None:
    """Answers and polls are samples, and a subscription begins anywhere."""
    world = declared()
    world.send(last)
    world.send(SUBMITTED, task="t2")
    world.get("t2", last)
    broken = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(broken, SUBMITTED, task="t3")
    world.ends(broken, "ReadError")
    world.streams(world.leaves(Method.SUBSCRIBE_TO_TASK, "t3"), last)
    assert not world.rules()


@late(SKIPPED)
@late(ASKED)
@pytest.mark.parametrize("last", [INPUT, COMPLETED])
@pytest.mark.parametrize("first", [(INPUT,), ()])
def test_a_task_that_is_older_than_what_was_seen(first: tuple[str, ...], last: str) -> None:
    """A message that names a context may be answered with a task that had worked before we looked (G7)."""
    world = declared()
    streamed(world, *first, last, context="c1", form=Form.SNAPSHOT)
    assert not world.rules()
