# SPDX-License-Identifier: Apache-2.0
"""A remote agent as a program without an SDK sees it: A2A 1.0 or 0.3 over JSON-RPC. Nothing here knows of otel-a2a."""

from __future__ import annotations

import itertools
import json
from typing import Any

import httpx

NEWER = {"send": "SendMessage", "stream": "SendStreamingMessage", "get": "GetTask", "cancel": "CancelTask"}
OLDER = {"send": "message/send", "stream": "message/stream", "get": "tasks/get", "cancel": "tasks/cancel"}
ENDED = ("completed", "failed", "canceled", "rejected")

Task = dict[str, Any]


class Remote:
    """The agent at ``base``, whose interface is ``base/rpc``."""

    def __init__(self, http: httpx.Client, base: str, version: str = "1.0") -> None:
        self.http, self.base, self.version = http, base, version
        self.methods = NEWER if version == "1.0" else OLDER
        self._ids = itertools.count(1)

    def card(self) -> dict[str, Any] | None:
        """The Agent Card as it is now, or None where it cannot be had."""
        answer = self.http.get(f"{self.base}/.well-known/agent-card.json")
        return dict(answer.json()) if answer.is_success else None

    def send(self, text: str, task_id: str = "") -> Task:
        """Send a message, into a task where one is named; the task that answers."""
        result = self._call(self.methods["send"], {"message": self._message(text, task_id)})
        return dict(result.get("task", result))

    def stream(self, text: str) -> Task:
        """Send a message and follow the stream to its end; the task as it was shown last."""
        with self.http.stream("POST", f"{self.base}/rpc", **self._request("stream", self._message(text, ""))) as answer:
            lines = [line for line in answer.iter_lines() if line.startswith("data: ")]
            events = [json.loads(line.removeprefix("data: "))["result"] for line in lines]
        return dict(events[-1])

    def get(self, task_id: str) -> Task | None:
        """The task as it is now, or None where the poll brings nothing."""
        result = self._call(self.methods["get"], {"id": task_id})
        return dict(result) if result else None

    def cancel(self, task_id: str) -> None:
        self._call(self.methods["cancel"], {"id": task_id})

    def register_webhook(self, task_id: str, url: str) -> None:
        self._call("CreateTaskPushNotificationConfig", {"taskId": task_id, "url": url, "token": "secret"})

    def _message(self, text: str, task_id: str) -> dict[str, Any]:
        newer = self.version == "1.0"
        part = {"text": text} if newer else {"kind": "text", "text": text}
        message = {"messageId": f"m-{next(self._ids)}", "role": "ROLE_USER" if newer else "user", "parts": [part]}
        return message | ({"taskId": task_id} if task_id else {})

    def _request(self, name: str, message: dict[str, Any]) -> dict[str, Any]:
        call = {"jsonrpc": "2.0", "id": "1", "method": self.methods[name], "params": {"message": message}}
        return {"json": call, "headers": {"A2A-Version": self.version}}

    def _call(self, method: str, params: dict[str, Any]) -> Any:
        call = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}
        answer = self.http.post(f"{self.base}/rpc", json=call, headers={"A2A-Version": self.version})
        return answer.json().get("result")


def state(task: Task) -> str:
    """The state of a task in the words of the seeds: ``input-required``, ``completed``, …"""
    return str(task["status"]["state"]).removeprefix("TASK_STATE_").lower().replace("_", "-")
