# SPDX-License-Identifier: Apache-2.0
"""Disposition: a task ends when its agent says so. What clients take for an end, what they make of one, and cancels of
which nobody looks what became.

No rule here applies before the agent has told a state of the task (rules.md, G11).
"""

from __future__ import annotations

from collections.abc import Iterator

from otel_a2a.config import Settings
from otel_a2a.engine import order
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.records import Task
from otel_a2a.engine.rules import Hit, Rule, View, rule
from otel_a2a.errors import CardTaskBoundaryError, TaskContinuationBlockedError
from otel_a2a.observations import (
    TERMINAL,
    CallStarted,
    DeadlineReached,
    Decision,
    LocalDecision,
    Method,
    Reason,
    TaskSeen,
    TaskState,
)

IGNORED_READS = 3
"""The read after the end that shows that a client does not know the state."""


@rule(
    name="phantom-terminal-state",
    boundary="disposition",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.LOCAL,
    exception=CardTaskBoundaryError,
    on=(LocalDecision, TaskSeen),
    origin="seeds 000 and 004; field reports",
    summary="The client recorded an end of a task that the agent never told.",
)
def phantom_terminal_state(told: LocalDecision | TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """A local terminal state that equals no state the agent told; confirmed when the agent later says otherwise.

    After a transport timeout (or the client's own deadline) it is an improvement, and information where a read had been
    answered alive: seed 000 allows that record. An A2A error to the last read is no timeout. Said to be the agent's,
    but never seen here, it is information. What a hook noticed, with no reason given, may have been told where nobody
    here sees it (another worker, gRPC, a webhook): it is an improvement, and information where the task has a webhook,
    until the agent says otherwise. An end confirms on any channel; a live state only in an answer to a request that
    left after the record; in 0.1 neither, once a second message has left under the task's id: it may be of that one.
    """
    task = view.task
    if task is None or not task.state:
        return
    if isinstance(told, TaskSeen):
        is_otherwise = task.local_state and told.state not in (None, task.local_state)
        if is_otherwise and not task.reused and _is_later(told, task):
            yield _phantom(task, task.local_state, f"and the agent says {told.state}", None)
        return
    if told.decision != Decision.STATE or told.state not in TERMINAL:
        return
    if told.state == task.terminal or told.state in task.first_seen:
        return
    level: Level | None = None
    if told.reason == Reason.SERVER:
        level = Level.INFORMATION
    elif told.reason in (Reason.TRANSPORT, Reason.DEADLINE) and not task.read_refused_seq:
        level = Level.INFORMATION if task.read_at and not task.terminal else Level.IMPROVEMENT
    elif not told.declared and not told.reason:
        level = Level.INFORMATION if task.pushed else Level.IMPROVEMENT
    yield _phantom(task, told.state, f"while the agent last said {task.terminal or task.state}", level)


def _is_later(told: TaskSeen, task: Task) -> bool:
    return told.state in TERMINAL or (told.call is not None and told.call.seq > task.local_seq)


def _phantom(task: Task, state: str, against: str, level: Level | None) -> Hit:
    return Hit(
        f"task {task.task_id} was recorded as {state} by the client {against}: only the agent ends a task. Keep what "
        f"was "
        "received as partial, and go on reading",
        task=task,
        discriminator=state,
        state=state,
        previous_state=task.state,
        level=level,
    )


@rule(
    name="failure-inferred-from-missing-poll",
    boundary="disposition",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.LOCAL,
    exception=TaskContinuationBlockedError,
    on=(LocalDecision,),
    origin="seed 004",
    summary="The client recorded a task as failed because a poll had brought nothing.",
)
def failure_inferred_from_missing_poll(told: LocalDecision, view: View, settings: Settings) -> Iterator[Hit]:
    """A local failure with the reason ``poll-empty``."""
    task = view.task
    if task is None or not task.state or told.decision != Decision.STATE:
        return
    if told.reason != Reason.POLL_EMPTY or told.state != TaskState.FAILED or task.terminal == TaskState.FAILED:
        return
    yield Hit(
        f"task {task.task_id} was recorded as failed because a poll brought nothing: no answer is no failure. Poll "
        f"again",
        task=task,
        state=told.state,
        previous_state=task.state,
    )


@rule(
    name="stream-end-as-task-end",
    boundary="disposition",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.LOCAL,
    exception=CardTaskBoundaryError,
    on=(LocalDecision,),
    origin="A2A 1.0 §3.5.2; field reports",
    summary="The client took the end of a stream for the end of its task.",
)
def stream_end_as_task_end(told: LocalDecision, view: View, settings: Settings) -> Iterator[Hit]:
    """A local terminal state because the stream ended, and no terminal state came in it or in a read since."""
    task = view.task
    if task is None or not task.is_live or told.decision != Decision.STATE:
        return
    if told.reason != Reason.STREAM_END or told.state not in TERMINAL:
        return
    yield Hit(
        f"task {task.task_id} was recorded as {told.state} because its stream ended, while the agent last said "
        f"{task.state}: "
        "a stream ends for many reasons. Read the task",
        task=task,
        state=told.state,
        previous_state=task.state,
    )


@rule(
    name="terminal-state-ignored",
    boundary="disposition",
    level=Level.IMPROVEMENT,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=CardTaskBoundaryError,
    on=(CallStarted,),
    origin="field reports",
    summary="A task was polled on and on after it had ended.",
)
def terminal_state_ignored(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """The third read sent after the terminal state was received, each within a minute of the one before; once per task.

    The two before it were answered: a read that failed is repeated for good reason, and reads that are under way at
    once do not follow from one another. Nor do those of several users: only reads with one credential and in one trace
    of the application, or where it has none in one execution context, make a loop. A notification is a reason to look.
    Silent in 0.1 where a task was begun anew: nothing tells of which execution an end is.
    """
    task = view.task
    if call.method != Method.GET_TASK or task is None or task.reused or not 0 < task.terminal_seq < call.seq:
        return
    reads = order.continued_reads(task, call)
    if reads is None or reads.answered + 1 != IGNORED_READS:
        return
    yield Hit(
        f"task {task.task_id} had ended as {task.terminal} and is read for the third time since: does the client know "
        f"that "
        "state as an end?",
        task=task,
        previous_state=task.terminal,
    )


@rule(
    name="cancel-unconfirmed",
    boundary="disposition",
    level=Level.IMPROVEMENT,
    party=Party.CLIENT,
    phase=Phase.DEADLINE,
    exception=CardTaskBoundaryError,
    on=(DeadlineReached,),
    origin="field reports",
    summary="A cancel was not confirmed, and nobody looked what became of the task.",
)
def cancel_unconfirmed(reached: DeadlineReached, view: View, settings: Settings) -> Iterator[Hit]:
    """It errored, timed out or was answered alive; no terminal state and no read within a minute.

    *Not cancelable* is an error: it leaves open whether the task has ended or runs on. *Not found* is how some agents
    end one.
    """
    task = view.task
    if reached.kind != "cancel-unconfirmed" or task is None or settings.watched_elsewhere:
        return
    yield Hit(
        f"the cancel of task {task.task_id} was not confirmed, and the task was not read since; the agent last said "
        f"{task.state}. Read it: a cancel is a request",
        task=task,
        previous_state=task.state,
    )


RULES: tuple[Rule, ...] = (
    failure_inferred_from_missing_poll,
    phantom_terminal_state,
    stream_end_as_task_end,
    terminal_state_ignored,
    cancel_unconfirmed,
)
