# SPDX-License-Identifier: Apache-2.0
"""An application that talks to agents again and again, so that every metric moves; an ordinary program on httpx.

Gets the agents' URLs, and last one at which there is no agent. Each message says which states its task is to go
through (``tests.backends.agents``). Prints ``round N`` after each round, and ends with its standard input.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
from typing import Any

import httpx

CARD_PATH = "/.well-known/agent-card.json"
MAX_ROUNDS = 1000
SECONDS_BETWEEN_ROUNDS = 0.2

_numbers = itertools.count(1)
_ended = threading.Event()


def wait_for_the_end() -> None:
    """Notes that the standard input has ended, which is when whoever started this is gone."""
    sys.stdin.read()
    _ended.set()


class Remote:
    """An agent, spoken to in JSON-RPC."""

    def __init__(self, http: httpx.Client, base: str) -> None:
        self.http = http
        self.base = base

    def fetch_card(self) -> None:
        """Fetch the card, whatever comes of it."""
        self.http.get(self.base + CARD_PATH)

    def send(self, states: str, method: str = "SendMessage") -> str:
        """Have a task go through ``states``; returns its id, which is in the message's."""
        number = f"{self.base}-{next(_numbers)}"
        message = {"messageId": number, "role": "ROLE_USER", "parts": [{"text": states}]}
        self._call(method, {"message": message})
        return f"task-{number}"

    def get(self, task_id: str) -> None:
        """Ask for a task, which moves it one state on."""
        self._call("GetTask", {"id": task_id})

    def _call(self, method: str, params: dict[str, Any]) -> None:
        call = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}
        self.http.post(f"{self.base}/rpc", json=call, headers={"A2A-Version": "1.0"})


def leave_tasks_behind(remote: Remote) -> None:
    """Tasks that stay where they are: at work, until they count as stuck, or waiting for somebody."""
    remote.fetch_card()
    for states in ("SUBMITTED", "WORKING", "INPUT_REQUIRED", "AUTH_REQUIRED"):
        remote.send(states)


def go_round(remote: Remote) -> None:
    """Tasks that end well and badly, one that comes back to life, a call that fails, a card that changes and fails."""
    remote.fetch_card()
    for states in ("WORKING COMPLETED", "SUBMITTED FAILED", "COMPLETED WORKING"):
        remote.get(remote.send(states))
    remote.send("SUBMITTED WORKING COMPLETED", "SendStreamingMessage")
    remote.get("task-unknown")
    remote.fetch_card()
    remote.send("WORKING COMPLETED")


def main(urls: list[str], nowhere: str) -> None:
    threading.Thread(target=wait_for_the_end, daemon=True).start()
    with httpx.Client(timeout=10) as http:
        remotes = [Remote(http, url) for url in urls]
        for remote in remotes:
            leave_tasks_behind(remote)
        for number in range(1, MAX_ROUNDS):
            for remote in remotes:
                go_round(remote)
            with contextlib.suppress(httpx.ConnectError):
                Remote(http, nowhere).fetch_card()
            print(f"round {number}", flush=True)
            if _ended.wait(SECONDS_BETWEEN_ROUNDS):
                return


if __name__ == "__main__":
    main(sys.argv[1:-1], sys.argv[-1])
