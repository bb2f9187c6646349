# SPDX-License-Identifier: Apache-2.0
"""Interrupted → submitted after our message: some agents submit every turn anew, some executions only look like it."""

from __future__ import annotations

import pytest

from otel_a2a.engine.records import ANSWERS, STREAMS
from otel_a2a.observations import INTERRUPTED, A2AError, CallFailed, Form, Method
from tests.support.world import AUTH, COMPLETED, INPUT, SUBMITTED, WORKING, World, message

RULE = "backward-transition"


# --- it does not fire: a new turn


@pytest.mark.parametrize("waiting", sorted(INTERRUPTED))
def test_an_agent_that_submits_every_turn_anew(waiting: str) -> None:
    """Interrupted → submitted as the first state after our message is information."""
    world = World()
    world.send(waiting)
    world.message("t1", SUBMITTED)
    world.get("t1", WORKING)
    assert world.levels(RULE) == ["information"] and not world.rules()


def test_a_new_turn_over_and_over() -> None:
    """Each turn may be submitted anew, and none goes back."""
    world = World()
    world.send(SUBMITTED)
    for turn in range(5):
        world.get("t1", WORKING)
        world.get("t1", INPUT)
        world.message("t1", SUBMITTED, sent=message(f"turn {turn}", f"m{turn + 2}"))
    assert set(world.levels(RULE)) == {"information"} and not world.rules()


def test_a_new_turn_told_by_the_stream_of_our_message() -> None:
    """The stream that answers our message begins with submitted."""
    world = World()
    world.send(INPUT)
    turn = world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", sent=message("yes", "m2"))
    world.streams(turn, SUBMITTED, WORKING, COMPLETED)
    assert not world.rules()


def test_a_new_turn_after_a_message_that_names_only_the_context() -> None:
    """A send without a task id that is answered with the waiting task was a message into it."""
    world = World()
    world.send(INPUT)
    world.answers(world.leaves(Method.SEND_MESSAGE, context="c1", sent=message("yes", "m2")), SUBMITTED)
    assert world.levels(RULE) == ["information"]


def test_a_new_turn_with_a_poll_under_way() -> None:
    """A poll that left before the new turn was seen may still tell of the question, and says nothing about order."""
    world = World()
    world.send(INPUT)
    poll = world.leaves(Method.GET_TASK, "t1")
    world.message("t1", SUBMITTED)
    world.answers(poll, INPUT)
    world.get("t1", SUBMITTED)
    assert not world.rules()


def test_a_new_turn_with_an_old_stream_that_lags() -> None:
    """A stream of the last turn may tell the question, and the new turn, after a read did."""
    world = World()
    old = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(old, SUBMITTED, WORKING)
    world.get("t1", INPUT)
    world.message("t1", SUBMITTED)
    world.streams(old, INPUT, SUBMITTED, WORKING)
    world.get("t1", WORKING)
    assert not world.rules()


def test_a_new_turn_whose_first_answer_is_overtaken() -> None:
    """The answer to our message may arrive after a poll has seen the turn go on."""
    world = World()
    world.send(INPUT)
    answer = world.leaves(Method.SEND_MESSAGE, "t1", sent=message("yes", "m2"))
    world.get("t1", WORKING)
    world.answers(answer, SUBMITTED)
    assert not world.rules()
    assert world.task().state == WORKING


def test_a_new_turn_seen_first_by_a_poll() -> None:
    """Whoever tells first that the task was submitted anew, the turn is the same."""
    world = World()
    world.send(INPUT)
    answer = world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", sent=message("yes", "m2"))
    world.get("t1", SUBMITTED)
    world.streams(answer, SUBMITTED, WORKING)
    assert not world.rules()


def test_a_question_that_an_old_poll_seems_to_take_back() -> None:
    """A lagging working after the question does not unask it."""
    world = World()
    world.send(WORKING)
    poll = world.leaves(Method.GET_TASK, "t1")
    world.get("t1", INPUT)
    world.answers(poll, WORKING)
    world.message("t1", SUBMITTED)
    assert not world.rules()


