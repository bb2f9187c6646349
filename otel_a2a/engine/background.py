# SPDX-License-Identifier: Apache-2.0
"""What was there before a finding: the card it is about and since when, and where its task began.

Whoever reads a finding asks next whether the agent was deployed anew, and when; so each finding about a task says so
where it is known, whatever the rule had to know.
"""

from __future__ import annotations

from dataclasses import dataclass

from otel_a2a.engine.card_records import CardVersion
from otel_a2a.engine.records import Agent, Task
from otel_a2a.engine.revisions import drift
from otel_a2a.engine.rules import Hit
from otel_a2a.observations import CardFetched, Observation, SpanRef


@dataclass(slots=True, frozen=True)
class Background:
    """As in a ``Finding``, where the members are explained."""

    card_revision: str
    task_card_revision: str
    card_since_ns: int = 0
    card_span: SpanRef | None = None
    task_span: SpanRef | None = None


def background(hit: Hit, observation: Observation, task: Task | None, agent: Agent | None, now_ns: int) -> Background:
    """The revisions that the rule names; where it names none, those between which its
    agent's card changed since the task was made, whatever has re-affirmed the task by now."""
    origin = task.origin if task is not None else None
    revision, made_under = hit.card_revision, hit.task_card_revision
    if isinstance(observation, CardFetched) and revision == observation.revision:
        # What the observation brings is not yet in the ledger, and its span is the finding's own.
        return Background(revision, made_under, now_ns, task_span=origin)
    if revision:
        version = _version(agent, revision)
    else:
        changed = drift(task, narrowing_only=False, fenced=True) if task is not None else None
        version = changed.document.current if changed is not None else None
        if changed is not None:
            revision, made_under = changed.document.current.revision, made_under or changed.known.revision
    if version is None:
        return Background(revision, made_under, task_span=origin)
    return Background(revision, made_under, version.ns, version.span, origin)


def _version(agent: Agent | None, revision: str) -> CardVersion | None:
    """When an agent's card came to say this; the last time, where it did so more than once."""
    documents = agent.documents.values() if agent is not None else ()
    versions = (version for document in documents for version in document.history if version.revision == revision)
    return max(versions, key=lambda version: version.seq, default=None)
