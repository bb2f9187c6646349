# SPDX-License-Identifier: Apache-2.0
"""States as agents tell them: unknown-state, final-flag-on-live-task, snapshot-rolled-back."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import INTERRUPTED, STATES, TERMINAL, Channel, Form, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import WEBHOOK, Whole
from tests.support.world import COMPLETED, ENDPOINT, INPUT, WORKING, message

UNKNOWN = "unknown-state"
FINAL = "final-flag-on-live-task"
ROLLED = "snapshot-rolled-back"


def streamed(world: Whole, state: str | None, **told: Any) -> None:
    """One status event of a stream of its own."""
    call = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.shows(call, state, channel=Channel.STREAM, form=Form.UPDATE, **told)


def versions(first: float | None, second: float | None, state: str = WORKING, **settings: Any) -> Whole:
    """Two reads, with the time stamps of what they show."""
    world = Whole(**settings)
    world.send(WORKING)
    world.shows(world.leaves(Method.GET_TASK, "t1"), WORKING, timestamp=first)
    world.shows(world.leaves(Method.GET_TASK, "t1"), state, timestamp=second)
    return world


# --- unknown states


@fires(UNKNOWN)
@pytest.mark.parametrize("raw", ["in-progress", "TASK_STATE_DREAMING", ""])
def test_a_state_that_a2a_does_not_have(raw: str) -> None:
    """Invented, or none at all; nothing is learned of it."""
    world = Whole()
    world.send(WORKING)
    world.shows(world.leaves(Method.GET_TASK, "t1"), None, raw_state=raw)
    assert world.rules() == [UNKNOWN] and world.levels(UNKNOWN) == ["improvement"]
    assert world.task().state == WORKING


@fires(UNKNOWN)
def test_once_per_agent_and_value() -> None:
    """Many tasks, one habit; another value and another agent are another incident."""
    world = Whole()
    for number in range(5):
        sent = message(f"job {number}", f"m{number}")
        world.shows(world.leaves(Method.SEND_MESSAGE, sent=sent), None, raw_state="busy", task_id=f"t{number}")
    assert world.rules() == [UNKNOWN]
    world.shows(world.leaves(Method.GET_TASK, "t1"), None, raw_state="idle")
    world.shows(world.leaves(Method.GET_TASK, "t1", endpoint="https://b.example/a2a"), None, raw_state="busy")
    assert world.rules() == [UNKNOWN] * 3


@legal(UNKNOWN)
@pytest.mark.parametrize("state", sorted(STATES))
def test_states_of_a2a(state: str) -> None:
    """Every state that there is."""
    world = Whole()
    world.send(state)
    assert UNKNOWN not in world.rules()


@legal(UNKNOWN)
@pytest.mark.parametrize("raw", ["unknown", "TASK_STATE_UNSPECIFIED", "TASK_STATE_UNKNOWN"])
def test_an_agent_that_cannot_tell(raw: str) -> None:
    """0.x has *unknown*, and 1.0 has *unspecified*."""
    world = Whole()
    world.shows(world.leaves(Method.SEND_MESSAGE), None, raw_state=raw)
    assert not world.rules()


@legal(UNKNOWN)
def test_a_webhook_that_anybody_may_have_sent() -> None:
    """What nobody vouches for accuses nobody."""
    world = Whole()
    world.send(WORKING, push=WEBHOOK)
    world.delivers(None, token="digest(guess)")
    world.delivers(None, task="t9")
    assert not world.rules()


@late(UNKNOWN)
def test_the_first_that_is_seen_of_a_task() -> None:
    """A state that does not exist does not, whatever came before."""
    world = Whole()
    world.shows(world.leaves(Method.GET_TASK, "t1"), None, raw_state="busy")
    assert world.rules() == [UNKNOWN]


# --- final on a live task


@fires(FINAL)
def test_final_with_working() -> None:
    """The stream is over, the task is not."""
    world = Whole()
    streamed(world, WORKING, final=True)
    assert world.rules() == [FINAL] and world.levels(FINAL) == ["improvement"]


@legal(FINAL)
@pytest.mark.parametrize("state", [*sorted(TERMINAL), *sorted(INTERRUPTED)])
def test_final_where_it_belongs(state: str) -> None:
    """At an end, and where the agent waits for the client."""
    world = Whole()
    streamed(world, state, final=True)
    assert not world.rules()


@legal(FINAL)
@pytest.mark.parametrize("final", [False, None])
def test_not_final(final: bool | None) -> None:
    """An event like most, and 1.0, which has no such flag."""
    world = Whole()
    streamed(world, WORKING, final=final)
    assert not world.rules()


@legal(FINAL)
def test_final_with_a_state_that_says_nothing() -> None:
    """*unknown* may be an end."""
    world = Whole()
    streamed(world, None, final=True, raw_state="unknown")
    assert not world.rules()


@legal(FINAL)
def test_a_webhook_with_the_flag_that_nobody_vouches_for() -> None:
    """A forged delivery accuses nobody."""
    world = Whole()
    world.send(WORKING)
    world.shows(None, WORKING, task_id="t1", channel=Channel.WEBHOOK, form=Form.UPDATE, final=True)
    assert not world.rules()


@late(FINAL)
def test_a_flag_in_the_middle_of_a_life() -> None:
    """The event contradicts itself, whoever sees it first."""
    world = Whole()
    call = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.shows(call, WORKING, channel=Channel.STREAM, form=Form.UPDATE, final=True)
    assert world.rules() == [FINAL]


# --- an older version


@fires(ROLLED)
def test_a_later_read_with_an_older_timestamp() -> None:
    """By more than the clock skew."""
    assert versions(100.0, 94.0).rules() == [ROLLED]


@fires(ROLLED)
def test_a_lower_generation() -> None:
    """The draft's counter says it without clocks."""
    world = Whole()
    world.send(WORKING)
    for generation in (7, 6):
        world.shows(world.leaves(Method.GET_TASK, "t1"), WORKING, generation=generation)
    assert world.rules() == [ROLLED] and world.levels(ROLLED) == ["improvement"]


