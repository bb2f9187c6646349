# SPDX-License-Identifier: Apache-2.0
"""Contexts: context-changed is the agent's, context-mismatch and reply-without-task-id are the client's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from otel_a2a.observations import INTERRUPTED, Channel, Form, MessageSeen, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import Whole
from tests.support.world import COMPLETED, INPUT, SUBMITTED, WORKING, message

CHANGED = "context-changed"
MISMATCH = "context-mismatch"
REPLY = "reply-without-task-id"
NEXT = message("next", "m2")


def conversation(state: str = WORKING, version: str = "1.0", **settings: Any) -> Whole:
    """Task t1 in context c1."""
    world = Whole(**settings)
    world.send(state, version=version)
    return world


# --- the agent answers elsewhere


@fires(CHANGED)
def test_1_0_answers_new_work_in_another_context() -> None:
    """It takes the context that it is given, or refuses it."""
    world = Whole()
    world.answers(world.leaves(Method.SEND_MESSAGE, context="mine"), WORKING, context="yours")
    assert world.rules() == [CHANGED] and world.levels(CHANGED) == ["violation"]


@fires(CHANGED)
def test_1_0_answers_with_a_message_in_another_context() -> None:
    """The same without a task."""
    world = Whole()
    call = world.leaves(Method.SEND_MESSAGE, context="mine")
    world.observe(MessageSeen(call=call, channel=Channel.RESPONSE, context_id="yours"))
    assert world.rules() == [CHANGED]


@fires(CHANGED)
def test_1_0_takes_new_work_into_an_old_conversation() -> None:
    """A message in one context is answered with a task of another."""
    world = conversation()
    world.answers(world.leaves(Method.SEND_MESSAGE, context="c2", sent=NEXT), WORKING, task="t1", context="c1")
    assert world.rules() == [CHANGED]


@fires(CHANGED)
@pytest.mark.parametrize("version", ["0.2", "0.3", "1.0"])
@pytest.mark.parametrize("method", [Method.GET_TASK, Method.SEND_MESSAGE, Method.CANCEL_TASK])
def test_a_task_moves_to_another_context(method: str, version: str) -> None:
    """In any version a task keeps its own, and the finding names both."""
    world = conversation(version=version)
    world.answers(world.leaves(method, "t1", version=version, sent=NEXT), WORKING, context="c9")
    [found] = [finding for finding in world.findings if finding.rule == CHANGED]
    assert "the task is in context c1 and was told of in context c9" in found.message


@legal(CHANGED)
@pytest.mark.parametrize("version", ["0.1", "0.2", "0.3", ""])
def test_0_x_may_give_another_context(version: str) -> None:
    """What the client proposes, the agent may replace; both are known from then on."""
    world = Whole()
    world.answers(world.leaves(Method.SEND_MESSAGE, context="mine", version=version), INPUT, context="yours")
    for context in ("mine", "yours", ""):
        sent = message(f"in {context}", f"m-{context}")
        call = world.leaves(Method.SEND_MESSAGE, "t1", context=context, version=version, sent=sent)
        world.answers(call, INPUT, context=context)
        world.get("t1", INPUT, context=context, version=version)
    assert not world.rules()


@legal(CHANGED)
def test_empty_is_absent() -> None:
    """In the request, in the answer, and in events of a stream."""
    world = Whole()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, SUBMITTED, context="c1")
    world.streams(stream, WORKING, context="")
    world.answers(world.leaves(Method.SEND_MESSAGE, context="c1", sent=NEXT), WORKING, task="t2", context="")
    world.get("t1", WORKING, context="")
    assert not world.rules()


@legal(CHANGED)
def test_a_list_over_all_contexts() -> None:
    """A list in one context may show what it likes."""
    world = conversation()
    world.answers(world.leaves(Method.LIST_TASKS, context="c2"), WORKING, task="t1", context="c3", form=Form.LISTED)
    assert not world.rules()


@legal(CHANGED)
def test_the_client_s_mistake_is_not_the_agent_s() -> None:
    """A task was named with a context that is not its own, and answers in its own."""
    world = conversation()
    world.answers(world.leaves(Method.SEND_MESSAGE, "t1", context="c2", sent=NEXT), WORKING, context="c1")
    assert world.rules() == [MISMATCH]


@legal(CHANGED)
def test_helpers_in_the_stream() -> None:
    """What a stream tells of other tasks is in their contexts."""
    world = Whole()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE, context="c1")
    world.streams(stream, WORKING)
    world.streams(stream, WORKING, COMPLETED, task="helper", context="inner")
    world.streams(stream, COMPLETED)
    assert not world.rules()


@legal(CHANGED)
def test_a_gateway_that_rewrites_ids() -> None:
    """Its contexts are its own."""
    world = Whole(gateway_rewrites_ids=True)
    world.answers(world.leaves(Method.SEND_MESSAGE, context="mine"), WORKING, context="yours")
    world.get("t1", WORKING, context="theirs")
    world.message("t1", WORKING, context="other")
    assert not world.rules()


@late(CHANGED)
def test_a_task_whose_context_was_not_seen() -> None:
    """The first context that is told is its own."""
    world = Whole()
    world.answers(world.leaves(Method.SEND_MESSAGE, "t1", context="mine"), WORKING, context="yours")
    world.get("t2", WORKING, context="c7")
    assert not world.rules()


# --- the client names a context that is not the task's


@fires(MISMATCH)
@pytest.mark.parametrize("version", ["0.3", "1.0"])
def test_a_task_and_a_context_that_do_not_belong_together(version: str) -> None:
    """The agent has to refuse it, and some do not."""
    world = conversation(INPUT, version)
    world.leaves(Method.SEND_MESSAGE, "t1", context="c2", version=version, sent=NEXT)
    assert world.rules() == [MISMATCH] and world.levels(MISMATCH) == ["violation"]


@legal(MISMATCH)
def test_in_0_1_an_ended_task_may_begin_anew_elsewhere() -> None:
    """There the client names tasks, and a name may come again in another session."""
    world = Whole()
    world.answers(world.leaves(Method.SEND_MESSAGE, "t1", context="c1", version="0.1"), COMPLETED)
    call = world.leaves(Method.SEND_MESSAGE, "t1", context="c2", version="0.1", sent=NEXT)
    world.answers(call, WORKING, context="c2")
    assert not world.rules()


@legal(MISMATCH)
@pytest.mark.parametrize("context", ["", "c1"])
def test_a_task_with_its_context_or_alone(context: str) -> None:
    """The id of the task is enough."""
    world = conversation(INPUT)
    world.message("t1", WORKING, context=context)
    assert not world.rules()


@legal(MISMATCH)
def test_a_task_in_the_context_that_it_was_asked_for_in() -> None:
    """0.x: the agent gave another one, and the client goes on with its own."""
    world = Whole()
    world.answers(world.leaves(Method.SEND_MESSAGE, context="mine", version="0.3"), INPUT, context="yours")
    call = world.leaves(Method.SEND_MESSAGE, "t1", context="mine", version="0.3", sent=NEXT)
    world.answers(call, WORKING, context="yours")
    assert not world.rules()


@legal(MISMATCH)
def test_reads_name_no_context() -> None:
    """A list in another context is no message."""
    world = conversation()
    world.leaves(Method.LIST_TASKS, context="c2")
    assert not world.rules()


@late(MISMATCH)
def test_a_task_of_which_nothing_is_known() -> None:
    """Nor where it is known, but not its context."""
    world = Whole()
    world.message("t1", WORKING, context="c2")
    world.get("t2", WORKING, context="")
    world.leaves(Method.SEND_MESSAGE, "t2", context="c2", sent=message("yet more", "m3"))
    assert not world.rules()


# --- a reply that does not name its task


@fires(REPLY)
@pytest.mark.parametrize("state", sorted(INTERRUPTED))
def test_a_message_past_the_question(state: str) -> None:
    """The task waits, and a message in its context does not name it: once per context."""
    world = conversation(state)
    for number in range(3):
        world.leaves(Method.SEND_MESSAGE, context="c1", sent=message(f"yes {number}", f"m{number + 2}"))
    assert world.rules() == [REPLY] and set(world.levels(REPLY)) == {"improvement"}


@legal(REPLY)
@pytest.mark.parametrize("binding", ["HTTP+JSON", "GRPC"])
def test_a_reply_whose_references_are_lost(binding: str) -> None:
    """There 0.3 has no place for them: that is worth a word, and accuses nobody."""
    world = conversation(INPUT, version="0.3")
    asked = Whole().leaves(Method.SEND_MESSAGE, context="c1", sent=NEXT, version="0.3")
    world.observe(replace(asked, binding=binding))
    assert world.levels(REPLY) == ["information"]


@legal(REPLY)
@pytest.mark.parametrize(
    "request_", [{"task": "t1"}, {"sent": message("yes", "m2", references=("t1",))}, {"context": ""}, {"context": "c2"}]
)
def test_a_message_that_is_none(request_: dict[str, Any]) -> None:
    """It names the task, refers to it, or is in another conversation."""
    world = conversation(INPUT)
    request: dict[str, Any] = {"context": "c1", "sent": NEXT} | request_
    world.leaves(Method.SEND_MESSAGE, **request)
    assert not world.rules()


@legal(REPLY)
def test_nothing_waits() -> None:
    """A follow-up by context alone, to what works or has ended."""
    world = conversation(COMPLETED)
    world.send(WORKING, task="t2", context="c1", sent=NEXT)
    world.send(WORKING, task="t3", context="c1", sent=message("last", "m3"))
    assert not world.rules()


@legal(REPLY)
def test_two_tasks_wait() -> None:
    """Nobody can tell which of them it is for."""
    world = conversation(INPUT)
    world.message("t2", INPUT)
    world.leaves(Method.SEND_MESSAGE, context="c1", sent=message("yes", "m3"))
    assert not world.rules()


@legal(REPLY)
def test_the_question_is_not_the_last_word() -> None:
    """Another task of the conversation has spoken since: the message may be for that one."""
    world = conversation(INPUT)
    world.get("t2", COMPLETED)
    world.leaves(Method.SEND_MESSAGE, context="c1", sent=NEXT)
    assert not world.rules()


@legal(REPLY)
def test_the_agent_has_gone_on_talking() -> None:
    """It answered in the conversation with a message of no task since: what follows may be a reply to that."""
    world = conversation(INPUT)
    aside = world.leaves(Method.SEND_MESSAGE, context="c1", sent=message("which one?", "m8", references=("t1",)))
    world.says(aside)
    world.leaves(Method.SEND_MESSAGE, context="c1", sent=NEXT)
    assert not world.rules()


@fires(REPLY)
def test_the_question_after_some_talk() -> None:
    """Talk before the question is no later word."""
    world = Whole()
    world.says(world.leaves(Method.SEND_MESSAGE, context="c1"))
    world.send(INPUT, context="c1", sent=message("charge", "m9"))
    world.leaves(Method.SEND_MESSAGE, context="c1", sent=NEXT)
    assert world.rules() == [REPLY]


@legal(REPLY)
@pytest.mark.parametrize("way", ["answered", "canceled", "abandoned", "lost"])
def test_a_question_that_is_settled(way: str) -> None:
    """It was answered already, or nobody will answer it."""
    world = conversation(INPUT)
    world.passes(5)
    if way == "answered":
        world.leaves(Method.SEND_MESSAGE, "t1", sent=NEXT)
    elif way == "canceled":
        world.breaks(world.leaves(Method.CANCEL_TASK, "t1"))
    elif way == "abandoned":
        world.abandons()
    else:
        world.not_found("t1")
    world.leaves(Method.SEND_MESSAGE, context="c1", sent=message("something else", "m3"))
    assert REPLY not in world.rules()


@late(REPLY)
def test_a_question_that_was_not_seen() -> None:
    """A message in a context of which nothing is known."""
    world = Whole()
    world.leaves(Method.SEND_MESSAGE, context="c1")
    assert not world.findings
