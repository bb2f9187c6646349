# SPDX-License-Identifier: Apache-2.0
"""The client of a2a-sdk, as an application uses it: messages, looks at a task until it is in a state, cancels."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any
from uuid import uuid4

import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.types import CancelTaskRequest, GetTaskRequest, Message, Part, Role, SendMessageRequest, Task, TaskState

SECONDS = 10
PAUSE = 0.05
"""Between two looks, in seconds."""


class Caller:
    """The SDK's clients of one agent over one binding, streaming or not; ``calls`` is how many calls they have made."""

    def __init__(self, http: httpx.AsyncClient, card: Any, binding: str) -> None:
        self._http, self._card, self._binding = http, card, binding
        self.calls = 0

    async def say(self, text: str, *, streaming: bool, task_id: str = "", context_id: str = "") -> AsyncIterator[Any]:
        """The events that answer a message."""
        message = Message(message_id=str(uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)])
        message.task_id, message.context_id = task_id, context_id
        self.calls += 1
        async for event in self._client(streaming=streaming).send_message(SendMessageRequest(message=message)):
            yield event

    async def send(self, text: str, *, streaming: bool, task_id: str = "", context_id: str = "") -> str:
        """Say something and read all of the answer; the id of the task that it is about."""
        said = self.say(text, streaming=streaming, task_id=task_id, context_id=context_id)
        tasks = [task_of(event) async for event in said]
        return tasks[0]

    async def until(self, task_id: str, state: TaskState) -> Task:
        """The task as soon as it is in this state: an agent may answer a message before it has done its work."""
        latest = monotonic() + SECONDS
        while True:
            self.calls += 1
            task = await self._client(streaming=False).get_task(GetTaskRequest(id=task_id))
            if task.status.state == state:
                return task
            assert monotonic() < latest, f"{TaskState.Name(task.status.state)}, and not {TaskState.Name(state)}"
            await asyncio.sleep(PAUSE)

    async def cancel(self, task_id: str) -> Task:
        """The task, canceled."""
        self.calls += 1
        return await self._client(streaming=False).cancel_task(CancelTaskRequest(id=task_id))

    def _client(self, *, streaming: bool) -> Client:
        config = ClientConfig(httpx_client=self._http, streaming=streaming, supported_protocol_bindings=[self._binding])
        return ClientFactory(config).create(self._card)


@asynccontextmanager
async def calling(base: str, binding: str) -> AsyncIterator[Caller]:
    """A caller of the agent at this URL, with its card."""
    async with httpx.AsyncClient(timeout=SECONDS) as http:
        yield Caller(http, await A2ACardResolver(http, base).get_agent_card(), binding)


def task_of(event: Any) -> str:
    """The id of the task that an event is about: agents on the SDK for Java begin a stream with a status."""
    return str(event.task.id or event.status_update.task_id)