def test_a_question_that_a_webhook_told() -> None:
    """A client with a webhook knows of questions that are not seen here."""
    world = World()
    world.send(WORKING, push=True)
    world.message("t1", SUBMITTED)
    assert world.levels(RULE) == ["information"]
    world.get("t1", WORKING)
    world.get("t1", SUBMITTED)
    assert world.levels(RULE) == ["information", "violation"]


def test_another_client_in_this_process_answers() -> None:
    """Two clients of one process share the ledger: either may have sent the message."""
    world = World()
    world.send(INPUT, credential="one")
    world.message("t1", SUBMITTED, credential="two")
    world.get("t1", WORKING, credential="one")
    assert not world.rules()


def test_two_questions_answered_one_after_the_other() -> None:
    """The answer to the first question arrives when the second one has been answered too: each begins its turn."""
    world = World()
    world.send(INPUT)
    first = world.leaves(Method.SEND_MESSAGE, "t1", sent=message("one", "m2"))
    world.get("t1", INPUT)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("two", "m3"))
    world.answers(first, SUBMITTED)
    stream = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.streams(stream, INPUT, form=Form.SNAPSHOT)
    world.streams(stream, SUBMITTED)
    assert world.levels(RULE) == ["information"] * 2


# --- no new turn


def test_interrupted_to_submitted_without_our_message() -> None:
    """Nobody answered, and the task is submitted again: another execution."""
    world = World()
    world.send(INPUT)
    world.get("t1", SUBMITTED)
    assert world.rules() == [RULE]


def test_interrupted_to_submitted_in_another_context() -> None:
    """A new turn stays in its context."""
    world = World()
    world.send(INPUT)
    world.answers(world.leaves(Method.SEND_MESSAGE, "t1", sent=message("yes", "m2")), SUBMITTED, context="c2")
    assert world.rules() == [RULE]


def test_interrupted_to_submitted_after_a_loss() -> None:
    """A task that was lost in between is no new turn but a new execution."""
    world = World()
    world.send(INPUT)
    world.passes(5)
    world.not_found("t1")
    world.message("t1", SUBMITTED)
    assert world.rules() == ["task-lost", RULE]


def test_submitted_is_not_the_first_state_after_our_message() -> None:
    """Once the turn has gone on to working, submitted goes back like anywhere else."""
    world = World()
    world.send(INPUT)
    world.message("t1", WORKING)
    world.get("t1", SUBMITTED)
    assert world.levels(RULE) == ["violation"]


def test_submitted_after_working_in_the_stream_of_our_message() -> None:
    """The same within the stream that answers our message."""
    world = World()
    world.send(INPUT)
    world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", sent=message("yes", "m2")), WORKING, SUBMITTED)
    assert world.levels(RULE) == ["violation"]


def test_resumed_by_itself_before_our_message() -> None:
    """auth-required → working needs no message, and a message after that answers nothing."""
    world = World()
    world.send(AUTH)
    world.get("t1", WORKING)
    world.message("t1", SUBMITTED)
    assert world.levels(RULE) == ["violation"]


def test_a_second_message_has_no_second_turn() -> None:
    """A new turn needs a new question."""
    world = World()
    world.send(INPUT)
    world.message("t1", SUBMITTED)
    world.get("t1", WORKING)
    world.message("t1", SUBMITTED, sent=message("again", "m3"))
    assert world.levels(RULE) == ["information", "violation"]


def test_a_real_regression_after_a_new_turn_is_not_hidden_by_it() -> None:
    """The information about a new turn is another incident than the violation with the same two states after it."""
    world = World()
    world.send(INPUT)
    world.message("t1", SUBMITTED)
    world.message("t1", INPUT, sent=message("more", "m3"))
    world.get("t1", SUBMITTED)
    assert world.levels(RULE) == ["information", "violation"]
    assert world.rules() == [RULE]


