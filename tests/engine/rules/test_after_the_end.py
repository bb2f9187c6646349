# SPDX-License-Identifier: Apache-2.0
"""Clients that do not look what became of a task, or look for ever: cancel-unconfirmed and terminal-state-ignored."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import TERMINAL, A2AError, CallStarted, Form, Method, SpanRef
from tests.support.marks import fires, late, legal
from tests.support.whole import WEBHOOK, Whole
from tests.support.world import CANCELED, COMPLETED, ENDPOINT, HOST, INPUT, WORKING, message

IGNORED = "terminal-state-ignored"
CANCEL = "cancel-unconfirmed"


def ended(state: str = COMPLETED, **request: Any) -> Whole:
    world = Whole()
    world.send(WORKING, **request)
    world.get("t1", state)
    return world


def reads_as(world: Whole, user: int, how: str) -> None:
    """A read by one of several users, who differ in what ``how`` names."""
    call = CallStarted(
        method=Method.GET_TASK,
        binding="JSONRPC",
        protocol_version="1.0",
        endpoint=ENDPOINT,
        server_address=HOST,
        server_port=None,
        task_id="t1",
        credential=f"digest({user})" if how == "credential" else "",
        execution=user if how == "execution" else 7,
        span=SpanRef(user, 1) if how == "trace" else None,
        is_traced=how == "trace",
    )
    world.observe(call)
    world.answers(call, COMPLETED)


def canceled(answer: str | None = None, **settings: Any) -> Whole:
    """A cancel that timed out, or was answered with ``answer``."""
    world = Whole(**settings)
    world.send(WORKING)
    call = world.leaves(Method.CANCEL_TASK, "t1")
    world.passes(10)
    if answer is None:
        world.breaks(call)
    else:
        world.answers(call, answer)
    return world


# --- read on and on


@fires(IGNORED)
@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_the_third_read_after_the_end(state: str) -> None:
    """Each was answered with the end, and the client asks again."""
    world = ended(state)
    for _ in range(2):
        world.passes(2)
        world.get("t1", state)
    assert not world.rules()
    world.passes(2)
    world.get("t1", state)
    assert world.rules() == [IGNORED] and world.levels(IGNORED) == ["improvement"]


@fires(IGNORED)
def test_once_per_task() -> None:
    """A loop that never stops is one incident."""
    world = ended()
    for _ in range(20):
        world.passes(50)
        world.get("t1", COMPLETED)
    assert world.levels(IGNORED) == ["improvement"]


@legal(IGNORED)
def test_a_second_component_reads_the_end_for_itself() -> None:
    """The one that waits has the end; a dashboard and a store each fetch the result."""
    world = ended()
    for _ in range(2):
        world.get("t1", COMPLETED, holds=("a1",))
    assert not world.rules()


@legal(IGNORED)
@pytest.mark.parametrize("how", ["credential", "trace", "execution"])
def test_several_users_each_read_the_end(how: str) -> None:
    """In one process, within a minute: their credentials, traces or execution contexts tell them apart."""
    world = ended()
    for user in range(1, 6):
        world.passes(2)
        reads_as(world, user, how)
    assert not world.rules()


@fires(IGNORED)
@pytest.mark.parametrize("how", ["credential", "trace", "execution"])
def test_a_loop_between_the_reads_of_others(how: str) -> None:
    """One client polls on; that others look in between is no excuse."""
    world = ended()
    for user in (1, 2, 1, 3, 1):
        world.passes(2)
        reads_as(world, user, how)
    assert world.rules() == [IGNORED]


@fires(IGNORED)
def test_a_credential_that_is_added_on_the_way() -> None:
    """Auth flows set their header within the library's call: the loop is the same."""
    world = ended()
    for _ in range(3):
        world.passes(2)
        call = world.leaves(Method.GET_TASK, "t1")
        call.credential = "digest(token)"
        world.answers(call, COMPLETED)
    assert world.rules() == [IGNORED]


