# SPDX-License-Identifier: Apache-2.0
"""Artifacts: append-only per task. What was received stays received."""

from __future__ import annotations

from collections.abc import Iterator

from otel_a2a.config import Settings
from otel_a2a.engine import order, turns
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.records import Artifact, Task
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
)

TRIMMED = 4
"""Characters that an agent may trim off the ends of a text that it had sent in pieces."""


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
    and a rewrite of the same or a greater length loses nothing that can be told without keeping texts; nor does one
    that is shorter by as little as white space at its ends, or has become a URL. What an open stream is still making
    has not been received yet: an agent may store it when it is whole. Where the request limits the history it is
    information: some agents leave out more with it than A2A says. Off for 0.1, where any message may begin the task
    anew.
    """
    task = view.task
    if task is None or (task.protocol_version == "0.1" and not isinstance(seen, LocalDecision)):
        return
    proves_little = isinstance(seen, TaskSeen) and seen.call is not None and seen.call.limits_history
    level = Level.INFORMATION if settings.artifacts_keyed_by_skill or proves_little else None
    if isinstance(seen, LocalDecision):
        if seen.decision == Decision.ARTIFACT_DROPPED and seen.artifact_id in task.artifacts:
            yield _lost(task, f"artifact {seen.artifact_id} was dropped by the client", "dropped", level, Party.CLIENT)
    elif isinstance(seen, ArtifactSeen):
        held = task.artifacts.get(seen.artifact.artifact_id)
        if held is not None and _replaces(seen, held) and _is_shorter(seen.artifact, held):
            yield _shorter(task, seen.artifact, held.length, level)
    elif is_complete(seen) and not order.is_behind(task, seen, settings.clock_skew):
        yield from _in_snapshot(task, seen, level, settings.clock_skew)


def is_complete(seen: TaskSeen) -> bool:
    """Whether an answer shows a whole task, so that what is not in it is not there: one to a get or a send."""
    call = seen.call
    if call is None or call.trimmed or seen.form != Form.SNAPSHOT or seen.channel != Channel.RESPONSE:
        return False
    return call.method == Method.GET_TASK or call.is_send


def _replaces(seen: ArtifactSeen, held: Artifact) -> bool:
    """Whether a last chunk takes the place of what had grown: in the stream in which it grew, or one begun since
    (G2)."""
    if seen.call is None or seen.append or not seen.last_chunk or not held.appended:
        return False
    return held.counted_in == seen.call.seq or held.grown_seq < seen.call.seq


def _is_shorter(now: ArtifactFacts, held: Artifact) -> bool:
    return now.length < held.length - TRIMMED and not now.is_elsewhere


def _is_in_the_making(held: Artifact, task: Task, seen: TaskSeen) -> bool:
    return held.counted_in in task.open_streams and held.sealed_in != held.counted_in and seen.state not in TERMINAL


def _in_snapshot(task: Task, seen: TaskSeen, level: Level | None, clock_skew: float) -> Iterator[Hit]:
    assert seen.call is not None
    shown = {artifact.artifact_id: artifact for artifact in seen.artifacts}
    for artifact_id, held in task.artifacts.items():
        if held.seq >= seen.call.seq or _is_in_the_making(held, task, seen):
            continue
        if held.delivered_at and seen.call.at - held.delivered_at <= clock_skew:
            # A push may be ahead of the store from which reads are answered.
            continue
        now = shown.get(artifact_id)
        if now is None:
            yield _lost(task, f"artifact {artifact_id} is gone from the task", "gone", level)
            return
        if held.appended and held.grown_seq < seen.call.seq and _is_shorter(now, held):
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
    """In one stream, where order is certain. A Task snapshot is no update, and a chunk that was received before is no
    news: a subscription may show the task first, and then what led there."""
    task = view.task
    if task is None or seen.call is None or seen.channel != Channel.STREAM:
        return
    ended = turns.shown_in(task, seen.call)
    if ended in TERMINAL and not _is_known(seen.artifact, task):
        yield Hit(
            f"task {task.task_id} had ended as {ended} and its stream then brought artifact "
            f"{seen.artifact.artifact_id}: "
            "clients that stop at the end miss it",
            task=task,
            previous_state=ended,
        )


def _is_known(facts: ArtifactFacts, task: Task) -> bool:
    held = task.artifacts.get(facts.artifact_id)
    return held is not None and (facts.digest in held.chunks or facts.digest == held.digest)


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
    """``append=true`` after ``lastChunk`` in the same stream, and no repetition of a chunk already received.

    ``append=false`` begins the artifact anew, with a seal of its own. An empty chunk brings nothing.
    """
    task = view.task
    if task is None or seen.call is None or not seen.append or not seen.artifact.length:
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


RULES: tuple[Rule, ...] = (
    artifact_truncated,
    artifact_after_terminal,
    artifact_after_seal,
)
