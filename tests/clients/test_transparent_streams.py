# SPDX-License-Identifier: Apache-2.0
"""Streams that are read, left, closed, forgotten or broken: nothing differs from a run without us."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.clients.loopback import PATIENCE, Peer, Server, whole
from tests.clients.sides import CALL, Iterate, Side
from tests.clients.situations import EVENTS, SSE, Situations, gone_soon, opened, patient

streams = Situations()


@streams("eof")
async def drained(side: Side) -> None:
    async with side.open(side.client()) as client:
        for _ in range(2):
            async with side.open(client.stream("POST", side.url("/"), json=CALL)) as response:
                side.log += [line async for line in side.each(response)]
            side.look(response)
    assert len({received.connection for received in side.server.received}) == 1


@streams("eof")
async def drained_as_text_and_bytes(side: Side) -> None:
    async with side.open(side.client()) as client:
        for reader in ("iter_text", "iter_bytes"):
            async with side.open(client.stream("POST", side.url("/"), json=CALL)) as response:
                side.log += [item async for item in side.each(response, reader)]


@streams("closed-early")
async def left_at_the_first_line(side: Side) -> None:
    side.server.scripts["/"] = patient
    async with side.open(side.client()) as client:
        async with side.open(client.stream("POST", side.url("/"), json=CALL)) as response:
            async for line in side.each(response):
                side.log.append(line)
                break
        side.log.append(await gone_soon(side))
        side.look(response)


@streams("closed-early")
async def left_and_closed_by_hand(side: Side) -> None:
    side.server.scripts["/"] = patient
    async with side.open(side.client()) as client:
        response = await opened(side, client)
        lines = side.each(response)
        side.log.append(await lines.__anext__())
        await side.close(response)
        await side.close(response)
        side.log.append(await gone_soon(side))
        with side.noting():
            side.log.append([line async for line in lines])
        with side.noting():
            await side.do(side.method(response, "read")())
        side.look(response)


@streams("closed-early")
async def left_by_closing_the_generator(side: Side) -> None:
    side.server.scripts["/"] = patient
    async with side.open(side.client()) as client:
        response = await opened(side, client)
        lines = side.method(response, "iter_lines")()
        side.log.append(await lines.__anext__() if side.asynchronous else next(lines))
        await (lines.aclose() if side.asynchronous else side.do(lines.close()))
        side.look(response)
        await side.close(response)
        side.log.append(await gone_soon(side))


@streams("closed-early")
async def forgotten_half_way(side: Side) -> None:
    side.server.scripts["/"] = patient
    client = side.client()
    response = await opened(side, client)
    lines = side.each(response)
    side.log.append(await lines.__anext__())
    del response, lines
    gc.collect()
    if side.asynchronous:
        # The loop finalises one generator of the chain per turn.
        for _ in range(50):
            await asyncio.sleep(0)
    side.log.append(await gone_soon(side))
    with side.noting():
        # Older versions complain of the response that nobody has closed.
        await side.close(client)


@streams("closed-early")
async def never_read(side: Side) -> None:
    side.server.scripts["/"] = patient
    async with side.open(side.client()) as client:
        async with side.open(client.stream("POST", side.url("/"), json=CALL)) as response:
            side.look(response)
            with side.noting():
                side.log.append(response.content)
        side.look(response)
        side.log.append(await gone_soon(side))


@streams("closed-early")
async def never_read_and_forgotten(side: Side) -> None:
    side.server.scripts["/"] = patient
    client = side.client()
    response = await opened(side, client)
    side.look(response)
    del response
    gc.collect()
    with side.noting():
        # Older versions complain of the response that nobody has closed.
        await side.close(client)
    side.log.append(await gone_soon(side))


@streams("eof")
async def iterator_never_started(side: Side) -> None:
    async with side.open(side.client()) as client:
        response = await opened(side, client)
        unused = side.each(response)
        del unused
        iterator = aiter(response.stream) if side.asynchronous else iter(response.stream)
        del iterator
        side.log += [line async for line in side.each(response)]
        side.look(response)


@streams("eof")
async def read_twice(side: Side) -> None:
    async with side.open(side.client()) as client:
        response = await opened(side, client)
        side.log += [line async for line in side.each(response)]
        for name in ("iter_lines", "iter_raw"):
            with side.noting():
                [item async for item in side.each(response, name)]
        with side.noting():
            await side.do(side.method(response, "read")())
        side.look(response)


@streams("eof")
async def whole_after_a_part(side: Side) -> None:
    async with side.open(side.client()) as client:
        response = await opened(side, client)
        chunks = side.each(response, "iter_raw")
        side.log.append(await chunks.__anext__())
        with side.noting():
            await side.do(side.method(response, "read")())
        side.log += [chunk async for chunk in chunks]
        with side.noting(StopAsyncIteration):
            await chunks.__anext__()


@streams("eof")
async def bare_stream(side: Side) -> None:
    async with side.open(side.client()) as client:
        response = await opened(side, client)
        stream = response.stream
        iterator = Iterate(aiter(stream) if side.asynchronous else iter(stream))
        side.log += [chunk async for chunk in iterator]
        with side.noting(StopAsyncIteration):
            await iterator.__anext__()
        with side.noting():
            stream.no_such_attribute  # noqa: B018
        await side.close(response)
        side.look(response)


@streams("closed-early")
async def program_that_raises(side: Side) -> None:
    side.server.scripts["/"] = patient
    async with side.open(side.client()) as client:
        with side.noting():
            async with side.open(client.stream("POST", side.url("/"), json=CALL)) as response:
                async for line in side.each(response):
                    raise LookupError(line)
        side.look(response)
        side.log.append(await gone_soon(side))


@streams("closed-early")
async def program_that_raises_in_its_own_generator(side: Side) -> None:
    side.server.scripts["/"] = patient

    async def events(client: Any) -> AsyncGenerator[str, None]:
        async with side.open(client.stream("POST", side.url("/"), json=CALL)) as response:
            async for line in side.each(response):
                yield line

    async with side.open(side.client()) as client:
        lines = events(client)
        side.log.append(await lines.__anext__())
        with side.noting():
            await lines.athrow(LookupError("thrown"))
        side.log.append(await gone_soon(side))


@streams("ReadTimeout")
async def silence(side: Side) -> None:
    side.server.scripts["/"] = patient
    timeout = side.library.Timeout(PATIENCE, read=0.1)
    async with side.open(side.client(timeout=timeout)) as client:
        async with side.open(client.stream("POST", side.url("/"), json=CALL)) as response:
            with side.noting():
                async for line in side.each(response):
                    side.log.append(line)
            side.look(response)
        side.look(response)
        side.log.append(await gone_soon(side))


@streams("ReadError")
async def reset_by_the_server(side: Side) -> None:
    def script(peer: Peer) -> None:
        peer.head("transfer-encoding: chunked", SSE)
        peer.chunk(EVENTS[0])
        peer.wait("seen")
        peer.reset()

    side.server.scripts["/"] = script
    async with side.open(side.client()) as client:
        async with side.open(client.stream("POST", side.url("/"), json=CALL)) as response:
            with side.noting():
                async for line in side.each(response):
                    side.log.append(line)
                    side.server.signal("seen").set()
            side.look(response)
        side.look(response)


@streams("body")
async def read_by_a_hook(side: Side) -> None:
    def hook(response: Any) -> None:
        response.read()

    async def hook_async(response: Any) -> None:
        await response.aread()

    async with side.open(side.client(event_hooks={"response": [hook_async if side.asynchronous else hook]})) as client:
        response = await opened(side, client)
        side.look(response)
        side.log += [response.content, [line async for line in side.each(response)]]


@streams("closed-early")
async def closed_by_a_hook(side: Side) -> None:
    def hook(response: Any) -> None:
        response.close()

    async def hook_async(response: Any) -> None:
        await response.aclose()

    async with side.open(side.client(event_hooks={"response": [hook_async if side.asynchronous else hook]})) as client:
        response = await opened(side, client)
        side.look(response)
        with side.noting():
            [line async for line in side.each(response)]


@streams("eof")
async def behind_redirect_and_auth(side: Side) -> None:
    side.server.scripts["/a"] = whole(b"moved", "location: /", status="307 Temporary Redirect")
    async with side.open(side.client(follow_redirects=True, auth=("u", "p"))) as client:
        response = await opened(side, client, "/a")
        side.log += [line async for line in side.each(response)]
        side.look(response)


@streams("closed-early")
async def one_connection_only(side: Side) -> None:
    side.server.scripts["/"] = patient
    side.server.scripts["/other"] = whole(b"{}")
    async with side.open(side.client(limits=side.library.Limits(max_connections=1))) as client:
        response = await opened(side, client)
        with side.noting():
            await side.do(client.get(side.url("/other"), timeout=0.05))
        await side.close(response)
        side.look(await side.do(client.get(side.url("/other"))))


@streams("eof")
async def two_at_once(side: Side) -> None:
    async with side.open(side.client()) as client:
        streams = [side.each(await opened(side, client)) for _ in range(2)]
        for _ in range(3):
            side.log += [await stream.__anext__() for stream in streams]
        for stream in reversed(streams):
            side.log += [line async for line in stream]


@pytest.mark.parametrize("name", streams)
def test_streams_go_as_without_us(
    name: str, library: str, kind: str, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """What the program gets and catches, and when the server loses it, are equal; the end is told rightly."""
    streams.run(name, library, kind, server, caplog)
