# SPDX-License-Identifier: Apache-2.0
"""python-a2a: the draft before A2A 0.2, over requests."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from python_a2a import A2AClient, Message, MessageRole, Task, TextContent

from tests.compat.programs import driver


class PythonA2A:
    """``ask`` is what most of its users call; tasks with ids of their own are made by hand."""

    async def open(self, base: str, transport: str) -> None:
        self.client = A2AClient(base)

    async def send(self, text: str) -> Any:
        return self.client.ask(text)

    async def send_task(self, text: str, task_id: str) -> None:
        message = Message(content=TextContent(text=text), role=MessageRole.USER)
        await self.client.send_task_async(Task(id=task_id, message=message.to_dict()))

    async def ask(self) -> None:
        task_id = str(uuid4())
        await self.send_task("ask", task_id)
        await self.send_task("the first", task_id)

    async def poll(self) -> None:
        task_id = str(uuid4())
        await self.send_task("work", task_id)
        self.client.get_task(task_id)

    async def cancel(self) -> None:
        task_id = str(uuid4())
        await self.send_task("slow", task_id)
        self.client.cancel_task(task_id)


if __name__ == "__main__":
    driver.main(PythonA2A())
