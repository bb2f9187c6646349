# SPDX-License-Identifier: Apache-2.0
"""What an OTLP request says about tasks, cards and findings: records in, facts out.

What comes from elsewhere is a guest in the terminal: each text is short, and holds nothing that moves the cursor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from otel_a2a import semconv
from otel_a2a.cli.otlp.records import LogEvent, Span
from otel_a2a.cli.otlp.requests import Export
from otel_a2a.engine.findings import Level
from otel_a2a.vocabulary import Method

CLIENT: Final = 3
"""``SPAN_KIND_CLIENT`` of OTLP."""
LONGEST: Final = 400
LEVELS: Final = frozenset(level.value for level in Level)


@dataclass(slots=True, frozen=True)
class Place:
    """Where an agent is, as ``server.address`` and ``server.port`` say; the port is 0 where nobody tells."""

    address: str
    port: int = 0

    def __str__(self) -> str:
        return f"{self.address}:{self.port}" if self.port else self.address


@dataclass(slots=True, frozen=True)
class CallSeen:
    """A call that has ended. ``state`` is the last that was seen in it. Times in ns since the epoch."""

    start: int
    end: int
    place: Place
    agent: str
    version: str
    task_id: str
    state: str
    previous_state: str
    task_revision: str
    revision: str
    disposition: str


@dataclass(slots=True, frozen=True)
class StateLeft:
    """A task was in ``state`` from ``start`` to ``end``, which is a span."""

    start: int
    end: int
    place: Place
    task_id: str
    state: str
    task_revision: str


@dataclass(slots=True, frozen=True)
class Transition:
    """A task is in ``state`` since ``at``, which is a log event that must be asked for."""

    at: int
    place: Place
    task_id: str
    state: str


@dataclass(slots=True, frozen=True)
class CardSeen:
    """A fetch of the public card has ended; ``error`` says why it failed, and then nothing else is known."""

    at: int
    place: Place
    agent: str
    version: str
    revision: str
    error: str


@dataclass(slots=True, frozen=True)
class Finding:
    """A finding, by its log event or by its span: both have the same time."""

    at: int
    level: str
    rule: str
    action: str
    place: Place
    task_id: str
    message: str


Fact = CallSeen | StateLeft | Transition | CardSeen | Finding


def facts(export: Export) -> Iterator[Fact]:
    """What the request says, in its order; what concerns no agent is passed over."""
    for span in export.spans:
        fact = _of_span(span)
        if fact is not None:
            yield fact
    for event in export.logs:
        if event.name == semconv.EVENT_FINDING:
            yield _finding(event.time, event.attributes)
        elif event.name == semconv.EVENT_TRANSITION:
            yield _transition(event)


def _of_span(span: Span) -> Fact | None:
    attributes = span.attributes
    if span.scope == semconv.SCOPE and span.name.startswith(semconv.SPAN_FINDING_PREFIXES):
        return _finding(span.start, attributes)
    if span.scope == semconv.SCOPE and span.name.startswith(semconv.SPAN_STATE_PREFIX):
        return StateLeft(
            start=span.start,
            end=span.end,
            place=_place(attributes),
            task_id=_text(attributes, semconv.A2A_TASK_ID),
            state=_text(attributes, semconv.A2A_TASK_STATE),
            task_revision=_text(attributes, semconv.TASK_CARD_REVISION_ID),
        )
    method = attributes.get(semconv.A2A_METHOD_NAME)
    if span.kind != CLIENT or not method:
        return None
    return _card(span) if method == Method.GET_CARD else _call(span)


def _call(span: Span) -> CallSeen:
    attributes = span.attributes
    return CallSeen(
        start=span.start,
        end=span.end,
        place=_place(attributes),
        agent=_text(attributes, semconv.GEN_AI_AGENT_NAME),
        version=_text(attributes, semconv.GEN_AI_AGENT_VERSION),
        task_id=_text(attributes, semconv.A2A_TASK_ID),
        state=_text(attributes, semconv.A2A_TASK_STATE),
        previous_state=_text(attributes, semconv.TASK_PREVIOUS_STATE),
        task_revision=_text(attributes, semconv.TASK_CARD_REVISION_ID),
        revision=_text(attributes, semconv.CARD_REVISION_ID),
        disposition=_text(attributes, semconv.TASK_DISPOSITION),
    )


def _card(span: Span) -> CardSeen:
    attributes = span.attributes
    return CardSeen(
        at=span.end,
        place=_place(attributes),
        agent=_text(attributes, semconv.GEN_AI_AGENT_NAME),
        version=_text(attributes, semconv.GEN_AI_AGENT_VERSION),
        revision=_text(attributes, semconv.CARD_REVISION_ID),
        error=_text(attributes, semconv.ERROR_TYPE) or ("error" if span.is_error else ""),
    )


def _transition(event: LogEvent) -> Transition:
    return Transition(
        at=event.time,
        place=_place(event.attributes),
        task_id=_text(event.attributes, semconv.A2A_TASK_ID),
        state=_text(event.attributes, semconv.A2A_TASK_STATE),
    )


def _finding(at: int, attributes: dict[str, Any]) -> Finding:
    level = _text(attributes, semconv.FINDING_LEVEL)
    return Finding(
        at=at,
        level=level if level in LEVELS else Level.INFORMATION.value,
        rule=_text(attributes, semconv.SECURITY_RULE_NAME),
        action=_text(attributes, semconv.FINDING_ACTION),
        place=_place(attributes),
        task_id=_text(attributes, semconv.A2A_TASK_ID),
        message=_text(attributes, semconv.FINDING_MESSAGE),
    )


def _place(attributes: dict[str, Any]) -> Place:
    port = attributes.get(semconv.SERVER_PORT)
    return Place(_text(attributes, semconv.SERVER_ADDRESS) or "?", port if isinstance(port, int) else 0)


def _text(attributes: dict[str, Any], name: str) -> str:
    value = attributes.get(name)
    if not isinstance(value, str):
        return ""
    cut = value if len(value) <= LONGEST else value[: LONGEST - 1] + "…"
    return (
        cut
        if cut.isprintable()
        else "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in cut)
    )
