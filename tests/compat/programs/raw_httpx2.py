# SPDX-License-Identifier: Apache-2.0
"""No SDK: JSON-RPC written by hand, over httpx2."""

from __future__ import annotations

from typing import Any

import httpx2

from tests.compat.programs import driver, raw


class Raw(raw.Raw):
    """httpx2, asynchronous."""

    async def open(self, base: str, transport: str) -> None:
        self.http = httpx2.AsyncClient(timeout=20)
        card = (await self.http.get(base + raw.CARD_PATH)).json()
        self.url = card["url"]

    async def post(self, document: dict[str, Any]) -> Any:
        return (await self.http.post(self.url, json=document)).json()

    async def lines(self, document: dict[str, Any]) -> list[str]:
        async with self.http.stream("POST", self.url, json=document) as response:
            return [line async for line in response.aiter_lines()]

    async def close(self) -> None:
        await self.http.aclose()


if __name__ == "__main__":
    driver.main(Raw())
