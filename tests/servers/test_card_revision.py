# SPDX-License-Identifier: Apache-2.0
"""One card is one revision, however an SDK writes it down and wherever it serves it."""

from __future__ import annotations

import httpx
from a2a.client.card_resolver import parse_agent_card
from a2a.server.routes import create_agent_card_routes
from starlette.applications import Starlette

from otel_a2a import semconv
from tests.servers.conftest import Agent
from tests.support.servers import serve
from tests.support.telemetry import Telemetry

PATHS = ("/.well-known/agent-card.json", "/.well-known/agent.json")


STYLES = ("0.3", "1.0")
"""A server that knows both versions writes its card in the one that it is asked for, others in their own."""


def revisions(telemetry: Telemetry) -> list[str]:
    """The revisions of all fetches, in order."""
    found = [(span.attributes or {}).get(semconv.CARD_REVISION_ID) for span in telemetry.ours()]
    return [str(revision) for revision in found if revision]


def test_the_revision_is_that_of_the_card(agent: Agent) -> None:
    """Fetched twice from each of the well-known paths in each style, the card has one revision."""
    telemetry = Telemetry()
    with telemetry.instrumented(strictness="raise"):
        for path, style in [(path, style) for path in PATHS for style in STYLES] * 2:
            assert httpx.get(agent.base + path, headers={"A2A-Version": style}).status_code == 200
    found = revisions(telemetry)
    assert len(found) == 8 and len(set(found)) == 1
    assert telemetry.findings() == []


def test_the_sdk_for_python_writes_the_same_revision(agent: Agent) -> None:
    """The same card, read and written down anew by the SDK for Python, has the same revision, though other bytes."""
    telemetry = Telemetry()
    with telemetry.instrumented(strictness="raise"):
        theirs = httpx.get(agent.base + PATHS[0])
        with serve(Starlette(routes=create_agent_card_routes(parse_agent_card(theirs.json())))) as ours:
            rewritten = httpx.get(ours + PATHS[0])
    assert theirs.content != rewritten.content
    first, second = revisions(telemetry)
    assert first == second
