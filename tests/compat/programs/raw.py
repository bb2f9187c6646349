# SPDX-License-Identifier: Apache-2.0
"""A2A 0.3 by hand, over any HTTP library: what such programs have in common."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

from tests.compat.programs.receiving import Receiver

CARD_PATH = "/.well-known/agent-card.json"


class Raw:
    """A client without an SDK. The library's part is ``open``, ``post``, ``lines`` and ``close``."""

    task_id = ""

    async def post(self, document: dict[str, Any]) -> Any:
        """The JSON that answers a JSON-RPC request."""
        raise NotImplementedError

    async def lines(self, document: dict[str, Any]) -> list[str]:
        """The lines of the stream that answers a JSON-RPC request."""
        raise NotImplementedError

    async def send(self, text: str, task_id: str = "") -> Any:
        answer = await self.post(request("message/send", message(text, task_id)))
        self.task_id = answer["result"]["id"]
        return answer["result"]["status"]["state"]

    async def stream(self, text: str) -> Any:
        lines = await self.lines(request("message/stream", message(text)))
        events = [json.loads(line[5:]) for line in lines if line.startswith("data:")]
        return events[-1]["result"]["status"]["state"]

    async def ask(self) -> None:
        await self.send("ask")
        await self.send("the first", self.task_id)

    async def poll(self) -> None:
        await self.post(request("tasks/get", {"id": self.task_id}))

    async def start(self, text: str, **configuration: Any) -> str:
        params = message(text) | {"configuration": {"blocking": False, **configuration}}
        answer = await self.post(request("message/send", params))
        task_id: str = answer["result"]["id"]
        return task_id

    async def webhook(self, receiver: Receiver) -> None:
        webhook = {"url": receiver.url, "token": receiver.token}
        await receiver.end_of(await self.start("held", pushNotificationConfig=webhook))

        task_id = await self.start("held")
        params = {"taskId": task_id, "pushNotificationConfig": webhook}
        await self.post(request("tasks/pushNotificationConfig/set", params))
        await receiver.end_of(task_id)

    async def cancel(self) -> None:
        await self.post(request("tasks/cancel", {"id": await self.start("slow")}))


def message(text: str, task_id: str = "") -> dict[str, Any]:
    """Parameters of a send."""
    content: dict[str, Any] = {"kind": "message", "messageId": str(uuid4()), "role": "user"}
    content["parts"] = [{"kind": "text", "text": text}]
    return {"message": content | ({"taskId": task_id} if task_id else {})}


def request(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """A JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": str(uuid4()), "method": method, "params": params}
