# SPDX-License-Identifier: Apache-2.0
"""Which card a call relies on: what an SDK knows and no wire shows.

A hook says when a card's resolver is at work, so that its fetch is known whatever its URL, and which of the cards that
were fetched so a client is bound to. The seam, ``operation``, reads both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from otel_a2a.observations import BoundCard, CardFetched


@dataclass(slots=True, eq=False)
class Resolution:
    """A card's resolver at work, and the document that it was given last."""

    fetched: CardFetched | None = None

    def card(self) -> BoundCard | None:
        """The document as a client may be bound to it; None where the wire has not shown its content."""
        fetched = self.fetched
        if fetched is None or not fetched.revision or fetched.card is None:
            return None
        return BoundCard(url=fetched.request.url, revision=fetched.revision, at=fetched.at)


_resolution: ContextVar[Resolution | None] = ContextVar("otel_a2a_resolution", default=None)
_bound: ContextVar[BoundCard | None] = ContextVar("otel_a2a_bound_card", default=None)


@contextmanager
def resolving() -> Iterator[Resolution]:
    """Within it, every GET of this execution context fetches a card. Not to be held across a yield."""
    resolution = Resolution()
    token = _resolution.set(resolution)
    try:
        yield resolution
    finally:
        _resolution.reset(token)


def current_resolution() -> Resolution | None:
    """The resolver that is at work in this execution context; None where none is."""
    return _resolution.get()


@contextmanager
def bound_to(card: BoundCard | None) -> Iterator[None]:
    """Within it, the calls of this execution context rely on ``card``. Not to be held across a yield."""
    token = _bound.set(card)
    try:
        yield
    finally:
        _bound.reset(token)


def current_card() -> BoundCard | None:
    """The card that calls of this execution context rely on; None where no SDK says."""
    return _bound.get()
