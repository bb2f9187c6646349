# SPDX-License-Identifier: Apache-2.0
"""Whole traces as a backend gets them, compared with texts that people have read (``snapshots/``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers import new_text_message
from a2a.types import GetTaskRequest, Role, SendMessageRequest

from otel_a2a.cli.demo.scenario import Options, play
from tests.support.agents import CARD_PATH, HEADERS, ScriptedAgent, card, envelope, send, task
from tests.support.names import complaints, of_backend
from tests.support.otlp import Backend, export_to
from tests.support.sdk_agent import SdkAgent
from tests.support.servers import serve
from tests.support.telemetry import Telemetry
from tests.support.traces import text_of

Snapshot = Callable[[str, str], None]


@pytest.mark.parametrize("strictness", ["annotate", "raise"])
def test_the_demo(strictness: str, snapshot: Snapshot) -> None:
    """A redeploy in the middle of a task: watched, and stopped."""
    with Backend() as backend:
        play(Options(strictness=strictness), backend)
    assert complaints(of_backend(backend)) == []
    snapshot(f"demo-{strictness}", text_of(backend))


async def test_a_clean_life(telemetry: Telemetry, snapshot: Snapshot) -> None:
    """A streamed task and a look at it afterwards, with a2a-sdk on both sides: nothing to find."""
    with Backend() as backend, serve(SdkAgent()) as base, telemetry.instrumented():
        export_to(backend, telemetry)
        async with httpx.AsyncClient(timeout=20) as http:
            found = await A2ACardResolver(http, base).get_agent_card()
            client = ClientFactory(ClientConfig(httpx_client=http)).create(found)
            message = new_text_message("chunks", role=Role.ROLE_USER)
            events = [event async for event in client.send_message(SendMessageRequest(message=message))]
            await client.get_task(GetTaskRequest(id=events[0].task.id))
    assert telemetry.findings() == []
    snapshot("clean-life", text_of(backend))


def test_a_card_that_changes(telemetry: Telemetry, snapshot: Snapshot) -> None:
    """Other words, another skill, the first card again: only what a task depends on makes another revision."""

    def answer(method: str, params: dict[str, Any]) -> Any:
        shown = task("t-1", "WORKING")
        return {"task": shown} if method == "SendMessage" else shown

    agent = ScriptedAgent(answer)
    with (
        Backend() as backend,
        serve(agent.app) as base,
        telemetry.instrumented(),
        httpx.Client(headers=HEADERS) as client,
    ):
        export_to(backend, telemetry)
        url = f"{base}/rpc"
        client.get(base + CARD_PATH)
        client.post(url, json=envelope("SendMessage", send("go", "m1")))
        first = card(url)
        for served in (card(url, description="other words"), card(url, skills=("charge", "report")), first):
            agent.card = served
            client.get(base + CARD_PATH)
            client.post(url, json=envelope("GetTask", {"id": "t-1"}))
        client.post(url, json=envelope("SendMessage", send("go on", "m2", task_id="t-1", context_id="ctx-1")))
    snapshot("card-change", text_of(backend))
