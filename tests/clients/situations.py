# SPDX-License-Identifier: Apache-2.0
"""Programs by name, and what the stream programs have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.clients.loopback import PATIENCE, Peer, Server, chunked
from tests.clients.recording import Recorder
from tests.clients.sides import CALL, Side, compare

SSE = "content-type: text/event-stream"
EVENTS = [b'data: {"n": %d}\n\n' % n for n in range(3)]


class Situations(dict[str, Callable[[Any], Any]]):
    """Programs by name. A stream program also says how the operation ends that sees its first stream."""

    def __init__(self) -> None:
        super().__init__()
        self.endings: dict[str, str] = {}

    def __call__(self, ending: str = "") -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
        """Register a program; an empty ``ending`` leaves open how it ends."""

        def register(program: Callable[[Any], Any]) -> Callable[[Any], Any]:
            name = getattr(program, "__name__", "").replace("_", "-")
            self[name] = program
            self.endings[name] = ending
            return program

        return register

    def run(self, name: str, library: str, kind: str, server: Server, caplog: pytest.LogCaptureFixture) -> None:
        """Compare a stream program with and without us, against a server that streams three events."""
        server.scripts["/"] = chunked(EVENTS, SSE)
        self.check(name, compare(self[name], library, kind, server, caplog))

    def check(self, name: str, seen: Recorder) -> None:
        """The operation of the first stream has ended as it should."""
        reason, _ = seen.operations[0].settle() or ("", "")
        assert reason == (self.endings[name] or reason)


def patient(peer: Peer) -> None:
    """Two events, then nothing until the client goes away, which is signalled."""
    try:
        peer.head("transfer-encoding: chunked", SSE)
        # In one packet, so that no run can have the first without the second.
        peer.send(b"".join(b"%x\r\n%s\r\n" % (len(event), event) for event in EVENTS[:2]))
        peer.wait_for_hangup()
    finally:
        peer.server.signal("gone").set()


async def opened(side: Side, client: Any, path: str = "/") -> Any:
    return await side.do(client.send(client.build_request("POST", side.url(path), json=CALL), stream=True))


def gone(side: Side) -> bool:
    """The server has seen the connection close."""
    return side.server.signal("gone").wait(PATIENCE)


async def gone_soon(side: Side) -> bool:
    """``gone`` for a program whose event loop must turn for it."""
    return await asyncio.get_running_loop().run_in_executor(None, gone, side) if side.asynchronous else gone(side)
