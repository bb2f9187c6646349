# SPDX-License-Identifier: Apache-2.0
"""What only aiohttp has beside others: trace configs that a program gives to a session, and httpx on top of it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import aiohttp
import httpx
import pytest
from httpx_aiohttp import HttpxAiohttpClient
from opentelemetry.instrumentation.aiohttp_client import create_trace_config

from tests.neighbours.agents import EVENTS, working
from tests.neighbours.beside import contrib, inner_span, sender
from tests.neighbours.libraries import AIOHTTP
from tests.support.agents import CARD_PATH, HEADERS, Recording, envelope, send
from tests.support.servers import serve
from tests.support.telemetry import Telemetry


async def test_a_trace_config_of_the_application(telemetry: Telemetry) -> None:
    """One that a program gives to its session by itself lies within our span too."""
    agent = Recording(working().app)
    config: Any = create_trace_config(tracer_provider=telemetry.tracer_provider)
    with serve(agent) as base, telemetry.instrumented(state_spans=False):
        body = envelope("SendMessage", send("x", "m1"))
        async with aiohttp.ClientSession(trace_configs=[config]) as session:
            await (await session.post(f"{base}/rpc", json=body, headers=HEADERS)).json()
    ((parent,),) = agent.parents
    assert sender(parent) == inner_span(telemetry).context.span_id


@pytest.mark.parametrize("theirs", [False, True])
async def test_httpx_over_aiohttp_is_one_call(theirs: bool, telemetry: Telemetry) -> None:
    """A card, a call and a stream over two libraries that we see through are one span each, with one header."""
    agent = Recording(working().app)
    with serve(agent) as base, ExitStack() as stack:
        stack.enter_context(telemetry.instrumented(state_spans=False))
        if theirs:
            stack.enter_context(contrib(AIOHTTP, telemetry))
        async with HttpxAiohttpClient() as client:
            assert isinstance(client, httpx.AsyncClient)
            await client.get(base + CARD_PATH)
            await client.post(f"{base}/rpc", json=envelope("SendMessage", send("x", "m1")), headers=HEADERS)
            body = envelope("SendStreamingMessage", send("x", "m2"))
            async with client.stream("POST", f"{base}/rpc", json=body, headers=HEADERS) as response:
                assert len([line async for line in response.aiter_lines() if line]) == EVENTS
    ours = {span.context.span_id: span.name for span in telemetry.ours()}
    inner = {span.context.span_id: span.parent for span in telemetry.spans if span.name in ("GET", "POST")}
    assert sorted(ours.values()) == ["GetAgentCard", "SendMessage", "SendStreamingMessage"]
    assert len(telemetry.spans) == (6 if theirs else 3)
    assert {parent.span_id for parent in inner.values() if parent} == (set(ours) if theirs else set())
    senders = [sender(parent) for (parent,) in agent.parents]
    assert len(senders) == 2 and set(senders) <= set(inner if theirs else ours)