@legal(ROLLED)
@pytest.mark.parametrize(("first", "second"), [(100, 95), (100, 100), (100, 101), (None, 1), (100, None), (None, None)])
def test_timestamps_that_say_nothing(first: float | None, second: float | None) -> None:
    """Within the skew, equal, newer, absent or without a time zone."""
    assert not versions(first, second).rules()


@legal(ROLLED)
def test_the_skew_is_a_setting() -> None:
    """Replicas whose clocks differ by a minute."""
    assert not versions(100.0, 45.0, clock_skew=60).rules()


@legal(ROLLED)
@pytest.mark.parametrize("state", [INPUT, COMPLETED])
def test_news_by_a_clock_that_is_slow(state: str) -> None:
    """What was not known before is no older version."""
    assert not versions(100.0, 50.0, state).rules()


@legal(ROLLED)
def test_reads_that_overtake_each_other() -> None:
    """The slower answer shows what was true when it was asked for."""
    world = Whole()
    world.send(WORKING)
    slow, fast = world.leaves(Method.GET_TASK, "t1"), world.leaves(Method.GET_TASK, "t1")
    world.shows(fast, WORKING, timestamp=100.0, generation=7)
    world.shows(slow, WORKING, timestamp=50.0, generation=3)
    assert not world.rules()


@legal(ROLLED)
@pytest.mark.parametrize("method", [Method.SUBSCRIBE_TO_TASK, Method.LIST_TASKS, Method.SEND_MESSAGE])
def test_other_channels(method: str) -> None:
    """Streams play old events, lists and answers come from caches."""
    world = Whole()
    world.send(WORKING)
    world.shows(world.leaves(Method.GET_TASK, "t1"), WORKING, timestamp=100.0)
    call = world.leaves(method, "" if method == Method.LIST_TASKS else "t1", sent=message("more", "m2"))
    form = Form.LISTED if method == Method.LIST_TASKS else Form.UPDATE
    world.shows(call, WORKING, timestamp=50.0, form=form, task_id="t1")
    assert not world.rules()


@legal(ROLLED)
def test_another_task_of_the_same_id() -> None:
    """Of another tenant, and at another agent."""
    world = Whole()
    elsewhere: list[dict[str, Any]] = [{}, {"tenant": "b"}, {"endpoint": f"{ENDPOINT}/b"}]
    for timestamp, request in zip((100.0, 50.0, 20.0), elsewhere, strict=True):
        world.shows(world.leaves(Method.GET_TASK, "t1", **request), WORKING, timestamp=timestamp)
    assert not world.rules()


@late(ROLLED)
def test_the_first_read_that_is_seen() -> None:
    """There is nothing to compare it with."""
    world = Whole()
    world.shows(world.leaves(Method.GET_TASK, "t1"), WORKING, timestamp=50.0, generation=1)
    assert not world.rules()
