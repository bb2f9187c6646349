# SPDX-License-Identifier: Apache-2.0
"""litellm: its A2A client, which is the SDK over httpx over aiohttp."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from a2a.compat.v0_3.types import MessageSendParams, SendMessageRequest, SendStreamingMessageRequest
from litellm.a2a_protocol import A2AClient, asend_message_streaming, create_a2a_client

from tests.compat.programs import driver


class LiteLLM:
    """Its requests are those of a2a-sdk 0.3. It sends and streams; for more its users go to the SDK."""

    async def open(self, base: str, transport: str) -> None:
        self.base = base
        self.client = A2AClient(base)

    async def send(self, text: str, task_id: str | None = None) -> Any:
        answer = await self.client.send_message(SendMessageRequest(id=str(uuid4()), params=params(text, task_id)))
        return answer.result

    async def stream(self, text: str) -> Any:
        request = SendStreamingMessageRequest(id=str(uuid4()), params=params(text))
        client = await create_a2a_client(self.base, streaming=True)
        return [event async for event in asend_message_streaming(a2a_client=client, request=request)][-1]

    async def ask(self) -> None:
        question = await self.send("ask")
        await self.send("the first", question["id"])


def params(text: str, task_id: str | None = None) -> MessageSendParams:
    message = {"role": "user", "messageId": str(uuid4()), "parts": [{"kind": "text", "text": text}]}
    return MessageSendParams.model_validate({"message": message | ({"taskId": task_id} if task_id else {})})


if __name__ == "__main__":
    driver.main(LiteLLM())
