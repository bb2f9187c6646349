# SPDX-License-Identifier: Apache-2.0
"""agent-framework: a remote agent in place of a local one, over the SDK, which also fetches the card."""

from __future__ import annotations

from typing import Any

import httpx
from a2a.client import A2ACardResolver
from agent_framework.a2a import A2AAgent

from tests.compat.programs import driver


class AgentFramework:
    """A session carries the task that asked on to its answer; a message without one is a new task."""

    async def open(self, base: str, transport: str) -> None:
        self.http = httpx.AsyncClient(timeout=20)
        card = await A2ACardResolver(self.http, base).get_agent_card()
        self.agent = A2AAgent(agent_card=card, http_client=self.http, supported_protocol_bindings=[transport])

    async def send(self, text: str) -> Any:
        return await self.agent.run(text)

    async def stream(self, text: str) -> Any:
        return [update async for update in self.agent.run(text, stream=True)][-1]

    async def ask(self) -> None:
        session = self.agent.create_session()
        await self.agent.run("ask", session=session)
        await self.agent.run("the first", session=session)

    async def poll(self) -> None:
        started = await self.agent.run("slow", background=True)
        await self.agent.poll_task(started.continuation_token)

    async def close(self) -> None:
        await self.http.aclose()


if __name__ == "__main__":
    driver.main(AgentFramework())
