# SPDX-License-Identifier: Apache-2.0
"""langchain-remote-a2a-agent: an agent as a LangChain Runnable, over the SDK."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from langchain_remote_a2a_agent import RemoteAgent

from tests.compat.programs import driver


class LangChain:
    """Each message is a thread of its own, but for a reply, which has the thread of its question."""

    async def open(self, base: str, transport: str) -> None:
        self.agent = RemoteAgent(name="lives", agent_card_url=f"{base}/.well-known/agent-card.json")

    async def send(self, text: str, thread: str = "") -> Any:
        config = {"configurable": {"thread_id": thread or str(uuid4())}}
        result = await self.agent.ainvoke(text, config)
        return result["messages"][-1].content

    async def stream(self, text: str) -> Any:
        config = {"configurable": {"thread_id": str(uuid4())}}
        return [chunk async for chunk in self.agent.astream(text, config)][-1]

    async def ask(self) -> None:
        await self.send("ask", "questions")
        await self.send("the first", "questions")


if __name__ == "__main__":
    driver.main(LangChain())
