# SPDX-License-Identifier: Apache-2.0
"""Small scripts, made in tests."""

from __future__ import annotations

from typing import Any, Final

from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.rules import Hit, Rule, View
from otel_a2a.errors import CardTaskBoundaryError
from otel_a2a.observations import Observation
from otel_a2a.replay.script import Script

URL: Final = "https://agent.example/a2a"
CARD_URL: Final = "https://agent.example/.well-known/agent-card.json"
HEADERS: Final = {"A2A-Version": "1.0"}


def script(*exchanges: dict[str, Any], **members: Any) -> Script:
    """A script of these exchanges; each gets its place as its step, and that many seconds as its time."""
    numbered = [{"step": index, "t": index, **exchange} for index, exchange in enumerate(exchanges)]
    return Script.model_validate({"exchanges": numbered, **members})


def request(method: str, params: dict[str, Any]) -> dict[str, Any]:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return {"method": "POST", "url": URL, "headers": HEADERS, "body": body}


def result(content: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": content}


def task(state: str, task_id: str = "t-1") -> dict[str, Any]:
    return {"id": task_id, "contextId": "c-1", "status": {"state": f"TASK_STATE_{state}"}}


def message(**members: Any) -> dict[str, Any]:
    return {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "charge"}], **members}


def send(state: str = "WORKING", **members: Any) -> dict[str, Any]:
    """A message creates a task."""
    asked = request("SendMessage", {"message": message()})
    return {
        "type": "http",
        "request": asked,
        "response": {"status": 200, "body": result({"task": task(state)})},
        **members,
    }


def get(state: str, **members: Any) -> dict[str, Any]:
    """A read of the task."""
    asked = request("GetTask", {"id": "t-1"})
    return {"type": "http", "request": asked, "response": {"status": 200, "body": result(task(state))}, **members}


def stream(*events: dict[str, Any], **response: Any) -> dict[str, Any]:
    """A message whose answer is a stream."""
    asked = request("SendStreamingMessage", {"message": message()})
    return {"type": "sse", "request": asked, "response": {"status": 200, "events": list(events), **response}}


def update(state: str) -> dict[str, Any]:
    """The data of a status event."""
    return result({"statusUpdate": {"taskId": "t-1", "contextId": "c-1", "status": {"state": f"TASK_STATE_{state}"}}})


class Witness:
    """A rule that has an opinion on nothing and remembers what it was shown."""

    def __init__(self, *kinds: type[Observation]) -> None:
        self.seen: list[Any] = []
        self.rules = (_rule("witness", kinds, self._look),)

    def _look(self, observation: Any, view: View, settings: Any) -> tuple[Hit, ...]:
        self.seen.append(observation)
        return ()


def faulty(*kinds: type[Observation]) -> Rule:
    """A rule that fails."""

    def fail(observation: Any, view: View, settings: Any) -> tuple[Hit, ...]:
        raise LookupError("nothing here")

    return _rule("faulty", kinds, fail)


def _rule(name: str, kinds: tuple[type[Observation], ...], function: Any) -> Rule:
    return Rule(
        name=name,
        boundary="lifecycle",
        level=Level.VIOLATION,
        party=Party.AGENT,
        phase=Phase.RESPONSE,
        exception=CardTaskBoundaryError,
        on=kinds,
        origin="test",
        summary="",
        function=function,
    )
