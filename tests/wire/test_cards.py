# SPDX-License-Identifier: Apache-2.0
"""What cards of all versions say, and how their fetches end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_a2a.observations import CardFacts, CardFetched, CardFetchFailed, Interface
from otel_a2a.wire import cards
from otel_a2a.wire.revision import revision_and_digest
from tests.wire.recorded import SHARED
from tests.wire.support import CARD_URL, card_request, no_headers
from tests.wire.test_revision import CARD_0_3, CARD_1_0


def read(body: Any, status: int = 200, **headers: str) -> CardFetched | CardFetchFailed:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    header = {name.replace("_", "-"): value for name, value in headers.items()}
    return cards.read_card(card_request(), status, header.get, content)


def fetched(body: Any, status: int = 200, **headers: str) -> CardFetched:
    found = read(body, status, **headers)
    assert isinstance(found, CardFetched)
    return found


def facts(card: Any) -> CardFacts:
    found = cards.facts(card, CARD_URL)
    assert found is not None
    return found


def test_a_card_arrives() -> None:
    """With its revision, its digest, and what it says."""
    found = fetched(CARD_1_0)
    assert (found.status, found.confirmed, found.canonical, found.from_cache) == (200, False, True, False)
    assert (found.revision, found.digest) == revision_and_digest(CARD_1_0)[:2]
    assert found.card is not None and found.card.name == "Weaver"
    assert found.request.url == CARD_URL


def test_304_confirms_and_says_nothing_else() -> None:
    """It has no body to hash."""
    found = fetched(b"", 304, age="7", cache_control="max-age=60")
    assert (found.confirmed, found.revision, found.digest, found.card) == (True, "", "", None)
    assert (found.age, found.max_age) == (7.0, 60.0)


@pytest.mark.parametrize("status", [302, 401, 404, 405, 500, 503])
def test_other_statuses_are_failures(status: int) -> None:
    """Whatever their body is."""
    found = read(CARD_1_0, status)
    assert isinstance(found, CardFetchFailed)
    assert (found.reason, found.status) == (str(status), status)


@pytest.mark.parametrize("body", [b"", b"<html>", b"{", b"\xff\xfe\xff", b"nope"])
def test_a_body_that_is_no_json_is_a_failure(body: bytes) -> None:
    """The fetch brought no document."""
    found = read(body)
    assert isinstance(found, CardFetchFailed)
    assert (found.reason, found.status) == ("invalid_agent_card", 200)


@pytest.mark.parametrize(
    "body", [{"hello": 1}, [], None, 7, "card", {"name": "A"}, {"name": 7, "url": "x", "skills": []}]
)
def test_json_that_is_no_card_has_a_revision_and_no_facts(body: Any) -> None:
    """It is a document all the same, and may be compared with its own past."""
    found = fetched(body)
    assert found.card is None and found.revision.startswith("sha256:")


def test_json_that_python_cannot_read_has_a_revision() -> None:
    """Deeper than its stack, or with numbers longer than it likes."""
    for body in (b"[" * 200_000, b'{"a":' + b"9" * 5_000 + b"}"):
        found = fetched(body)
        assert found.card is None and not found.canonical and found.revision == found.digest


def test_1_0_says_all_in_its_new_places() -> None:
    """Interfaces in their order; an absent flag is None."""
    card = facts(CARD_1_0)
    assert (card.name, card.version, card.is_legacy, card.has_capabilities) == ("Weaver", "1.4.0", False, True)
    assert (card.streaming, card.push_notifications, card.extended_card) == (True, False, None)
    assert card.skills == {"weave", "spin"}
    assert card.interfaces == (
        Interface("https://weaver.example/rpc", "JSONRPC", "1.0"),
        Interface("https://weaver.example/rest", "HTTP+JSON", "1.0"),
    )


def test_0_x_says_it_in_its_old_ones() -> None:
    """``url`` and ``additionalInterfaces`` are interfaces, the extended card has a flag of its own."""
    card = facts({**CARD_0_3, "supportsAuthenticatedExtendedCard": True})
    assert (card.is_legacy, card.extended_card, card.push_notifications) == (True, True, None)
    assert card.interfaces == (
        Interface("https://weaver.example/rpc", "JSONRPC", "0.3"),
        Interface("https://weaver.example/rest", "HTTP+JSON", "0.3"),
    )
    oldest = facts(
        {"name": "A", "url": "https://a.example/", "version": "1", "capabilities": {"stateTransitionHistory": True}}
    )
    assert oldest.interfaces == (Interface("https://a.example", "JSONRPC"),)
    assert oldest.state_transition_history is True


def test_a_hybrid_card_is_a_1_0_card() -> None:
    """Its 0.x fields are mirrors."""
    card = facts({**CARD_1_0, **CARD_0_3, "supportsAuthenticatedExtendedCard": True})
    assert not card.is_legacy and card.extended_card is None
    assert len(card.interfaces) == 2 and card.interfaces[0].version == "1.0"


def test_real_cards_miss_required_members() -> None:
    """A name and interfaces are enough; capabilities may be a list, skills may be names."""
    card = facts(
        {"name": "A", "supportedInterfaces": [{"url": "/a2a", "tenant": "acme"}, {"protocolBinding": "GRPC"}, 7]}
    )
    assert card.interfaces == (Interface("https://agent.example/a2a", "", "", "acme"),)
    assert not card.has_capabilities and card.skills == frozenset()
    card = facts(
        {"name": "A", "url": "https://a.example", "capabilities": ["x"], "skills": ["x", {"id": 7}, {"id": "s"}]}
    )
    assert not card.has_capabilities and card.streaming is None and card.skills == {"s"}


def test_interfaces_of_grpc_are_what_channels_are_made_for() -> None:
    """However a card spells one, of whichever version: host and port, so that a call at it is known."""
    listed = [{"url": "grpc://Agent.example:50051", "protocolBinding": "GRPC", "protocolVersion": "1.0"}]
    listed.append({"url": "https://agent.example", "protocolBinding": "GRPC", "protocolVersion": "1.0"})
    card = facts({"name": "A", "supportedInterfaces": listed})
    assert [interface.url for interface in card.interfaces] == ["agent.example:50051", "agent.example:443"]
    card = facts({"name": "A", "url": "agent.example:50051", "preferredTransport": "GRPC", "skills": []})
    assert card.interfaces == (Interface("agent.example:50051", "GRPC"),)


def test_flags_are_booleans_or_unsaid() -> None:
    """A text is no promise."""
    card = facts({**CARD_0_3, "capabilities": {"streaming": "yes", "push_notifications": True}})
    assert (card.streaming, card.push_notifications) == (None, True)


def test_the_same_bytes_are_read_once() -> None:
    """Facts are shared; relative interfaces are resolved against each document's own URL."""
    assert fetched(CARD_1_0).card is fetched(CARD_1_0).card
    body = json.dumps({"name": "A", "supportedInterfaces": [{"url": "/a2a"}]}).encode()
    other = cards.read_card(card_request(), 200, no_headers, body)
    request = card_request()
    request.url = "https://other.example/card"
    moved = cards.read_card(request, 200, no_headers, body)
    assert isinstance(other, CardFetched) and isinstance(moved, CardFetched)
    assert other.card is not None and other.card.interfaces[0].url == "https://agent.example/a2a"
    assert moved.card is not None and moved.card.interfaces[0].url == "https://other.example/a2a"


