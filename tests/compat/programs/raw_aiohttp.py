# SPDX-License-Identifier: Apache-2.0
"""No SDK: JSON-RPC written by hand, over aiohttp."""

from __future__ import annotations

from typing import Any

import aiohttp

from tests.compat.programs import driver, raw


class Raw(raw.Raw):
    """aiohttp, with a session."""

    async def open(self, base: str, transport: str) -> None:
        self.http = aiohttp.ClientSession()
        async with self.http.get(base + raw.CARD_PATH) as response:
            self.url = (await response.json())["url"]

    async def post(self, document: dict[str, Any]) -> Any:
        async with self.http.post(self.url, json=document) as response:
            return await response.json()

    async def lines(self, document: dict[str, Any]) -> list[str]:
        async with self.http.post(self.url, json=document) as response:
            return [line.decode() async for line in response.content]

    async def close(self) -> None:
        await self.http.close()


if __name__ == "__main__":
    driver.main(Raw())
