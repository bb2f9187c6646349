# SPDX-License-Identifier: Apache-2.0
"""A refusal ends the call of a library that would try again: at the same server, in that call, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest
import requests
from opentelemetry.instrumentation.utils import suppress_instrumentation
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from otel_a2a import local, refusals
from otel_a2a.errors import A2APolicyError, CardTaskBoundaryError
from tests.support.servers import serve
from tests.support.telemetry import Telemetry


class Server:
    """An agent whose card offers one skill; it takes every post, and notes what came."""

    def __init__(self) -> None:
        self.posts: list[Any] = []
        self.answer: Any = {}
        self.app = Starlette(
            routes=[
                Route("/.well-known/agent-card.json", self._card),
                Route("/{path:path}", self._take, methods=["POST", "GET"]),
            ]
        )

    async def _card(self, request: Request) -> Response:
        skill = {"id": "charge", "name": "charge", "description": "charges", "tags": []}
        url, version = str(request.base_url), "0.3.0"
        return JSONResponse(
            {"name": "a", "url": url, "protocolVersion": version, "capabilities": {}, "skills": [skill]}
        )

    async def _take(self, request: Request) -> Response:
        if request.method == "POST":
            self.posts.append(await request.json())
        return JSONResponse(self.answer)


@contextmanager
def served(**settings: Any) -> Iterator[tuple[Server, str, str]]:
    """An agent, its base URL, and the base URL of another server."""
    agent = Server()
    with ExitStack() as stack:
        base, other = stack.enter_context(serve(agent.app)), stack.enter_context(serve(Server().app))
        stack.enter_context(Telemetry().instrumented(strictness="raise", **settings))
        httpx.get(f"{base}/.well-known/agent-card.json")
        yield agent, base, other


def send(base: str) -> dict[str, Any]:
    """A send of 0.3, as ``requests`` and ``httpx`` take it."""
    message = {"kind": "message", "messageId": str(uuid4()), "role": "user", "parts": [{"kind": "text", "text": "x"}]}
    call = {"jsonrpc": "2.0", "id": "1", "method": "message/send", "params": {"message": message}}
    return {"url": f"{base}/", "json": call}


def answer(state: str) -> dict[str, Any]:
    """The one task, in ``state``."""
    task = {"kind": "task", "id": "t-1", "contextId": "ctx-1", "status": {"state": state}}
    return {"jsonrpc": "2.0", "id": "1", "result": task}


def refuse(base: str) -> A2APolicyError:
    """The refusal of a send for a skill that the card lacks."""
    with local.hints(skill="refund"), pytest.raises(CardTaskBoundaryError) as refused:
        httpx.post(**send(base))
    return refused.value


@pytest.mark.parametrize("library", [httpx, requests], ids=lambda library: library.__name__)
@pytest.mark.parametrize("content", [{"role": "user", "content": "x"}, {"jsonrpc": "2.0", "method": "x"}])
def test_what_is_posted_after_a_refusal_is_refused(library: Any, content: Any) -> None:
    """In the same call and to the same server, at any path, whatever it is; with the refusal itself."""
    with served() as (agent, base, _), refusals.one_call():
        refusal = refuse(base)
        with pytest.raises(A2APolicyError) as again:
            library.post(f"{base}/elsewhere", json=content, timeout=10)
        assert again.value is refusal
        assert not agent.posts


def test_an_answer_that_is_refused_ends_the_call_too() -> None:
    """A task that had ended is read as submitted: what the library would post now is no better."""
    with served() as (agent, base, _):
        agent.answer = answer("completed")
        httpx.post(**send(base))
        agent.answer = answer("submitted")
        read = {"jsonrpc": "2.0", "id": "1", "method": "tasks/get", "params": {"id": "t-1"}}
        with refusals.one_call():
            with pytest.raises(A2APolicyError) as refused:
                httpx.post(f"{base}/", json=read)
            with pytest.raises(A2APolicyError) as again:
                httpx.post(f"{base}/elsewhere", json=read)
        assert refused.value.request_sent and again.value is refused.value
        assert len(agent.posts) == 2


def test_what_is_no_other_attempt_is_let_through() -> None:
    """Reads, other servers, and what an exporter posts."""
    with served() as (agent, base, other), refusals.one_call():
        refuse(base)
        httpx.get(f"{base}/elsewhere").raise_for_status()
        httpx.post(f"{other}/elsewhere", json={}).raise_for_status()
        with suppress_instrumentation():
            httpx.post(f"{base}/v1/traces", json={"exported": True}).raise_for_status()
        assert agent.posts == [{"exported": True}]


def test_a_refusal_ends_with_its_call() -> None:
    """The call after it is another, and so is what happens outside of any."""
    with served() as (agent, base, _):
        with refusals.one_call():
            refuse(base)
        with refusals.one_call():
            httpx.post(f"{base}/elsewhere", json={"call": 2}).raise_for_status()
        httpx.post(f"{base}/elsewhere", json={"call": 0}).raise_for_status()
        assert agent.posts == [{"call": 2}, {"call": 0}]


def test_outside_of_such_a_call_nothing_is_remembered() -> None:
    """An application that catches a refusal and posts something else does what it wants to."""
    with served() as (agent, base, _):
        refuse(base)
        httpx.post(f"{base}/elsewhere", json={"by": "hand"}).raise_for_status()
        assert agent.posts == [{"by": "hand"}]
