# SPDX-License-Identifier: Apache-2.0
"""The agents' side of the draft before A2A 0.2, which no SDK serves any more: JSON-RPC at ``/tasks/…``."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

NOT_FOUND = {"error": {"code": -32001, "message": "Task not found"}}


class DraftTasks:
    """Tasks whose ids their client chose, in memory; ``texts`` are the messages that reached it.

    Args:
        only_id: the id that every task gets instead, which is completed at first and then submitted (a faulty agent).
    """

    def __init__(self, texts: list[str], only_id: str = "") -> None:
        self.texts = texts
        self.only_id = only_id
        self.states: dict[str, str] = {}

    async def __call__(self, request: Request) -> Response:
        """Answer ``tasks/send``, ``tasks/get`` or ``tasks/cancel``."""
        call = await request.json()
        task_id = call["params"]["id"]
        if call["method"] == "tasks/send":
            task_id = self._receive(task_id, call["params"]["message"]["content"]["text"])
        elif call["method"] == "tasks/cancel" and task_id in self.states:
            self.states[task_id] = "canceled"
        answer = {"result": self._task(task_id)} if task_id in self.states else NOT_FOUND
        return JSONResponse({"jsonrpc": "2.0", "id": call["id"], **answer})

    def _receive(self, task_id: str, text: str) -> str:
        self.texts.append(text)
        if self.only_id:
            self.states[self.only_id] = "completed" if len(self.texts) == 1 else "submitted"
            return self.only_id
        asks = "ask" in text and task_id not in self.states
        self.states[task_id] = "input-required" if asks else "working" if "slow" in text else "completed"
        return task_id

    def _task(self, task_id: str) -> dict[str, Any]:
        task: dict[str, Any] = {"id": task_id, "status": {"state": self.states[task_id]}}
        if self.states[task_id] == "completed" and not self.only_id:
            task["artifacts"] = [{"index": 0, "parts": [{"type": "text", "text": "the result"}], "lastChunk": True}]
        return task
