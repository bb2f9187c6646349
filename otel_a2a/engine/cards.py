# SPDX-License-Identifier: Apache-2.0
"""Questions about cards: which one governs, how old it is, whether its discovery failed, what caused what.

Pure functions over the ledger's records, for rules and ledger alike (rules.md, G6, G8, G9, G11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_a2a.config import Settings, names_host
from otel_a2a.engine.card_records import CardDocument, CardVersion, Discovery
from otel_a2a.engine.records import Agent
from otel_a2a.observations import (
    BoundCard,
    CallStarted,
    CardFacts,
    CardFetched,
    CardFetchFailed,
    CardRequested,
    Hints,
    LocalDecision,
    SpanRef,
)

if TYPE_CHECKING:
    from otel_a2a.engine.ledger import Ledger

CAUSE_WINDOW = 2.0
"""Seconds within which one thing is taken for the cause of another where no trace tells (G9)."""
OLD_PATH = "/.well-known/agent.json"
"""Where cards were before A2A 0.3, and where few are now."""
WELL_KNOWN = ("/.well-known/agent-card.json", OLD_PATH)
NOT_ALLOWED = 405
NOT_FOR_YOU = (401, 403)
NOT_THERE = (404, 410)


def covering(agent: Agent | None, endpoint: str, tenant: str) -> list[CardDocument]:
    """The documents that list ``endpoint`` for ``tenant``, whether accepted or not."""
    if agent is None:
        return []
    return [document for document in agent.documents.values() if document.current.card.lists(endpoint, tenant)]


def governing(agent: Agent | None, endpoint: str, tenant: str, credential: str = "") -> CardDocument | None:
    """The card in force: the newest accepted document that lists ``endpoint``, extended over public.

    For a call with ``credential`` what others are shown does not count, where the same address has shown a document
    for that one (G6). Where it has not, the token may have been renewed.
    """
    accepted = [document for document in covering(agent, endpoint, tenant) if not document.rejected]
    if credential:
        own = {document.key[:2] for document in accepted if document.key[2] == credential}
        accepted = [each for each in accepted if each.key[:2] not in own or each.key[2] in ("", credential)]
    return max(accepted, key=lambda document: (document.key[1], document.fetched_seq), default=None)


def relied_on(agent: Agent | None, asked: CallStarted | CardRequested) -> CardVersion | None:
    """What the application's card says: the one that its client is bound to, else the card in force (design §3)."""
    tenant = asked.tenant if isinstance(asked, CallStarted) else ""
    return held_version(agent, asked, governing(agent, asked.endpoint, tenant, asked.credential))


def held_version(
    agent: Agent | None, asked: CallStarted | CardRequested, in_force: CardDocument | None
) -> CardVersion | None:
    """The same where the card in force is known already."""
    bound = asked.bound if isinstance(asked, CallStarted) else None
    if bound is not None and agent is not None:
        for document in agent.documents.values():
            for version in reversed(document.history):
                if document.key[0] == bound.url and version.revision == bound.revision:
                    return version
    return in_force.current if in_force is not None else None


def said_before(document: CardDocument | None, fetched: CardFetched) -> CardVersion | None:
    """What a document said at its last fetch, to compare ``fetched`` with. None where that would compare nothing.

    Nothing is compared with a copy out of a cache, nor with the card of another agent at the same address (G3).
    """
    if document is None or not document.history or fetched.card is None or fetched.from_cache:
        return None
    held = document.current
    return None if is_another_agent(held.card, fetched.card) else held


def is_another_agent(held: CardFacts, card: CardFacts) -> bool:
    """Whether another agent answers at this address now: a reused port, another deployment (G3)."""
    return bool(card.name and held.name) and card.name != held.name


def declares_history(agent: Agent | None, call: CallStarted) -> bool:
    """Whether the card in force states ``stateTransitionHistory: true``."""
    document = governing(agent, call.endpoint, call.tenant)
    return document is not None and bool(document.current.card.state_transition_history)


