# SPDX-License-Identifier: Apache-2.0
"""google-adk: a remote agent as the root of a runner, over the SDK. No model is asked."""

from __future__ import annotations

from typing import Any

from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, Part

from tests.compat.programs import driver


class Adk:
    """Each message is a session of its own, but for a reply, which goes into the session of its question."""

    async def open(self, base: str, transport: str) -> None:
        agent = RemoteA2aAgent(name="lives", agent_card=f"{base}/.well-known/agent-card.json")
        self.runner = InMemoryRunner(agent)

    async def send(self, text: str, session_id: str = "") -> Any:
        if not session_id:
            session = await self.runner.session_service.create_session(app_name=self.runner.app_name, user_id="user")
            session_id = session.id
        message = Content(role="user", parts=[Part(text=text)])
        run = self.runner.run_async(user_id="user", session_id=session_id, new_message=message)
        self.session_id = session_id
        events = [event async for event in run]
        return [event.error_message or (event.content and event.content.parts[0].text) for event in events]

    async def ask(self) -> None:
        await self.send("ask")
        await self.send("the first", self.session_id)

    async def close(self) -> None:
        await self.runner.close()


if __name__ == "__main__":
    driver.main(Adk())
