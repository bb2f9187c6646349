# SPDX-License-Identifier: Apache-2.0
"""Streams that are left, closed, forgotten, cancelled or broken: nothing differs, and the end is told rightly."""

from __future__ import annotations

import asyncio
import gc
import warnings
import weakref
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from tests.clients.aiohttp.sides import AiohttpSide, packed, run
from tests.clients.loopback import PATIENCE, Peer, Server, whole
from tests.clients.sides import CALL, within
from tests.clients.situations import EVENTS, SSE, Situations, gone_soon, patient

streams = Situations()
forgotten: list[object] = []


@streams("closed-early")
async def left_at_the_first_line(side: AiohttpSide) -> None:
    async with side.session() as session:
        async with session.post(side.url("/"), json=CALL) as response:
            async for line in response.content:
                side.log.append(line)
                break
        side.look(response)
        side.log.append(await gone_soon(side))
        with side.noting():
            await response.content.readany()


@streams("closed-early")
async def closed_by_hand(side: AiohttpSide) -> None:
    async with side.session() as session:
        response = await side.opened(session)
        side.log.append(await response.content.readline())
        response.close()
        response.close()
        side.look(response)
        side.log.append(await gone_soon(side))
        with side.noting():
            await response.content.readline()
        with side.noting():
            await response.text()


@streams("closed-early")
async def released_by_hand(side: AiohttpSide) -> None:
    async with side.session() as session:
        response = await side.opened(session)
        side.log.append(await response.content.readany())
        side.log.append(await response.release())
        await response.wait_for_close()
        side.look(response)
        side.log.append(await gone_soon(side))


@streams("closed-early")
async def never_read(side: AiohttpSide) -> None:
    async with side.session() as session:
        async with session.post(side.url("/"), json=CALL) as response:
            side.log.append(response.status)
        side.look(response)
        side.log.append(await gone_soon(side))


@streams("closed-early")
async def never_read_and_forgotten(side: AiohttpSide) -> None:
    session = side.session()
    response = await side.opened(session)
    side.log.append(response.status)
    del response
    gc.collect()
    await session.close()
    side.log.append(await gone_soon(side))


@streams("closed-early")
async def forgotten_until_the_server_hangs_up(side: AiohttpSide) -> None:
    side.server.scripts["/"] = broken_by(Peer.close)
    session = side.session()
    response = await side.opened(session)
    side.log.append(await response.content.readline())
    # The connection keeps it alive.
    alive = weakref.ref(response)
    del response
    gc.collect()
    side.log.append(alive() is not None)
    side.server.signal("seen").set()
    for _ in range(1000):
        if alive() is None:
            break
        await asyncio.sleep(0.01)
    side.log.append(alive() is None)
    await session.close()


@streams("closed-early")
async def only_the_content_is_kept(side: AiohttpSide) -> None:
    async with side.session() as session:
        content = (await side.opened(session)).content
        gc.collect()
        side.log += [await content.readline(), await content.readany()]
    side.log.append(await gone_soon(side))


@streams("closed-early")
async def session_closed_meanwhile(side: AiohttpSide) -> None:
    session = side.session()
    response = await side.opened(session)
    side.log.append(await response.content.readany())
    await session.close()
    side.log.append(await gone_soon(side))
    response.close()
    side.look(response)


@streams()
async def session_closed_under_a_reader(side: AiohttpSide) -> None:
    session = side.session()
    response = await side.opened(session)
    side.log.append(await response.content.readany())
    reader = asyncio.create_task(response.content.readany())
    await asyncio.sleep(0)
    await session.close()
    # aiohttp lets it wait.
    with side.noting():
        await asyncio.wait_for(reader, 0.1)
    response.close()
    side.look(response)


@streams("closed-early")
async def response_closed_under_a_reader(side: AiohttpSide) -> None:
    async with side.session() as session:
        response = await side.opened(session)
        side.log.append(await response.content.readany())
        reader = asyncio.create_task(response.content.readany())
        await asyncio.sleep(0)
        response.close()
        with side.noting():
            await within(reader)
        side.look(response)


@streams("closed-early")
async def program_that_raises(side: AiohttpSide) -> None:
    async with side.session() as session:
        with side.noting():
            async with session.post(side.url("/"), json=CALL) as response:
                async for line in response.content:
                    raise LookupError(line)
        side.look(response)
        side.log.append(await gone_soon(side))


