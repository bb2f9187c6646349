# SPDX-License-Identifier: Apache-2.0
"""What an operation refuses over aiohttp: before the request, instead of the answer, at the end and amid a stream."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest

from tests.clients.aiohttp.sides import AiohttpSide, packed, record
from tests.clients.loopback import Peer, Server, whole
from tests.clients.sides import CALL
from tests.clients.situations import EVENTS, SSE

JSON = "content-type: application/json"


class Refused(RuntimeError):
    """Stands for a policy error."""


@pytest.fixture
def side(server: Server) -> AiohttpSide:
    server.scripts["/"] = packed(EVENTS, SSE)
    return AiohttpSide(server)


def test_refused_request_never_leaves(side: AiohttpSide) -> None:
    """What ``begin`` raises reaches the program, and the server hears nothing."""

    async def program(session: Any) -> None:
        with pytest.raises(Refused):
            await session.post(side.url("/"), json=CALL)

    record(side, program, refuses=Refused())
    assert side.server.received == []


WHOLE: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "read": lambda response: response.read(),
    "text": lambda response: response.text(),
    "json": lambda response: response.json(),
    "content": lambda response: response.content.read(),
}


@pytest.mark.parametrize("way", WHOLE)
def test_refused_answer_is_raised_instead_of_returned(way: str, side: AiohttpSide) -> None:
    """Who reads the whole answer gets the exception in its place, and the next call finds the connection in order."""
    side.server.scripts["/"] = whole(b"{}", JSON)
    refused = Refused()

    async def program(session: Any) -> None:
        for _ in range(2):
            async with session.post(side.url("/"), json=CALL) as response:
                with pytest.raises(Refused) as raised:
                    await WHOLE[way](response)
                assert raised.value is refused and raised.value.__context__ is None
                with pytest.raises(aiohttp.ClientConnectionError):
                    await WHOLE[way](response)

    record(side, program, options={"judge": lambda: refused})
    assert len({received.connection for received in side.server.received}) == 1


@pytest.mark.parametrize("status", ["200 OK", "304 Not Modified"])
def test_refused_answer_without_a_body_is_not_returned(status: str, side: AiohttpSide) -> None:
    """There is nothing to read, so the call itself raises."""
    side.server.scripts["/"] = whole(b"", JSON, status=status)

    async def program(session: Any) -> None:
        with pytest.raises(Refused):
            await session.post(side.url("/"), json=CALL)

    record(side, program, options={"judge": Refused})


def test_refused_status_is_raised_for_in_its_place(side: AiohttpSide) -> None:
    """Where the call was to raise for its status, the refusal comes instead, and has that as its context."""
    side.server.scripts["/"] = whole(b"", JSON, status="500 Internal Server Error")

    async def program(session: Any) -> None:
        with pytest.raises(Refused) as raised:
            await session.post(side.url("/"), json=CALL, raise_for_status=True)
        assert isinstance(raised.value.__context__, aiohttp.ClientResponseError)

    record(side, program, options={"judge": Refused})


def test_refused_document_read_in_parts_is_raised_at_its_end(side: AiohttpSide) -> None:
    """All bytes are delivered, then the exception comes in place of the end."""
    side.server.scripts["/"] = whole(b'{"a": 1}', JSON)
    refused = Refused()

    async def program(session: Any) -> None:
        async with session.post(side.url("/"), json=CALL) as response:
            parts = response.content.iter_any()
            assert await anext(parts) == b'{"a": 1}'
            with pytest.raises(Refused) as raised:
                await anext(parts)
            assert raised.value is refused and raised.value.__context__ is None

    seen = record(side, program, options={"judge": lambda: refused}).only
    assert seen.ending == ("eof", "")


def test_refused_document_that_ends_too_early(side: AiohttpSide) -> None:
    """Who asks for more bytes than there are gets the refusal, with the bytes' exception as its context."""
    side.server.scripts["/"] = whole(b'{"a": 1}', JSON)

    async def program(session: Any) -> None:
        async with session.post(side.url("/"), json=CALL) as response:
            with pytest.raises(Refused):
                await response.content.readexactly(100)

    record(side, program, options={"judge": Refused})