@legal(IGNORED)
def test_a_read_for_each_notification() -> None:
    """A handler fetches what it is told of, and is told of the end several times."""
    world = Whole()
    world.send(WORKING, push=WEBHOOK)
    for _ in range(6):
        world.passes(2)
        world.delivers(COMPLETED)
        world.get("t1", COMPLETED)
    assert not world.rules()


@legal(IGNORED)
def test_reads_now_and_then() -> None:
    """Somebody opens the page once in a while."""
    world = ended()
    for _ in range(10):
        world.passes(61)
        world.get("t1", COMPLETED)
    assert not world.rules()


@legal(IGNORED)
def test_a_read_that_fails_is_repeated() -> None:
    """The end came in the stream; its artifacts are fetched, and the server is busy."""
    world = ended()
    for error in (503, "ReadTimeout", 503, 502):
        world.passes(2)
        world.breaks(world.leaves(Method.GET_TASK, "t1"), error)
    world.get("t1", COMPLETED)
    assert not world.rules()


@legal(IGNORED)
def test_reads_under_way_at_once() -> None:
    """Five components ask at the same moment, none because of another's answer."""
    world = ended()
    for call in [world.leaves(Method.GET_TASK, "t1") for _ in range(5)]:
        world.answers(call, COMPLETED)
    assert not world.rules()


@legal(IGNORED)
def test_polls_that_left_before_the_end_came() -> None:
    """They did not know."""
    world = Whole()
    world.send(WORKING)
    for call in [world.leaves(Method.GET_TASK, "t1") for _ in range(5)]:
        world.answers(call, COMPLETED)
    assert not world.rules()


@legal(IGNORED)
def test_lists_and_subscriptions() -> None:
    """A list shows what there is, and a subscription ends by itself."""
    world = ended()
    for _ in range(5):
        world.answers(world.leaves(Method.LIST_TASKS), COMPLETED, form=Form.LISTED)
        world.streams(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), COMPLETED, form=Form.SNAPSHOT)
    assert not world.rules()


@legal(IGNORED)
def test_a_task_that_waits_is_polled() -> None:
    """Interrupted is no end."""
    world = Whole()
    world.send(INPUT)
    for _ in range(10):
        world.passes(2)
        world.get("t1", INPUT)
    assert not world.rules()


@legal(IGNORED)
def test_a_life_of_0_1_that_is_begun_anew() -> None:
    """What follows is read for the new life."""
    world = Whole()
    for _ in range(3):
        world.answers(world.leaves(Method.SEND_MESSAGE, "t1", version="0.1"), WORKING)
        for _ in range(3):
            world.get("t1", COMPLETED, version="0.1")
    assert not world.rules()


@late(IGNORED)
def test_an_end_that_was_not_seen() -> None:
    """The first read tells it, and counts for nothing."""
    world = Whole()
    for _ in range(3):
        world.get("t1", COMPLETED)
    assert not world.findings
    world.get("t1", COMPLETED)
    assert world.rules() == [IGNORED]


# --- a cancel that nobody looks after


@fires(CANCEL)
@pytest.mark.parametrize("answer", [None, WORKING, INPUT])
def test_a_minute_after_a_cancel_that_did_not_end_it(answer: str | None) -> None:
    """It timed out, or was answered alive, and then nothing."""
    world = canceled(answer)
    world.waits(59)
    assert not world.rules()
    world.waits(1)
    assert world.rules() == [CANCEL] and world.levels(CANCEL) == ["improvement"]


@fires(CANCEL)
def test_a_cancel_that_the_agent_refused() -> None:
    """An A2A error is no confirmation, unless it says that there is nothing to cancel."""
    world = Whole()
    world.send(WORKING)
    world.fails(world.leaves(Method.CANCEL_TASK, "t1"), A2AError.UNSUPPORTED_OPERATION)
    world.waits(60)
    assert world.rules() == [CANCEL]


@fires(CANCEL)
def test_every_cancel_is_to_be_looked_after() -> None:
    """The second one too, once per task in the report."""
    world = canceled()
    world.waits(60)
    world.breaks(world.leaves(Method.CANCEL_TASK, "t1"))
    world.waits(60)
    assert world.rules() == [CANCEL]


