# SPDX-License-Identifier: Apache-2.0
"""Seed 000: the card governs admission of new tasks, and task state governs the disposition of existing ones.

The program of the seed kept its own state machine and raised by itself. Here the agent is real, and otel-a2a keeps the
ledger and raises: start with ``A2AInstrumentor().instrument(strictness="raise", profile="authority")``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from examples.seeds.remote import Remote, state
from otel_a2a import local


@dataclass
class Record:
    """What the client keeps of a task."""

    task_id: str
    skill: str
    state: str
    artifacts: list[str] = field(default_factory=list)


def admit_new_task(remote: Remote, skill: str) -> Record:
    """Card governs admission of NEW tasks only.

    Raises:
        CardTaskBoundaryError: the card cannot be had, or does not offer the skill. Nothing has left.
    """
    remote.card()
    with local.hints(skill=skill):
        task = remote.send(f"do {skill}")
    return Record(task["id"], skill, state(task))


def apply_status_event(remote: Remote, record: Record) -> None:
    """Only what the agent says moves a task.

    Raises:
        TaskResurrectionError: the task had ended, and is shown in another state. The record stays as it was.
    """
    task = remote.get(record.task_id)
    if task is not None:
        local.task_state(record.task_id, state(task), reason="server")
        record.state = state(task)


def reconcile_with_card(remote: Remote, record: Record) -> None:
    """The boundary: whatever the card says now, the record is not touched. Hold, and await the agent's word."""
    remote.card()


def give_up(record: Record, reason: str) -> None:
    """The client ends its record by itself.

    Raises:
        CardTaskBoundaryError: the reason is the card. A transport timeout is a reason, a vanished skill is none.
    """
    local.task_state(record.task_id, "failed", reason=reason)
    record.state = "failed"


def retry_task(remote: Remote, old: Record, task_id: str = "") -> Record:
    """Retries take a fresh task, whose id the agent mints; ``task_id`` is for those who know better.

    Raises:
        CardTaskBoundaryError: the old task has not ended, or the card does not admit a new one.
        TaskResurrectionError: the retry was to go under the id of the old task.
    """
    remote.card()
    with local.hints(retry_of=old.task_id, skill=old.skill):
        task = remote.send(f"do {old.skill}", task_id)
    return Record(task["id"], old.skill, state(task))


def merge_artifact(record: Record, artifact_id: str, from_task: str = "") -> None:
    """An artifact belongs to the task that sent it.

    Raises:
        CardTaskBoundaryError: another task sent it, or the record is a canceled one.
    """
    local.artifact_merged(record.task_id, artifact_id, from_task=from_task)
    record.artifacts.append(artifact_id)
