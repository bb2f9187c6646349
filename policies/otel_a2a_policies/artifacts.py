# SPDX-License-Identifier: Apache-2.0
"""Artifacts: append-only per task. What was received stays received, and belongs to the task that sent it."""

from __future__ import annotations

from collections.abc import Iterator

from otel_a2a.config import Settings
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.records import Owner, Task
from otel_a2a.engine.rules import Hit, Rule, View, rule
from otel_a2a.errors import CardTaskBoundaryError
from otel_a2a.observations import (
    TERMINAL,
    ArtifactFacts,
    ArtifactSeen,
    Channel,
    Decision,
    Form,
    LocalDecision,
    Method,
    TaskSeen,
    TaskState,
)

UNIQUE = 16
"""Characters from which on an id is taken for one that nobody chose twice by chance."""


@rule(
    name="artifact-truncated",
    boundary="artifacts",
    level=Level.VIOLATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=CardTaskBoundaryError,
    on=(TaskSeen, ArtifactSeen, LocalDecision),
    origin="seed 000; field reports",
    summary="An artifact that had been received is gone, or shorter than it was.",
)
def artifact_truncated(seen: TaskSeen | ArtifactSeen | LocalDecision, view: View, settings: Settings) -> Iterator[Hit]:
    """A received artifact id is absent from a complete later answer to a get or send (G2), what had grown by ``append``
    came back shorter, there or in a replacing last chunk, or the client dropped it.

    An empty artifact counts by its id. Lists, trimmed reads, answers to a cancel, webhooks and history prove nothing,
    and a rewrite of the same or a greater length loses nothing that can be told without keeping texts.
    """
    task = view.task
    if task is None:
        return
    level = Level.INFORMATION if settings.artifacts_keyed_by_skill else None
    if isinstance(seen, LocalDecision):
        if seen.decision == Decision.ARTIFACT_DROPPED and seen.artifact_id in task.artifacts:
            yield _lost(task, f"artifact {seen.artifact_id} was dropped by the client", "dropped", level, Party.CLIENT)
    elif isinstance(seen, ArtifactSeen):
        held = task.artifacts.get(seen.artifact.artifact_id)
        replaces = not seen.append and seen.last_chunk and seen.call is not None and held is not None and held.appended
        if held is not None and replaces and seen.artifact.length < held.length:
            yield _shorter(task, seen.artifact, held.length, level)
    elif is_complete(seen):
        yield from _in_snapshot(task, seen, level)


def is_complete(seen: TaskSeen) -> bool:
    """Whether an answer shows a whole task, so that what is not in it is not there: one to a get or a send."""
    call = seen.call
    if call is None or call.trimmed or seen.form != Form.SNAPSHOT or seen.channel != Channel.RESPONSE:
        return False
    return call.method == Method.GET_TASK or call.is_send


def _in_snapshot(task: Task, seen: TaskSeen, level: Level | None) -> Iterator[Hit]:
    assert seen.call is not None
    shown = {artifact.artifact_id: artifact for artifact in seen.artifacts}
    for artifact_id, held in task.artifacts.items():
        if held.seq >= seen.call.seq:
            continue
        now = shown.get(artifact_id)
        if now is None:
            yield _lost(task, f"artifact {artifact_id} is gone from the task", "gone", level)
            return
        if held.appended and held.grown_seq < seen.call.seq and now.length < held.length:
            yield _shorter(task, now, held.length, level)
            return


def _shorter(task: Task, now: ArtifactFacts, length: int, level: Level | None) -> Hit:
    return _lost(task, f"artifact {now.artifact_id} had grown to {length} and now has {now.length}", "shorter", level)


def _lost(task: Task, what: str, discriminator: str, level: Level | None, party: Party | None = None) -> Hit:
    return Hit(
        f"{what} (task {task.task_id}): artifacts that were received stay valid. Keep the longer one",
        task=task,
        discriminator=discriminator,
        previous_state=task.state,
        level=level,
        party=party,
    )


