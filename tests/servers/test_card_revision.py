# SPDX-License-Identifier: Apache-2.0
"""One card is one revision, however an SDK writes it down and wherever it serves it."""

from __future__ import annotations

import httpx
from a2a.client.card_resolver import parse_agent_card
from a2a.server.routes import create_agent_card_routes
from starlette.applications import Starlette

from otel_a2a import card_revision, semconv
from tests.servers.conftest import CARDS, Agent
from tests.support.servers import serve
from tests.support.telemetry import Telemetry

STYLES = ("0.3", "1.0")
"""A server that knows both versions writes its card in the one that it is asked for, others in their own."""


def revisions(telemetry: Telemetry) -> list[str]:
    """The revisions of all fetches, in order."""
    found = [(span.attributes or {}).get(semconv.CARD_REVISION_ID) for span in telemetry.ours()]
    return [str(revision) for revision in found if revision]


def test_the_revision_is_that_of_the_card(agent: Agent) -> None:
    """Fetched twice from each of its paths in each style, the card has one revision."""
    telemetry = Telemetry()
    fetches = [(path, style) for path in agent.cards for style in STYLES] * 2
    with telemetry.instrumented(strictness="raise"):
        cards = [httpx.get(agent.base + path, headers={"A2A-Version": style}) for path, style in fetches]
    assert revisions(telemetry) == [card_revision(cards[0].content)] * len(fetches)
    assert telemetry.findings() == []


def test_the_sdk_for_python_writes_the_same_revision(agent: Agent) -> None:
    """The same card, read and written down anew by the SDK for Python, has the same revision, though other bytes."""
    telemetry = Telemetry()
    with telemetry.instrumented(strictness="raise"):
        theirs = httpx.get(agent.base + CARDS[0])
        with serve(Starlette(routes=create_agent_card_routes(parse_agent_card(theirs.json())))) as ours:
            rewritten = httpx.get(ours + CARDS[0])
    assert theirs.content != rewritten.content
    first, second = revisions(telemetry)
    assert first == second