@streams("CancelledError")
async def cancelled_reader(side: AiohttpSide) -> None:
    waiting = asyncio.Event()

    async def read(session: Any) -> None:
        async with session.post(side.url("/"), json=CALL) as response:
            async for line in response.content:
                side.log.append(line)
                if line == EVENTS[1][:-1]:
                    waiting.set()

    async with side.session() as session:
        task = asyncio.create_task(read(session))
        await within(waiting.wait())
        # It must wait for the network, not for its turn.
        await asyncio.sleep(0.02)
        task.cancel("enough")
        with side.noting(asyncio.CancelledError):
            await task
        side.log.append(await gone_soon(side))
        side.server.scripts["/other"] = whole(b"{}")
        side.look(await session.get(side.url("/other")), is_over=False)


@streams("CancelledError")
async def cancelled_while_reading_it_whole(side: AiohttpSide) -> None:
    async with side.session() as session:
        response = await side.opened(session)
        task = asyncio.create_task(response.read())
        await asyncio.sleep(0.02)
        task.cancel()
        with side.noting(asyncio.CancelledError):
            await task
        side.look(response)
        side.log.append(await gone_soon(side))


@streams("CancelledError")
async def cancelled_before_the_head(side: AiohttpSide) -> None:
    def script(peer: Peer) -> None:
        peer.server.signal("arrived").set()
        peer.wait_for_hangup()
        peer.server.signal("gone").set()

    side.server.scripts["/"] = script
    async with side.session() as session:
        task = asyncio.create_task(side.opened(session))
        await asyncio.get_running_loop().run_in_executor(None, side.server.signal("arrived").wait, PATIENCE)
        task.cancel()
        with side.noting(asyncio.CancelledError):
            await task
    # Older versions keep the connection until then.
    side.log.append(await gone_soon(side))


@streams("CancelledError")
async def out_of_time(side: AiohttpSide) -> None:
    async def read(session: Any) -> None:
        async with session.post(side.url("/"), json=CALL) as response:
            async for line in response.content:
                side.log.append(line)

    async with side.session() as session:
        with side.noting(asyncio.TimeoutError):
            await asyncio.wait_for(read(session), 0.2)
        side.log.append(await gone_soon(side))


@streams("eof")
async def single_reads_that_are_given_up(side: AiohttpSide) -> None:
    def script(peer: Peer) -> None:
        peer.head("transfer-encoding: chunked", SSE)
        peer.chunk(EVENTS[0])
        peer.wait("next")
        peer.chunk(EVENTS[1])
        peer.last_chunk()

    side.server.scripts["/"] = script
    async with side.session() as session, session.post(side.url("/"), json=CALL) as response:
        side.log.append(await response.content.readuntil(b"\n\n"))
        for _ in range(2):
            with side.noting(asyncio.TimeoutError):
                await asyncio.wait_for(response.content.readany(), 0.02)
        side.server.signal("next").set()
        side.log.append(await response.content.read())


@streams("SocketTimeoutError" if hasattr(aiohttp, "SocketTimeoutError") else "ServerTimeoutError")
async def silence(side: AiohttpSide) -> None:
    async with side.session(timeout=aiohttp.ClientTimeout(sock_read=0.1)) as session:
        with side.noting():
            async with session.post(side.url("/"), json=CALL) as response:
                async for line in response.content:
                    side.log.append(line)
        side.look(response)
        side.log.append(await gone_soon(side))


@streams("TimeoutError")
async def too_slow_in_all(side: AiohttpSide) -> None:
    async with side.session(timeout=aiohttp.ClientTimeout(total=0.2)) as session:
        with side.noting():
            async with session.post(side.url("/"), json=CALL) as response:
                async for line in response.content:
                    side.log.append(line)
        side.look(response)
        side.log.append(await gone_soon(side))


def broken_by(end: Any) -> Any:
    def script(peer: Peer) -> None:
        peer.head("transfer-encoding: chunked", SSE)
        peer.chunk(EVENTS[0])
        peer.wait("seen")
        end(peer)

    return script


async def _until_broken(side: AiohttpSide, end: Any) -> None:
    side.server.scripts["/"] = broken_by(end)
    async with side.session() as session:
        with side.noting():
            async with session.post(side.url("/"), json=CALL) as response:
                async for line in response.content:
                    side.log.append(line)
                    side.server.signal("seen").set()
        side.look(response)


@streams("ClientPayloadError")
async def hung_up_by_the_server(side: AiohttpSide) -> None:
    await _until_broken(side, Peer.close)


@streams()
async def reset_by_the_server(side: AiohttpSide) -> None:
    await _until_broken(side, Peer.reset)


