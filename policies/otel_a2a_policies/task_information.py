# SPDX-License-Identifier: Apache-2.0
"""Information about tasks: legal, though worth a line in a trace."""

from __future__ import annotations

from collections.abc import Iterator

from otel_a2a.config import Settings
from otel_a2a.engine import order, revisions
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.records import Task
from otel_a2a.engine.rules import Hit, Rule, View, rule, short
from otel_a2a.errors import (
    AgentCardDivergenceError,
    CardTaskBoundaryError,
    TaskContinuationBlockedError,
    TaskResurrectionError,
)
from otel_a2a.observations import (
    READS,
    TERMINAL,
    A2AError,
    CallFailed,
    DeadlineReached,
    Decision,
    Form,
    LocalDecision,
    Method,
    StateExpected,
    TaskSeen,
)

METHOD_NOT_FOUND = "-32601"


@rule(
    name="task-orphaned",
    boundary="lifecycle",
    level=Level.INFORMATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=TaskResurrectionError,
    on=(CallFailed,),
    origin="seed 002",
    summary="After a cancel, the agent does not know the task any more: that is how some agents end one.",
)
def task_orphaned(failed: CallFailed, view: View, settings: Settings) -> Iterator[Hit]:
    """Trigger: an A2A *not found* for a task last seen live, to our cancel or after it. Once per task."""
    call, task = failed.call, view.task
    if task is None or failed.error != A2AError.TASK_NOT_FOUND or not failed.from_agent or task.task_id != call.task_id:
        return
    if task.is_live and (call.method == Method.CANCEL_TASK or task.cancel_seq):
        yield Hit(
            f"task {task.task_id} was {task.state} and is unknown to its agent after a cancel: an orphan, given up",
            task=task,
            previous_state=task.state,
        )


