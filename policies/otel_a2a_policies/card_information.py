# SPDX-License-Identifier: Apache-2.0
"""Information about cards: nobody did wrong, and somebody will want to know at 3 a.m."""

from __future__ import annotations

from collections.abc import Iterator

from otel_a2a.config import Settings
from otel_a2a.engine import cards, revisions
from otel_a2a.engine.card_records import CardVersion
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.records import Agent, Task
from otel_a2a.engine.rules import Hit, Rule, View, rule, short
from otel_a2a.errors import AgentCardDivergenceError, AgentCardStalenessError, TaskResurrectionError
from otel_a2a.observations import CardFacts, CardFetched, CardFetchFailed

FETCHES = 5
"""Fetches in a row, one per read, that make a habit."""
NAMED = 3
"""Tasks named in a message; the others are counted."""


@rule(
    name="card-revision-changed",
    boundary="identity",
    level=Level.INFORMATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=TaskResurrectionError,
    on=(CardFetched,),
    origin="seeds 000, 002 and 004",
    summary="The agent's card changed in what tasks depend on.",
)
def card_revision_changed(fetched: CardFetched, view: View, settings: Settings) -> Iterator[Hit]:
    """Trigger: a card document has another revision than at its last fetch. Names the live tasks that lose
    something."""
    held = _changed(fetched, view)
    if held is None or fetched.card is None or view.agent is None:
        return
    at_risk = _tasks_at_risk(view.agent, held, fetched.card)
    lose = f"; {len(at_risk)} live task(s) lose something they use: {', '.join(at_risk[:NAMED])}" if at_risk else ""
    yield Hit(
        f"the card went from revision {short(held.revision)} to {short(fetched.revision)}{lose}",
        discriminator=f"{held.revision}>{fetched.revision}",
        card_revision=fetched.revision,
        task_card_revision=held.revision,
        per_agent=True,
    )


def _changed(fetched: CardFetched, view: View) -> CardVersion | None:
    """What the document said before, where it says something else now."""
    held = cards.said_before(view.document, fetched)
    return held if held is not None and held.revision != fetched.revision else None


def _tasks_at_risk(agent: Agent, held: CardVersion, card: CardFacts) -> list[str]:
    return [task.task_id for task in agent.tasks.values() if _is_at_risk(task, held, card)]


def _is_at_risk(task: Task, held: CardVersion, card: CardFacts) -> bool:
    return task.is_live and bool(revisions.narrowing(held.card, card, task))


@rule(
    name="discovery-downgrade",
    boundary="delivery",
    level=Level.INFORMATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=AgentCardStalenessError,
    on=(CardFetched,),
    origin="seed 004",
    summary="The agent's card withdrew push notifications or streaming: tasks go back to polling.",
)
def discovery_downgrade(fetched: CardFetched, view: View, settings: Settings) -> Iterator[Hit]:
    """Trigger: push or streaming was offered at the last fetch of the document and no longer is."""
    held = _changed(fetched, view)
    if held is None or fetched.card is None:
        return
    withdrawn = [
        what
        for what, before, now in (
            ("push notifications", held.card.push_notifications, fetched.card.push_notifications),
            ("streaming", held.card.streaming, fetched.card.streaming),
        )
        if before and not now
    ]
    if withdrawn:
        yield Hit(
            f"the card withdrew {' and '.join(withdrawn)}: tasks that rely on it go back to polling",
            discriminator=f"{held.revision}>{fetched.revision}",
            card_revision=fetched.revision,
            task_card_revision=held.revision,
            per_agent=True,
        )


@rule(
    name="card-modes-changed",
    boundary="admission",
    level=Level.INFORMATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=AgentCardDivergenceError,
    on=(CardFetched,),
    origin="seed 004",
    summary="The agent's card changed the media types it takes or gives.",
)
def card_modes_changed(fetched: CardFetched, view: View, settings: Settings) -> Iterator[Hit]:
    """Trigger: the input or output modes differ from those at the last fetch of the document."""
    held = cards.said_before(view.document, fetched)
    if held is not None and fetched.card is not None and held.card.modes != fetched.card.modes:
        yield Hit(
            "the card changed its input or output modes",
            discriminator=fetched.card.modes,
            card_revision=fetched.revision,
            per_agent=True,
        )


@rule(
    name="discovery-unavailable",
    boundary="disposition",
    level=Level.INFORMATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=AgentCardStalenessError,
    on=(CardFetchFailed,),
    origin="seed 004",
    summary="The agent's card could not be fetched while tasks of it are live: they go on, by polling.",
)
def discovery_unavailable(failed: CardFetchFailed, view: View, settings: Settings) -> Iterator[Hit]:
    """Trigger: a failed fetch (G8) of a card whose agent has live tasks. Once per outage."""
    held = view.ledger.document(failed.request)
    if held is None or not cards.is_failure(view.ledger, failed):
        return
    agent, document = held
    live = [task.task_id for task in agent.tasks.values() if task.is_live]
    if live:
        yield Hit(
            f"the card could not be fetched ({failed.reason}) while {len(live)} task(s) are live: "
            f"{', '.join(live[:NAMED])}. "
            "They go on: read them",
            task=agent.tasks.get(("", live[0])),
            discriminator=str(document.fetched_seq),
            per_agent=True,
        )


@rule(
    name="card-fetched-per-poll",
    boundary="admission",
    level=Level.INFORMATION,
    party=Party.CLIENT,
    phase=Phase.RESPONSE,
    exception=AgentCardStalenessError,
    on=(CardFetched,),
    origin="seed 004",
    summary="The card is fetched with every poll of a task, which does not depend on it.",
)
def card_fetched_per_poll(fetched: CardFetched, view: View, settings: Settings) -> Iterator[Hit]:
    """Trigger: five fetches of a document in a row with exactly one read of a task before each."""
    document = view.document
    if document is None or view.agent is None or settings.card_per_turn or fetched.from_cache:
        return
    if view.agent.reads == document.reads_seen + 1 and document.fetches_per_read + 1 >= FETCHES:
        yield Hit(
            "the card is fetched with every poll: a task in flight does not depend on it, and a failed fetch is easily "
            "taken "
            "for a failed task",
            per_agent=True,
        )


@rule(
    name="not-an-agent-card",
    boundary="admission",
    level=Level.INFORMATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=AgentCardDivergenceError,
    on=(CardFetched,),
    origin="field reports",
    summary="The document at a card's address is no Agent Card.",
)
def not_an_agent_card(fetched: CardFetched, view: View, settings: Settings) -> Iterator[Hit]:
    """Trigger: a document without a card's shape at a well-known or configured address."""
    if fetched.card is None and not fetched.confirmed:
        yield Hit(
            "the document at the card's address is no Agent Card", discriminator=fetched.request.url, per_agent=True
        )


RULES: tuple[Rule, ...] = (
    card_revision_changed,
    discovery_downgrade,
    card_modes_changed,
    discovery_unavailable,
    card_fetched_per_poll,
    not_an_agent_card,
)