@pytest.mark.parametrize("cut", [0, 4, len(EVENTS[1])])
@pytest.mark.parametrize("leaves_at_once", [True, False])
def test_refused_event_is_cut_off(side: AiohttpSide, cut: int, leaves_at_once: bool) -> None:
    """What came before is delivered, the connection is closed and the exception raised once; then it is closed."""
    refused = Refused()

    def script(peer: Peer) -> None:
        peer.head("transfer-encoding: chunked", SSE)
        peer.chunk(EVENTS[0])
        peer.wait("next")
        peer.chunk(EVENTS[1])
        peer.wait_for_hangup()
        peer.server.signal("gone").set()

    side.server.scripts["/"] = script
    got: list[bytes] = []

    async def program(_: Any) -> None:
        async with side.session(connector=aiohttp.TCPConnector(limit=1)) as session:
            response = await session.get(side.url("/"))
            with pytest.raises(Refused) as raised:
                async for chunk in response.content.iter_any():
                    got.append(chunk)
                    side.server.signal("next").set()
            assert raised.value is refused and raised.value.__context__ is None
            assert response.closed
            with pytest.raises(aiohttp.ClientConnectionError):
                await response.content.readany()
            if not leaves_at_once:
                response.close()
            side.server.scripts["/"] = whole(b"{}")
            # The only connection is free, so the pool is in order.
            assert (await session.put(side.url("/"))).status == 200

    options = {"cut": lambda chunk: cut if chunk == EVENTS[1] else None, "refusal": refused}
    recorder = record(side, program, options=options, wanted=lambda exchange: exchange.method == "GET")
    assert got == [chunk for chunk in (EVENTS[0], EVENTS[1][:cut]) if chunk]
    assert side.server.signal("gone").wait(5)
    assert recorder.operations[0].ending == ("Refused", "Refused")


PARTS: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "readany": lambda content: content.readany(),
    "readline": lambda content: content.readline(),
    "readuntil": lambda content: content.readuntil(b"\n\n"),
    "readchunk": lambda content: content.readchunk(),
    "read": lambda content: content.read(100),
    "readexactly": lambda content: content.readexactly(3),
    "iter_any": lambda content: anext(content.iter_any()),
    "iter_chunked": lambda content: anext(content.iter_chunked(5)),
    "iter_chunks": lambda content: anext(content.iter_chunks()),
    "lines": lambda content: anext(aiter(content)),
    "wait_eof": lambda content: content.wait_eof(),
}


@pytest.mark.parametrize("way", PARTS)
def test_every_way_to_read_on_raises(way: str, side: AiohttpSide) -> None:
    """After the part that may be had, each kind of read gives the exception."""

    async def program(session: Any) -> None:
        async with session.get(side.url("/")) as response:
            assert await response.content.readany() == EVENTS[0][:3]
            with pytest.raises(Refused):
                await PARTS[way](response.content)

    record(side, program, options={"cut": lambda chunk: 3, "refusal": Refused()})


def test_reading_without_waiting_raises_as_well(side: AiohttpSide) -> None:
    """``read_nowait`` after a refusal, and for a part of which nothing may be had."""

    async def program(session: Any) -> None:
        async with session.get(side.url("/")) as response:
            assert response.content.read_nowait(4) == b"da"
            with pytest.raises(Refused):
                response.content.read_nowait()

    record(side, program, options={"cut": lambda chunk: 2, "refusal": Refused()})

    async def nothing(session: Any) -> None:
        async with session.get(side.url("/")) as response:
            with pytest.raises(Refused):
                response.content.read_nowait()

    record(side, nothing, options={"cut": lambda chunk: 0, "refusal": Refused()})


def test_stream_read_whole_is_refused_whole(side: AiohttpSide) -> None:
    """There is no later read at which the exception could come."""

    async def program(session: Any) -> None:
        async with session.get(side.url("/")) as response:
            with pytest.raises(Refused):
                await response.text()

    record(side, program, options={"cut": lambda chunk: 3, "refusal": Refused()})


def test_program_that_leaves_after_the_cut_gets_no_exception(side: AiohttpSide) -> None:
    """Who stops reading before the refused part never hears of it, and the stream is closed as ever."""

    async def program(session: Any) -> None:
        async with session.get(side.url("/")) as response:
            assert await response.content.readany() == EVENTS[0][:3]

    seen = record(side, program, options={"cut": lambda chunk: 3, "refusal": Refused()}).only
    assert (seen.settle() or ("",))[0] == "closed-early"


def test_what_is_put_back_is_cut_no_second_time(side: AiohttpSide) -> None:
    """What the program has put back it gets again, and what follows is cut behind it."""

    async def program(session: Any) -> None:
        async with session.get(side.url("/")) as response:
            content = response.content
            first = await content.read(4)
            with pytest.warns(DeprecationWarning):
                content.unread_data(first)
            assert await content.read(8) == EVENTS[0][:6]
            with pytest.raises(Refused):
                await content.read(1)

    seen = record(
        side, program, options={"cut": lambda chunk: 2 if chunk == EVENTS[0][4:8] else None, "refusal": Refused()}
    ).only
    assert seen.fed == [EVENTS[0][:4], EVENTS[0][4:6]]
