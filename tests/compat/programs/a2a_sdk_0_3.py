# SPDX-License-Identifier: Apache-2.0
"""a2a-sdk 0.3: resolver, factory, client."""

from __future__ import annotations

from typing import Any

import grpc.aio
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.helpers import create_text_message_object
from a2a.types import (
    PushNotificationConfig,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TransportProtocol,
)

from tests.compat.programs import driver
from tests.compat.programs.receiving import Receiver


class Sdk:
    """The SDK's client; ``streaming`` is off, but for the steps that need it."""

    async def open(self, base: str, transport: str) -> None:
        self.http = httpx.AsyncClient(timeout=20)
        self.card = await A2ACardResolver(self.http, base).get_agent_card()
        self.transport = TransportProtocol(transport)
        self.task_id = ""

    def client(self, *, streaming: bool, **more: Any) -> Any:
        config = ClientConfig(
            httpx_client=self.http,
            grpc_channel_factory=grpc.aio.insecure_channel,
            streaming=streaming,
            supported_transports=[self.transport],
            use_client_preference=True,
            **more,
        )
        return ClientFactory(config).create(self.card)

    async def say(self, text: str, *, streaming: bool = False, task_id: str | None = None, **more: Any) -> Any:
        message = create_text_message_object(content=text)
        message.task_id = task_id
        events = [event async for event in self.client(streaming=streaming, **more).send_message(message)]
        self.task_id = events[-1][0].id
        return events[-1][0].status.state

    async def send(self, text: str) -> Any:
        return await self.say(text)

    async def stream(self, text: str) -> Any:
        return await self.say(text, streaming=True)

    async def ask(self) -> None:
        await self.say("ask")
        await self.say("the first", task_id=self.task_id)

    async def poll(self) -> None:
        await self.client(streaming=False).get_task(TaskQueryParams(id=self.task_id))

    async def webhook(self, receiver: Receiver) -> None:
        webhook = PushNotificationConfig(url=receiver.url, token=receiver.token)
        await self.say("held", polling=True, push_notification_configs=[webhook])
        await receiver.end_of(self.task_id)

        await self.say("held", polling=True)
        params = TaskPushNotificationConfig(task_id=self.task_id, push_notification_config=webhook)
        await self.client(streaming=False).set_task_callback(params)
        await receiver.end_of(self.task_id)

    async def cancel(self) -> None:
        client = self.client(streaming=True)
        canceled = False
        async for task, _ in client.send_message(create_text_message_object(content="slow")):
            if not canceled:
                await client.cancel_task(TaskIdParams(id=task.id))
            canceled = True

    async def close(self) -> None:
        await self.http.aclose()


if __name__ == "__main__":
    driver.main(Sdk())
