# SPDX-License-Identifier: Apache-2.0
"""fasta2a: a thin JSON-RPC client over httpx."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from fasta2a.client import A2AClient
from fasta2a.schema import Message

from tests.compat.programs import driver


class FastA2A:
    """Its answers carry no task that its user could name again, so there is nothing to poll, answer or cancel."""

    async def open(self, base: str, transport: str) -> None:
        self.client = A2AClient(base, fetch_card=True)

    async def send(self, text: str) -> Any:
        return await self.client.send_message(message(text))

    async def stream(self, text: str) -> Any:
        return [event async for event in self.client.stream_message(message(text))][-1]

    async def close(self) -> None:
        await self.client.http_client.aclose()


def message(text: str) -> Message:
    return Message(role="user", parts=[{"text": text}], message_id=str(uuid4()))


if __name__ == "__main__":
    driver.main(FastA2A())