@legal(CANCEL)
@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_a_cancel_that_was_answered_with_an_end(state: str) -> None:
    """Canceled, or ended otherwise in the meantime."""
    world = canceled(state)
    world.waits(3600)
    assert not world.rules()


@fires(CANCEL)
def test_a_task_that_is_not_cancelable() -> None:
    """That leaves open whether it has ended or runs on: a2a-sdk says it of a working task that would not stop too."""
    world = Whole()
    world.send(WORKING)
    world.fails(world.leaves(Method.CANCEL_TASK, "t1"), A2AError.TASK_NOT_CANCELABLE)
    world.waits(60)
    assert world.rules() == [CANCEL]


@legal(CANCEL)
@pytest.mark.parametrize("error", [A2AError.TASK_NOT_CANCELABLE, A2AError.TASK_NOT_FOUND])
def test_nothing_to_cancel(error: str) -> None:
    """It had ended, as is known here, or is unknown to the agent."""
    world = Whole()
    world.send(WORKING)
    world.passes(5)
    cancel = world.leaves(Method.CANCEL_TASK, "t1")
    if error == A2AError.TASK_NOT_CANCELABLE:
        world.get("t1", COMPLETED)
    world.fails(cancel, error)
    world.waits(3600)
    assert not world.rules()


@legal(CANCEL)
@pytest.mark.parametrize("look", ["read", "read in vain", "list", "subscription", "webhook", "open stream"])
def test_somebody_looks(look: str) -> None:
    """A read, answered or not, a list, an open stream, or an end by webhook."""
    world = Whole()
    if look == "open stream":
        world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE), WORKING)
    else:
        world.send(WORKING, push=WEBHOOK)
    world.breaks(world.leaves(Method.CANCEL_TASK, "t1"))
    world.waits(30)
    if look == "read":
        world.get("t1", WORKING)
    elif look == "read in vain":
        world.breaks(world.leaves(Method.GET_TASK, "t1"))
    elif look == "list":
        world.answers(world.leaves(Method.LIST_TASKS), WORKING, form=Form.LISTED)
    elif look == "subscription":
        world.streams(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), WORKING)
    elif look == "webhook":
        world.delivers(CANCELED)
    world.waits(3600)
    assert not world.rules()


@legal(CANCEL)
@pytest.mark.parametrize("cut_first", [True, False])
def test_in_0_1_the_cancel_of_an_earlier_execution(cut_first: bool) -> None:
    """A task that has ended may begin anew: its cancel is settled."""
    world = Whole()
    world.answers(world.leaves(Method.SEND_MESSAGE, "t1", version="0.1"), WORKING)
    cancel = world.leaves(Method.CANCEL_TASK, "t1", version="0.1")
    if cut_first:
        world.breaks(cancel)
    world.get("t1", CANCELED, version="0.1")
    if not cut_first:
        world.breaks(cancel)
    again = world.leaves(Method.SEND_MESSAGE, "t1", version="0.1", sent=message("again", "m2"))
    world.answers(again, WORKING)
    world.waits(3600)
    assert not world.rules()


@legal(CANCEL)
def test_a_cancel_that_is_under_way() -> None:
    """Some agents answer only when the work has stopped."""
    world = Whole()
    world.send(WORKING)
    call = world.leaves(Method.CANCEL_TASK, "t1")
    world.waits(300)
    world.answers(call, CANCELED)
    world.waits(3600)
    assert not world.rules()


@legal(CANCEL)
def test_a_task_that_was_given_up() -> None:
    """The application said that it does not care any more."""
    world = canceled()
    world.abandons()
    world.waits(3600)
    assert not world.rules()


@legal(CANCEL)
def test_another_process_looks() -> None:
    """The operator says so."""
    world = canceled(watched_elsewhere=True)
    world.waits(3600)
    assert not world.rules()


@late(CANCEL)
def test_a_cancel_of_a_task_that_was_not_seen() -> None:
    """Whether it was live, nobody here knows."""
    world = Whole()
    world.breaks(world.leaves(Method.CANCEL_TASK, "t1"))
    world.waits(3600)
    assert not world.findings
