# SPDX-License-Identifier: Apache-2.0
"""Reading a sequence without false alarms: what contradicts what.

Pure functions over the ledger's records, used by the rules and by the ledger alike, so that a rule that is switched off
changes no fact. The definitions are rules.md G2 (order), G4 (known revisions) and G5 (narrowing).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from otel_a2a.engine.records import CardDocument, CardVersion, Task
from otel_a2a.observations import (
    INTERRUPTED,
    TERMINAL,
    ArtifactFacts,
    CallFailed,
    CardFacts,
    TaskSeen,
    TaskState,
)

CREATION_GRACE = 1.0
"""Seconds after a task's creation in which *not found* may still be replication lag."""


@dataclass(slots=True, frozen=True)
class Contradiction:
    """A state that cannot follow ``earlier``."""

    earlier: str
    reopened: bool
    """``earlier`` was terminal."""
    resubmitted: bool = False
    """The agent answered this client's message into an interrupted task by submitting it anew: odd, but a new turn."""


def contradiction(task: Task, seen: TaskSeen) -> Contradiction | None:
    """The edge that ``seen`` takes against the rules, if any: *terminal → live* or *anything → submitted*, in G2's order.

    Terminal states are accepted from any channel and never contradict here; see ``changed_terminal``.
    """
    state = seen.state
    if state is None or state in TERMINAL:
        return None
    furthest = task.streams.get(seen.call.seq, "") if seen.call else ""
    if furthest in TERMINAL:
        return Contradiction(furthest, reopened=True)
    left = seen.call.seq if seen.call else 0
    if task.terminal and task.terminal_seq < left:
        return Contradiction(task.terminal, reopened=True)
    if state != TaskState.SUBMITTED:
        return None
    earlier = _non_submitted_before(task, left) or (furthest if furthest and furthest != TaskState.SUBMITTED else "")
    if not earlier:
        return None
    return Contradiction(earlier, reopened=False, resubmitted=_answers_our_message(task, seen))


def _non_submitted_before(task: Task, left: int) -> str:
    if task.state and task.state != TaskState.SUBMITTED and task.first_seen.get(task.state, left) < left:
        return task.state
    for state, seq in task.first_seen.items():
        if state != TaskState.SUBMITTED and seq < left:
            return state
    return ""


def _answers_our_message(task: Task, seen: TaskSeen) -> bool:
    """Whether *interrupted → submitted* is the first state after this client's message into the task."""
    return (
        task.state in INTERRUPTED
        and task.message_seq > task.state_seq
        and not task.lost_seq
        and (not seen.context_id or not task.context_id or seen.context_id == task.context_id)
    )


def changed_terminal(task: Task, seen: TaskSeen) -> bool:
    """Whether ``seen`` replaces one terminal state by a different one, in any order and on any channel."""
    return seen.state in TERMINAL and bool(task.terminal) and seen.state != task.terminal


def same_context(task: Task, seen: TaskSeen) -> bool:
    """Whether nothing says that ``seen`` belongs to another context. Empty is absent."""
    return not seen.context_id or not task.context_id or seen.context_id == task.context_id


def intact(task: Task, artifacts: Iterable[ArtifactFacts], before: int) -> bool:
    """Whether every artifact received before ``before`` is still there. Unknown counts as intact."""
    if task.artifacts_forgotten:
        return True
    present = {artifact.artifact_id for artifact in artifacts}
    return all(artifact_id in present for artifact_id, seq in task.artifacts.items() if seq < before)


def lost(task: Task, failed: CallFailed) -> bool:
    """Whether an A2A *not found* says that the agent lost a task which it had not ended.

    Not where the request left before the task ended here, nor within ``CREATION_GRACE`` of its creation.
    """
    return not task.terminal and bool(task.state) and failed.at - task.created_at > CREATION_GRACE


def known_version(task: Task, document: CardDocument) -> CardVersion | None:
    """The newest version of ``document`` that the task was created or re-affirmed under, or None where unknown.

    A document first fetched after the task is known under its first version: a late observer may not accuse.
    """
    for version in reversed(document.history):
        if version.revision in task.revisions:
            return version
    first = document.history[0]
    return first if first.seq > task.created_seq and not document.forgotten else None


def changed(task: Task, document: CardDocument) -> CardVersion | None:
    """The version that the task knew, where ``document`` now says something that the task was never affirmed under."""
    known = known_version(task, document)
    return None if known is None or known.revision == document.current.revision else known


def narrowing(old: CardFacts, new: CardFacts, task: Task) -> str:
    """What ``task`` uses and ``new`` no longer offers, in words; empty where nothing (rules.md, G5)."""
    offered = {interface.url for interface in new.interfaces}
    used = {interface.url for interface in old.interfaces} & task.endpoints
    if used and not used & offered:
        return f"the interface {min(used)} is gone"
    if task.streamed and old.streaming and not new.streaming:
        return "streaming was dropped while the task uses it"
    if task.pushed and old.push_notifications and not new.push_notifications:
        return "push notifications were dropped while the task uses them"
    gone = sorted(old.skills - new.skills)
    if gone:
        return "the skill is gone: " + ", ".join(gone[:3]) if len(gone) == 1 else "skills are gone: " + ", ".join(gone[:3])
    return ""


@dataclass(slots=True, frozen=True)
class Drift:
    """A card document that no longer says what a task was affirmed under."""

    document: CardDocument
    known: CardVersion
    narrowed: str
    """What the task loses, in words; empty where the change takes nothing away from it."""


def drift(task: Task, *, narrowing_only: bool) -> Drift | None:
    """The first document of the task's agent that changed since the task was affirmed, if any."""
    for document in task.agent.documents.values():
        if document.current.revision in task.revisions:
            continue
        known = changed(task, document)
        if known is None:
            continue
        narrowed = narrowing(known.card, document.current.card, task)
        if narrowed or not narrowing_only:
            return Drift(document, known, narrowed)
    return None
