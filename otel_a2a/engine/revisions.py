# SPDX-License-Identifier: Apache-2.0
"""Does a card still say what a task was made under?

Pure functions over the ledger's records, used by the rules and by the ledger alike. The definitions are rules.md G4
(known revisions), G5 (narrowing) and G6 (scope).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from otel_a2a.engine.card_records import CardDocument, CardVersion
from otel_a2a.engine.records import Task
from otel_a2a.observations import CardFacts


def narrowing(old: CardFacts, new: CardFacts, task: Task) -> str:
    """What ``task`` uses and ``new`` no longer offers, in words; empty where nothing (rules.md, G5)."""
    offered = {interface.url for interface in new.interfaces if interface.serves(task.tenant)}
    used = {interface.url for interface in old.interfaces if interface.serves(task.tenant)} & task.endpoints
    if used and not used & offered:
        return f"the interface {min(used)} is gone"
    if task.streamed and old.streaming and not new.streaming:
        return "streaming was dropped while the task uses it"
    if task.pushed and old.push_notifications and not new.push_notifications:
        return "push notifications were dropped while the task uses them"
    hinted = task.hints.skill if task.hints is not None else ""
    gone = sorted(skill for skill in old.skills - new.skills if hinted in ("", skill))
    if gone:
        return (
            "the skill is gone: " + ", ".join(gone[:3]) if len(gone) == 1 else "skills are gone: " + ", ".join(gone[:3])
        )
    return ""


@dataclass(slots=True, frozen=True)
class Drift:
    """A card document that no longer says what a task was affirmed under."""

    document: CardDocument
    known: CardVersion
    narrowed: str
    """What the task loses, in words; empty where the change takes nothing away from it."""


def drift(task: Task, *, narrowing_only: bool, fenced: bool = False) -> Drift | None:
    """The first document of the task's agent that changed since the task was affirmed, if any.

    What takes nothing away in comparison with *any* revision that the task was affirmed under is no narrowing.
    ``fenced``: nothing but the revisions of its creation affirms a task.
    """
    affirmed = task.revisions if fenced else task.revisions | task.reaffirmed
    documents = [document for document in task.agent.documents.values() if _in_scope(document, task)]
    for document in documents:
        current = document.current
        if current.revision in affirmed or (not fenced and _is_overruled(document, documents, affirmed, task)):
            continue
        known = _known_versions(task, document, affirmed)
        narrowed = [narrowing(version.card, current.card, task) for version in known]
        if known and (all(narrowed) or not narrowing_only):
            return Drift(document, known[0], narrowed[0])
    return None


def _is_overruled(document: CardDocument, others: Iterable[CardDocument], affirmed: Iterable[str], task: Task) -> bool:
    """Whether a card from another address, fetched since, still says what the task was affirmed under: the newest one
    is what the agent says now. Gateways and caches have copies of their own."""
    return any(
        other.fetched_seq > document.fetched_seq
        and other.key[1] == document.key[1]
        and other.key[0] != document.key[0]
        and other.current.revision in affirmed
        and any(other.current.card.lists(each, task.tenant) for each in task.endpoints)
        for other in others
    )


def _in_scope(document: CardDocument, task: Task) -> bool:
    """Whether a document speaks for this task: what is shown to another credential says nothing about it (G6)."""
    credential = document.key[2]
    return not credential or credential == task.credential


def _known_versions(task: Task, document: CardDocument, affirmed: Iterable[str]) -> list[CardVersion]:
    """The versions of ``document`` that list an interface in use and that the task was affirmed under, newest first.

    A document first fetched after the task is known under its first version: a late observer may not accuse.
    """
    known = [version for version in reversed(document.history) if version.revision in affirmed]
    first = document.history[0]
    if not known and first.seq > task.created_seq and not document.forgotten:
        known = [first]
    return [version for version in known if any(version.card.lists(each, task.tenant) for each in task.endpoints)]