def test_the_stream_of_our_message_tells_of_the_new_turn() -> None:
    """Also where a poll told first that the turn had begun: what that stream shows after it cannot be taken back."""
    world = World()
    world.send(INPUT)
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", sent=message("yes", "m2"))
    world.get("t1", SUBMITTED)
    world.streams(stream, WORKING)
    world.get("t1", SUBMITTED)
    assert world.levels(RULE) == ["information", "violation"]


def test_a_message_in_the_context_of_another_tenant_is_no_answer() -> None:
    """Contexts are a tenant's own, like tasks."""
    world = World()
    world.send(INPUT, tenant="a")
    world.leaves(Method.SEND_MESSAGE, context="c1", tenant="b", sent=message("yes", "m2"))
    world.get("t1", SUBMITTED, tenant="a")
    assert world.levels(RULE) == ["violation"]


# --- streams that lag: each tells of the turns in its own time


def test_every_stream_tells_of_every_turn() -> None:
    """Four streams of a task that is submitted anew for each answer, each of which is a turn or two behind."""
    world = World()
    first = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(first, SUBMITTED, WORKING)
    second = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.get("t1", INPUT)
    third = world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", sent=message("one", "m2"))
    world.streams(third, SUBMITTED, WORKING, INPUT)
    fourth = world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", sent=message("two", "m3"))
    world.streams(fourth, SUBMITTED, WORKING)
    for lagging in (third, first, second):
        world.streams(lagging, INPUT)
    for lagging in (first, third, second):
        world.streams(lagging, SUBMITTED, WORKING)
    for lagging in (second, first):
        world.streams(lagging, INPUT, SUBMITTED, WORKING)
    assert world.levels(RULE) == ["information"] * 2


def test_a_subscription_that_is_ahead_of_the_answer() -> None:
    """It shows the question of the next turn already, before the stream of our message begins with that turn."""
    world = World()
    world.send(INPUT)
    answer = world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", sent=message("one", "m2"))
    world.streams(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), INPUT, form=Form.SNAPSHOT)
    world.streams(answer, SUBMITTED, WORKING)
    world.message("t1", SUBMITTED, sent=message("two", "m3"))
    world.streams(answer, INPUT, SUBMITTED, WORKING, COMPLETED)
    assert not world.rules()


def test_a_lagging_subscription_by_its_time_stamps() -> None:
    """What it tells is older than what a read has told, and still comes in its order."""
    world = World()
    stream = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.streams(stream, WORKING, form=Form.SNAPSHOT, timestamp=10.0)
    world.answers(world.leaves(Method.GET_TASK, "t1"), INPUT, timestamp=20.0)
    world.answers(world.leaves(Method.SEND_MESSAGE, "t1", sent=message("yes", "m2")), SUBMITTED, timestamp=60.0)
    world.streams(stream, INPUT, timestamp=20.0)
    world.streams(stream, SUBMITTED, timestamp=60.0)
    assert not world.rules()


def test_a_lagging_subscription_tells_of_the_turn_first() -> None:
    """What a read has told since it left is no reason to take its events for old ones that it plays again."""
    world = World()
    world.send(INPUT)
    stream = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.streams(stream, INPUT, form=Form.SNAPSHOT, timestamp=10.0)
    read = world.leaves(Method.GET_TASK, "t1")
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("yes", "m2"))
    world.answers(read, INPUT, timestamp=80.0)
    world.streams(stream, SUBMITTED, timestamp=60.0)
    assert world.levels(RULE) == ["information"]


def test_a_subscription_that_plays_all_turns_again() -> None:
    """Without time stamps, the turns that are played are those that our answers began; and no more of them."""
    world = World()
    world.send(INPUT)
    world.message("t1", SUBMITTED, sent=message("yes", "m2"))
    world.get("t1", WORKING)
    played = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.streams(played, SUBMITTED, WORKING, INPUT, SUBMITTED, WORKING, INPUT)
    assert not world.rules()
    world.streams(played, SUBMITTED)
    assert world.rules() == [RULE]


