# SPDX-License-Identifier: Apache-2.0
"""Seed 004: card state may gate task creation and webhook registration; it may never gate task continuation.

Start with ``A2AInstrumentor().instrument(strictness="raise", profile="version-fenced")``.
"""

from __future__ import annotations

from dataclasses import dataclass

from examples.seeds.remote import ENDED, Remote, state
from otel_a2a import AgentCardStalenessError, local


@dataclass
class Task:
    """What the client keeps of a task."""

    id: str
    state: str
    delivery_mode: str = "polling"


class A2AClient:
    """The client of the seed. It looks at the card itself, and leaves it to otel-a2a to say what that permits."""

    def __init__(self, remote: Remote) -> None:
        self.remote = remote

    def start_task(self, skill: str) -> Task:
        """Creation is gated by discovery: fail fast if the capability cannot be confirmed.

        Raises:
            AgentCardStalenessError: the card cannot be had.
            CardTaskBoundaryError: the fresh card does not offer the skill.
        """
        self.remote.card()
        with local.hints(skill=skill):
            task = self.remote.send(f"do {skill}")
        return Task(task["id"], state(task))

    def register_webhook_for(self, task: Task, url: str) -> None:
        """Binding is gated by discovery: a fresh look, right before.

        Raises:
            AgentCardStalenessError: the card denies push, or cannot be had. The task is polled, and nothing was bound.
        """
        self.remote.card()
        try:
            self.remote.register_webhook(task.id, url)
        except AgentCardStalenessError:
            task.delivery_mode = "polling"
            raise
        task.delivery_mode = "webhook"

    def continue_task(self, task: Task) -> Task:
        """Continuation must NEVER be gated by card state.

        Raises:
            TaskContinuationBlockedError: the poll brought nothing, and the client was about to infer a failure.
        """
        if task.state in ENDED:
            return task
        card = self.remote.card()
        if card is not None and not card["capabilities"].get("pushNotifications"):
            task.delivery_mode = "polling"  # reconcile, do not cancel
        found = self.remote.get(task.id)
        if found is None:
            local.task_state(task.id, "failed", reason="the poll returned nothing")
            return task
        task.state = state(found)
        return task
