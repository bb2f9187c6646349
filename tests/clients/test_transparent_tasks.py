# SPDX-License-Identifier: Apache-2.0
"""Streams in threads, tasks and generators of the program, cancelled or left to the loop: nothing differs either."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.clients.loopback import PATIENCE, Peer, Server, whole
from tests.clients.sides import CALL, Side, within
from tests.clients.situations import Situations, gone, gone_soon, opened, patient

synchronous = Situations()
asynchronous = Situations()
forgotten: list[object] = []


@synchronous("eof")
async def passed_between_threads(side: Side) -> None:
    with side.client() as client:
        response = client.send(client.build_request("POST", side.url("/"), json=CALL), stream=True)
        lines = response.iter_lines()
        for _ in range(6):
            reader = threading.Thread(target=lambda: side.log.append(next(lines)))
            reader.start()
            reader.join()
        side.log += list(lines)


@synchronous("closed-early")
async def generator_of_the_program_forgotten(side: Side) -> None:
    side.server.scripts["/"] = patient

    def events(client: Any) -> Iterator[str]:
        with client.stream("POST", side.url("/"), json=CALL) as response:
            yield from response.iter_lines()

    with side.client() as client:
        lines = events(client)
        side.log.append(next(lines))
        del lines
        side.log.append(gone(side))


@synchronous("closed-early")
async def thrown_into(side: Side) -> None:
    side.server.scripts["/"] = patient
    with side.client() as client:
        response = client.send(client.build_request("POST", side.url("/"), json=CALL), stream=True)
        lines = response.iter_lines()
        side.log.append(next(lines))
        with side.noting():
            lines.throw(LookupError("thrown"))
        side.look(response)
        response.close()


@asynchronous("CancelledError")
async def cancelled_reader(side: Side) -> None:
    side.server.scripts["/"] = patient

    async def read(client: Any) -> None:
        async with client.stream("POST", side.url("/"), json=CALL) as response:
            async for line in response.aiter_lines():
                side.log.append(line)
                if len(side.log) == 4:
                    waiting.set()

    waiting = asyncio.Event()
    async with side.client() as client:
        task = asyncio.create_task(read(client))
        await within(waiting.wait())
        # It must wait for the network, not for its turn.
        await asyncio.sleep(0.02)
        task.cancel()
        with side.noting(asyncio.CancelledError):
            await task
        side.log.append(await gone_soon(side))
        side.server.scripts["/other"] = whole(b"{}")
        side.look(await client.get(side.url("/other")))


@asynchronous("CancelledError")
async def cancelled_before_the_head(side: Side) -> None:
    def script(peer: Peer) -> None:
        peer.server.signal("arrived").set()
        peer.wait_for_hangup()
        peer.server.signal("gone").set()

    side.server.scripts["/"] = script
    async with side.client() as client:
        task = asyncio.create_task(client.post(side.url("/"), json=CALL))
        await asyncio.get_running_loop().run_in_executor(None, side.server.signal("arrived").wait, PATIENCE)
        task.cancel("enough")
        with side.noting(asyncio.CancelledError):
            await task
        side.log.append(await gone_soon(side))


@asynchronous("CancelledError")
async def out_of_time(side: Side) -> None:
    side.server.scripts["/"] = patient

    async def read(client: Any) -> None:
        async with client.stream("POST", side.url("/"), json=CALL) as response:
            async for line in response.aiter_lines():
                side.log.append(line)

    async with side.client() as client:
        with side.noting(asyncio.TimeoutError):
            await asyncio.wait_for(read(client), 0.2)
        side.log.append(await gone_soon(side))


@asynchronous("")
async def closed_by_another_task(side: Side) -> None:
    side.server.scripts["/"] = patient

    async def read(response: Any) -> None:
        async for line in response.aiter_lines():
            side.log.append(line)
            if len(side.log) == 4:
                waiting.set()

    waiting = asyncio.Event()
    async with side.client() as client:
        response = await opened(side, client)
        task = asyncio.create_task(read(response))
        await within(waiting.wait())
        await asyncio.sleep(0.02)
        await response.aclose()
        with side.noting(BaseException):
            await within(task)
        side.look(response)
        side.log.append(await gone_soon(side))


@asynchronous("closed-early")
async def forgotten_until_the_loop_ends(side: Side) -> None:
    side.server.scripts["/"] = patient

    async def events(client: Any) -> AsyncIterator[str]:
        async with client.stream("POST", side.url("/"), json=CALL) as response:
            async for line in response.aiter_lines():
                yield line

    # The loop closes all generators of the chain at once, in the order of their addresses; what it complains about then
    # differs from run to run, with and without us.
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    lines = events(side.client())
    forgotten.append(lines)
    side.log.append(await lines.__anext__())


@asynchronous("eof")
async def each_step_in_another_task(side: Side) -> None:
    async with side.client() as client:
        response = await opened(side, client)
        lines = response.aiter_lines()

        async def step() -> str:
            line: str = await lines.__anext__()
            return line

        for _ in range(6):
            side.log.append(await asyncio.create_task(step()))
        with side.noting(StopAsyncIteration):
            await lines.__anext__()


@asynchronous("eof")
async def many_at_once(side: Side) -> None:
    async def read(client: Any) -> list[str]:
        async with client.stream("POST", side.url("/"), json=CALL) as response:
            return [line async for line in response.aiter_lines()]

    async with side.client() as client:
        side.log += await asyncio.gather(*(read(client) for _ in range(8)))
    side.server.received.clear()


@asynchronous("LookupError")
async def asynchronous_generator_methods(side: Side) -> None:
    side.server.scripts["/"] = patient
    async with side.client() as client:
        response = await opened(side, client)
        chunks = aiter(response.stream)
        side.log += [await chunks.__anext__(), await chunks.asend(None)]
        with side.noting():
            await chunks.athrow(LookupError("thrown"))
        with side.noting(StopAsyncIteration):
            await chunks.__anext__()
        await chunks.aclose()
        await response.aclose()
        side.look(response)
        side.log.append(await gone_soon(side))


@pytest.mark.parametrize("name", synchronous)
def test_streams_of_synchronous_programs_go_as_without_us(
    name: str, library: str, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """What only a synchronous program can do."""
    synchronous.run(name, library, "sync", server, caplog)


@pytest.mark.parametrize("name", asynchronous)
def test_streams_of_asynchronous_programs_go_as_without_us(
    name: str, library: str, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """What only an asynchronous program can do: tasks, cancellation, generators left to the loop."""
    asynchronous.run(name, library, "async", server, caplog)
