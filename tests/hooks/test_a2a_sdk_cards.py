# SPDX-License-Identifier: Apache-2.0
"""The card that a client of a2a-sdk is bound to: what it relies on, long after the agent says something else."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx
import pytest
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.client.errors import AgentCardResolutionError
from a2a.helpers import new_text_message
from a2a.types import AgentCard, GetTaskRequest, Role, SendMessageRequest, StreamResponse
from opentelemetry.sdk.trace import ReadableSpan
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from otel_a2a import binding, card_revision, local, semconv
from otel_a2a.hooks import a2a_sdk_cards
from otel_a2a.testing import expected_findings
from tests.support.agents import ScriptedAgent, card, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry


def answer(method: str, params: dict[str, Any]) -> Any:
    """A task that is done at once."""
    done = task("t-1", "COMPLETED")
    return {"SendStreamingMessage": [{"task": done}], "SendMessage": {"task": done}}.get(method, done)


@contextmanager
def agent(telemetry: Telemetry, **settings: Any) -> Iterator[tuple[ScriptedAgent, str]]:
    scripted = ScriptedAgent(answer)
    with serve(scripted.app) as base, telemetry.instrumented(**settings):
        yield scripted, base


@asynccontextmanager
async def client_of(base: str) -> AsyncIterator[tuple[Client, AgentCard, httpx.AsyncClient]]:
    async with httpx.AsyncClient(timeout=20) as http:
        held = await A2ACardResolver(http, base).get_agent_card()
        yield ClientFactory(ClientConfig(httpx_client=http)).create(held), held, http


async def say(client: Client, text: str = "x") -> list[StreamResponse]:
    request = SendMessageRequest(message=new_text_message(text, role=Role.ROLE_USER))
    return [event async for event in client.send_message(request)]


def revision(span: ReadableSpan) -> object:
    assert span.attributes is not None
    return span.attributes[semconv.CARD_REVISION_ID]


async def test_a_call_names_the_card_that_its_client_holds(telemetry: Telemetry) -> None:
    """The agent's card changes and somebody else fetches it: the first client's calls still name the first revision."""
    with agent(telemetry) as (scripted, base):
        async with client_of(base) as (first, _, _):
            scripted.card = card(f"{base}/rpc", skills=("charge", "refund"))
            async with client_of(base) as (second, _, _):
                await say(first)
                await say(second)
                await first.get_task(GetTaskRequest(id="t-1"))
    old, new = (card_revision(each) for each in (card(f"{base}/rpc"), scripted.card))
    sends = [revision(span) for span in telemetry.ours() if span.name == "SendStreamingMessage"]
    assert sends == [old, new]
    assert revision(telemetry.span("GetTask")) == old
    assert telemetry.findings() == []


async def test_streaming_is_judged_by_the_card_that_the_client_holds(telemetry: Telemetry) -> None:
    """A client that streams because its card offers that does what it should, although the agent has dropped it since:
    mode raise lets it."""
    with agent(telemetry, strictness="raise") as (scripted, base):
        async with client_of(base) as (client, _, http):
            scripted.card = card(f"{base}/rpc", streaming=False)
            await A2ACardResolver(http, base).get_agent_card()
            await say(client)
    assert scripted.methods() == ["SendStreamingMessage"]
    assert telemetry.findings() == []


async def test_streaming_without_an_sdk_is_judged_by_the_newest_card(telemetry: Telemetry) -> None:
    """Where nothing tells which card a program relies on, it is the one that it has fetched last."""
    with agent(telemetry) as (scripted, base), expected_findings("operation-not-advertised"):
        scripted.card = card(f"{base}/rpc", streaming=False)
        async with httpx.AsyncClient(timeout=20) as http:
            await A2ACardResolver(http, base).get_agent_card()
            call = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage"}
            message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}
            await http.post(f"{base}/rpc", json=call | {"params": {"message": message}}, headers={"A2A-Version": "1.0"})


async def test_a_superseded_card_ages_from_its_own_fetch(telemetry: Telemetry) -> None:
    """Another part of the program has the new card; the client that was made with the old one still relies on that."""
    with agent(telemetry, max_card_age=0.2) as (scripted, base):
        async with client_of(base) as (client, _, http):
            scripted.card = card(f"{base}/rpc", skills=("charge", "refund"))
            await asyncio.sleep(0.3)
            await A2ACardResolver(http, base).get_agent_card()
            with expected_findings("created-from-stale-card"):
                await say(client)


async def test_a_card_that_says_the_same_again_is_as_young_as_its_last_fetch(telemetry: Telemetry) -> None:
    """The object is old, what it says was confirmed a moment ago: nothing is stale."""
    with agent(telemetry, max_card_age=5) as (_, base):
        async with client_of(base) as (client, _, http):
            await A2ACardResolver(http, base).get_agent_card()
            await say(client)
    assert telemetry.findings() == []


async def test_a_card_of_the_programs_own_binds_nothing(telemetry: Telemetry) -> None:
    """A card out of a file was on no wire: calls are judged by the newest document, as without the hook."""
    with agent(telemetry) as (scripted, base):
        async with client_of(base) as (_, held, http):
            own = AgentCard()
            own.CopyFrom(held)
            scripted.card = card(f"{base}/rpc", skills=("charge", "refund"))
            await A2ACardResolver(http, base).get_agent_card()
            await say(ClientFactory(ClientConfig(httpx_client=http)).create(own))
    assert revision(telemetry.span("SendStreamingMessage")) == card_revision(scripted.card)


async def test_the_resolvers_fetch_is_known_by_any_url(telemetry: Telemetry) -> None:
    """A path that no specification knows, and no setting names: the resolver asks, so it is a card."""

    async def agents(request: Request) -> Response:
        return JSONResponse(card(str(request.base_url) + "rpc"))

    with serve(Starlette(routes=[Route("/agents/lives", agents)])) as base, telemetry.instrumented():
        async with httpx.AsyncClient(timeout=20) as http:
            await A2ACardResolver(http, base, agent_card_path="/agents/lives").get_agent_card()
            await http.get(f"{base}/agents/lives?again")
            await http.get(f"{base}/agents/other")
    assert [span.name for span in telemetry.ours()] == ["GetAgentCard"]
    assert revision(telemetry.span("GetAgentCard")) == card_revision(card(f"{base}/rpc"))


async def test_a_card_that_the_sdk_refuses_is_rejected(telemetry: Telemetry) -> None:
    """A signature that does not fit: the document was fetched, and new work on it is work on a refused card."""

    def refuse(_: AgentCard) -> None:
        raise ValueError("signature")

    with agent(telemetry) as (_, base):
        async with httpx.AsyncClient(timeout=20) as http:
            resolver = A2ACardResolver(http, base)
            held = await resolver.get_agent_card()
            client = ClientFactory(ClientConfig(httpx_client=http)).create(held)
            with pytest.raises((ValueError, AgentCardResolutionError)):
                await resolver.get_agent_card(signature_verifier=refuse)
            with expected_findings("created-from-stale-card"):
                await say(client)


async def test_streams_remain_what_they_were(telemetry: Telemetry) -> None:
    """``send_message`` gives an async generator: it can be closed, and nothing is bound while its consumer runs."""
    with agent(telemetry) as (_, base):
        async with client_of(base) as (client, _, _):
            request = SendMessageRequest(message=new_text_message("x", role=Role.ROLE_USER))
            events: Any = client.send_message(request)
            assert inspect.isasyncgen(events) and isinstance(events, AsyncIterator)
            await anext(events)
            assert binding.current_card() is None
            await events.aclose()
            with pytest.raises(StopAsyncIteration):
                await anext(events)


async def test_no_more_cards_are_remembered_than_are_needed(
    telemetry: Telemetry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest objects leave; the calls of their clients go by the newest document."""
    monkeypatch.setattr(a2a_sdk_cards, "CARDS", 2)
    with agent(telemetry) as (scripted, base):
        async with client_of(base) as (client, _, http):
            scripted.card = card(f"{base}/rpc", skills=("charge", "refund"))
            for _ in range(3):
                await A2ACardResolver(http, base).get_agent_card()
            await say(client)
    assert revision(telemetry.span("SendStreamingMessage")) == card_revision(scripted.card)


async def test_uninstrumented_the_sdk_is_as_it_was(telemetry: Telemetry) -> None:
    """Every method of the SDK is its own again."""
    from a2a.client.base_client import BaseClient

    before = {name: value for name, value in vars(BaseClient).items() if callable(value)}
    with telemetry.instrumented():
        assert vars(BaseClient)["send_message"] is not before["send_message"]
    assert {name: value for name, value in vars(BaseClient).items() if callable(value)} == before


async def test_hints_and_binding_live_side_by_side(telemetry: Telemetry) -> None:
    """A skill that neither the held card nor a newer one offers is found, as without the hook."""
    with agent(telemetry) as (_, base), expected_findings("skill-not-advertised"):
        async with client_of(base) as (client, _, _):
            with local.hints(skill="juggle"):
                await say(client)
