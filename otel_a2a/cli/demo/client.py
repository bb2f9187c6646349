# SPDX-License-Identifier: Apache-2.0
"""The application of the demo: an ordinary a2a-sdk program. It knows nothing of otel-a2a, nor of OpenTelemetry.

It asks an agent to charge an order, follows the task, and recovers as much code does: where the stream breaks, it
fetches the card again and looks the task up; a task that is "submitted", or that cannot be read, it takes for not
started, and sends its message once more. With ``--stop-at-first-error`` it does not recover from a failed look-up.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

import httpx
from a2a.client import A2ACardResolver, A2AClientError, AgentCardResolutionError, Client, ClientConfig, ClientFactory
from a2a.helpers import get_message_text, new_text_message
from a2a.types import AgentCard, GetTaskRequest, Role, SendMessageRequest, StreamResponse, Task, TaskState

RESTART_SECONDS = 60.0


def say(text: str) -> None:
    print(text, flush=True)


def name(state: TaskState) -> str:
    return str(TaskState.Name(state)).removeprefix("TASK_STATE_").lower()


class Checkout:
    """One order at one agent."""

    def __init__(self, http: httpx.AsyncClient, url: str, order: str, resume_after_errors: bool = True) -> None:
        self.http = http
        self.url = url
        self.order = order
        self.resume_after_errors = resume_after_errors
        self.task_id = ""
        self.context_id = ""
        self.state = TaskState.TASK_STATE_UNSPECIFIED

    async def run(self) -> None:
        """Has the order charged."""
        agent = await self.connect()
        if not await self.is_followed_to_its_end(agent):
            agent = await self.connect()
            if await self.is_to_be_resumed(agent):
                await self.send(agent)
        say(f"done: the order is {name(self.state)}")

    async def is_followed_to_its_end(self, agent: Client) -> bool:
        """Sends the order and follows its task; False where the connection broke on the way."""
        try:
            await self.send(agent)
        except A2AClientError as error:
            say(f"! the stream broke: {error}")
            return False
        return True

    async def connect(self) -> Client:
        """Fetches the card, with patience for an agent that restarts."""
        give_up = time.monotonic() + RESTART_SECONDS
        while True:
            try:
                card = await A2ACardResolver(self.http, self.url).get_agent_card()
                break
            except AgentCardResolutionError:
                if time.monotonic() > give_up:
                    raise
                await asyncio.sleep(0.25)
        say(describe(card))
        return ClientFactory(ClientConfig(httpx_client=self.http)).create(card)

    async def send(self, agent: Client) -> None:
        """Sends the order, into its task where there is one."""
        into = f" into task {self.task_id}" if self.task_id else ""
        say(f'> "{self.order}"{into}')
        message = new_text_message(
            self.order, role=Role.ROLE_USER, task_id=self.task_id or None, context_id=self.context_id or None
        )
        async for event in agent.send_message(SendMessageRequest(message=message)):
            self.take(event)

    async def is_to_be_resumed(self, agent: Client) -> bool:
        """Looks the task up. "Submitted" means that nobody has started on it: our message must have been lost."""
        try:
            task = await agent.get_task(GetTaskRequest(id=self.task_id))
        except Exception as error:
            if not self.resume_after_errors:
                raise
            say(f"! the task cannot be read ({type(error).__name__}), so the order is sent again")
            return True
        self.take(task)
        return self.state == TaskState.TASK_STATE_SUBMITTED

    def take(self, news: StreamResponse | Task) -> None:
        """Notes what the agent says about the task."""
        update = news.status_update if isinstance(news, StreamResponse) else None
        if isinstance(news, Task) or news.HasField("task"):
            task = news if isinstance(news, Task) else news.task
            self.task_id, self.context_id, self.state = task.id, task.context_id, task.status.state
            say(f"< task {self.task_id} is {name(self.state)}")
        elif update is not None and news.HasField("status_update"):
            self.state = update.status.state
            text = get_message_text(update.status.message)
            say(f"< {name(self.state)}" + (f": {text}" if text else ""))


def describe(card: AgentCard) -> str:
    skills = ", ".join(skill.id for skill in card.skills)
    return f"card of {card.name} {card.version}: streaming {card.capabilities.streaming}, skills {skills}"


async def main(arguments: argparse.Namespace) -> None:
    async with httpx.AsyncClient(timeout=30) as http:
        await Checkout(http, arguments.url, arguments.order, not arguments.stop_at_first_error).run()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Has an order charged by a payment agent.")
    parser.add_argument("url")
    parser.add_argument("--order", default="charge order 4711: 42.00 EUR")
    parser.add_argument("--stop-at-first-error", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(parse())))
