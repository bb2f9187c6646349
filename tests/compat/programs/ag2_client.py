# SPDX-License-Identifier: Apache-2.0
"""ag2: a remote agent as the model of a local one, over the SDK. No other model is asked."""

from __future__ import annotations

from typing import Any

from ag2 import Agent
from ag2.a2a import A2AConfig

from tests.compat.programs import driver

BINDINGS = {"JSONRPC": "jsonrpc", "HTTP+JSON": "rest"}


class Ag2:
    """The card is fetched anew for each message. A question of the remote agent goes to a hook, which answers it."""

    async def open(self, base: str, transport: str) -> None:
        config = A2AConfig(card_url=base, prefer=BINDINGS[transport])
        self.agent = Agent("lives", config=config)
        self.polling = Agent("lives", config=config.copy(streaming=False))

    async def send(self, text: str) -> Any:
        return (await self.agent.ask(text)).body

    async def ask(self) -> None:
        await self.agent.ask("ask", hitl_hook=lambda event: "the first")

    async def poll(self) -> None:
        await self.polling.ask("work")


if __name__ == "__main__":
    driver.main(Ag2())
