# SPDX-License-Identifier: Apache-2.0
"""What applying an observation did: to be read at once, for telemetry and for the clock of deadlines."""

from __future__ import annotations

from dataclasses import dataclass

from otel_a2a.engine.card_records import CardDocument
from otel_a2a.engine.records import Agent, Task
from otel_a2a.observations import SpanRef


@dataclass(slots=True, frozen=True)
class Transition:
    """A task left a state for another. ``previous`` is empty at first sight."""

    task_id: str
    context_id: str
    previous: str
    state: str
    previous_since_ns: int
    at_ns: int
    created_ns: int
    created_at: float
    origin: SpanRef | None
    channel: str
    server_address: str
    task_card_revision: str


@dataclass(slots=True, frozen=True)
class CardChange:
    """What a card's fetch meant."""

    agent: Agent
    document: CardDocument
    previous_revision: str
    changed: bool


@dataclass(slots=True)
class Effect:
    """The records concerned, and what happened to them."""

    task: Task | None = None
    transition: Transition | None = None
    card: CardChange | None = None


NOTHING = Effect()
