# SPDX-License-Identifier: Apache-2.0
"""The demo's application, which after its first order begins a new conversation with the very same words."""

from __future__ import annotations

import asyncio
import sys

import httpx

from otel_a2a.cli.demo.client import Checkout, name

ORDER = "charge order 4711: 42.00 EUR"


async def main(url: str) -> None:
    async with httpx.AsyncClient(timeout=30) as http:
        try:
            await Checkout(http, url, ORDER).run()
        except RuntimeError as error:
            print(f"refused: {type(error).__name__}")
        again = Checkout(http, url, ORDER)
        again.context_id = "another-conversation"
        await again.send(await again.connect())
        print(f"second conversation: {name(again.state)}")


asyncio.run(main(sys.argv[1]))
