# SPDX-License-Identifier: Apache-2.0
"""fasta2a: a thin JSON-RPC client over httpx."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import httpx
from fasta2a import FastA2A, Worker
from fasta2a.broker import InMemoryBroker
from fasta2a.client import A2AClient
from fasta2a.schema import Message
from fasta2a.storage import InMemoryStorage

from tests.compat.programs import driver


class Client:
    """Of what another library's server answers, its user gets no task, so it is its own server whose task is polled."""

    async def open(self, base: str, transport: str) -> None:
        self.client = A2AClient(base, fetch_card=True)

    async def send(self, text: str) -> Any:
        return await self.client.send_message(message(text))

    async def stream(self, text: str) -> Any:
        return [event async for event in self.client.stream_message(message(text))][-1]

    async def poll(self) -> None:
        parts = {"broker": InMemoryBroker(), "storage": InMemoryStorage()}
        app = FastA2A(**parts)
        http = httpx.AsyncClient(transport=httpx.ASGITransport(app))
        async with app.task_manager, Completing(**parts).run(), http:
            client = A2AClient("http://fasta2a.test", http_client=http)
            task = (await client.send_message(message("work")))["result"]["task"]
            while (await client.get_task(task["id"]))["result"]["status"]["state"] != "completed":
                await asyncio.sleep(0.05)

    async def close(self) -> None:
        await self.client.http_client.aclose()


class Completing(Worker[Any]):
    """Works on a task, and completes it."""

    async def run_task(self, params: Any) -> None:
        await self.storage.update_task(params["id"], state="working")
        await self.storage.update_task(params["id"], state="completed")

    async def cancel_task(self, params: Any) -> None:
        raise NotImplementedError

    def build_message_history(self, history: list[Message]) -> list[Any]:
        raise NotImplementedError

    def build_artifacts(self, result: Any) -> list[Any]:
        raise NotImplementedError


def message(text: str) -> Message:
    return Message(role="user", parts=[{"text": text}], message_id=str(uuid4()))


if __name__ == "__main__":
    driver.main(Client())
