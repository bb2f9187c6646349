# SPDX-License-Identifier: Apache-2.0
"""agno: its client of remote agents, which knows contexts but no task ids."""

from __future__ import annotations

from typing import Any

from agno.client.a2a import A2AClient

from tests.compat.programs import driver


class Agno:
    """The card is asked for in agno's own protocol, since with ``json-rpc`` every address is the agent's."""

    async def open(self, base: str, transport: str) -> None:
        await A2AClient(base).aget_agent_card()
        self.client = A2AClient(base, protocol="json-rpc")

    async def send(self, text: str, context_id: str | None = None) -> Any:
        return await self.client.send_message(text, context_id=context_id)

    async def stream(self, text: str) -> Any:
        return [event async for event in self.client.stream_message(text)][-1]

    async def ask(self) -> None:
        question = await self.send("ask")
        await self.send("the first", question.context_id)


if __name__ == "__main__":
    driver.main(Agno())
