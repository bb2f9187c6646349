# SPDX-License-Identifier: Apache-2.0
"""A caching transport beneath the client: what it answers by itself is no fetch of a card (seed 004, rules.md)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from hishel import SqliteStorage
from hishel.httpx import CacheTransport
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.support.agents import CARD_PATH, HEADERS, ScriptedAgent, card, envelope, send, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry

WINDOW = 0.5


class Cacheable(ScriptedAgent):
    """Allows its card to be kept for an hour."""

    async def _card(self, request: Request) -> Response:
        self.fetches = getattr(self, "fetches", 0) + 1
        shown = card(str(request.base_url) + "rpc", push=True)
        return JSONResponse(shown, headers={"cache-control": "max-age=3600"})


@pytest.mark.parametrize("fetched_again", [False, True])
def test_a_cache_hit_does_not_make_a_card_fresh(fetched_again: bool, telemetry: Telemetry, tmp_path: Path) -> None:
    """A webhook needs a card that was fetched right before: a hit in the cache is none, a real fetch is one."""

    def answer(method: str, params: dict[str, Any]) -> Any:
        return {"task": task("t-1", "WORKING")} if method == "SendMessage" else {"id": "c-1", **params}

    agent = Cacheable(answer)
    storage = SqliteStorage(database_path=str(tmp_path / "cache.db"))
    transport = CacheTransport(httpx.HTTPTransport(), storage=storage)
    config = {"taskId": "t-1", "url": "http://127.0.0.1:9/hook"}
    with (
        serve(agent.app) as base,
        telemetry.instrumented(webhook_card_window=WINDOW),
        httpx.Client() as plain,
        httpx.Client(transport=transport) as client,
    ):
        client.get(base + CARD_PATH)
        client.post(f"{base}/rpc", json=envelope("SendMessage", send("x", "m1")), headers=HEADERS)
        time.sleep(WINDOW + 0.1)
        (plain if fetched_again else client).get(base + CARD_PATH)
        client.post(f"{base}/rpc", json=envelope("CreateTaskPushNotificationConfig", config), headers=HEADERS)
    assert agent.fetches == (2 if fetched_again else 1)
    assert telemetry.findings() == ([] if fetched_again else [("webhook-from-stale-card", "improvement")])
