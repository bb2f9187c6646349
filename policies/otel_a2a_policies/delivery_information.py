# SPDX-License-Identifier: Apache-2.0
"""Information about deliveries: what came by webhook and moved nothing."""

from __future__ import annotations

from collections.abc import Iterator

from otel_a2a.config import Settings
from otel_a2a.engine import order
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.records import Task
from otel_a2a.engine.rules import Hit, Rule, View, rule
from otel_a2a.errors import A2APolicyError
from otel_a2a.observations import ArtifactSeen, TaskSeen


@rule(
    name="late-notification",
    boundary="delivery",
    level=Level.INFORMATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=A2APolicyError,
    on=(TaskSeen,),
    origin="A2A 1.0 §4.3.3; field reports",
    summary="A webhook brought a state that the task had already left.",
)
def late_notification(seen: TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """Trigger: an accepted delivery brings a live state after the end, one with an older timestamp than that of the
    state known, or submitted when more than that is known. Once per task and pair of states; a duplicate is not late.

    Submitted is not late where its timestamp is the newer one, nor after this client's message into the task: it may
    begin a new turn.
    """
    task = view.task
    if seen.call is not None or task is None or task.reused or not order.is_late(task, seen, settings.clock_skew):
        return
    if not task.terminal and _may_begin_a_turn(task, seen, settings.clock_skew):
        return
    yield Hit(
        f"a webhook brought {seen.state} for task {task.task_id}, which is {task.terminal or task.state} by now: an "
        f"old "
        "notification, not a step back. Order notifications by their timestamp, and let none reopen a task",
        task=task,
        discriminator=f"{task.terminal or task.state}>{seen.state}",
        state=seen.state or "",
        previous_state=task.terminal or task.state,
    )


def _may_begin_a_turn(task: Task, seen: TaskSeen, clock_skew: float) -> bool:
    if seen.timestamp is not None and task.timestamp is not None:
        newer_by = seen.timestamp - task.timestamp
        if abs(newer_by) > clock_skew:
            return newer_by > 0
    return task.message_seq > 0


@rule(
    name="unverified-notification",
    boundary="delivery",
    level=Level.INFORMATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=A2APolicyError,
    on=(TaskSeen, ArtifactSeen),
    origin="A2A 1.0 §4.3.3; field reports",
    summary="A webhook came for a task without the token that was registered, and nobody vouched for it.",
)
def unverified_notification(seen: TaskSeen | ArtifactSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """Trigger: a delivery for a task whose webhook was registered here, with no token or another than the registered
    one. Once per task. It moved nothing.

    Where no token was registered it is the client's own doing. Silent for a task whose webhook was registered
    elsewhere: its token is not known.
    """
    if seen.call is not None or view.task is not None:
        return
    task = view.ledger.find(seen.task_id)
    if task is None or not task.webhooks:
        return
    has_token = any(task.webhooks.values())
    why = "its token is not the one that was registered" if has_token else "its webhook was registered without a token"
    yield Hit(
        f"a webhook came for task {task.task_id} that anybody may have sent: {why}, and the application does not vouch "
        f"for "
        "it. It was not taken for the agent's word",
        task=task,
        party=None if has_token else Party.CLIENT,
        previous_state=task.state,
    )


RULES: tuple[Rule, ...] = (late_notification, unverified_notification)
