# SPDX-License-Identifier: Apache-2.0
"""strands-agents: a remote agent in place of a local one, over the SDK."""

from __future__ import annotations

from typing import Any

from strands.agent.a2a_agent import A2AAgent

from tests.compat.programs import driver


class Strands:
    """It names no task and no context: every message is a new task, also the answer to a question."""

    async def open(self, base: str, transport: str) -> None:
        self.agent = A2AAgent(base)

    async def send(self, text: str) -> Any:
        result = await self.agent.invoke_async(text)
        return result.message

    async def stream(self, text: str) -> Any:
        return [event async for event in self.agent.stream_async(text)][-1]

    async def ask(self) -> None:
        await self.send("ask")
        await self.send("the first")


if __name__ == "__main__":
    driver.main(Strands())
