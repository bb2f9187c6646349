# SPDX-License-Identifier: Apache-2.0
"""What a gateway that rewrites ids says of what belongs together: a header, or a member of ``metadata`` (seed 001)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from otel_a2a.exchange import GRPC, Exchange, MessageExchange
from otel_a2a.observations import CallStarted
from otel_a2a.wire import protobuf
from otel_a2a.wire.reading import UNREADABLE, load, mapping

LONGEST: Final = 256
"""Characters of a value that are kept."""


def mark_request(call: CallStarted, exchange: Exchange, key: str, max_body: int) -> None:
    """Note ``key``, and its value in the request: the header's, else the one in the message's or the call's metadata.

    ``max_body``: bytes; a larger body is not looked at.
    """
    call.correlation_key = key
    call.correlation = of_header(exchange.header, key)
    document = UNREADABLE if call.correlation else _document(exchange, key, max_body)
    if document is UNREADABLE:
        return
    parameters = mapping(document, "params") or document
    call.correlation = of_metadata(mapping(parameters, "message"), key) or of_metadata(parameters, key)


def _document(exchange: Exchange, key: str, max_body: int) -> Any:
    """The request's document, where it may have ``key``; else ``UNREADABLE``."""
    if exchange.method == GRPC:
        return protobuf.document(cast(MessageExchange, exchange).message(), max_body)
    body = exchange.body()
    return UNREADABLE if body is None or len(body) > max_body or key.encode() not in body else load(body)


def mark_answer(call: CallStarted, header: Any) -> None:
    """Note what the answer's headers say. ``header`` gives the value of a header by its lower-case name, or None."""
    if call.correlation_key:
        call.answered_correlation = of_header(header, call.correlation_key)


def of_answer(value: Mapping[str, Any], call: CallStarted | None) -> str:
    """What an answer, or an event of one, says of a task: in its own metadata, else in the answer's headers."""
    if call is None or not call.correlation_key:
        return ""
    return of_metadata(value, call.correlation_key) or call.answered_correlation


def of_header(header: Any, key: str) -> str:
    """The value of the header called ``key``; empty where there is none."""
    return (header(key.lower()) or "")[:LONGEST]


def of_metadata(value: Any, key: str) -> str:
    """The member ``key`` of an object's metadata, spelt exactly so; empty where it is absent or no text."""
    found = mapping(value, "metadata").get(key)
    return found[:LONGEST] if isinstance(found, str) else ""
