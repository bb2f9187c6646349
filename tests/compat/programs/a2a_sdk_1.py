# SPDX-License-Identifier: Apache-2.0
"""a2a-sdk 1.x: resolver, factory, client."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import grpc.aio
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    TaskPushNotificationConfig,
)

from tests.compat.programs import driver
from tests.compat.programs.receiving import Receiver


class Sdk:
    """The SDK's client; ``streaming`` is off, but for the steps that need it."""

    async def open(self, base: str, transport: str) -> None:
        self.http = httpx.AsyncClient(timeout=20)
        self.card = await A2ACardResolver(self.http, base).get_agent_card()
        self.transport = transport
        self.task_id = ""

    def client(self, *, streaming: bool, **more: Any) -> Any:
        config = ClientConfig(
            httpx_client=self.http,
            grpc_channel_factory=grpc.aio.insecure_channel,
            streaming=streaming,
            supported_protocol_bindings=[self.transport],
            **more,
        )
        return ClientFactory(config).create(self.card)

    async def say(self, text: str, *, streaming: bool = False, task_id: str = "", **more: Any) -> Any:
        message = Message(message_id=str(uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)], task_id=task_id)
        client = self.client(streaming=streaming, **more)
        events = [event async for event in client.send_message(SendMessageRequest(message=message))]
        self.task_id = events[0].task.id
        return events[-1]

    async def send(self, text: str) -> Any:
        return await self.say(text)

    async def stream(self, text: str) -> Any:
        return await self.say(text, streaming=True)

    async def ask(self) -> None:
        await self.say("ask")
        await self.say("the first", task_id=self.task_id)

    async def poll(self) -> None:
        await self.client(streaming=False).get_task(GetTaskRequest(id=self.task_id))

    async def webhook(self, receiver: Receiver) -> None:
        webhook = TaskPushNotificationConfig(url=receiver.url, token=receiver.token)
        await self.say("held", polling=True, push_notification_config=webhook)
        await receiver.end_of(self.task_id)

        await self.say("held", polling=True)
        webhook = TaskPushNotificationConfig(url=receiver.url, token=receiver.token, task_id=self.task_id)
        await self.client(streaming=False).create_task_push_notification_config(webhook)
        await receiver.end_of(self.task_id)

    async def cancel(self) -> None:
        message = Message(message_id=str(uuid4()), role=Role.ROLE_USER, parts=[Part(text="slow")])
        client = self.client(streaming=True)
        canceled = False
        async for event in client.send_message(SendMessageRequest(message=message)):
            if not canceled:
                await client.cancel_task(CancelTaskRequest(id=event.task.id))
            canceled = True

    async def close(self) -> None:
        await self.http.aclose()


if __name__ == "__main__":
    driver.main(Sdk())
