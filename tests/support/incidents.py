# SPDX-License-Identifier: Apache-2.0
"""An ordinary client of one agent over loopback HTTP, and agents whose tasks go as the seeds' incidents do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.support.agents import CARD_PATH, HEADERS, Answer, ScriptedAgent, card, envelope, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry

PUSH = {"url": "http://127.0.0.1:9/hook", "token": "t"}
"""A webhook that the agent never calls."""


class Application:
    """An ordinary client of one agent."""

    def __init__(self, agent: ScriptedAgent, base: str, http: httpx.Client) -> None:
        self.agent, self.base, self.http = agent, base, http

    def fetch_card(self) -> int:
        return self.http.get(self.base + CARD_PATH).status_code

    def call(self, method: str, params: dict[str, Any]) -> Any:
        answer = self.http.post(f"{self.base}/rpc", json=envelope(method, params), headers=HEADERS).json()
        return answer.get("result", answer.get("error"))

    def redeploy(self, **changes: Any) -> None:
        self.agent.card = card(f"{self.base}/rpc", **changes)


@contextmanager
def running(answer: Answer, telemetry: Telemetry, **settings: Any) -> Iterator[Application]:
    """An agent that answers so, and its client, instrumented; the card has been fetched."""
    agent = ScriptedAgent(answer)
    with serve(agent.app) as base, telemetry.instrumented(**settings), httpx.Client() as http:
        agent.card = card(f"{base}/rpc", push=True)
        application = Application(agent, base, http)
        application.fetch_card()
        yield application


def lives(*states: str, task_id: str = "t-1") -> Answer:
    """An agent whose one task goes through ``states``, one per call."""
    left = list(states)

    def answer(method: str, params: dict[str, Any]) -> Any:
        shown = task(task_id, left.pop(0) if len(left) > 1 else left[0])
        return {"task": shown} if method == "SendMessage" else shown

    return answer


def accepting(task_id: str = "t-1") -> Answer:
    """An agent that takes every webhook, and delivers nothing."""

    def answer(method: str, params: dict[str, Any]) -> Any:
        if method == "CreateTaskPushNotificationConfig":
            return {"taskId": params["taskId"], "id": "c-1", "url": params["url"]}
        return {"task": task(task_id, "WORKING")} if method == "SendMessage" else task(task_id, "COMPLETED")

    return answer
