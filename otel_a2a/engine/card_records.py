# SPDX-License-Identifier: Apache-2.0
"""What is known of cards: what each document has said, and whether it can be had.

``seq`` and ``at`` fields are those of ``engine.records``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from otel_a2a.observations import CardFacts, SpanRef

HISTORY = 16
"""Revisions remembered per card document; older ones give no verdict."""

DocumentKey = tuple[str, bool, str]
"""Fetch URL, extended, keyed digest of the credential (rules.md, G6)."""


@dataclass(slots=True)
class CardVersion:
    """One entry in the history of a card document: since when it says what it says."""

    revision: str
    card: CardFacts
    asked_seq: int
    """When the newest request left that was answered with it."""
    seq: int
    at: float = 0.0
    ns: int = 0
    span: SpanRef | None = None
    """The span of the fetch that brought it."""


@dataclass(slots=True, eq=False)
class CardDocument:
    """A card document, compared only with its own history."""

    key: DocumentKey
    history: list[CardVersion] = field(default_factory=list)
    forgotten: bool = False
    """The history's beginning has been dropped."""
    fetched_at: float = 0.0
    """When it was last fetched or confirmed."""
    fetched_seq: int = 0
    age: float = 0.0
    """How old it was already when it was fetched, in seconds."""
    max_age: float | None = None
    rejected: bool = False
    """The application refused it, and has not fetched it since."""
    span: SpanRef | None = None
    is_traced: bool = False
    reads_seen: int = 0
    """Reads of tasks counted by its agent when it was last fetched."""
    fetches_per_read: int = 0
    """Fetches in a row with exactly one read of a task between them."""

    @property
    def current(self) -> CardVersion:
        return self.history[-1]


@dataclass(slots=True, eq=False)
class Discovery:
    """The public card at one address, whatever well-known path it is asked under (rules.md, G8)."""

    base: str
    success_seq: int = 0
    success_at: float = 0.0
    failure_seq: int = 0
    failure_at: float = 0.0
    reason: str = ""
    is_astray: bool = False
    """Only the old well-known path was ever asked, and never had a card: what is not there is news to nobody."""
    span: SpanRef | None = None
    is_traced: bool = False

    @property
    def has_failed(self) -> bool:
        """Whether the newest discovery failed."""
        return self.failure_seq > self.success_seq