@rule(
    name="artifact-after-terminal",
    boundary="artifacts",
    level=Level.VIOLATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=CardTaskBoundaryError,
    on=(ArtifactSeen,),
    origin="field reports",
    summary="An artifact update came after the terminal state, in the same stream.",
)
def artifact_after_terminal(seen: ArtifactSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """In one stream, where order is certain. A Task snapshot is no update."""
    task = view.task
    if task is None or seen.call is None or seen.channel != Channel.STREAM:
        return
    ended = task.streams.get(seen.call.seq, "")
    if ended in TERMINAL:
        yield Hit(
            f"task {task.task_id} had ended as {ended} and its stream then brought artifact "
            f"{seen.artifact.artifact_id}: "
            "clients that stop at the end miss it",
            task=task,
            previous_state=ended,
        )


@rule(
    name="artifact-after-seal",
    boundary="artifacts",
    level=Level.IMPROVEMENT,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=CardTaskBoundaryError,
    on=(ArtifactSeen,),
    origin="field reports",
    summary="An artifact went on after its last chunk, in the same stream.",
)
def artifact_after_seal(seen: ArtifactSeen, view: View, settings: Settings) -> Iterator[Hit]:
    """``append=true`` after ``lastChunk`` in the same stream, and no repetition of a chunk already received."""
    task = view.task
    if task is None or seen.call is None or not seen.append:
        return
    held = task.artifacts.get(seen.artifact.artifact_id)
    if held is None or held.sealed_in != seen.call.seq or seen.artifact.digest in held.chunks:
        return
    yield Hit(
        f"artifact {seen.artifact.artifact_id} of task {task.task_id} went on after its last chunk: clients that had "
        f"closed it "
        "have a part of it",
        task=task,
        discriminator=seen.artifact.artifact_id,
    )


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
    """The same id and content in two tasks of one context, neither referencing the other, and the id in no third
    context; or in two tenants or credentials.

    Many agents call every result ``result``, and give the same short answer twice: an id that is short enough for that
    accuses only within a context, and only where the task shows the foreign artifact beside one of its own.
    """
    if view.agent is None or seen.call is None or not seen.task_id:
        return
    artifacts = seen.artifacts if isinstance(seen, TaskSeen) else (seen.artifact,) if _is_whole(seen) else ()
    for artifact in artifacts:
        owner = view.agent.artifact_owners.get((artifact.artifact_id, artifact.digest))
        if owner is None or not artifact.length or (owner.tenant, owner.task_id) == (seen.call.tenant, seen.task_id):
            continue
        is_unique = len(artifact.artifact_id) >= UNIQUE
        if (owner.tenant, owner.credential) != (seen.call.tenant, seen.call.credential):
            crossed, beyond = is_unique, ", and perhaps not this client's to see"
        else:
            crossed = _leaked_within_context(owner, artifact, seen, view) and (
                is_unique or _is_beside_own(owner, seen, view)
            )
            beyond = ""
        if crossed:
            yield Hit(
                f"artifact {artifact.artifact_id} of task {owner.task_id} came with task {seen.task_id}: it is not "
                f"this "
                f"task's result{beyond}",
                task=view.task,
                discriminator=owner.task_id,
            )
            return


def _is_whole(seen: ArtifactSeen) -> bool:
    return seen.last_chunk and not seen.append


def _is_beside_own(owner: Owner, seen: TaskSeen | ArtifactSeen, view: View) -> bool:
    """Whether the task shows an artifact that the owner of the foreign one has not."""
    other = view.ledger.task(view.agent, owner.tenant, owner.task_id)
    known = other.artifacts if other is not None else {}
    return isinstance(seen, TaskSeen) and any(artifact.artifact_id not in known for artifact in seen.artifacts)


def _leaked_within_context(owner: Owner, artifact: ArtifactFacts, seen: TaskSeen | ArtifactSeen, view: View) -> bool:
    context = seen.context_id or (view.task.context_id if view.task is not None else "")
    if not context or owner.context_id != context or view.agent is None:
        return False
    others = view.agent.artifact_contexts.get(artifact.artifact_id, set()) - {context}
    return not others and not _reference(owner, seen, view)


def _reference(owner: Owner, seen: TaskSeen | ArtifactSeen, view: View) -> bool:
    """Whether one of the two tasks was started with a reference to the other: then it may well hand its artifacts
    on."""
    referenced = set(view.task.references) if view.task is not None else set()
    if seen.call is not None and seen.call.message is not None:
        referenced |= set(seen.call.message.reference_task_ids)
    other = view.ledger.task(view.agent, owner.tenant, owner.task_id)
    return owner.task_id in referenced or (other is not None and seen.task_id in other.references)


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
    """A task's own late chunk in its canceled record is information, but for seed 000 to the letter (``authority``)."""
    task = view.task
    if told.decision != Decision.ARTIFACT_MERGED or task is None:
        return
    if told.source_task_id != task.task_id and told.artifact_id not in task.artifacts:
        yield Hit(
            f"artifact {told.artifact_id} of task {told.source_task_id} was merged into the record of task "
            f"{task.task_id}: a "
            "task id is one execution's, not a conversation's. Correlate by context",
            task=task,
            discriminator=told.source_task_id,
            previous_state=task.state,
        )
    elif told.source_task_id == task.task_id and task.terminal == TaskState.CANCELED:
        yield Hit(
            f"artifact {told.artifact_id} was merged into the canceled record of its own task {task.task_id}",
            task=task,
            discriminator="canceled",
            previous_state=task.terminal,
            level=None if settings.canceled_is_closed else Level.INFORMATION,
        )


RULES: tuple[Rule, ...] = (
    artifact_truncated,
    artifact_after_terminal,
    artifact_after_seal,
    artifact_crossed_tasks,
    artifact_merged_into_other_task,
)
