# SPDX-License-Identifier: Apache-2.0
"""Whatever a server sends and however a program reads it, the program sees the same with us as without us."""

from __future__ import annotations

import pytest

from tests.clients.bodies import BODIES
from tests.clients.loopback import Server
from tests.clients.sides import CALL, Program, Side, compare


async def by_get(side: Side) -> None:
    async with side.open(side.client()) as client:
        with side.noting():
            response = await side.do(client.get(side.url("/")))
            side.look(response)
            side.log += [response.content, response.text]
            side.log.append(response.json())


def by_stream(name: str, *args: object) -> Program:
    async def program(side: Side) -> None:
        async with side.open(side.client()) as client:
            with side.noting():
                async with side.open(client.stream("POST", side.url("/"), json=CALL)) as response:
                    side.look(response)
                    with side.noting():
                        if name == "read":
                            side.log.append(await side.do(side.method(response, "read")()))
                        else:
                            items = [item async for item in side.each(response, name, *args)]
                            # Where a body spans several packets, the network decides how it falls into pieces.
                            side.log += items if len(items) < 200 else [items[0][:0].join(items)]
                    side.look(response)
                side.look(response)

    return program


READERS = {
    "get": by_get,
    "read": by_stream("read"),
    "lines": by_stream("iter_lines"),
    "bytes-by-7": by_stream("iter_bytes", 7),
    "raw": by_stream("iter_raw"),
}


@pytest.mark.parametrize("body", BODIES)
def test_every_reader_sees_every_body_as_without_us(
    body: str, library: str, kind: str, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """Bytes, text, exceptions and everything else that a response tells are equal, however the body is read."""
    server.scripts["/"] = BODIES[body]
    for reader, program in READERS.items():
        if "big" in body and reader != "get" and reader != "read":
            continue
        seen = compare(program, library, kind, server, caplog)
        assert len(seen.operations) == 1, reader
