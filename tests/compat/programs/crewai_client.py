# SPDX-License-Identifier: Apache-2.0
"""crewai: the delegation of work to a remote agent, over the SDK. Which agent gets it, a crew's model would decide."""

from __future__ import annotations

from typing import Any

from a2a.types import Task, TaskState, TaskStatus
from crewai.a2a.config import ClientTransportConfig
from crewai.a2a.updates import PollingConfig, PushNotificationConfig, StreamingConfig
from crewai.a2a.utils.delegation import aexecute_a2a_delegation

from tests.compat.programs import driver
from tests.compat.programs.receiving import Receiver


class Results:
    """The store in which a program of crewAI leaves what its web server is told."""

    def __init__(self, receiver: Receiver) -> None:
        self.receiver = receiver

    async def wait_for_result(self, task_id: str, timeout: float, poll_interval: float = 1.0) -> Task | None:
        await self.receiver.end_of(task_id)
        return Task(id=task_id, context_id=task_id, status=TaskStatus(state=TaskState.completed))


class CrewAI:
    """What a crew's agent does once it has chosen: a stream, or with ``PollingConfig`` a send and reads after it."""

    async def open(self, base: str, transport: str) -> None:
        self.card_url = f"{base}/.well-known/agent-card.json"
        self.transport = ClientTransportConfig(preferred=transport, supported=[transport])

    async def delegate(self, text: str, updates: Any = None, **more: Any) -> Any:
        return await aexecute_a2a_delegation(
            endpoint=self.card_url,
            auth=None,
            timeout=20,
            task_description=text,
            updates=updates or StreamingConfig(),
            transport=self.transport,
            **more,
        )

    async def send(self, text: str) -> Any:
        return await self.delegate(text)

    async def ask(self) -> None:
        question = await self.delegate("ask")
        last = question["history"][-1]
        await self.delegate("the first", task_id=last.task_id, context_id=last.context_id)

    async def poll(self) -> None:
        await self.delegate("work", PollingConfig(interval=0.1))

    async def webhook(self, receiver: Receiver) -> None:
        store = Results(receiver)
        webhook = PushNotificationConfig(url=receiver.url, token=receiver.token, result_store=store)
        result = await self.delegate("held", webhook)
        assert result["status"] is TaskState.completed, result


if __name__ == "__main__":
    driver.main(CrewAI())
