# SPDX-License-Identifier: Apache-2.0
"""Is this request A2A, and what does it ask for?"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, cast

from otel_a2a.exchange import GRPC, Exchange, MessageExchange
from otel_a2a.observations import CallStarted, CardRequested
from otel_a2a.wire import correlation, credentials, grpc, jsonrpc, partial, rest, urls
from otel_a2a.wire.methods import says_a2a
from otel_a2a.wire.reading import load

_WELL_KNOWN: Final = ("/.well-known/agent-card.json", "/.well-known/agent.json")
_EXTENDED: Final = ("/extendedAgentCard", "/agent/authenticatedExtendedCard")
_EXTENDED_0_3: Final = "/v1/card"
_CARDS: Final = (*_WELL_KNOWN, *_EXTENDED, _EXTENDED_0_3)


def may_be_a2a(method: str, path: str, content_type: str | None, card_paths: Collection[str] = ()) -> bool:
    """The filter in front of ``read_request``, on the way of every request of the host application.

    Args:
        method: HTTP method in upper case, or ``GRPC``.
        path: path of the URL, without query.
        content_type: the request's own, or None.
        card_paths: paths of card documents besides the well-known ones.
    """
    if method == "GET":
        return path.endswith(_CARDS) or "/tasks" in path or path in card_paths
    if method == "POST":
        return content_type is None or "json" in content_type or rest.may_match(path)
    if method == GRPC:
        return grpc.is_a2a(path)
    return method == "DELETE" and "/tasks" in path


def read_request(
    exchange: Exchange,
    *,
    knows: Callable[[str], bool],
    card_urls: Collection[str] = (),
    max_body: int = 1_048_576,
    correlation_key: str = "",
    resolves_card: bool = False,
) -> CallStarted | CardRequested | None:
    """What a request asks of an agent; None where it is no A2A request. Never raises.

    Args:
        exchange: the request. Its body is only asked for where method and path allow it to be A2A.
        knows: whether an endpoint, in the form of ``urls.endpoint``, is known as an agent's interface.
        card_urls: URLs in the form of ``urls.fetch_url`` that serve a card besides the well-known ones.
        max_body: bytes; of a larger body only the ends are looked at, and the call is marked as not judged.
        correlation_key: header or metadata member by which a gateway says what belongs together; empty: none does.
        resolves_card: a card's resolver makes the request, so a GET is a card's fetch whatever its URL.
    """
    try:
        found = _read(exchange, knows, card_urls, max_body, resolves_card)
        if correlation_key and isinstance(found, CallStarted):
            correlation.mark_request(found, exchange, correlation_key, max_body)
        return found
    except Exception:
        # An exchange of a foreign library, and bytes of anybody: no fault of reading may become the application's.
        return None


def _read(
    exchange: Exchange, knows: Callable[[str], bool], card_urls: Collection[str], max_body: int, resolves_card: bool
) -> CallStarted | CardRequested | None:
    if exchange.method == "GET":
        return _card_request(exchange, knows, card_urls, resolves_card) or _without_body(exchange, knows)
    if exchange.method == "POST":
        return _post(exchange, knows, max_body)
    if exchange.method == "DELETE":
        return _without_body(exchange, knows)
    if exchange.method == GRPC:
        return grpc.read(cast(MessageExchange, exchange), max_body)
    return None


def _card_request(
    exchange: Exchange, knows: Callable[[str], bool], card_urls: Collection[str], resolves_card: bool
) -> CardRequested | None:
    path = exchange.path
    is_public = path.endswith(_WELL_KNOWN)
    extended = path.endswith(_EXTENDED)
    in_0_3 = path.endswith(_EXTENDED_0_3)
    if not (is_public or extended or in_0_3 or card_urls or resolves_card):
        return None
    url = urls.fetch_url(exchange.url())
    plain = urls.without_query(url)
    if in_0_3:
        # Many a bank has ``/v1/card`` too: an agent's is one whose interface is known, or a header tells.
        base = plain.removesuffix(_EXTENDED_0_3)
        extended = says_a2a(exchange.header) or knows(base) or knows(f"{base}/v1")
    if not (is_public or extended or url in card_urls or plain in card_urls or resolves_card):
        return None
    address, port = urls.server(plain)
    return CardRequested(
        url=url,
        server_address=address,
        server_port=port,
        extended=extended,
        endpoint=_interface_of(plain, knows) if extended else "",
        credential=credentials.of_request(exchange.header),
    )


def _interface_of(url: str, knows: Callable[[str], bool]) -> str:
    """The interface whose extended card is at ``url``: in 0.3 it may end with ``/v1``, in 1.0 a tenant may follow."""
    base = next((url.removesuffix(path) for path in (_EXTENDED_0_3, *_EXTENDED) if url.endswith(path)), url)
    return next((each for each in (base, f"{base}/v1", base.rpartition("/")[0]) if knows(each)), base)


def _without_body(exchange: Exchange, knows: Callable[[str], bool]) -> CallStarted | None:
    found = rest.route(exchange.method, exchange.path)
    return rest.read(exchange, found, knows, {}) if found else None


def _post(exchange: Exchange, knows: Callable[[str], bool], max_body: int) -> CallStarted | None:
    found = rest.route("POST", exchange.path)
    body = exchange.body()
    if body is None:
        return rest.read(exchange, found, knows, None) if found else None
    oversized = len(body) > max_body
    if found:
        document = partial.head(body) if oversized else load(body) if body else {}
        call = rest.read(exchange, found, knows, document if isinstance(document, dict) else None)
        return _unjudged(call) if oversized else call
    if oversized:
        beginning = jsonrpc.read_oversized(exchange, body, knows)
        return _unjudged(beginning) if beginning else None
    return jsonrpc.read(exchange, body, knows)


def _unjudged(call: CallStarted) -> CallStarted:
    """A call of which only the beginning was read: its parts may go on."""
    call.judged = False
    if call.message is not None:
        call.message.parts = ""
    return call