def age(document: CardDocument, now: float, bound: BoundCard | None = None) -> float:
    """Seconds since the document was last fetched or confirmed, what it had spent in shared caches included.

    ``bound``: what a client relies on. Where the document says something else by now, its own fetch counts.
    """
    if bound is not None and bound.url == document.key[0] and bound.revision != document.current.revision:
        return now - bound.at
    return now - document.fetched_at + document.age


def is_stale(
    document: CardDocument, now: float, settings: Settings, hints: Hints | None, bound: BoundCard | None = None
) -> bool:
    """Whether a document is older than it may be for new work. False where nothing says how old that is."""
    if document.max_age is not None:
        stated: float | None = max(document.max_age, settings.clock_skew)
    elif settings.max_card_age is not None:
        stated = settings.max_card_age
    else:
        stated = hints.expected_duration if hints is not None else None
    limits = [limit for limit in (stated, settings.card_age_limit) if limit is not None]
    return bool(limits) and age(document, now, bound) > min(limits)


def is_pinned(asked: CallStarted | CardRequested, settings: Settings) -> bool:
    """Whether the application or the operator relies on a card of its own on purpose (G11)."""
    if isinstance(asked, CallStarted) and asked.hints is not None and asked.hints.pinned_card:
        return True
    return names_host(settings.pinned_cards, asked.server_address, asked.server_port)


def is_agent_pinned(agent: Agent, settings: Settings) -> bool:
    """The same for what is no call: whether the operator relies on a card of its own for this agent."""
    return names_host(settings.pinned_cards, agent.address, agent.port)


def base_of(url: str) -> str:
    """The address of which ``url`` is the card: a fetch URL without its well-known path, and with what names the agent
    there."""
    address, mark, named = url.partition("?")
    for path in WELL_KNOWN:
        if address.endswith(path):
            return address.removesuffix(path) + mark + named
    return url


def is_above(base: str, endpoint: str) -> bool:
    """Whether a card at ``base`` may be that of an interface at ``endpoint``, by their addresses."""
    return f"{endpoint}/".startswith(base.partition("?")[0] + "/")


def is_failure(ledger: Ledger, failed: CardFetchFailed) -> bool:
    """Whether a fetch that brought no document means that the card could not be had (G8).

    Not the loser of a race, which began before another attempt had the card; not the well-known path that this agent
    does not have, beside the one that it has; not a refusal to show the card without the credential with which it was
    had; not a redirect, which counts by its end, wherever that is.
    """
    request, status = failed.request, failed.status
    if request.extended or status == NOT_ALLOWED or (status is not None and 300 <= status < 400):
        return False
    discovery = ledger.discoveries.get(base_of(request.url))
    if discovery is None or not discovery.success_seq:
        return True
    if 0 < request.seq < discovery.success_seq:
        return False
    if status is None or status >= 500:
        return True
    credentials = {document.key[2] for document in ledger.documents_at(request.url)}
    return bool(credentials) and (status not in NOT_FOR_YOU or request.credential in credentials)


def newest_discovery(ledger: Ledger, agent: Agent | None, endpoint: str, tenant: str) -> Discovery | None:
    """The discovery of the agent at ``endpoint`` that was decided last.

    Those of its known documents, but for those of other tenants; where it has none, those that never succeeded at an
    address above the endpoint.
    """
    found: list[Discovery] = []
    if agent is not None:
        for (url, extended, _), document in agent.documents.items():
            card = document.current.card
            discovery = None if extended else ledger.discoveries.get(base_of(url))
            if discovery is not None and (card.lists(endpoint, tenant) or not card.lists(endpoint)):
                found.append(discovery)
    if not found:
        found = [
            discovery
            for base, discovery in ledger.discoveries.items()
            if not discovery.success_seq and is_above(base, endpoint)
        ]
    return max(found, key=lambda discovery: max(discovery.success_seq, discovery.failure_seq), default=None)


def is_linked(
    span: SpanRef | None, is_traced: bool, at: float, effect: CallStarted | LocalDecision, now: float
) -> bool:
    """Whether something that happened at ``at`` caused ``effect``: the same trace, or, where there is none, within 2
    s."""
    if is_traced and effect.is_traced:
        return span is not None and effect.span is not None and span.trace_id == effect.span.trace_id
    return not is_traced and not effect.is_traced and now - at <= CAUSE_WINDOW
