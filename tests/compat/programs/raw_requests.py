# SPDX-License-Identifier: Apache-2.0
"""No SDK: JSON-RPC written by hand, over requests."""

from __future__ import annotations

from typing import Any

import requests

from tests.compat.programs import driver, raw


class Raw(raw.Raw):
    """requests, with a session."""

    async def open(self, base: str, transport: str) -> None:
        self.http = requests.Session()
        self.url = self.http.get(base + raw.CARD_PATH, timeout=20).json()["url"]

    async def post(self, document: dict[str, Any]) -> Any:
        return self.http.post(self.url, json=document, timeout=20).json()

    async def lines(self, document: dict[str, Any]) -> list[str]:
        with self.http.post(self.url, json=document, timeout=20, stream=True) as response:
            return list(response.iter_lines(decode_unicode=True))

    async def close(self) -> None:
        self.http.close()


if __name__ == "__main__":
    driver.main(Raw())
