# SPDX-License-Identifier: Apache-2.0
"""Agent Cards of all versions: what they say, what revision they are, how long they may be kept."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from otel_a2a.observations import CardFacts, CardFetched, CardFetchFailed, CardRequested, Interface
from otel_a2a.wire import revision, skills, urls
from otel_a2a.wire.methods import GRPC
from otel_a2a.wire.reading import Headers, field, flag, text

INVALID: Final = "invalid_agent_card"
_MOST_REMEMBERED: Final = 512


class Reading(NamedTuple):
    """All that a card's bytes say, worked out once."""

    revision: str
    digest: str
    canonical: bool
    card: CardFacts | None


def read_card(
    request: CardRequested, status: int, headers: Headers, body: bytes, *, from_cache: bool = False
) -> CardFetched | CardFetchFailed:
    """The outcome of a card's fetch. Never raises.

    304 confirms what was there before. Any JSON of a success has a revision, also where it is no card. A success whose
    body is no JSON is a failure (rules.md, G8), as is any other status.

    Args:
        request: the fetch.
        status: HTTP status.
        headers: the answer's headers, for ``Age`` and ``Cache-Control``.
        body: decoded body.
        from_cache: the application's HTTP client answered out of its own cache.
    """
    if status == 304:
        return _fetched(request, status, headers, None, from_cache)
    if not 200 <= status < 300:
        return CardFetchFailed(request=request, reason=str(status), status=status)
    try:
        reading = _remembered(body, request.url)
    except Exception:
        # A document that defeats us is a document without facts, never a fault of the application's.
        whole = f"sha256:{hashlib.sha256(body).hexdigest()}"
        reading = Reading(whole, whole, False, None)
    if reading is None:
        return CardFetchFailed(request=request, reason=INVALID, status=status)
    return _fetched(request, status, headers, reading, from_cache)


def of_document(request: CardRequested, status: int, headers: Headers, card: Mapping[str, Any]) -> CardFetched:
    """The same for a card that came inside a JSON-RPC answer."""
    reading = Reading(*revision.revision_and_digest(card), facts(card, request.url))
    return _fetched(request, status, headers, reading, False)


def facts(card: Any, base: str = "") -> CardFacts | None:
    """What a document says as an Agent Card; None where it is none.

    A card has a name and either interfaces (1.0), or a url beside skills or capabilities (0.x). Real cards miss other
    required members. ``base`` is the URL of the document, against which relative interface URLs are resolved.
    """
    if not isinstance(card, Mapping) or not isinstance(card.get("name"), str):
        return None
    supported = field(card, "supportedInterfaces")
    is_legacy = not (isinstance(supported, list) and any(isinstance(entry, dict) for entry in supported))
    capabilities = card.get("capabilities")
    has_capabilities = isinstance(capabilities, dict)
    if is_legacy and not (text(card, "url") and (has_capabilities or isinstance(card.get("skills"), list))):
        return None
    flags: Mapping[str, Any] = capabilities if isinstance(capabilities, dict) else {}
    extended = flag(flags, "extendedAgentCard")
    if is_legacy and extended is None:
        extended = flag(card, "supportsAuthenticatedExtendedCard")
    return CardFacts(
        name=card["name"],
        version=text(card, "version"),
        interfaces=_interfaces(card, base),
        streaming=flag(flags, "streaming"),
        push_notifications=flag(flags, "pushNotifications"),
        extended_card=extended,
        state_transition_history=flag(flags, "stateTransitionHistory"),
        has_capabilities=has_capabilities,
        skills=skills.ids(card),
        is_legacy=is_legacy,
        input_modes=skills.input_modes(card),
        modes=skills.all_modes(card),
        durations=skills.durations(card),
    )


def _interfaces(card: Mapping[str, Any], base: str) -> tuple[Interface, ...]:
    return tuple(
        Interface(
            url=_endpoint(entry, base),
            binding=text(entry, "protocolBinding"),
            version=text(entry, "protocolVersion"),
            tenant=text(entry, "tenant"),
        )
        for entry in revision.interfaces(card)
        if isinstance(entry, dict) and text(entry, "url")
    )


def _endpoint(entry: Mapping[str, Any], base: str) -> str:
    url = text(entry, "url")
    if text(entry, "protocolBinding").upper() == GRPC:
        return urls.grpc_endpoint(url)
    return urls.endpoint(urls.resolved(base, url))


_memory: dict[tuple[bytes, str], Reading | None] = {}


def _remembered(body: bytes, base: str) -> Reading | None:
    """The reading of a body; None where it is no JSON. A card that did not change costs one hash."""
    key = (hashlib.sha256(body).digest(), base)
    if key in _memory:
        return _memory[key]
    reading = _read(body, base)
    if len(_memory) >= _MOST_REMEMBERED:
        _memory.clear()
    _memory[key] = reading
    return reading


def _read(body: bytes, base: str) -> Reading | None:
    try:
        document = json.loads(body)
    except (json.JSONDecodeError, UnicodeDecodeError):
        return None
    except (ValueError, RecursionError):
        # JSON by its grammar, but deeper or with longer numbers than Python reads.
        return Reading(*revision.revision_and_digest(body), None)
    return Reading(*revision.revision_and_digest(document, body), facts(document, base))


# --- freshness --------------------------------------------------------------------------------------------------------

_DIRECTIVE: Final = re.compile(r'([a-z-]+)(?:\s*=\s*("[^"]*"|[^\s,]*))?', re.IGNORECASE)


def _fetched(
    request: CardRequested, status: int, headers: Headers, reading: Reading | None, from_cache: bool
) -> CardFetched:
    fetched = CardFetched(
        request=request,
        status=status,
        confirmed=reading is None,
        age=_seconds(headers("age")) or 0.0,
        max_age=max_age(headers("cache-control")),
        from_cache=from_cache,
    )
    if reading is not None:
        fetched.revision, fetched.digest, fetched.canonical, fetched.card = reading
    return fetched


def max_age(cache_control: str | None) -> float | None:
    """Seconds that ``Cache-Control`` allows a private cache to keep a document; None where it states nothing usable.

    0 for ``no-cache`` and ``no-store``; not for ``no-cache="field"``, which speaks of one header only (RFC 9111).
    """
    stated: float | None = None
    for name, value in _DIRECTIVE.findall(cache_control or ""):
        directive = name.lower()
        if directive in ("no-cache", "no-store") and not value:
            return 0.0
        if directive == "max-age" and stated is None:
            stated = _seconds(value.strip('"'))
    return stated


def _seconds(value: str | None) -> float | None:
    cleaned = (value or "").strip()
    return float(cleaned) if cleaned.isascii() and cleaned.isdigit() and len(cleaned) <= 12 else None
