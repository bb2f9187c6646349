# SPDX-License-Identifier: Apache-2.0
"""beeai-framework: a remote agent in place of a local one, over the SDK."""

from __future__ import annotations

from typing import Any

from beeai_framework.adapters.a2a.agents import A2AAgent
from beeai_framework.memory import UnconstrainedMemory

from tests.compat.programs import driver


class BeeAI:
    """One agent, whose context goes on from message to message; a question is answered under its own task."""

    async def open(self, base: str, transport: str) -> None:
        self.agent = A2AAgent(url=base, memory=UnconstrainedMemory())

    async def send(self, text: str) -> Any:
        output = await self.agent.run(text, streaming=False)
        return output.last_message.text

    async def stream(self, text: str) -> Any:
        output = await self.agent.run(text)
        return output.last_message.text

    async def ask(self) -> None:
        await self.stream("ask")
        await self.stream("the first")


if __name__ == "__main__":
    driver.main(BeeAI())