def test_what_is_remembered_is_bounded() -> None:
    """An agent that answers with a counter in its card does not fill the memory."""
    for count in range(cards._MOST_REMEMBERED + 5):
        fetched({"count": count})
    assert len(cards._memory) <= cards._MOST_REMEMBERED


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("", None),
        ("max-age=60", 60.0),
        ("public, MAX-AGE=60, must-revalidate", 60.0),
        ('max-age="60"', 60.0),
        ("max-age = 60", 60.0),
        ("s-maxage=60", None),
        ("no-cache", 0.0),
        ("max-age=60, no-store", 0.0),
        ('no-cache="Set-Cookie", max-age=60', 60.0),
        ("max-age=-1", None),
        ("max-age=soon", None),
        ("max-age=1.5", None),
        ("max-age=" + "9" * 400, None),
        ("max-age=60, max-age=90", 60.0),
        ("x-max-age=60", None),
    ],
)
def test_cache_control_is_read_as_a_private_cache_does(value: str | None, expected: float | None) -> None:
    """Bad values say nothing."""
    assert cards.max_age(value) == expected


@pytest.mark.parametrize(("age", "expected"), [("5", 5.0), (" 5 ", 5.0), ("-5", 0.0), ("x", 0.0), ("", 0.0)])
def test_a_bad_age_is_no_age(age: str, expected: float) -> None:
    """As if there were no header."""
    assert fetched(CARD_1_0, age=age).age == expected


def test_a_cache_hit_is_marked() -> None:
    """It is no fetch, and the engine must know."""
    body = json.dumps(CARD_1_0).encode()
    found = cards.read_card(card_request(), 200, no_headers, body, from_cache=True)
    assert isinstance(found, CardFetched) and found.from_cache


@pytest.mark.skipif(not (SHARED / "cards").is_dir(), reason="the collection of real cards is not here")
def test_real_documents_are_cards_or_not() -> None:
    """Cards of the field and of the specification, and documents at a card's path that are none."""
    no_cards = {
        "docs-msgraph-agentcardmanifest",
        "real-a2a-orchestrator-frontend",
        "real-agentpulse-data",
        "real-aigen-mcp-document",
        "real-protogen",
        "real-telex-dictionary",
    }
    for path in sorted((SHARED / "cards").glob("*.json")):
        if path.stem != "pairs":
            found = fetched(path.read_bytes())
            assert found.canonical
            assert (found.card is None) == (path.stem in no_cards), path.stem
            assert found.card is None or found.card.interfaces, path.stem
