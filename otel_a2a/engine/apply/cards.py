# SPDX-License-Identifier: Apache-2.0
"""Card documents: fetched, confirmed, not to be had."""

from __future__ import annotations

from otel_a2a.engine.apply.effects import NOTHING, CardChange, Effect
from otel_a2a.engine.card_records import HISTORY, CardDocument, CardVersion
from otel_a2a.engine.cards import NOT_THERE, OLD_PATH, base_of, is_another_agent, is_failure
from otel_a2a.engine.ledger import Ledger
from otel_a2a.engine.records import Agent
from otel_a2a.observations import CardFetched, CardFetchFailed, CardRequested


def card_fetched(ledger: Ledger, fetched: CardFetched, now_ns: int) -> Effect:
    """A card document arrived or was confirmed. Nothing where it is no card. ``now_ns``: since the epoch."""
    request = fetched.request
    held = ledger.document(request)
    if fetched.confirmed:
        if fetched.from_cache:
            return NOTHING
        held = held or _of_another_credential(ledger, request)
        if held is None:
            _forget_failure(ledger, fetched)
            return NOTHING
        _note_success(ledger, fetched)
        _mark_fetched(held[0], held[1], fetched)
        held[1].current.asked_seq = max(held[1].current.asked_seq, request.seq)
        return Effect(card=CardChange(held[0], held[1], held[1].current.revision, changed=False))
    card = fetched.card
    if card is None:
        return NOTHING
    if fetched.from_cache and held is not None:
        # What a cache has kept says nothing new: the agent was not asked.
        return Effect(card=CardChange(held[0], held[1], held[1].current.revision, changed=False))
    _note_success(ledger, fetched)
    if held is not None and is_another_agent(held[1].current.card, card):
        ledger.forget_agent(held[0])
        held = None
    agent = ledger.agent_of_card(request, card)
    document = held[1] if held is not None else CardDocument((request.url, request.extended, request.credential))
    previous = document.current.revision if document.history else ""
    is_overtaken = bool(previous) and request.seq < document.current.asked_seq
    if previous != fetched.revision:
        version = CardVersion(fetched.revision, card, request.seq, fetched.seq, fetched.at, now_ns, request.span)
        # Of two fetches at once, the one that left last says what the card is (G2).
        document.history.insert(len(document.history) - is_overtaken, version)
        if len(document.history) > HISTORY:
            del document.history[0]
            document.forgotten = True
    elif not is_overtaken:
        document.current.card = card
        document.current.asked_seq = request.seq
    _mark_fetched(agent, document, fetched)
    ledger.attach(agent, document)
    changed = bool(previous) and previous != fetched.revision and not is_overtaken
    return Effect(card=CardChange(agent, document, previous, changed))


def _mark_fetched(agent: Agent, document: CardDocument, fetched: CardFetched) -> None:
    document.fetched_at = fetched.at
    document.fetched_seq = fetched.seq
    document.age = fetched.age
    if fetched.max_age is not None or not fetched.confirmed:
        # A confirmation that says nothing of it leaves the answer that it confirms as it was.
        document.max_age = fetched.max_age
    document.rejected = False
    document.span = fetched.request.span
    document.is_traced = fetched.request.is_traced
    document.fetches_per_read = document.fetches_per_read + 1 if agent.reads == document.reads_seen + 1 else 0
    document.reads_seen = agent.reads


def _note_success(ledger: Ledger, fetched: CardFetched) -> None:
    if not fetched.request.extended and not fetched.from_cache:
        discovery = ledger.discovery(base_of(fetched.request.url))
        discovery.success_seq = fetched.seq
        discovery.success_at = fetched.at


def _of_another_credential(ledger: Ledger, request: CardRequested) -> tuple[Agent, CardDocument] | None:
    """The newest document of this kind at its URL, whatever it was fetched with: a client that renews its token goes on
    with the copy that it has (rules.md, G6)."""
    others = [document for document in ledger.documents_at(request.url) if document.key[1] == request.extended]
    if not others:
        return None
    newest = max(others, key=lambda document: document.fetched_seq)
    return ledger.document(CardRequested(url=request.url, extended=request.extended, credential=newest.key[2]))


def _forget_failure(ledger: Ledger, fetched: CardFetched) -> None:
    """A copy was confirmed that was never seen here (a client may keep it on disk): what it says is not known, but the
    card can be had."""
    discovery = ledger.discoveries.get(base_of(fetched.request.url))
    if discovery is not None and not fetched.request.extended:
        discovery.failure_seq = 0


def card_fetch_failed(ledger: Ledger, failed: CardFetchFailed) -> Effect:
    """A card's fetch ended without a document."""
    if not is_failure(ledger, failed):
        return NOTHING
    request = failed.request
    discovery = ledger.discovery(base_of(request.url))
    discovery.is_astray = (
        failed.status in NOT_THERE
        and request.url.partition("?")[0].endswith(OLD_PATH)
        and not discovery.success_seq
        and (discovery.is_astray or not discovery.failure_seq)
    )
    discovery.failure_seq = failed.seq
    discovery.failure_at = failed.at
    discovery.reason = failed.reason
    discovery.span = request.span
    discovery.is_traced = request.is_traced
    return NOTHING
