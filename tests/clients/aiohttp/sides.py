# SPDX-License-Identifier: Apache-2.0
"""Programs on aiohttp, and the comparison of what they see with and without us.

A program is a coroutine that takes an ``AiohttpSide`` and writes what it sees to ``side.log``.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest

from tests.clients.loopback import OURS, PATIENCE, Script, Server
from tests.clients.recording import Recorder
from tests.clients.sides import CALL, Side, compare_runs, execute, watching, without_addresses


class AiohttpSide(Side):
    """aiohttp, with the log of what its program sees."""

    def __init__(self, server: Server) -> None:
        super().__init__(aiohttp, True, server)

    def session(self, kind: type[aiohttp.ClientSession] = aiohttp.ClientSession, **options: Any) -> Any:
        options.setdefault("timeout", aiohttp.ClientTimeout(total=PATIENCE))
        return kind(**options)

    async def opened(self, session: Any, path: str = "/", **options: Any) -> Any:
        """An A2A call whose answer is yet to be read."""
        return await session.post(self.url(path), json=CALL, **options)

    def look(self, response: Any, *, is_over: bool = True) -> None:
        """Write down everything a program can see of a response without reading it.

        ``is_over``: the response is read or closed. Until then the server decides when its connection is free.
        """
        content = response.content
        self.log += [
            (response.status, response.reason, str(response.url), str(response.real_url), response.version),
            [(name, value) for name, value in response.headers.items() if name.lower() != "date"],
            (response.method, response.ok, response.content_type, response.charset, response.host),
            [(past.status, str(past.url), past.closed) for past in response.history],
            (isinstance(content, aiohttp.StreamReader), bool(content), repr(response.cookies), response.links),
            sorted((name, value) for name, value in response.request_info.headers.items() if name.lower() not in OURS),
        ]
        if is_over:
            self.log.append((response.closed, response.connection is None))


def packed(pieces: list[bytes], *headers: str, end: bytes = b"0\r\n\r\n") -> Script:
    """Each piece as one HTTP chunk, and all in one packet: what one read gives does not depend on when it is done."""
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return lambda peer: peer.head("transfer-encoding: chunked", *headers, body=chunks + end)


def run(program: Any, server: Server, caplog: pytest.LogCaptureFixture) -> Recorder:
    """Run ``program`` without us, with a recorder and with the real operation, and require that nothing differs.

    What the recorder saw is returned.
    """

    def once() -> list[object]:
        side = AiohttpSide(server)
        # aiohttp warns of what was not closed; that must be the same too.
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            execute(program, side)
        side.log += sorted(f"{each.category.__name__}: {without_addresses(str(each.message))}" for each in warned)
        return [_without_ours(seen) for seen in side.log]

    return compare_runs(once, server, caplog)


def _without_ours(seen: Any) -> Any:
    """Exceptions of aiohttp tell the headers that were sent, and so the one that may differ."""
    if isinstance(seen, (tuple, list)):
        return [_without_ours(each) for each in seen]
    return re.sub(r"'traceparent': '[^']*', ", "", seen) if isinstance(seen, str) else seen


def record(side: AiohttpSide, program: Callable[[Any], Awaitable[None]], **options: Any) -> Recorder:
    """Run ``program``, which takes a session, with a recorder made with ``options``, and return it."""

    async def with_session(side: Any) -> None:
        async with side.session() as session:
            await program(session)

    with watching(Recorder(**options)) as recorder:
        execute(with_session, side)
    return recorder
