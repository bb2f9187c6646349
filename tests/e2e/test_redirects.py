# SPDX-License-Identifier: Apache-2.0
"""Redirects that httpx follows: who moves is one agent in two places, and who shares a login page is not (G3)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.support.agents import HEADERS, envelope, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry

READ = envelope("GetTask", {"id": "t-1"})
SUBSCRIPTION = envelope("SubscribeToTask", {"id": "t-1"})
VERBS = ["GET", "POST"]


class Door:
    """An agent in front of which something may redirect, over both bindings. ``state``: of its task t-1."""

    def __init__(self, state: str) -> None:
        self.state = state
        self.elsewhere: tuple[str, int] | None = None
        """Where its answers come from in its place, and the status that says so."""
        self.app = Starlette(routes=[Route("/{path:path}", self._answer, methods=VERBS)])

    async def _answer(self, request: Request) -> Response:
        if self.elsewhere is not None:
            base, status = self.elsewhere
            return RedirectResponse(base + ("" if base.count("/") > 2 else request.url.path), status_code=status)
        seen = task("t-1", self.state)
        if request.method == "GET":
            return JSONResponse(seen)
        asked = await request.json()
        if asked["method"] == "GetTask":
            return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": seen})
        event = JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": {"task": seen}}).body
        return StreamingResponse(iter([b"data: ", event, b"\n\n"]), media_type="text/event-stream")


def _page(answer: Response) -> Any:
    async def page(request: Request) -> Response:
        return answer

    return Starlette(routes=[Route("/login", page, methods=VERBS)])


PAGES = {
    "a page": HTMLResponse("<form>Log in</form>"),
    "JSON": JSONResponse({"status": "signed-out", "result": {"login": "/login"}}),
    "a refusal": JSONResponse({"error": {"code": 401, "message": "Unauthorized"}}, status_code=401),
    "a stream": Response("data: Log in\n\n", media_type="text/event-stream"),
}


@contextmanager
def two_agents() -> Iterator[tuple[Door, str, Door, str]]:
    first, second = Door("WORKING"), Door("WORKING")
    with serve(first.app) as one, serve(second.app) as other:
        yield first, one, second, other


def read(client: httpx.Client, base: str, call: dict[str, Any] = READ) -> httpx.Response:
    return client.post(f"{base}/rpc", json=call, headers=HEADERS)


def read_over_rest(client: httpx.Client, base: str) -> httpx.Response:
    return client.get(f"{base}/a2a/tasks/t-1", headers=HEADERS)


@pytest.mark.parametrize("status", [302, 307])
@pytest.mark.parametrize("page", PAGES)
def test_agents_that_share_a_login_page_stay_two(page: str, status: int, telemetry: Telemetry) -> None:
    """Each has a task of the same id: what one of them says of it is no contradiction to the other."""
    with (
        two_agents() as (first, one, second, other),
        serve(_page(PAGES[page])) as login,
        telemetry.instrumented(),
        httpx.Client(follow_redirects=True) as client,
    ):
        for agent, base in ((first, one), (second, other)):
            read(client, base)
            agent.elsewhere = (f"{login}/login", status)
            assert read(client, base).url.path == "/login"
            read(client, base, SUBSCRIPTION)
            agent.elsewhere = None
        first.state, second.state = "COMPLETED", "FAILED"
        read(client, one)
        read(client, other)
    assert telemetry.findings() == []


@pytest.mark.parametrize("call", [READ, SUBSCRIPTION], ids=["answer", "stream"])
@pytest.mark.parametrize("status", [307, 308])
def test_an_agent_that_moves_is_one_agent(status: int, call: dict[str, Any], telemetry: Telemetry) -> None:
    """What it says in its new place is held against what it said in the old one."""
    with two_agents() as (old, one, new, other), telemetry.instrumented():
        new.state = "COMPLETED"
        with httpx.Client(follow_redirects=True) as client:
            read(client, one)
            old.elsewhere = (other, status)
            assert read(client, one, call).history
            new.state = "FAILED"
            read(client, other)
    assert telemetry.findings() == [("terminal-state-changed", "violation")]


def test_an_agent_that_moves_is_one_agent_over_http_json(telemetry: Telemetry) -> None:
    """The path of the operation is no part of the place."""
    with two_agents() as (old, one, new, other), telemetry.instrumented():
        new.state = "COMPLETED"
        with httpx.Client(follow_redirects=True) as client:
            old.elsewhere = (other, 308)
            assert read_over_rest(client, one).history
            new.state = "FAILED"
            read_over_rest(client, other)
    assert telemetry.findings() == [("terminal-state-changed", "violation")]