@pytest.mark.parametrize("goes_back", ["first", "second", "read"])
def test_a_step_back_is_seen_in_every_stream(goes_back: str) -> None:
    """One answer begins one turn, in whichever stream it is told a second time."""
    world = World()
    first = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(first, SUBMITTED, INPUT)
    second = world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", sent=message("yes", "m2"))
    world.streams(second, SUBMITTED, WORKING, INPUT)
    world.streams(first, SUBMITTED, WORKING, INPUT)
    assert not world.rules()
    if goes_back == "read":
        world.get("t1", SUBMITTED)
    else:
        world.streams(first if goes_back == "first" else second, SUBMITTED)
    assert world.rules() == [RULE]


# --- subscriptions of an agent that plays what it likes of the past


@pytest.mark.parametrize("first", [(), (WORKING,), (SUBMITTED, WORKING)])
def test_a_subscription_that_plays_from_the_middle(first: tuple[str, ...]) -> None:
    """Nobody can tell old from new in what it begins with, nor does the question that it plays come back by that."""
    world = World()
    world.send(INPUT)
    world.message("t1", SUBMITTED)
    world.streams(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), *first, INPUT, SUBMITTED)
    world.get("t1", SUBMITTED)
    assert not world.rules()
    world.get("t1", WORKING)
    world.get("t1", SUBMITTED)
    assert world.rules() == [RULE]


def test_a_subscription_that_left_before_the_end_was_known() -> None:
    """What it plays of the past may arrive after another channel has told the end."""
    world = World()
    world.send(INPUT)
    late = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.get("t1", COMPLETED)
    world.streams(late, SUBMITTED, WORKING, INPUT, COMPLETED)
    assert not world.rules()


def test_a_subscription_with_newer_time_stamps_plays_nothing_again() -> None:
    """What is later than all that was known is no memory, and an answer that was taken explains it no more."""
    world = World()
    world.answers(world.leaves(Method.SEND_MESSAGE), INPUT, timestamp=10.0)
    world.answers(world.leaves(Method.SEND_MESSAGE, "t1", sent=message("yes", "m2")), SUBMITTED, timestamp=20.0)
    stream = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    world.streams(stream, SUBMITTED, timestamp=20.0)
    world.streams(stream, INPUT, timestamp=40.0)
    assert not world.rules()
    world.streams(stream, SUBMITTED, timestamp=60.0)
    assert world.rules() == [RULE]


def test_time_stamps_of_what_was_no_news() -> None:
    """The newest time stamp counts, also where a webhook was ahead of the stream that bore it."""
    world = World()
    old = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(old, SUBMITTED, timestamp=10.0)
    world.answers(world.leaves(Method.GET_TASK, "t1"), INPUT, timestamp=20.0)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("yes", "m2"))
    world.streams(old, INPUT, timestamp=20.0)
    world.streams(old, SUBMITTED, timestamp=60.0)
    played = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    for state, timestamp in ((SUBMITTED, 10.0), (INPUT, 20.0), (SUBMITTED, 60.0)):
        world.streams(played, state, timestamp=timestamp)
    assert not world.rules()


def test_more_turns_than_are_remembered() -> None:
    """Who plays the whole life again tells of turns that the ledger has forgotten; a read still shows a step back."""
    world = World()
    world.send(SUBMITTED)
    for turn in range(ANSWERS + 2):
        world.get("t1", INPUT)
        world.message("t1", SUBMITTED, sent=message(f"turn {turn}", f"m{turn + 2}"))
    world.streams(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), SUBMITTED, *(INPUT, SUBMITTED) * (ANSWERS + 2))
    world.get("t1", SUBMITTED)
    assert not world.rules()
    world.get("t1", INPUT)
    world.get("t1", SUBMITTED)
    assert world.rules() == [RULE]


