# SPDX-License-Identifier: Apache-2.0
"""Lifecycle: a sequence of states that cannot be.

The only hard edges are *terminal → anything else* and *anything → submitted*. Repeats, jumps and interrupted states that come
and go are the normal case, since observation is sampled.
"""

from __future__ import annotations

from collections.abc import Iterator

from otel_a2a.config import Settings
from otel_a2a.engine import order
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.rules import Hit, Rule, View, rule, short
from otel_a2a.errors import TaskResurrectionError
from otel_a2a.observations import READS, A2AError, CallFailed, Method, TaskSeen


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
    names only the context, and after any message in 0.1. A subscription that plays old events again, by their time
    stamps, goes back nowhere. Repeats are one incident.
    """
    task = view.task
    found = order.contradiction(task, seen, settings.clock_skew) if task is not None else None
    if task is None or found is None or seen.state is None:
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
    drift = order.drift(task, narrowing_only=False)
    old, new = (drift.known.revision, drift.document.current.revision) if drift is not None else ("", "")
    redeployed = f", and its agent's card went from revision {short(old)} to {short(new)}" if drift is not None else ""
    yield Hit(
        f"task {task.task_id} went back from {found.earlier} to {seen.state}{redeployed}: another execution may be answering "
        "under its id. Do not send its message again; read the task until it is whole, or cancel it and start a new one",
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
    After our own cancel it is the expected end, and no finding.
    """
    call, task = failed.call, view.task
    if task is None or failed.error != A2AError.TASK_NOT_FOUND or not failed.from_agent or not call.task_id:
        return
    if call.method not in READS and not call.is_send or task.task_id != call.task_id:
        return
    if not order.lost(task, failed) or task.cancel_seq:
        return
    yield Hit(
        f"task {task.task_id} was {task.state} and {_asked(call.method)} now answers that it does not exist: it was lost, "
        "not ended. Its side effects may have happened; do not assume that it failed",
        task=task,
        previous_state=task.state,
        level=Level.IMPROVEMENT if task.credential != call.credential else None,
    )


def _asked(method: str) -> str:
    return {Method.GET_TASK: "a read", Method.SUBSCRIBE_TO_TASK: "a subscription"}.get(method, "a message into it")


RULES: tuple[Rule, ...] = (backward_transition, terminal_state_changed, task_lost)