@streams("closed-early")
async def broken_and_not_read_on(side: AiohttpSide) -> None:
    side.server.scripts["/"] = broken_by(Peer.close)
    async with side.session() as session:
        async with session.post(side.url("/"), json=CALL) as response:
            side.log.append(await response.content.readuntil(b"\n\n"))
            side.server.signal("seen").set()
            while response.content.exception() is None:
                await asyncio.sleep(0.001)
        side.look(response)
        with side.noting():
            await response.read()


@streams("closed-early")
async def generator_of_the_program_closed(side: AiohttpSide) -> None:
    async with side.session() as session:
        lines = _events(side, session)
        side.log.append(await lines.__anext__())
        await lines.aclose()  # type: ignore[attr-defined]
        side.log.append(await gone_soon(side))


@streams("closed-early")
async def generator_of_the_program_thrown_into(side: AiohttpSide) -> None:
    async with side.session() as session:
        lines = _events(side, session)
        side.log.append(await lines.__anext__())
        with side.noting():
            await lines.athrow(LookupError("thrown"))  # type: ignore[attr-defined]
        side.log.append(await gone_soon(side))


@streams("closed-early")
async def generator_of_the_program_forgotten(side: AiohttpSide) -> None:
    async with side.session() as session:
        lines = _events(side, session)
        side.log.append(await lines.__anext__())
        del lines
        gc.collect()
        for _ in range(50):
            await asyncio.sleep(0)
        side.log.append(await gone_soon(side))


@streams("closed-early")
async def generator_of_the_program_left_to_the_loop(side: AiohttpSide) -> None:
    # What the loop complains of at its end depends on the order of addresses, with and without us.
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    session = side.session()
    lines = _events(side, session)
    forgotten.append(lines)
    side.log.append(await lines.__anext__())


async def _events(side: AiohttpSide, session: Any) -> AsyncIterator[bytes]:
    async with session.post(side.url("/"), json=CALL) as response:
        async for line in response.content:
            yield line


@streams("eof")
async def each_step_in_another_task(side: AiohttpSide) -> None:
    side.server.scripts["/"] = packed(EVENTS, SSE)
    async with side.session() as session:
        response = await side.opened(session)
        lines = aiter(response.content)

        async def step() -> bytes:
            line: bytes = await lines.__anext__()
            return line

        for _ in range(6):
            side.log.append(await asyncio.create_task(step()))
        with side.noting(StopAsyncIteration):
            await lines.__anext__()


@streams()
async def two_readers_of_one_stream(side: AiohttpSide) -> None:
    async with side.session() as session, session.post(side.url("/"), json=CALL) as response:
        side.log.append(await response.content.readany())
        first = asyncio.create_task(response.content.readany())
        await asyncio.sleep(0)
        with side.noting(RuntimeError):
            await response.content.readany()
        response.close()
        with side.noting():
            await first


@streams("eof")
async def a_line_that_is_too_long(side: AiohttpSide) -> None:
    side.server.scripts["/"] = packed([b"data: " + b"x" * 40_000 + b"\n\n", EVENTS[0]], SSE)
    async with side.session(read_bufsize=256) as session, session.post(side.url("/"), json=CALL) as response:
        with side.noting():
            await response.content.readline()
        side.log.append(await response.content.read())


@streams("eof")
async def many_at_once(side: AiohttpSide) -> None:
    side.server.scripts["/"] = packed(EVENTS, SSE)

    async def read(session: Any) -> list[bytes]:
        async with session.post(side.url("/"), json=CALL) as response:
            return [line async for line in response.content]

    async with side.session() as session:
        side.log += await asyncio.gather(*(read(session) for _ in range(8)))
    side.server.received.clear()


@streams("eof")
async def one_connection_after_another(side: AiohttpSide) -> None:
    side.server.scripts["/"] = packed(EVENTS, SSE)
    async with side.session(connector=aiohttp.TCPConnector(limit=1)) as session:
        for _ in range(3):
            async with session.post(side.url("/"), json=CALL) as response:
                side.log.append([line async for line in response.content])
        response = await side.opened(session)
        response.close()
        side.log.append(await (await side.opened(session)).read())


@pytest.mark.parametrize("name", streams)
def test_streams_end_as_without_us(name: str, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """What the program gets and catches, and when the server loses it, are equal; the end is told rightly."""
    server.scripts["/"] = patient
    try:
        streams.check(name, run(streams[name], server, caplog))
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            forgotten.clear()
            gc.collect()
