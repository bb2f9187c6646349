# SPDX-License-Identifier: Apache-2.0
"""Disposition: only a task's own events decide what becomes of it. Neither its agent's card nor the client's guess
does.

No rule here applies before the agent has told a state of the task (rules.md, G11).
"""

from __future__ import annotations

from collections.abc import Iterator

from otel_a2a.config import Settings
from otel_a2a.engine import cards, order, revisions
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.records import Discovery, Task
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
    SpanRef,
    TaskSeen,
    TaskState,
)

IGNORED_READS = 3
"""The read after the end that shows that a client does not know the state."""
_OWN_REASONS = (Reason.USER, Reason.DEADLINE)


@rule(
    name="card-decided-task-fate",
    boundary="disposition",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.LOCAL,
    exception=CardTaskBoundaryError,
    on=(LocalDecision, CallStarted),
    origin="seeds 000 and 004",
    summary="A task was failed, canceled or pruned because of the agent's card, not because of anything its agent said "
    "of it.",
)
def card_decided_task_fate(told: LocalDecision | CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """A local failure, cancel or drop with a capability reason; or a cancel, or a local terminal state, that a failed
    fetch or a narrowing change caused (G9), with no answer about the task since, and no reason ``user`` or
    ``deadline``.

    A cause without a link is information, and so is one that is further back than ``card_failure_window``: one trace
    may hold hours. A reason that the application states stands for itself, and only where it states none is one looked
    for; but an agent that is said not to be reached, though nobody has tried for the task, was not reached for its card
    (seed 004). A record of what the agent has said decides nothing. Abandoning a task is the way out that seed 002
    gives, and so is to cancel one that is lost, poisoned, diverged or abandoned. Where the card is re-validated on
    every turn by contract it may decide; under ``fenced`` a cancel after a change is free. Where the card is pinned
    (G11), what is served or not moves nobody: only a stated reason counts.
    """
    task = view.task
    if task is None or not task.state or settings.card_per_turn:
        return
    if isinstance(told, LocalDecision):
        if told.decision == Decision.STATE and told.state in task.first_seen:
            return
        if told.reason == Reason.CAPABILITY and _is_fate(told) and not _is_keyed_by_skill(told, settings):
            yield _fate(task, told.state, f"was {_done(told)} by the client because of the agent's card")
            return
        if told.decision != Decision.STATE or told.state not in TERMINAL:
            return
        if told.reason and not _is_hearsay(told, task):
            return
        what = f"was recorded as {told.state} by the client"
    else:
        if told.method != Method.CANCEL_TASK or task.terminal or task.is_given_up:
            return
        reason = told.hints.reason if told.hints is not None else ""
        if reason in _OWN_REASONS:
            return
        what = "was canceled"
        if reason == Reason.CAPABILITY and not settings.fenced:
            yield _fate(task, "", what + " because of the agent's card")
            return
    cause = _cause(told, task, view, settings)
    if cause:
        text, linked = cause
        if linked or isinstance(told, CallStarted) or not told.reason:
            yield _fate(task, "", f"{what} after {text}", None if linked else Level.INFORMATION)


def _is_hearsay(told: LocalDecision, task: Task) -> bool:
    """Whether the application blames the transport where no call about the task went unanswered, no stream of it broke,
    and no webhook is waited for."""
    was_tried = task.asked_at > task.read_at or task.pushed
    last_try = max(task.message_seq, task.cancel_seq, task.ended_stream_seq)
    return told.declared and told.reason == Reason.TRANSPORT and not was_tried and last_try <= task.answered_seq


def _is_fate(told: LocalDecision) -> bool:
    if told.decision == Decision.STATE:
        return told.state in (TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED)
    return told.decision == Decision.ARTIFACT_DROPPED


def _is_keyed_by_skill(told: LocalDecision, settings: Settings) -> bool:
    return told.decision == Decision.ARTIFACT_DROPPED and settings.artifacts_keyed_by_skill


def _done(told: LocalDecision) -> str:
    return "deprived of an artifact" if told.decision == Decision.ARTIFACT_DROPPED else f"recorded as {told.state}"


def _cause(told: LocalDecision | CallStarted, task: Task, view: View, settings: Settings) -> tuple[str, bool] | None:
    """What about the card came before, with nothing heard of the task since; and whether it is linked as its cause."""
    if cards.is_agent_pinned(task.agent, settings) or (
        isinstance(told, CallStarted) and cards.is_pinned(told, settings)
    ):
        return None
    discovery = _failed_discovery(task, next(iter(task.endpoints), ""), view)
    if discovery is not None:
        at, text = discovery.failure_at, f"a failed fetch of the agent's card ({discovery.reason})"
        return text, _is_effect(told, discovery.span, discovery.is_traced, at, view, settings)
    drift = None if settings.fenced else revisions.drift(task, narrowing_only=True)
    if drift is not None and drift.document.current.seq > task.answered_seq:
        document, text = drift.document, f"a change of the agent's card ({drift.narrowed})"
        return text, _is_effect(told, document.span, document.is_traced, document.current.at, view, settings)
    return None


def _failed_discovery(task: Task, endpoint: str, view: View) -> Discovery | None:
    """The discovery of the task's agent, if it failed since the last answer about the task.

    That there is no card under the old path, where none ever was, is no news, and moves nobody: some clients look
    nowhere else, before each call.
    """
    found = cards.newest_discovery(view.ledger, task.agent, endpoint, task.tenant)
    if found is None or not found.has_failed or found.is_astray or found.failure_seq <= task.answered_seq:
        return None
    return found


def _is_effect(
    told: LocalDecision | CallStarted, span: SpanRef | None, is_traced: bool, at: float, view: View, settings: Settings
) -> bool:
    return view.now - at <= settings.card_failure_window and cards.is_linked(span, is_traced, at, told, view.now)


def _fate(task: Task, state: str, what: str, level: Level | None = None) -> Hit:
    return Hit(
        f"task {task.task_id} {what}; the agent last said {task.state}. A card says what may be started, not what "
        f"becomes of "
        "what is running: go on reading the task",
        task=task,
        discriminator=what,
        state=state,
        previous_state=task.state,
        level=level,
    )


@rule(
    name="cancel-after-card-failure",
    boundary="disposition",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=TaskContinuationBlockedError,
    on=(CallStarted,),
    origin="seed 004",
    summary="A live task was canceled right after a fetch of the agent's card had failed.",
)
def cancel_after_card_failure(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """Within the window after the last failure (G8), no card success and no answer about the task since, and no reason
    given.

    A violation where the failure caused it (G9), else an improvement. A task that is lost, poisoned, diverged or
    abandoned is canceled for that. Silent where the card is pinned (G11): nothing depends on its fetches.
    """
    task = view.task
    if call.method != Method.CANCEL_TASK or task is None or not task.is_live or task.is_given_up:
        return
    if cards.is_pinned(call, settings):
        return
    if call.hints is not None and call.hints.reason:
        return
    discovery = _failed_discovery(task, call.endpoint, view)
    if discovery is None or view.now - discovery.failure_at > settings.card_failure_window:
        return
    linked = cards.is_linked(discovery.span, discovery.is_traced, discovery.failure_at, call, view.now)
    yield Hit(
        f"task {task.task_id} was {task.state} and is canceled {view.now - discovery.failure_at:.1f} s after the "
        f"agent's card "
        f"could not be fetched ({discovery.reason}). That says nothing about the task: read it",
        task=task,
        discriminator=str(discovery.success_seq),
        previous_state=task.state,
        level=None if linked else Level.IMPROVEMENT,
    )


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
    # First, because its exception is the more exact one and is one of the other's kind.
    cancel_after_card_failure,
    card_decided_task_fate,
    failure_inferred_from_missing_poll,
    phantom_terminal_state,
    stream_end_as_task_end,
    terminal_state_ignored,
    cancel_unconfirmed,
)