def test_a_stream_that_first_tells_how_the_agent_found_the_task() -> None:
    """Waiting: that is the question which the message answers, also where another stream has told the new turn."""
    world = World()
    old = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(old, SUBMITTED, INPUT)
    answer = world.leaves(Method.SEND_STREAMING_MESSAGE, "t1", sent=message("yes", "m2"))
    world.streams(old, SUBMITTED)
    world.streams(answer, INPUT, form=Form.SNAPSHOT)
    world.streams(answer, SUBMITTED)
    world.get("t1", SUBMITTED)
    assert not world.rules()


# --- messages of which little is known


def test_a_message_that_left_before_anything_was_known_of_its_task() -> None:
    """Who starts to observe late does not know what it answered."""
    world = World()
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("yes", "m2"))
    world.get("t1", INPUT)
    world.get("t1", SUBMITTED)
    world.get("t1", WORKING)
    assert not world.rules()
    world.get("t1", SUBMITTED)
    assert world.rules() == [RULE]


def test_a_message_that_names_nothing() -> None:
    """It was an answer where the agent answers it with the task that waited."""
    world = World()
    world.send(INPUT)
    world.answers(world.leaves(Method.SEND_MESSAGE, sent=message("yes", "m2")), SUBMITTED)
    assert world.levels(RULE) == ["information"]
    world.get("t1", WORKING)
    world.get("t1", SUBMITTED)
    assert world.rules() == [RULE]


def test_a_message_in_the_context_that_began_another_task() -> None:
    """It answered nothing, and explains nothing."""
    world = World()
    world.send(INPUT)
    world.answers(world.leaves(Method.SEND_MESSAGE, context="c1", sent=message("more", "m2")), WORKING, task="t2")
    world.get("t1", INPUT)
    world.get("t1", SUBMITTED)
    assert world.rules() == [RULE]


def test_a_message_that_the_agent_refused() -> None:
    """It began no turn. One that got lost may have."""
    for error, found in ((A2AError.UNSUPPORTED_OPERATION, [RULE]), ("ReadTimeout", [])):
        world = World()
        world.send(INPUT)
        call = world.leaves(Method.SEND_MESSAGE, "t1", sent=message("yes", "m2"))
        world.observe(CallFailed(call=call, error=error, from_agent=bool(found)))
        world.get("t1", INPUT)
        world.get("t1", SUBMITTED)
        assert world.rules() == found


def test_a_refused_message_leaves_all_as_it_was() -> None:
    """What was certain before it left is certain again, without another look at the task."""
    world = World()
    world.send(INPUT)
    call = world.leaves(Method.SEND_MESSAGE, "t1", sent=message("yes", "m2"))
    world.fails(call, A2AError.UNSUPPORTED_OPERATION)
    world.get("t1", SUBMITTED)
    assert world.rules() == [RULE]


def test_an_open_stream_is_not_forgotten_for_those_that_ended() -> None:
    """However many there were, what it has shown cannot be taken back in it."""
    world = World()
    kept = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(kept, SUBMITTED, WORKING)
    for _ in range(STREAMS + 1):
        other = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
        world.streams(other, WORKING, form=Form.SNAPSHOT)
        world.ends(other)
    world.streams(kept, SUBMITTED)
    assert world.rules() == [RULE]


def test_a_long_conversation_in_one_stream_takes_no_more_space() -> None:
    """Of an answer that is forgotten, the streams remember nothing either."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, SUBMITTED)
    for turn in range(3 * ANSWERS):
        world.streams(stream, INPUT)
        world.message("t1", SUBMITTED, sent=message(f"turn {turn}", f"m{turn + 2}"))
        world.streams(stream, SUBMITTED)
    assert len(world.task().streams[stream.seq].taken) <= ANSWERS
    assert not world.rules()
