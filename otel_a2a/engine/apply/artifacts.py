# SPDX-License-Identifier: Apache-2.0
"""Artifacts received: remembered by id, digest and length, never by content."""

from __future__ import annotations

from otel_a2a.engine.apply.effects import NOTHING, Effect
from otel_a2a.engine.apply.rumours import rumoured
from otel_a2a.engine.ledger import Ledger
from otel_a2a.engine.records import ARTIFACTS, CHUNKS, Artifact, Owner, Task
from otel_a2a.observations import ArtifactFacts, ArtifactSeen, TaskSeen

OWNERS = 2_000
"""Artifacts remembered per agent, to know one that turns up in another task."""


def artifact_seen(ledger: Ledger, seen: ArtifactSeen) -> Effect:
    """An artifact event arrived."""
    if not seen.task_id:
        return NOTHING
    if seen.call is None:
        task = ledger.delivered_to(seen)
        if task is None:
            return rumoured(ledger, seen)
    else:
        task = ledger.task(ledger.agent_of_call(seen.call), seen.call.tenant, seen.task_id)
    if task is None:
        return NOTHING
    task.answered_seq = seen.seq
    task.changed_at = seen.at
    if seen.call is None:
        task.delivered_at = seen.at
    remember_artifact(task, seen.artifact, seen, whole=False)
    return Effect(task)


def remember_artifact(task: Task, facts: ArtifactFacts, seen: TaskSeen | ArtifactSeen, *, whole: bool) -> None:
    """Keep what is known of an artifact: ``whole`` as a snapshot shows it, else as one more event of it."""
    if not facts.artifact_id:
        # 0.1 numbers its artifacts: nothing tells which one this is.
        return
    held = task.artifacts.get(facts.artifact_id)
    is_new = held is None
    if held is None:
        if len(task.artifacts) >= ARTIFACTS:
            task.artifacts_forgotten = True
            return
        held = task.artifacts[facts.artifact_id] = Artifact(seen.seq)
    _note_delivery(held, facts, seen, is_new)
    if isinstance(seen, TaskSeen):
        if not held.appended or facts.length >= held.length:
            _set_content(held, facts.digest, facts.length, seen.seq)
    elif seen.call is not None:
        _take_event(held, facts, seen, seen.call.seq)
        if held.counted >= held.length:
            _end_delivery(held, seen.seq)
    elif is_new and not seen.append:
        # Later ones prove nothing: webhooks bring their events late, twice and out of order.
        _set_content(held, facts.digest, facts.length, seen.seq)
    _remember_owner(task, facts, seen)


def _note_delivery(held: Artifact, facts: ArtifactFacts, seen: TaskSeen | ArtifactSeen, is_new: bool) -> None:
    is_more = is_new or (isinstance(seen, TaskSeen) and facts.length > held.length)
    if seen.call is None:
        held.delivered_at = seen.at if is_more else held.delivered_at
    elif isinstance(seen, TaskSeen) and facts.length >= held.length:
        _end_delivery(held, seen.seq)


def _end_delivery(held: Artifact, seq: int) -> None:
    if held.delivered_at:
        # From now on no read may show less; those that left before may.
        held.seq = held.grown_seq = seq
        held.delivered_at = 0.0


def _take_event(held: Artifact, facts: ArtifactFacts, seen: ArtifactSeen, stream: int) -> None:
    if not seen.append:
        held.counted, held.counted_in, held.sealed_in = facts.length, stream, 0
        _set_content(held, facts.digest, facts.length, seen.seq)
    else:
        if held.counted_in != stream:
            held.counted, held.counted_in = facts.length, stream
        elif facts.digest not in held.chunks:
            # One that was sent twice adds nothing; what it may hide accuses nobody.
            held.counted += facts.length
        _set_content(held, "", max(held.length, held.counted), seen.seq)
    held.appended = seen.append
    if len(held.chunks) < CHUNKS:
        held.chunks.add(facts.digest)
    if seen.last_chunk:
        held.sealed_in = stream


def _set_content(held: Artifact, digest: str, length: int, seq: int) -> None:
    if length != held.length:
        held.length, held.grown_seq = length, seq
    held.digest = digest


def _remember_owner(task: Task, facts: ArtifactFacts, seen: TaskSeen | ArtifactSeen) -> None:
    if (
        not facts.length
        or seen.call is None
        or (isinstance(seen, ArtifactSeen) and (seen.append or not seen.last_chunk))
    ):
        # Chunks are alike in many artifacts; only a whole one says whose it is.
        return
    agent = task.agent
    context_id = seen.context_id or task.context_id
    owner = Owner(task.task_id, task.tenant, seen.call.credential, context_id)
    agent.artifact_owners.setdefault((facts.artifact_id, facts.digest), owner)
    if len(agent.artifact_owners) > OWNERS:
        agent.artifact_owners.popitem(last=False)
    contexts = agent.artifact_contexts.setdefault(facts.artifact_id, set())
    if context_id and len(contexts) < 3:
        contexts.add(context_id)
    if len(agent.artifact_contexts) > OWNERS:
        agent.artifact_contexts.popitem(last=False)
