# SPDX-License-Identifier: Apache-2.0
"""a2a-sdk 0.3: the card that its clients are bound to, the present one and the legacy one."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from a2a.client import A2ACardResolver, A2AClient, ClientConfig, ClientFactory
from a2a.client.helpers import create_text_message_object
from a2a.types import MessageSendParams, SendMessageRequest, TaskQueryParams

from otel_a2a import card_revision, semconv
from tests.hooks.libraries.old_agent import OldAgent, card, served, task
from tests.support.telemetry import Telemetry


def answer(method: str, params: dict[str, Any]) -> Any:
    """A task that is done at once."""
    return [task("completed")] if method == "message/stream" else task("completed")


def revisions(telemetry: Telemetry) -> list[tuple[str, Any]]:
    """Name and card revision of each span of a call."""
    spans = [span for span in telemetry.ours() if semconv.A2A_METHOD_NAME in span.attributes]
    calls = [span for span in spans if span.name != "GetAgentCard"]
    return [(span.name, span.attributes[semconv.CARD_REVISION_ID]) for span in calls]


@pytest.mark.parametrize("kind", ["factory", "legacy"])
async def test_a_call_names_the_card_that_its_client_holds(kind: str, telemetry: Telemetry) -> None:
    """The agent drops streaming and somebody else fetches that card: the client's calls still name the first one."""
    agent = OldAgent(answer)
    with served(agent, telemetry, strictness="raise") as base:
        async with httpx.AsyncClient(timeout=20) as http:
            held = await A2ACardResolver(http, base).get_agent_card()
            first = card_revision(card(f"{base}/"))
            agent.streaming = False
            await A2ACardResolver(http, base).get_agent_card()
            message = create_text_message_object(content="x")
            if kind == "factory":
                client = ClientFactory(ClientConfig(httpx_client=http)).create(held)
                assert [event async for event in client.send_message(message)]
                await client.get_task(TaskQueryParams(id="t-1"))
                expected = [("SendStreamingMessage", first), ("GetTask", first)]
            else:
                with pytest.warns(DeprecationWarning):
                    legacy = A2AClient(http, agent_card=held)
                await legacy.send_message(SendMessageRequest(id="1", params=MessageSendParams(message=message)))
                expected = [("SendMessage", first)]
    assert revisions(telemetry) == expected
    assert telemetry.findings() == []
