# SPDX-License-Identifier: Apache-2.0
"""Lifecycle: a task that does not get on, or does not show what was promised or expected.

Deadlines are judged when they are reached, whether or not anything is heard of the task.
"""

from __future__ import annotations

from collections.abc import Iterator

from otel_a2a.config import Settings
from otel_a2a.engine import cards
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.rules import Hit, Rule, View, rule
from otel_a2a.errors import AgentCardDivergenceError
from otel_a2a.observations import TERMINAL, Channel, DeadlineReached, TaskSeen, TaskState


@rule(
    name="task-stuck",
    boundary="lifecycle",
    level=Level.VIOLATION,
    party=Party.AGENT,
    phase=Phase.DEADLINE,
    exception=AgentCardDivergenceError,
    on=(DeadlineReached,),
    origin="seed 001; field reports",
    summary="A task showed no progress for longer than it may.",
)
def task_stuck(reached: DeadlineReached, view: View, settings: Settings) -> Iterator[Hit]:
    """Submitted or working, and no state, status message or artifact for the deadline. Interrupted tasks never are.

    Without a deadline (``task_deadline``, a hinted duration, or the hinted skill's) there is no finding.
    ``probed=false`` in the message: nobody has asked since, so that it may have ended unseen.
    """
    task = view.task
    if reached.kind != "task-stuck" or task is None or settings.watched_elsewhere:
        return
    probed = bool(task.open_streams) or task.read_at > task.changed_at
    since = view.now - max(task.created_at, task.changed_at)
    yield Hit(
        f"task {task.task_id} is {task.state} and has shown no progress for {since:.0f} s "
        f"(probed={str(probed).lower()}): "
        "read it once; if it is still so, cancel it or start anew. It has not failed",
        task=task,
        previous_state=task.state,
    )


@rule(
    name="unprobed-wait",
    boundary="lifecycle",
    level=Level.IMPROVEMENT,
    party=Party.CLIENT,
    phase=Phase.DEADLINE,
    exception=AgentCardDivergenceError,
    on=(DeadlineReached,),
    origin="seed 001",
    summary="A task is past its expected duration, and nobody has looked at it.",
)
def unprobed_wait(reached: DeadlineReached, view: View, settings: Settings) -> Iterator[Hit]:
    """The expected duration is past, and there was no read, stream or delivery in this process since the creation."""
    task = view.task
    if reached.kind != "unprobed-wait" or task is None or settings.watched_elsewhere:
        return
    yield Hit(
        f"task {task.task_id} is past its expected duration and was never read: ask (GetTask) before assuming anything",
        task=task,
        previous_state=task.state,
    )


@rule(
    name="expected-state-missed",
    boundary="lifecycle",
    level=Level.VIOLATION,
    party=Party.AGENT,
    phase=Phase.DEADLINE,
    exception=AgentCardDivergenceError,
    on=(DeadlineReached,),
    origin="seed 001",
    summary="A state that the application expected by a time did not come.",
)
def expected_state_missed(reached: DeadlineReached, view: View, settings: Settings) -> Iterator[Hit]:
    """The hint ``expect_state(task, state, within)`` was not met, and the task is still live.

    A task that has ended otherwise has told so (``expectation-downgraded``): an agent that returns an error has not
    broken its contract (seed 001).
    """
    task = view.task
    if reached.kind != "expected-state-missed" or task is None:
        return
    for each in task.expectations:
        if each.due_at <= view.now:
            yield Hit(
                f"task {task.task_id} was expected to be {each.state} by now and is {task.terminal or task.state}: "
                f"stop waiting "
                "for that state",
                task=task,
                discriminator=f"{each.state}@{each.seq}",
                state=each.state,
                previous_state=task.state,
            )


def _has_skipped_working(seen: TaskSeen, view: View, settings: Settings) -> bool:
    """Whether the whole of the creating stream was seen and never showed the task working, nor did anything else.

    A message that names a context may be answered with a task that is older than what was seen here: there the task has
    to be shown as submitted. So it has to be in 0.1, whose messages always name a task, but for the first message under
    its id alone.
    """
    task, call = view.task, seen.call
    if not settings.history_declared or call is None or seen.channel != Channel.STREAM or not call.is_send:
        return False
    if not cards.declares_history(view.agent, call):
        return False
    is_new_for_sure = call.creates and not call.context_id
    if task is None:
        return is_new_for_sure
    began_in = task.created_seq if call.protocol_version == "0.1" else task.created_in
    if began_in != call.seq or TaskState.WORKING in task.first_seen:
        return False
    return is_new_for_sure or TaskState.SUBMITTED in task.first_seen


@rule(
    name="state-skipped",
    boundary="lifecycle",
    level=Level.IMPROVEMENT,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=AgentCardDivergenceError,
    on=(TaskSeen,),
    origin="seed 001",
    summary="The agent declares that it shows every transition, and a task ended without having been shown working.",
)
def state_skipped(seen: TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """Only where the profile takes ``stateTransitionHistory: true`` for that promise, which A2A never made."""
    if seen.state in TERMINAL and _has_skipped_working(seen, view, settings):
        yield Hit(
            f"task {seen.task_id} went to {seen.state} without being shown as working, "
            "though its agent declares history",
            task=view.task,
            discriminator=seen.task_id,
            state=seen.state or "",
            previous_state=view.task.state if view.task is not None else "",
            declared="stateTransitionHistory",
            observed=seen.state,
        )


@rule(
    name="input-required-without-working",
    boundary="lifecycle",
    level=Level.VIOLATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=AgentCardDivergenceError,
    on=(TaskSeen,),
    origin="seed 001",
    summary="The agent declares that it shows every transition, and asked for input before it was shown working.",
)
def input_required_without_working(seen: TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """Only under that same profile: A2A itself allows it."""
    if seen.state == TaskState.INPUT_REQUIRED and _has_skipped_working(seen, view, settings):
        yield Hit(
            f"task {seen.task_id} asked for input without having been shown as working, "
            "though its agent declares history",
            task=view.task,
            discriminator=seen.task_id,
            state=seen.state or "",
            previous_state=view.task.state if view.task is not None else "",
            declared="stateTransitionHistory",
            observed=seen.state,
        )


RULES: tuple[Rule, ...] = (
    task_stuck,
    unprobed_wait,
    expected_state_missed,
    state_skipped,
    input_required_without_working,
)
