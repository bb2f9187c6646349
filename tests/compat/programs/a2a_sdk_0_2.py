# SPDX-License-Identifier: Apache-2.0
"""a2a-sdk 0.2: resolver and ``A2AClient``."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx
from a2a.client import A2ACardResolver, A2AClient
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    MessageSendParams,
    PushNotificationConfig,
    SendMessageRequest,
    SendStreamingMessageRequest,
    SetTaskPushNotificationConfigRequest,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
)

from tests.compat.programs import driver
from tests.compat.programs.receiving import Receiver


class Sdk:
    """The client class of 0.2."""

    async def open(self, base: str, transport: str) -> None:
        self.http = httpx.AsyncClient(timeout=20)
        card = await A2ACardResolver(self.http, base).get_agent_card()
        self.client = A2AClient(self.http, agent_card=card)
        self.task_id = ""

    def params(self, text: str, task_id: str = "", **configuration: Any) -> MessageSendParams:
        message: dict[str, Any] = {"messageId": str(uuid4()), "role": "user", "parts": [{"kind": "text", "text": text}]}
        if task_id:
            message["taskId"] = task_id
        configuration |= {"acceptedOutputModes": ["text/plain"]}
        return MessageSendParams.model_validate({"message": message, "configuration": configuration})

    async def send(self, text: str, task_id: str = "", **configuration: Any) -> Any:
        params = self.params(text, task_id, **configuration)
        answer = await self.client.send_message(SendMessageRequest(id="1", params=params))
        self.task_id = answer.root.result.id
        return answer.root.result.status.state

    async def stream(self, text: str) -> Any:
        request = SendStreamingMessageRequest(id="1", params=self.params(text))
        return [event async for event in self.client.send_message_streaming(request)][-1].root.result

    async def ask(self) -> None:
        await self.send("ask")
        await self.send("the first", self.task_id)

    async def poll(self) -> None:
        await self.client.get_task(GetTaskRequest(id="1", params=TaskQueryParams(id=self.task_id)))

    async def webhook(self, receiver: Receiver) -> None:
        webhook = PushNotificationConfig(url=receiver.url, token=receiver.token)
        await self.send("held", blocking=False, pushNotificationConfig=webhook)
        await receiver.end_of(self.task_id)

        await self.send("held", blocking=False)
        params = TaskPushNotificationConfig(taskId=self.task_id, pushNotificationConfig=webhook)
        await self.client.set_task_callback(SetTaskPushNotificationConfigRequest(id="1", params=params))
        await receiver.end_of(self.task_id)

    async def cancel(self) -> None:
        request = SendStreamingMessageRequest(id="1", params=self.params("slow"))
        async for event in self.client.send_message_streaming(request):
            cancel = CancelTaskRequest(id="1", params=TaskIdParams(id=event.root.result.id))
            await self.client.cancel_task(cancel)
            break

    async def close(self) -> None:
        await self.http.aclose()


if __name__ == "__main__":
    driver.main(Sdk())
