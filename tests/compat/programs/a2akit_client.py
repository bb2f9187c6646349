# SPDX-License-Identifier: Apache-2.0
"""a2akit: a 0.3 client over httpx."""

from __future__ import annotations

from typing import Any

from a2akit import A2AClient

from tests.compat.programs import driver
from tests.compat.programs.receiving import Receiver


class A2AKit:
    """Its ``send`` waits until the task has ended, so that a slow one is started as a stream."""

    async def open(self, base: str, transport: str) -> None:
        self.client = A2AClient(base)
        await self.client.connect()
        self.task_id = ""

    async def send(self, text: str, task_id: str | None = None) -> Any:
        result = await self.client.send(text, task_id=task_id)
        self.task_id = result.task_id
        return result.state

    async def stream(self, text: str) -> Any:
        return [event async for event in self.client.stream(text)][-1].kind

    async def ask(self) -> None:
        await self.send("ask")
        await self.send("the first", self.task_id)

    async def poll(self) -> None:
        await self.client.get_task(self.task_id)

    async def webhook(self, receiver: Receiver) -> None:
        inline = await self.client.send("held", blocking=False, push_url=receiver.url, push_token=receiver.token)
        await receiver.end_of(inline.task_id)

        started = await self.client.send("held", blocking=False)
        await self.client.set_push_config(started.task_id, url=receiver.url, token=receiver.token)
        await receiver.end_of(started.task_id)

    async def cancel(self) -> None:
        async for event in self.client.stream("slow"):
            await self.client.cancel(event.task_id)
            break

    async def close(self) -> None:
        await self.client.close()


if __name__ == "__main__":
    driver.main(A2AKit())
