# SPDX-License-Identifier: Apache-2.0
"""Identity: whose task is this? A task id is a handle to one execution, made under one revision of the card."""

from __future__ import annotations

from collections.abc import Iterator

from otel_a2a.config import Settings
from otel_a2a.engine import cards, revisions
from otel_a2a.engine.clock import utc
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.records import Task
from otel_a2a.engine.rules import Hit, Rule, View, rule, short
from otel_a2a.errors import TaskResurrectionError
from otel_a2a.observations import READS, CallStarted, DeadlineReached, SentMessage


@rule(
    name="continued-across-revisions",
    boundary="identity",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=TaskResurrectionError,
    on=(CallStarted,),
    origin="seed 002, joined with seeds 000 and 004",
    summary="A message was sent into a task after the agent's card had lost what the task uses, before the agent "
    "re-affirmed it.",
)
def continued_across_revisions(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """A message after a narrowing (G5) to a revision not in the task's set (G4), before a read sent after it re-
    affirmed it.

    What takes nothing away in comparison with any one revision of the set is no narrowing. Only documents count that
    list an interface in use, and that were shown to nobody in particular or to the task's own credential (G6).

    ``fenced`` (seed 002 to the letter): any change, and reads too. A subscription answered by live updates without a
    snapshot re-affirms as well, since it claims no artifact to be absent. Ended tasks are ``terminal-task-reused``'s.
    Silent where the card is pinned: what the agent serves then says nothing; and in 0.1 from the third message
    under one id on, since each may begin the task anew.
    """
    task = view.task
    if task is None or not task.state or task.terminal or task.reused or cards.is_pinned(call, settings):
        return
    if not call.is_send and not (settings.fenced and call.method in READS):
        return
    drift = revisions.drift(task, narrowing_only=not settings.fenced, fenced=settings.fenced)
    if drift is None:
        return
    old, new = drift.known.revision, drift.document.current.revision
    since = utc(drift.document.current.ns)
    way_out = (
        "cancel the task, or abandon it and start a new one"
        if settings.fenced
        else "read it once (GetTask): if the agent still shows it whole, it may go on; otherwise cancel or abandon it"
    )
    yield Hit(
        f"task {task.task_id} was made under card revision {short(old)} and the agent now has {short(new)} since "
        f"{since} ({drift.narrowed or 'changed'}); the agent has not re-affirmed the task. Way out: {way_out}",
        task=task,
        discriminator=new,
        previous_state=task.state,
        card_revision=new,
        task_card_revision=old,
    )


@rule(
    name="orphan-unresolved",
    boundary="identity",
    level=Level.IMPROVEMENT,
    party=Party.CLIENT,
    phase=Phase.DEADLINE,
    exception=TaskResurrectionError,
    on=(DeadlineReached,),
    origin="seed 002",
    summary="A task was orphaned by a change of its agent's card, and neither cancelled nor abandoned.",
)
def orphan_unresolved(reached: DeadlineReached, view: View, settings: Settings) -> Iterator[Hit]:
    """Only under ``fenced``: a live task, a minute after any change of the card, not cancelled since and not
    abandoned."""
    task = view.task
    if reached.kind != "orphan-unresolved" or task is None or cards.is_agent_pinned(task.agent, settings):
        return
    drift = revisions.drift(task, narrowing_only=False, fenced=True)
    if drift is None:
        return
    old, new = drift.known.revision, drift.document.current.revision
    yield Hit(
        f"task {task.task_id} was made under card revision {short(old)} and the agent now has {short(new)}: it is an "
        f"orphan, "
        "and nobody has cancelled or abandoned it",
        task=task,
        previous_state=task.state,
        card_revision=new,
        task_card_revision=old,
    )


@rule(
    name="message-resent-after-regression",
    boundary="identity",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=TaskResurrectionError,
    on=(CallStarted,),
    origin="seed 002",
    summary="A message was sent again after its task went back, was lost, or its answer was withheld: the side effect "
    "may run twice.",
)
def message_resent_after_regression(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """A repetition of the creating or the last accepted message, in a request that left after the trouble was received.

    Into the same task: the same message id or the same parts. Without a task id: the same message id, or the same parts
    in the same context; a violation if the task went back or we withheld the answer, an improvement if it was only
    lost. The same parts alone are information: a new conversation with the same words is legal. So is what is declared:
    a retry, and a task that was abandoned.
    """
    if not call.is_send or call.message is None or view.agent is None:
        return
    if call.hints is not None and call.hints.retry_of:
        return
    if call.task_id:
        if view.task is not None:
            yield from _resent_into(call, view.task)
        return
    troubled = [task for task in reversed(view.agent.troubled.values()) if _left_after_trouble(call, task)]
    found = (_resent_beside(call, call.message, task) for task in troubled if task.tenant == call.tenant)
    hits = [hit for hit in found if hit is not None]
    if hits:
        # Several tasks may have begun with the same words: the gravest repetition counts, else the newest.
        yield max(hits, key=lambda hit: (hit.level or Level.VIOLATION).severity)


def _resent_into(call: CallStarted, task: Task) -> Iterator[Hit]:
    if not _left_after_trouble(call, task):
        return
    if repeats_a_message(call, task):
        yield _resent(task, "sent again under the same task id")


def _resent_beside(call: CallStarted, message: SentMessage, task: Task) -> Hit | None:
    same_id = any(_same_id(message, sent) for sent in _sent(task))
    same_parts = any(_same_parts(message, sent) for sent in _sent(task))
    if same_id or (same_parts and call.context_id and call.context_id == task.context_id):
        grave = task.went_back or bool(task.refused_seq)
        return _resent(task, "sent again without the task id", None if grave else Level.IMPROVEMENT)
    return _resent(task, "repeated word for word in a new conversation", Level.INFORMATION) if same_parts else None


def _resent(task: Task, how: str, level: Level | None = None) -> Hit:
    trouble = (
        f"went back from {task.poison.state}"
        if task.poison is not None
        else "had its answer withheld by this policy"
        if task.refused_seq
        else "was lost by its agent"
    )
    return Hit(
        f"a message of task {task.task_id}, which {trouble}, was {how}: its side effect may run a second time. "
        "Find out by a read what became of the first execution before sending anything again",
        task=task,
        discriminator=how,
        previous_state=task.state,
        level=level,
    )


def repeats_a_message(call: CallStarted, task: Task) -> bool:
    """Whether ``call`` repeats the creating or the last accepted message of ``task``."""
    message = call.message
    return message is not None and any(_same_id(message, sent) or _same_parts(message, sent) for sent in _sent(task))


def _left_after_trouble(call: CallStarted, task: Task) -> bool:
    return 0 < task.trouble_seq < call.seq and not task.abandoned


def _sent(task: Task) -> Iterator[SentMessage]:
    if task.created_by is not None:
        yield task.created_by
    if task.last_message is not None:
        yield task.last_message


def _same_id(message: SentMessage, sent: SentMessage) -> bool:
    return bool(message.message_id) and message.message_id == sent.message_id


def _same_parts(message: SentMessage, sent: SentMessage) -> bool:
    return bool(message.parts) and message.parts == sent.parts


@rule(
    name="terminal-task-reused",
    boundary="identity",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=TaskResurrectionError,
    on=(CallStarted,),
    origin="seed 000; A2A 1.0 §3.1.1",
    summary="A message was sent under the id of a task that had already ended.",
)
def terminal_task_reused(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """The terminal state was received before the request left. Off for 0.1, where the client names tasks and may reuse
    one.

    Reads, cancel and references to the task are fine.
    """
    task = view.task
    if not call.is_send or task is None or not task.terminal or call.protocol_version == "0.1":
        return
    if task.terminal_seq >= call.seq:
        return
    yield Hit(
        f"task {task.task_id} had ended as {task.terminal} and got another message: an ended task takes none. "
        "Send it without a task id, in the same context, with a reference to the task",
        task=task,
        previous_state=task.terminal,
    )


RULES: tuple[Rule, ...] = (
    continued_across_revisions,
    orphan_unresolved,
    message_resent_after_regression,
    terminal_task_reused,
)
