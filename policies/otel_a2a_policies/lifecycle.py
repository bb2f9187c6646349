# SPDX-License-Identifier: Apache-2.0
"""Lifecycle: a sequence of states that cannot be.

The only hard edges are *terminal → anything else* and *anything → submitted*. Repeats, jumps and interrupted states
that come and go are the normal case, since observation is sampled.
"""

from __future__ import annotations

from collections.abc import Iterator

from otel_a2a.config import Settings
from otel_a2a.engine import order, revisions
from otel_a2a.engine.clock import utc
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.records import Task
from otel_a2a.engine.rules import Hit, Rule, View, rule, short
from otel_a2a.errors import AgentCardDivergenceError, TaskResurrectionError
from otel_a2a.observations import (
    INTERRUPTED,
    READS,
    TERMINAL,
    A2AError,
    CallFailed,
    CallStarted,
    Method,
    TaskSeen,
)

NO_INFORMATION = frozenset(("unknown", "unspecified", "task_state_unspecified", "task_state_unknown", "0"))
"""States by which an agent says that it cannot tell."""


@rule(
    name="backward-transition",
    boundary="lifecycle",
    level=Level.VIOLATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=TaskResurrectionError,
    on=(TaskSeen,),
    origin="seed 002; conformance draft §7.1",
    summary="A task went back in its life: from a terminal state to a live one, or from any state to submitted.",
)
def backward_transition(seen: TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """*terminal → non-terminal*, or *any → submitted*, in the order of rules.md G2.

    *Interrupted → submitted* as the first state after this client's message into the task is information: some agents
    submit the task anew for every turn. So it is where a webhook may have told of the interruption, after a send that
    names only the context. A subscription that plays old events again goes back nowhere: by their time stamps, and
    where these say nothing, as long as it begins with them. Repeats are one incident. A profile that keeps to the
    specification looks at the first edge alone.

    In 0.1 the client names tasks and may begin one anew: from its second message under an id on, the answers of two
    executions cannot be told apart, and this rule and the next two are silent.
    """
    task = view.task
    found = order.contradiction(task, seen, settings.clock_skew) if task is not None else None
    if task is None or found is None or seen.state is None:
        return
    if settings.resubmission_is_legal and not found.reopened:
        return
    if found.resubmitted:
        yield Hit(
            f"task {task.task_id} was submitted anew after a message into {found.earlier}; a new turn",
            task=task,
            discriminator=f"{found.earlier}>{seen.state}",
            state=seen.state,
            previous_state=found.earlier,
            level=Level.INFORMATION,
        )
        return
    drift = revisions.drift(task, narrowing_only=False)
    old, new = (drift.known.revision, drift.document.current.revision) if drift is not None else ("", "")
    redeployed = ""
    if drift is not None:
        since = utc(drift.document.current.ns)
        redeployed = f", and its agent's card went from revision {short(old)} to {short(new)} at {since}"
    yield Hit(
        f"task {task.task_id} went back from {found.earlier} to {seen.state}{redeployed}: another execution may be "
        f"answering "
        "under its id. Do not send its message again; read the task until it is whole, or cancel it and start a new "
        "one",
        task=task,
        discriminator=f"{found.earlier}>{seen.state}",
        state=seen.state,
        previous_state=found.earlier,
        card_revision=new,
        task_card_revision=old,
    )


@rule(
    name="terminal-state-changed",
    boundary="lifecycle",
    level=Level.VIOLATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=TaskResurrectionError,
    on=(TaskSeen,),
    origin="seed 000; A2A 1.0 §4.1 (task immutability)",
    summary="A task that had ended was shown in another state. Its id is poisoned.",
)
def terminal_state_changed(seen: TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """Two different terminal states in any order and on any channel; or *terminal → non-terminal* in G2's order."""
    task = view.task
    if task is None or seen.state is None:
        return
    if order.changed_terminal(task, seen):
        earlier = task.terminal
    else:
        found = order.contradiction(task, seen, settings.clock_skew)
        if found is None or not found.reopened:
            return
        earlier = found.earlier
    yield Hit(
        f"task {task.task_id} had ended as {earlier} and is now shown as {seen.state}: a terminal state is final. "
        "Keep the first result and merge nothing more into it",
        task=task,
        discriminator=f"{earlier}>{seen.state}",
        state=seen.state,
        previous_state=earlier,
    )


@rule(
    name="task-lost",
    boundary="lifecycle",
    level=Level.VIOLATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=TaskResurrectionError,
    on=(CallFailed,),
    origin="seed 002; field reports",
    summary="The agent does not know a task any more that it had not ended.",
)
def task_lost(failed: CallFailed, view: View, settings: Settings) -> Iterator[Hit]:
    """An A2A *not found* to get, subscribe or send, for a task last seen live; once per task, and no state of it.

    The request must have left after the task was first seen, and more than 1 s after it was created.

    With another credential than that of the last success it is an improvement: *not found* then also means *not yours*.
    Where a webhook without a token has told the task's end it is information: nobody can check that, and it is likely.
    After our own cancel it is the expected end, and no finding.
    """
    call, task = failed.call, view.task
    if task is None or failed.error != A2AError.TASK_NOT_FOUND or not failed.from_agent or not call.task_id:
        return
    if (call.method not in READS and not call.is_send) or task.task_id != call.task_id:
        return
    if not order.lost(task, failed) or task.cancel_seq:
        return
    yield Hit(
        f"task {task.task_id} was {task.state} and {_asked(call.method)} now answers that it does not exist: it was "
        f"lost, "
        "not ended. Its side effects may have happened; do not assume that it failed",
        task=task,
        previous_state=task.state,
        level=_loss(task, call),
    )


def _loss(task: Task, call: CallStarted) -> Level | None:
    if task.rumoured_end_seq:
        return Level.INFORMATION
    return Level.IMPROVEMENT if task.credential != call.credential else None


def _asked(method: str) -> str:
    return {Method.GET_TASK: "a read", Method.SUBSCRIBE_TO_TASK: "a subscription"}.get(method, "a message into it")


@rule(
    name="unknown-state",
    boundary="lifecycle",
    level=Level.IMPROVEMENT,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=AgentCardDivergenceError,
    on=(TaskSeen,),
    origin="A2A 1.0 §4.1.3; field reports",
    summary="The agent gave a task a state that A2A does not have, or none.",
)
def unknown_state(seen: TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """Once per agent and value, and no state is learned of it. ``unknown`` and *unspecified* are values of A2A."""
    if seen.state is not None or seen.raw_state.lower() in NO_INFORMATION or view.is_doubted:
        return
    said = f"state {seen.raw_state[:40]!r}, which A2A does not have" if seen.raw_state else "no state"
    yield Hit(
        f"task {seen.task_id} was shown with {said}: clients cannot tell whether it goes on",
        discriminator=seen.raw_state[:40],
        per_agent=True,
        declared="a state of A2A",
        observed=seen.raw_state[:40],
    )


@rule(
    name="final-flag-on-live-task",
    boundary="lifecycle",
    level=Level.IMPROVEMENT,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=AgentCardDivergenceError,
    on=(TaskSeen,),
    origin="field reports",
    summary="The last event of a stream left the task neither ended nor waiting.",
)
def final_flag_on_live_task(seen: TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """``final: true`` (0.x) with a state that is neither terminal nor interrupted."""
    if not seen.final or seen.state is None or seen.state in TERMINAL | INTERRUPTED or view.is_doubted:
        return
    yield Hit(
        f"task {seen.task_id} was {seen.state} in the last event of its stream: the stream is over, the task is not. "
        f"Read it",
        state=seen.state,
        task=view.task,
        declared="final",
        observed=seen.state,
    )


@rule(
    name="snapshot-rolled-back",
    boundary="lifecycle",
    level=Level.IMPROVEMENT,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=TaskResurrectionError,
    on=(TaskSeen,),
    origin="field reports; A2A 1.1 draft (generation)",
    summary="A later read of a task showed an older version of it.",
)
def snapshot_rolled_back(seen: TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """Of two GetTask answers, in the order of G2, the later has an older timestamp (beyond the clock skew) or a lower
    ``generation``.

    A state that was not known before is no older version, whatever the clock of the replica that tells it says.
    """
    task, call = view.task, seen.call
    if task is None or call is None or call.method != Method.GET_TASK or not 0 < task.read_seq < call.seq:
        return
    older = (
        seen.timestamp is not None
        and task.read_timestamp is not None
        and (seen.state is None or seen.state in task.first_seen)
        and seen.timestamp < task.read_timestamp - settings.clock_skew
    )
    lower = seen.generation is not None and task.generation is not None and 0 < seen.generation < task.generation
    if older or lower:
        yield Hit(
            f"a later read of task {task.task_id} showed an older version of it: another replica, or a restored copy, "
            f"answers",
            task=task,
            state=seen.state or "",
            previous_state=task.state,
        )


RULES: tuple[Rule, ...] = (
    backward_transition,
    terminal_state_changed,
    task_lost,
    unknown_state,
    final_flag_on_live_task,
    snapshot_rolled_back,
)
