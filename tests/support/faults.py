# SPDX-License-Identifier: Apache-2.0
"""What a task, its agent or its client can do wrong, one thing at a time, after a past in which all was legal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from otel_a2a.observations import Channel, Decision, Form, Hints, Method, PushBinding, StateExpected
from tests.support.interrupted import NEW, Case
from tests.support.whole import artifact
from tests.support.world import COMPLETED, FAILED, INPUT, SUBMITTED, WORKING, message

GIVEN_ONCE: Final = "0b5f3c1e-5d0f-4a53-9a3c-0e6f1a2b3c4d"
HOOK: Final = PushBinding(url="digest(another webhook)")


def goes_back(case: Case) -> None:
    case.reads(SUBMITTED)


def goes_back_in_a_new_turn(case: Case) -> None:
    case.reads(INPUT)
    case.shows(case.sends(case.task_id), SUBMITTED)
    case.reads(WORKING)
    case.reads(SUBMITTED)


def is_used_though_poisoned(case: Case) -> None:
    case.reads(SUBMITTED)
    case.sends(case.task_id)


def is_lost_and_made_anew(case: Case) -> None:
    case.world.passes(2)
    case.world.fails(case.leaves(Method.GET_TASK, case.task_id))
    case.reads(SUBMITTED)


def is_told_again_after_going_back(case: Case) -> None:
    case.shows(case.sends(case.task_id), WORKING)
    case.reads(SUBMITTED)
    case.sends(case.task_id)


def goes_on_under_a_card_that_lost_it(case: Case) -> None:
    case.offers(skills=())
    case.sends(case.task_id)


def is_forgotten_in_its_work(case: Case) -> None:
    call = case.sends(hints=Hints(expected_duration=10))
    case.shows(call, WORKING, task_id="forgotten", context_id="elsewhere", held=())
    case.world.waits(10)


def is_hooked_up_and_forgotten(case: Case) -> None:
    call = case.sends(hints=Hints(expected_duration=10), push=HOOK)
    case.shows(call, WORKING, task_id="forgotten", context_id="elsewhere", held=())
    case.world.waits(10)


def shows_another_s_artifact(case: Case) -> None:
    case.reads(WORKING, held=(*case.held, artifact(GIVEN_ONCE)))
    call = case.leaves(Method.GET_TASK, "another")
    case.shows(call, WORKING, task_id="another", held=(artifact(GIVEN_ONCE),))


def is_in_a_state_that_does_not_exist(case: Case) -> None:
    case.reads(None, raw_state="meditating")


def is_final_and_works(case: Case) -> None:
    call = case.leaves(Method.SUBSCRIBE_TO_TASK, case.task_id)
    case.shows(call, WORKING, held=(), channel=Channel.STREAM, form=Form.UPDATE, final=True)


def shows_an_older_version(case: Case) -> None:
    for timestamp in (9e9, 8e9):
        case.reads(WORKING, timestamp=timestamp)


def misses_what_was_expected(case: Case) -> None:
    case.world.observe(StateExpected(task_id=case.task_id, state=INPUT, within=5, **case.where))
    case.world.waits(5)


def answers_as_another_task(case: Case) -> None:
    call = case.sends(case.task_id, version="1.0")
    case.shows(call, WORKING, task_id="another", held=())


def answers_in_another_context(case: Case) -> None:
    case.reads(WORKING, context_id="another")


def names_another_context(case: Case) -> None:
    case.sends(case.task_id, context="another")


def is_passed_by(case: Case) -> None:
    case.reads(INPUT)
    case.sends(context=case.task.context_id)


def loses_an_artifact(case: Case) -> None:
    case.reads(WORKING, held=(*case.held, artifact("one more")))
    case.reads(WORKING)


def goes_on_after_the_end(case: Case) -> None:
    call = case.leaves(Method.SUBSCRIBE_TO_TASK, case.task_id)
    case.shows(call, COMPLETED, held=(), channel=Channel.STREAM, form=Form.UPDATE)
    case.world.chunk(call, "afterthought", task=case.task_id, context=case.task.context_id)


def goes_on_after_the_last_chunk(case: Case) -> None:
    call = case.leaves(Method.SUBSCRIBE_TO_TASK, case.task_id)
    for text in ("all", "and more"):
        where = {"task": case.task_id, "context": case.task.context_id}
        case.world.chunk(call, "sealed", text, append=text != "all", last=text == "all", **where)


def takes_another_s_artifact(case: Case) -> None:
    told: dict[str, Any] = {"artifact_id": "foreign", "source_task_id": "t999"}
    case.world.decides(Decision.ARTIFACT_MERGED, task=case.task_id, **told, **case.where)


def drops_an_artifact(case: Case) -> None:
    case.reads(WORKING, held=(*case.held, artifact("one more")))
    case.world.drops("one more", task=case.task_id, **case.where)


def is_canceled_for_its_card(case: Case) -> None:
    case.card_fails()
    case.leaves(Method.CANCEL_TASK, case.task_id)


def is_failed_for_its_card(case: Case) -> None:
    case.records(FAILED, "capability")


def is_failed_for_an_empty_poll(case: Case) -> None:
    case.records(FAILED, "poll-empty")


def is_ended_with_its_stream(case: Case) -> None:
    case.records(COMPLETED, "stream-end")


def is_ended_by_guess(case: Case) -> None:
    case.records(COMPLETED)


def is_read_on_and_on(case: Case) -> None:
    for _ in range(4):
        case.reads(COMPLETED)


def is_canceled_and_forgotten(case: Case) -> None:
    case.world.passes(1)
    case.shows(case.leaves(Method.CANCEL_TASK, case.task_id), WORKING)
    case.world.waits(60)


def is_begun_without_a_card(case: Case) -> None:
    case.card_fails()
    case.sends()


def is_begun_on_an_old_card(case: Case) -> None:
    case.offers(max_age=60)
    case.world.waits(61)
    case.sends()


def is_sent_to_a_closed_door(case: Case) -> None:
    case.world.breaks(case.sends(), 410)
    case.sends(sent=message("another", "another one"))


def wants_what_is_not_offered(case: Case) -> None:
    case.sends(hints=Hints(skill="fly"))


def streams_where_there_are_none(case: Case) -> None:
    case.offers(streaming=False)
    case.leaves(Method.SEND_STREAMING_MESSAGE, sent=NEW)


def is_retried_alive(case: Case) -> None:
    case.sends(hints=Hints(retry_of=case.task_id))


def says_it_in_a_strange_type(case: Case) -> None:
    case.offers(input_modes=("text/plain",))
    case.sends(sent=replace(NEW, media_types=("application/x-strange",)))


def is_sent_twice(case: Case) -> None:
    case.world.breaks(case.sends())
    case.sends(hints=Hints(side_effect=True))


def hooks_up_where_push_is_denied(case: Case) -> None:
    case.offers(push=False)
    case.leaves(Method.CREATE_PUSH_CONFIG, case.task_id, push=HOOK)


def hooks_up_on_an_old_card(case: Case) -> None:
    case.world.waits(61)
    case.leaves(Method.CREATE_PUSH_CONFIG, case.task_id, push=HOOK)


def hooks_up_after_the_end(case: Case) -> None:
    case.reads(COMPLETED)
    case.leaves(Method.CREATE_PUSH_CONFIG, case.task_id, push=HOOK)


def waits_for_what_was_withdrawn(case: Case) -> None:
    case.leaves(Method.CREATE_PUSH_CONFIG, case.task_id, push=HOOK)
    case.offers(push=False)
    case.world.waits(60)


PHANTOM: Final = "phantom-terminal-state"
Fault = Callable[[Case], None]
FAULTS: Final[dict[Fault, set[str]]] = {
    goes_back: {"backward-transition"},
    goes_back_in_a_new_turn: {"backward-transition"},
    is_used_though_poisoned: {"backward-transition", "poisoned-task-used"},
    is_lost_and_made_anew: {"task-lost", "task-id-reused", "backward-transition"},
    is_told_again_after_going_back: {"backward-transition", "message-resent-after-regression"},
    goes_on_under_a_card_that_lost_it: {"continued-across-revisions"},
    is_forgotten_in_its_work: {"task-stuck", "unprobed-wait"},
    is_hooked_up_and_forgotten: {"task-stuck", "unprobed-wait", "task-unwatched"},
    shows_another_s_artifact: {"artifact-crossed-tasks"},
    is_in_a_state_that_does_not_exist: {"unknown-state"},
    is_final_and_works: {"final-flag-on-live-task"},
    shows_an_older_version: {"snapshot-rolled-back"},
    misses_what_was_expected: {"expected-state-missed"},
    answers_as_another_task: {"continuation-diverged"},
    answers_in_another_context: {"context-changed"},
    names_another_context: {"context-mismatch"},
    is_passed_by: {"reply-without-task-id"},
    loses_an_artifact: {"artifact-truncated"},
    goes_on_after_the_end: {"artifact-after-terminal"},
    goes_on_after_the_last_chunk: {"artifact-after-seal"},
    takes_another_s_artifact: {"artifact-merged-into-other-task"},
    drops_an_artifact: {"artifact-truncated"},
    is_canceled_for_its_card: {"cancel-after-card-failure", "card-decided-task-fate"},
    is_failed_for_its_card: {"card-decided-task-fate", PHANTOM},
    is_failed_for_an_empty_poll: {"failure-inferred-from-missing-poll", PHANTOM},
    is_ended_with_its_stream: {"stream-end-as-task-end", PHANTOM},
    is_ended_by_guess: {PHANTOM},
    is_read_on_and_on: {"terminal-state-ignored"},
    is_canceled_and_forgotten: {"cancel-unconfirmed"},
    is_begun_without_a_card: {"created-without-card"},
    is_begun_on_an_old_card: {"created-from-stale-card"},
    is_sent_to_a_closed_door: {"stale-after-rejection"},
    wants_what_is_not_offered: {"skill-not-advertised"},
    streams_where_there_are_none: {"operation-not-advertised"},
    is_retried_alive: {"retry-of-live-task"},
    says_it_in_a_strange_type: {"input-mode-not-advertised"},
    is_sent_twice: {"duplicate-send"},
    hooks_up_where_push_is_denied: {"webhook-denied-by-card"},
    hooks_up_on_an_old_card: {"webhook-from-stale-card"},
    hooks_up_after_the_end: {"webhook-for-terminal-task"},
    waits_for_what_was_withdrawn: {"waiting-on-withdrawn-webhook"},
}