@rule(
    name="task-reaffirmed",
    boundary="identity",
    level=Level.INFORMATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=TaskResurrectionError,
    on=(TaskSeen,),
    origin="seed 002",
    summary="After its card had changed, the agent showed a task whole: it may go on.",
)
def task_reaffirmed(seen: TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """Trigger: a read, sent after a narrowing change was seen, shows the task with its context and all its
    artifacts."""
    task, call = view.task, seen.call
    if task is None or call is None or call.method not in READS or seen.form != Form.SNAPSHOT or seen.state is None:
        return
    drift = revisions.drift(task, narrowing_only=True)
    if drift is None or drift.document.current.seq > call.seq or not _is_whole(task, seen, settings):
        return
    new = drift.document.current.revision
    yield Hit(
        f"task {task.task_id} was shown whole under card revision {short(new)}: the agent re-affirms it",
        task=task,
        discriminator=new,
        state=seen.state,
        previous_state=task.state,
        card_revision=new,
        task_card_revision=drift.known.revision,
    )


def _is_whole(task: Task, seen: TaskSeen, settings: Settings) -> bool:
    assert seen.call is not None
    return (
        order.same_context(task, seen)
        and order.intact(task, seen.artifacts, seen.call.seq)
        and order.contradiction(task, seen, settings.clock_skew) is None
    )


@rule(
    name="task-flapping",
    boundary="lifecycle",
    level=Level.INFORMATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=TaskResurrectionError,
    on=(TaskSeen,),
    origin="field reports",
    summary="A task that was not found is there again, whole: one of several replicas does not know it.",
)
def task_flapping(seen: TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """Trigger: a read shows a lost task again, with its context and all its artifacts."""
    task, call = view.task, seen.call
    if task is None or call is None or call.method not in READS or seen.form != Form.SNAPSHOT:
        return
    if 0 < task.lost_seq < call.seq and seen.state is not None and _is_whole(task, seen, settings):
        yield Hit(
            f"task {task.task_id} was not found a moment ago and is there again: one of several replicas does not know "
            f"it",
            task=task,
            state=seen.state,
            previous_state=task.state,
        )


@rule(
    name="live-operation-refused",
    boundary="lifecycle",
    level=Level.INFORMATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=AgentCardDivergenceError,
    on=(CallFailed,),
    origin="seed 000",
    summary="The agent no longer supports an operation on a task that is still live.",
)
def live_operation_refused(failed: CallFailed, view: View, settings: Settings) -> Iterator[Hit]:
    """Trigger: *method not found* or *unsupported operation* to get, subscribe or cancel of a live task."""
    task = view.task
    if task is None or not task.is_live or not failed.from_agent:
        return
    if failed.call.method not in (*READS, Method.CANCEL_TASK):
        return
    if failed.error in (METHOD_NOT_FOUND, A2AError.UNSUPPORTED_OPERATION) or failed.code == METHOD_NOT_FOUND:
        yield Hit(
            f"{failed.call.method} of task {task.task_id} was refused as unsupported while it is {task.state}: that is "
            f"about "
            "the operation, not about the task",
            task=task,
            discriminator=failed.call.method,
            previous_state=task.state,
        )


@rule(
    name="artifacts-partial-unverified",
    boundary="artifacts",
    level=Level.INFORMATION,
    party=Party.CLIENT,
    phase=Phase.LOCAL,
    exception=CardTaskBoundaryError,
    on=(LocalDecision,),
    origin="seed 000",
    summary="The client ended a task by itself: what it has of the artifacts may be a part.",
)
def artifacts_partial_unverified(told: LocalDecision, view: View, settings: Settings) -> Iterator[Hit]:
    """Trigger: a local terminal record while the task has artifacts and the agent has not ended it."""
    task = view.task
    if task is None or told.decision != Decision.STATE or told.state not in TERMINAL or not task.is_live:
        return
    if task.artifacts:
        yield Hit(
            f"task {task.task_id} was recorded as {told.state} with {len(task.artifacts)} artifact(s) that may not be "
            f"complete",
            task=task,
            state=told.state,
            previous_state=task.state,
        )


@rule(
    name="artifact-replaced",
    boundary="artifacts",
    level=Level.INFORMATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=CardTaskBoundaryError,
    on=(TaskSeen,),
    origin="field reports",
    summary="An artifact has another content than before.",
)
def artifact_replaced(seen: TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """Trigger: an answer shows a received artifact, not grown by ``append``, with another digest and no shorter."""
    task, call = view.task, seen.call
    if task is None or call is None or seen.form != Form.SNAPSHOT or call.trimmed:
        return
    for artifact in seen.artifacts:
        held = task.artifacts.get(artifact.artifact_id)
        if held is None or held.appended or not held.digest or held.seq >= call.seq:
            continue
        if artifact.digest != held.digest and artifact.length >= held.length:
            yield Hit(
                f"artifact {artifact.artifact_id} of task {task.task_id} has another content than before",
                task=task,
                discriminator=artifact.artifact_id,
            )
            return


@rule(
    name="interrupted-unanswered",
    boundary="lifecycle",
    level=Level.INFORMATION,
    party=Party.CLIENT,
    phase=Phase.DEADLINE,
    exception=TaskContinuationBlockedError,
    on=(DeadlineReached,),
    origin="seed 001; field reports",
    summary="A task has waited for an answer for longer than its deadline.",
)
def interrupted_unanswered(reached: DeadlineReached, view: View, settings: Settings) -> Iterator[Hit]:
    """Trigger: interrupted for longer than the task's deadline, and no message into it since."""
    task = view.task
    if reached.kind == "interrupted-unanswered" and task is not None:
        yield Hit(
            f"task {task.task_id} is {task.state} and nobody has answered it: reply under its id, or cancel it",
            task=task,
            discriminator=str(task.state_seq),
            previous_state=task.state,
        )


@rule(
    name="expectation-downgraded",
    boundary="lifecycle",
    level=Level.INFORMATION,
    party=Party.CLIENT,
    phase=Phase.LOCAL,
    exception=AgentCardDivergenceError,
    on=(StateExpected, TaskSeen),
    origin="seed 001",
    summary="A state that the application waits for cannot come any more.",
)
def expectation_downgraded(told: StateExpected | TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """Trigger: the task has ended in, or reaches, another terminal state than the one that ``expect_state`` named."""
    task = view.task
    if task is None:
        return
    if isinstance(told, StateExpected):
        missed = [told.state] if task.terminal and task.terminal != told.state else []
        ended = task.terminal
    else:
        ended = told.state or ""
        missed = [each.state for each in task.expectations if ended in TERMINAL and each.state != ended]
    for state in missed:
        yield Hit(
            f"task {task.task_id} has ended as {ended}: {state} will not come, so stop waiting for it",
            task=task,
            discriminator=state,
            state=ended,
        )


RULES: tuple[Rule, ...] = (
    task_orphaned,
    task_reaffirmed,
    task_flapping,
    live_operation_refused,
    artifacts_partial_unverified,
    artifact_replaced,
    interrupted_unanswered,
    expectation_downgraded,
)
