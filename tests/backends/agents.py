# SPDX-License-Identifier: Apache-2.0
"""The agents of ``tests.backends.application``: tasks go through the states that their message names."""

from __future__ import annotations

import itertools
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from tests.support.agents import ScriptedAgent, card, task

NOT_FOUND = {"error": {"code": -32001, "message": "Task not found"}}


class ObedientAgent(ScriptedAgent):
    """Does what its messages say. Its card is that of one revision, then of another, then cannot be had."""

    def __init__(self) -> None:
        super().__init__(self._obey)
        self._lives: dict[str, list[str]] = {}
        self._deployments = itertools.cycle(("A", "B", "down"))

    async def _card(self, request: Request) -> Response:
        deployed = next(self._deployments)
        url = f"{request.base_url}rpc"
        self.card = 503 if deployed == "down" else card(url, streaming=True, skills=("charge", deployed))
        return await super()._card(request)

    def _obey(self, method: str, params: dict[str, Any]) -> Any:
        if method == "GetTask":
            return self._moved_on(params["id"])
        message = params["message"]
        task_id = f"task-{message['messageId']}"
        states = self._lives[task_id] = message["parts"][0]["text"].split()
        if method == "SendMessage":
            return {"task": task(task_id, states[0], f"ctx-{task_id}")}
        updates = [
            {"taskId": task_id, "contextId": f"ctx-{task_id}", "status": {"state": f"TASK_STATE_{state}"}}
            for state in states[1:]
        ]
        first = {"task": task(task_id, states[0], f"ctx-{task_id}")}
        return [first, *({"statusUpdate": update} for update in updates)]

    def _moved_on(self, task_id: str) -> Any:
        states = self._lives.get(task_id)
        if states is None:
            return NOT_FOUND
        if len(states) > 1:
            states.pop(0)
        return task(task_id, states[0], f"ctx-{task_id}")
