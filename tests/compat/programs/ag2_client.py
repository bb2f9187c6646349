# SPDX-License-Identifier: Apache-2.0
"""ag2: a remote agent as the model of a local one, over the SDK. No other model is asked."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from a2a.types import TaskState
from ag2 import Agent
from ag2.a2a import A2AConfig
from ag2.a2a.push import A2APushConfig, create_push_notification_config
from ag2.a2a.tasks import cancel_task, list_tasks

from tests.compat.programs import driver
from tests.compat.programs.receiving import Receiver

BINDINGS = {"JSONRPC": "jsonrpc", "HTTP+JSON": "rest", "GRPC": "grpc"}


class Ag2:
    """The card is fetched anew for each message. A question of the remote agent goes to a hook, which answers it."""

    async def open(self, base: str, transport: str) -> None:
        self.config = A2AConfig(card_url=base, prefer=BINDINGS[transport])
        self.agent = Agent("lives", config=self.config)
        self.polling = Agent("lives", config=self.config.copy(streaming=False))

    async def send(self, text: str) -> Any:
        return (await self.agent.ask(text)).body

    async def ask(self) -> None:
        await self.agent.ask("ask", hitl_hook=lambda event: "the first")

    async def poll(self) -> None:
        await self.polling.ask("work")

    @contextlib.asynccontextmanager
    async def started(self, text: str) -> AsyncIterator[str]:
        """The id of a task that is being worked on; who asked for it is gone afterwards."""
        asking = asyncio.ensure_future(self.agent.ask(text))
        while not (found := await list_tasks(self.config, status=TaskState.TASK_STATE_WORKING)).tasks:
            await asyncio.sleep(0.05)
        yield found.tasks[0].id
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)

    async def webhook(self, receiver: Receiver) -> None:
        webhook = A2APushConfig(url=receiver.url, token=receiver.token)
        async with self.started("held") as task_id:
            await create_push_notification_config(self.config, task_id, webhook)
        await receiver.end_of(task_id)

    async def cancel(self) -> None:
        async with self.started("slow") as task_id:
            await cancel_task(self.config, task_id)


if __name__ == "__main__":
    driver.main(Ag2())
