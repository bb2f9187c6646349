# SPDX-License-Identifier: Apache-2.0
"""The HTTP libraries that OpenTelemetry instruments, too, and the ways in which each is called."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import aiohttp
import httpx
import requests
from opentelemetry.instrumentation.aiohttp_client import AioHttpClientInstrumentor
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.instrumentation.instrumentor import BaseInstrumentor
from opentelemetry.instrumentation.requests import RequestsInstrumentor

from tests.neighbours.agents import EVENTS
from tests.support.agents import HEADERS, envelope, send

TIMEOUT = 10
"""Seconds that requests waits."""
Way = Callable[[str, dict[str, Any]], Awaitable[None]]
"""A call of a URL with a JSON-RPC request."""


@dataclass(frozen=True, slots=True)
class Library:
    """An HTTP library.

    Attributes:
        name: what it is imported by.
        instrumentor: OpenTelemetry's instrumentation of it.
        places: what we and they patch.
        ways: how it is called. Those whose name ends with ``stream`` read a stream.
    """

    name: str
    instrumentor: type[BaseInstrumentor]
    places: tuple[tuple[type, str], ...]
    ways: dict[str, Way]

    async def call(self, base: str, way: str = "post") -> None:
        """One call of the agent at ``base``."""
        method = "SendStreamingMessage" if way.endswith("stream") else "SendMessage"
        await self.post(base, envelope(method, send("x", "m1")), way)

    async def post(self, base: str, body: dict[str, Any], way: str = "post") -> None:
        """Any call of the agent at ``base``."""
        await self.ways[way](f"{base}/rpc", body)

    def patched(self) -> list[Any]:
        """What is in the places now."""
        return [getattr(*place) for place in self.places]


async def httpx_post(url: str, body: dict[str, Any]) -> None:
    with httpx.Client() as client:
        client.post(url, json=body, headers=HEADERS)


async def httpx_stream(url: str, body: dict[str, Any]) -> None:
    with httpx.Client() as client, client.stream("POST", url, json=body, headers=HEADERS) as response:
        assert len([line for line in response.iter_lines() if line]) == EVENTS


async def httpx_awaited_post(url: str, body: dict[str, Any]) -> None:
    async with httpx.AsyncClient() as client:
        await client.post(url, json=body, headers=HEADERS)


async def httpx_awaited_stream(url: str, body: dict[str, Any]) -> None:
    async with httpx.AsyncClient() as client, client.stream("POST", url, json=body, headers=HEADERS) as response:
        assert len([line async for line in response.aiter_lines() if line]) == EVENTS


async def requests_post(url: str, body: dict[str, Any]) -> None:
    requests.post(url, json=body, headers=HEADERS, timeout=TIMEOUT)


async def requests_send(url: str, body: dict[str, Any]) -> None:
    with requests.Session() as session:
        session.send(requests.Request("POST", url, json=body, headers=HEADERS).prepare(), timeout=TIMEOUT)


async def requests_stream(url: str, body: dict[str, Any]) -> None:
    response = requests.post(url, json=body, headers=HEADERS, timeout=TIMEOUT, stream=True)
    assert len([line for line in response.iter_lines() if line]) == EVENTS


async def aiohttp_post(url: str, body: dict[str, Any]) -> None:
    async with aiohttp.ClientSession() as session, session.post(url, json=body, headers=HEADERS) as response:
        await response.json()


async def aiohttp_stream(url: str, body: dict[str, Any]) -> None:
    async with aiohttp.ClientSession() as session, session.post(url, json=body, headers=HEADERS) as response:
        assert len([line async for line in response.content if line.strip()]) == EVENTS


HTTPX = Library(
    "httpx",
    HTTPXClientInstrumentor,
    places=((httpx.Client, "send"), (httpx.AsyncClient, "send"), (httpx.HTTPTransport, "handle_request")),
    ways={
        "post": httpx_post,
        "stream": httpx_stream,
        "awaited post": httpx_awaited_post,
        "awaited stream": httpx_awaited_stream,
    },
)
REQUESTS = Library(
    "requests",
    RequestsInstrumentor,
    places=((requests.Session, "send"),),
    ways={"post": requests_post, "send": requests_send, "stream": requests_stream},
)
AIOHTTP = Library(
    "aiohttp",
    AioHttpClientInstrumentor,
    places=(
        (aiohttp.ClientSession, "__init__"),
        (aiohttp.ClientSession, "_request"),
        (aiohttp.ClientResponse, "close"),
    ),
    ways={"post": aiohttp_post, "stream": aiohttp_stream},
)
LIBRARIES = (HTTPX, REQUESTS, AIOHTTP)
