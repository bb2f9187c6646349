# SPDX-License-Identifier: Apache-2.0
"""A whole answer, whatever it is the answer to: a card, a document, or a stream that was read to its end already."""

from __future__ import annotations

from otel_a2a.observations import CallAnswered, CallStarted, CardRequested, Observation
from otel_a2a.wire import bodies, cards, responses
from otel_a2a.wire.reading import Headers


def read_whole(
    request: CallStarted | CardRequested,
    status: int,
    header: Headers,
    content: bytes,
    limit: int,
    *,
    from_cache: bool = False,
) -> tuple[list[Observation], bool]:
    """What an answer says, and whether all of it could be read.

    Args:
        request: what it answers.
        status: HTTP status.
        header: looks a header of the answer up by its lower-case name.
        content: the body, decoded.
        limit: bytes; a larger document is taken as answered, and not read.
        from_cache: the library answered out of a cache of its own.
    """
    if isinstance(request, CardRequested):
        return [cards.read_card(request, status, header, content, from_cache=from_cache)], True
    content_type = header("content-type")
    if bodies.is_stream(content_type):
        reader = bodies.BodyReader(content_type, None, limit)
        events = [*reader.feed(content), *reader.finish()]
        return [seen for event in events for seen in responses.read_event(request, event.data, event.type)], True
    if len(content) > limit:
        return [CallAnswered(call=request)] if request.certain else [], False
    return responses.read_answer(request, status, header, content), True
