# SPDX-License-Identifier: Apache-2.0
"""An ordinary a2a-sdk client: fetches an agent's card, sends one message, prints what comes back."""

from __future__ import annotations

import asyncio
import sys

from a2a.client import create_client
from a2a.helpers import get_stream_response_text, new_text_message
from a2a.types import Role, SendMessageRequest


async def main(url: str) -> None:
    async with await create_client(url) as agent:
        request = SendMessageRequest(message=new_text_message("hello", role=Role.ROLE_USER))
        async for event in agent.send_message(request):
            print(event.WhichOneof("payload"), get_stream_response_text(event))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:9999"))
