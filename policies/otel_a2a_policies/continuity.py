# SPDX-License-Identifier: Apache-2.0
"""Continuity: the other half of *identity*. An answer, or a message, that is about another task or context than it
says.

None of these rules applies behind a gateway that is declared to rewrite ids (rules.md, profiles).
"""

from __future__ import annotations

from collections.abc import Iterator

from otel_a2a.config import Settings
from otel_a2a.engine import cards, order
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.records import Task
from otel_a2a.engine.rules import Hit, Rule, View, rule
from otel_a2a.errors import AgentCardDivergenceError, CardTaskBoundaryError, TaskResurrectionError
from otel_a2a.observations import (
    INTERRUPTED,
    CallStarted,
    Decision,
    Form,
    LocalDecision,
    MessageSeen,
    Method,
    TaskSeen,
    TaskState,
)
from otel_a2a_policies.artifacts import is_complete
from otel_a2a_policies.identity import repeats_a_message


@rule(
    name="continuation-diverged",
    boundary="identity",
    level=Level.VIOLATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=AgentCardDivergenceError,
    on=(TaskSeen,),
    origin="seed 001; A2A 1.0 §3.4.2",
    summary="A message into a task was answered with another task.",
)
def continuation_diverged(seen: TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """The request named a task and the first task in the answer is another.

    In 0.x the specification is less explicit: information there, unless the card declares history (seed 001) or the
    profile keeps to the specification's later word. A named task that had ended is ``terminal-task-reused``'s alone, so
    it is information where this process knows no state of the named one: it may have ended before. Behind a gateway
    that rewrites ids its own correlation counts instead (seed 001), where there is one on both sides.
    """
    call = seen.call
    if call is None or not call.is_send or not call.task_id or call.answered_task:
        return
    if seen.task_id in ("", call.task_id):
        return
    if seen.form == Form.LISTED or call.protocol_version == "0.1":
        return
    named = view.ledger.task(view.agent, call.tenant, call.task_id)
    if named is not None and named.terminal:
        return
    if settings.gateway_rewrites_ids and not order.belongs_elsewhere(named, call, seen):
        return
    declared = cards.declares_history(view.agent, call)
    binding = _is_1_x(call) or declared or settings.continuation_is_binding
    was_live = named is not None and bool(named.state)
    yield Hit(
        f"a message into task {call.task_id} was answered with task {seen.task_id}: the first one was left as it was"
        + (f" ({named.state})" if named is not None and named.state else "")
        + ". Do not wait for it; follow the new one, or cancel both",
        task=named,
        discriminator=seen.task_id,
        state=seen.state or "",
        previous_state=named.state if named is not None else "",
        level=None if binding and was_live else Level.INFORMATION,
        declared=call.task_id,
        observed=seen.task_id,
        tells_created=True,
    )


@rule(
    name="task-id-reused",
    boundary="identity",
    level=Level.VIOLATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=TaskResurrectionError,
    on=(TaskSeen,),
    origin="seed 002; field reports",
    summary="The id of a task that was lost, or had ended, answers for another execution.",
)
def task_id_reused(seen: TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """It answers as submitted, or with another context, or (a lost one, shown whole) without any artifact received
    before.

    Submitted is no reuse where it goes back nowhere: a lost task that had never been more is found again by a read, and
    a subscription may play old events. An ended one that lacks its artifacts and is otherwise the same is
    ``artifact-truncated``'s. Off for 0.1.
    """
    task, call = view.task, seen.call
    if task is None or call is None or call.protocol_version == "0.1" or settings.gateway_rewrites_ids:
        return
    lost, ended = 0 < task.lost_seq < call.seq, 0 < task.terminal_seq < call.seq
    if not lost and not ended:
        return
    why = ""
    if seen.state == TaskState.SUBMITTED and (
        order.contradiction(task, seen, settings.clock_skew) is not None or (lost and call.is_send)
    ):
        why = "it answers as submitted"
    elif seen.context_id and task.context_id and seen.context_id not in (task.context_id, *task.contexts):
        why = "it answers with another context"
    elif lost and task.artifacts and _shows_all(seen, call) and not _shares_artifact(task, seen):
        why = "none of the artifacts received before is there"
    if why:
        yield Hit(
            f"task {task.task_id} {'was lost' if lost else 'had ended'} and its id is used again: {why}. It is another "
            f"execution",
            task=task,
            state=seen.state or "",
            previous_state=task.terminal or task.state,
        )


def _shows_all(seen: TaskSeen, call: CallStarted) -> bool:
    return is_complete(seen) and not call.limits_history


def _shares_artifact(task: Task, seen: TaskSeen) -> bool:
    return any(artifact.artifact_id in task.artifacts for artifact in seen.artifacts)


@rule(
    name="context-changed",
    boundary="identity",
    level=Level.VIOLATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=AgentCardDivergenceError,
    on=(TaskSeen, MessageSeen),
    origin="A2A 1.0 §3.4.1; field reports",
    summary="The agent answered in another context than it was asked in.",
)
def context_changed(seen: TaskSeen | MessageSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """1.0: a non-empty context differs from the request's, where that was for new work, else from the task's. 0.x:
    only from the task's. Empty is absent.

    A message that names a task and a context that is not its own is the client's mistake. What a stream tells of
    further tasks than the one that answers the message is about those.
    """
    call = seen.call
    if call is None or not seen.context_id or settings.gateway_rewrites_ids:
        return
    if isinstance(seen, TaskSeen) and seen.form == Form.LISTED:
        return
    task, expected, told = view.task, "", ""
    answers = isinstance(seen, MessageSeen) or call.answered_task in ("", seen.task_id)
    if call.creates and call.context_id and _is_1_x(call):
        expected = call.context_id if answers else ""
        told = "context {} was asked and context {} answered: an agent that cannot take a context must refuse it"
    elif task is not None and seen.task_id == task.task_id and seen.context_id not in task.contexts:
        expected = task.context_id
        told = "the task is in context {} and was told of in context {}"
    if expected and seen.context_id != expected:
        yield Hit(
            f"{told.format(expected, seen.context_id)}. The conversation is in two pieces now",
            task=task,
            discriminator=seen.context_id,
            declared=expected,
            observed=seen.context_id,
        )


@rule(
    name="context-mismatch",
    boundary="identity",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=CardTaskBoundaryError,
    on=(CallStarted,),
    origin="A2A 1.0 §3.4.3; field reports",
    summary="A message named a task and a context that do not belong together.",
)
def context_mismatch(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """The context was never sent or answered for this task. In 0.1 a task that has ended may begin anew in another."""
    task = view.task
    if not call.is_send or task is None or not call.context_id or settings.gateway_rewrites_ids:
        return
    if call.protocol_version == "0.1" and task.terminal:
        return
    if not task.context_id or call.context_id == task.context_id or call.context_id in task.contexts:
        return
    yield Hit(
        f"a message named task {task.task_id} and context {call.context_id}, but that task is in context "
        f"{task.context_id}",
        task=task,
        discriminator=call.context_id,
        previous_state=task.state,
    )


@rule(
    name="reply-without-task-id",
    boundary="identity",
    level=Level.IMPROVEMENT,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=CardTaskBoundaryError,
    on=(CallStarted,),
    origin="field reports",
    summary="A task waits for an answer, and a message in its context did not name it.",
)
def reply_without_task_id(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """Exactly one interrupted task in the context, its question the agent's last word there, and a message without
    task id and without references. Once per agent and context.

    Nobody owes an answer to a task that was lost, poisoned, diverged or abandoned, or that the client asked to cancel.
    Over HTTP+JSON and gRPC 0.3 has no place for references, so there it is information: the message may have had them.
    """
    if not call.creates or call.protocol_version == "0.1" or not call.context_id or view.agent is None:
        return
    if call.message is not None and call.message.reference_task_ids:
        return
    tasks = view.agent.contexts.get(call.context_id, {}).values()
    waiting = [task for task in tasks if task.tenant == call.tenant and task.state in INTERRUPTED and not task.terminal]
    if len(waiting) != 1:
        return
    task = waiting[0]
    last_word = max(view.agent.conversations.get(call.context_id, 0), *(each.answered_seq for each in tasks))
    if max(task.message_seq, task.cancel_seq) > task.state_seq or last_word > task.answered_seq or task.is_given_up:
        return
    yield Hit(
        f"task {task.task_id} is {task.state} and a message in its context did not name it: the agent starts another "
        f"task, and "
        "that one waits for ever. Name the task in the reply, or cancel it",
        task=task,
        discriminator=call.context_id,
        previous_state=task.state,
        level=None if _has_references(call) else Level.INFORMATION,
        per_agent=True,
    )


@rule(
    name="client-chosen-task-id",
    boundary="identity",
    level=Level.IMPROVEMENT,
    party=Party.CLIENT,
    phase=Phase.RESPONSE,
    exception=CardTaskBoundaryError,
    on=(TaskSeen,),
    origin="A2A 1.0 §3.4.2; field reports",
    summary="A task id that the agent had not made created a task.",
)
def client_chosen_task_id(seen: TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """Information, because an observer that started late sees the same; an improvement where the operator says that
    this process sees the whole life of its tasks. Off for 0.1, where clients choose."""
    call = seen.call
    if call is None or not call.is_send or call.protocol_version == "0.1" or settings.gateway_rewrites_ids:
        return
    if view.task is not None or not call.task_id or seen.task_id != call.task_id:
        return
    yield Hit(
        f"task {seen.task_id}, which this process has not seen before, was named by the client and answered: if the "
        f"client made "
        "the id up, a resent message can bring back a task that is gone",
        discriminator=seen.task_id,
        state=seen.state or "",
        level=None if settings.sees_whole_life else Level.INFORMATION,
    )


@rule(
    name="poisoned-task-used",
    boundary="identity",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=TaskResurrectionError,
    on=(CallStarted, LocalDecision),
    origin="seed 000",
    summary="A task whose id can no longer be trusted was written to, or its updates were taken over.",
)
def poisoned_task_used(used: CallStarted | LocalDecision, view: View, settings: Settings) -> Iterator[Hit]:
    """Messages, webhooks and merges; cancel and reads are free. A message that repeats one of the task's, and one
    into a task that had ended, have rules of their own that say more. What was received whole before the id was
    poisoned is the first execution's, and may be merged."""
    task = view.task
    if isinstance(used, LocalDecision) and used.source_task_id:
        task = view.ledger.find(used.source_task_id, used.endpoint, used.tenant)
    if task is None or task.poison is None:
        return
    if isinstance(used, LocalDecision):
        held = task.artifacts.get(used.artifact_id)
        is_older = held is not None and max(held.seq, held.grown_seq) < task.poison.seq
        if used.decision != Decision.ARTIFACT_MERGED or used.seq <= task.poison.seq or is_older:
            return
        what = f"artifact {used.artifact_id} was merged from it"
    elif used.seq <= task.poison.seq or (used.is_send and (task.terminal or repeats_a_message(used, task))):
        return
    elif used.is_send:
        what = "a message was sent into it"
    elif used.method == Method.CREATE_PUSH_CONFIG:
        what = "a webhook was registered for it"
    else:
        return
    yield Hit(
        f"task {task.task_id} left {task.poison.state} against the rules, so its id may stand for two executions, and "
        f"{what}. "
        "Cancel it, or read it until it is whole",
        task=task,
        discriminator=what,
        previous_state=task.state,
    )


def _is_1_x(call: CallStarted) -> bool:
    return call.protocol_version.startswith("1")


def _has_references(call: CallStarted) -> bool:
    """Whether messages can refer to tasks in the dialect of this call: the package ``a2a.v1`` has no such field."""
    return _is_1_x(call) or call.binding == "JSONRPC"


RULES: tuple[Rule, ...] = (
    continuation_diverged,
    task_id_reused,
    context_changed,
    context_mismatch,
    reply_without_task_id,
    client_chosen_task_id,
    poisoned_task_used,
)
