# SPDX-License-Identifier: Apache-2.0
"""Disposition: only a task's own events decide what becomes of it, and its agent's card does not. What the client
guesses is in ``ends``.

No rule here applies before the agent has told a state of the task (rules.md, G11).
"""

from __future__ import annotations

from collections.abc import Iterator

from otel_a2a.config import Settings
from otel_a2a.engine import cards, revisions
from otel_a2a.engine.card_records import Discovery
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.records import Task
from otel_a2a.engine.rules import Hit, Rule, View, rule
from otel_a2a.errors import CardTaskBoundaryError, TaskContinuationBlockedError
from otel_a2a.observations import (
    TERMINAL,
    CallStarted,
    Decision,
    LocalDecision,
    Method,
    Reason,
    SpanRef,
    TaskState,
)

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
        if told.reason and (settings.watched_elsewhere or not _is_hearsay(told, task)):
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
    and no webhook is waited for: where nobody else watches the task, nobody has tried."""
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


RULES: tuple[Rule, ...] = (
    # First, because its exception is the more exact one and is one of the other's kind.
    cancel_after_card_failure,
    card_decided_task_fate,
)
