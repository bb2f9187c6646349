# SPDX-License-Identifier: Apache-2.0
"""Seed 002: a task handle is bound to the card revision under which it was minted.

Start with ``A2AInstrumentor().instrument(strictness="raise", profile="fenced")``. Under the profile ``default`` only a
change that takes something away from the task orphans it, and the read below is what re-affirms it.
"""

from __future__ import annotations

from dataclasses import dataclass

from examples.seeds.remote import Remote, state
from otel_a2a import TaskResurrectionError, card_revision, local


@dataclass(frozen=True)
class TaskHandle:
    """A task, the revision that it belongs to, and the state seen last."""

    task_id: str
    card_revision: str
    last_state: str


def start_task(remote: Remote, text: str) -> TaskHandle:
    """Store a hash of the card alongside the task."""
    revision = card_revision(remote.card() or {})
    task = remote.send(text)
    return TaskHandle(task["id"], revision, state(task))


def continue_task(remote: Remote, handle: TaskHandle) -> TaskHandle:
    """Re-resolve the card, and go on only where the task may be asked for.

    Raises:
        TaskResurrectionError: the revision has changed, and nothing was sent; or the task went back in its life.
    """
    revision = card_revision(remote.card() or {})
    for finding in local.check("read", task_id=handle.task_id):
        raise TaskResurrectionError(finding.message, (finding,), request_sent=False)
    task = remote.get(handle.task_id)
    return TaskHandle(handle.task_id, revision, state(task) if task else handle.last_state)


def give_up(remote: Remote, handle: TaskHandle) -> None:
    """What is to be done about an orphan: cancel it, take *not found* for the confirmation, and record it."""
    remote.cancel(handle.task_id)
    local.task_abandoned(handle.task_id, reason="its agent has another revision")
