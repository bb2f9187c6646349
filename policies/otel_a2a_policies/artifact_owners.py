# SPDX-License-Identifier: Apache-2.0
"""Whose artifact is it? It belongs to the task that sent it, for the agent and for the client."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from otel_a2a.config import Settings
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.records import Agent, Owner, Task
from otel_a2a.engine.rules import Hit, Rule, View, rule
from otel_a2a.errors import CardTaskBoundaryError
from otel_a2a.observations import (
    ArtifactFacts,
    ArtifactSeen,
    CallStarted,
    Decision,
    LocalDecision,
    TaskSeen,
    TaskState,
)

UNIQUE = re.compile(
    r"(?<![0-9a-f])(?:[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|[0-9a-f]{16,31}|[0-9a-hjkmnp-tv-z]{26})(?![0-9a-z])",
    re.IGNORECASE,
)
"""An id that nobody gives twice by chance: a UUID, a ULID, or as many digits. Longer digests are of the content."""


@rule(
    name="artifact-crossed-tasks",
    boundary="artifacts",
    level=Level.VIOLATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=CardTaskBoundaryError,
    on=(TaskSeen, ArtifactSeen),
    origin="seed 000; field reports",
    summary="One task's artifact came with another task.",
)
def artifact_crossed_tasks(seen: TaskSeen | ArtifactSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """The same id and content in two tasks of one context, or in two tenants or credentials; neither references the
    other, and the id is in no further context.

    Many agents call every result ``result``, and give the same short answer twice. So a name accuses nobody, and an id
    that may be a counter's only within a context, where the task shows the foreign artifact beside one of its own. A
    token is renewed now and then (G6): two credentials are two clients only where both go on being used. Off for 0.1,
    which numbers the artifacts of every task from 0.
    """
    if view.agent is None or seen.call is None or not seen.task_id or seen.call.protocol_version == "0.1":
        return
    artifacts = _shown(seen, view)
    for artifact in artifacts:
        owner = view.agent.artifact_owners.get((artifact.artifact_id, artifact.digest))
        if owner is None or not artifact.length or (owner.tenant, owner.task_id) == (seen.call.tenant, seen.task_id):
            continue
        if owner.task_id == seen.task_id and owner.context_id in ("", _context(seen, view)):
            # One task, named with and without its tenant.
            continue
        if _is_elsewhere(owner, artifact, seen, view) or _reference(owner, artifact, seen, view):
            continue
        is_unique = UNIQUE.search(artifact.artifact_id) is not None
        if owner.context_id and owner.context_id == _context(seen, view) and owner.tenant == seen.call.tenant:
            is_numbered = any(map(str.isdigit, artifact.artifact_id))
            crossed, beyond = is_unique or (is_numbered and _is_beside_own(owner, artifacts, view)), ""
        else:
            crossed = is_unique and _is_of_another_client(owner, seen.call, view.agent)
            beyond = ", and perhaps not this client's to see"
        if crossed:
            yield Hit(
                f"artifact {artifact.artifact_id} of task {owner.task_id} came with task {seen.task_id}: it is not "
                f"this "
                f"task's result{beyond}",
                task=view.task,
                discriminator=owner.task_id,
            )
            return


def _shown(seen: TaskSeen | ArtifactSeen, view: View) -> Sequence[ArtifactFacts]:
    """The artifacts that the task shows: those of a snapshot, or the whole one of an update, where it is a new one
    with those that came before."""
    if isinstance(seen, TaskSeen):
        return seen.artifacts
    if seen.append or not seen.last_chunk:
        return ()
    held = view.task.artifacts if view.task is not None else {}
    if seen.artifact.artifact_id in held:
        return (seen.artifact,)
    return [seen.artifact, *(ArtifactFacts(name, each.digest, each.length) for name, each in held.items())]


def _is_beside_own(owner: Owner, artifacts: Sequence[ArtifactFacts], view: View) -> bool:
    """Whether the task shows an artifact that the owner of the foreign one has not."""
    other = view.ledger.task(view.agent, owner.tenant, owner.task_id)
    known = other.artifacts if other is not None else {}
    return any(artifact.artifact_id not in known for artifact in artifacts)


def _context(seen: TaskSeen | ArtifactSeen, view: View) -> str:
    return seen.context_id or (view.task.context_id if view.task is not None else "")


def _is_elsewhere(owner: Owner, artifact: ArtifactFacts, seen: TaskSeen | ArtifactSeen, view: View) -> bool:
    """Whether the id is known from further contexts: then it is one that the agent gives again and again."""
    contexts = view.agent.artifact_contexts.get(artifact.artifact_id, set()) if view.agent is not None else set()
    return bool(contexts - {owner.context_id, _context(seen, view)})


def _is_of_another_client(owner: Owner, call: CallStarted, agent: Agent) -> bool:
    if owner.tenant != call.tenant:
        return True
    _, last = agent.credentials.get(owner.credential, (0, 0))
    first, _ = agent.credentials.get(call.credential, (call.seq, 0))
    return owner.credential != call.credential and last > first


def _reference(owner: Owner, artifact: ArtifactFacts, seen: TaskSeen | ArtifactSeen, view: View) -> bool:
    """Whether one of the two tasks was started with a reference to the other, or to one that already had the artifact
    from it: then it may well hand its artifacts on."""
    referenced = set(view.task.references) if view.task is not None else set()
    if seen.call is not None and seen.call.message is not None:
        referenced |= set(seen.call.message.reference_task_ids)
    other = view.ledger.task(view.agent, owner.tenant, owner.task_id)
    if owner.task_id in referenced or (other is not None and seen.task_id in other.references):
        return True
    between = (view.ledger.task(view.agent, owner.tenant, task_id) for task_id in referenced)
    return any(task is not None and artifact.artifact_id in task.artifacts for task in between)


@rule(
    name="artifact-merged-into-other-task",
    boundary="artifacts",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.LOCAL,
    exception=CardTaskBoundaryError,
    on=(LocalDecision,),
    origin="seed 000",
    summary="The client merged an artifact into the record of a task that had not sent it.",
)
def artifact_merged_into_other_task(told: LocalDecision, view: View, settings: Settings) -> Iterator[Hit]:
    """A task's own late chunk in its canceled record is information, but for seed 000 to the letter (``authority``).

    Ids of artifacts may be the same in every task: only where both tasks have sent the same content is it nobody's.
    """
    task = view.task
    if told.decision != Decision.ARTIFACT_MERGED or task is None:
        return
    if told.source_task_id not in ("", task.task_id) and not _is_shared(told, task, view):
        yield Hit(
            f"artifact {told.artifact_id} of task {told.source_task_id} was merged into the record of task "
            f"{task.task_id}: a "
            "task id is one execution's, not a conversation's. Correlate by context",
            task=task,
            discriminator=told.source_task_id,
            previous_state=task.state,
        )
    elif told.source_task_id in ("", task.task_id) and task.terminal == TaskState.CANCELED:
        yield Hit(
            f"artifact {told.artifact_id} was merged into the canceled record of its own task {task.task_id}",
            task=task,
            discriminator="canceled",
            previous_state=task.terminal,
            level=None if settings.canceled_is_closed else Level.INFORMATION,
        )


def _is_shared(told: LocalDecision, task: Task, view: View) -> bool:
    own = task.artifacts.get(told.artifact_id)
    source = view.ledger.find(told.source_task_id, told.endpoint, told.tenant)
    foreign = source.artifacts.get(told.artifact_id) if source is not None else None
    if own is None:
        return False
    return foreign is None or (bool(own.digest) and own.digest == foreign.digest)


RULES: tuple[Rule, ...] = (artifact_crossed_tasks, artifact_merged_into_other_task)
