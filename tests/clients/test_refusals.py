# SPDX-License-Identifier: Apache-2.0
"""What an operation refuses over httpx: before the request, instead of the answer, at the end and amid a stream."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests.clients.loopback import Peer, Server, chunked, whole
from tests.clients.sides import CALL, Side, record
from tests.clients.situations import EVENTS, SSE

JSON = "content-type: application/json"


class Refused(RuntimeError):
    """Stands for a policy error."""


@pytest.fixture
def side(library: str, kind: str, server: Server) -> Side:
    server.scripts["/"] = chunked(EVENTS, SSE)
    return Side(importlib.import_module(library), kind == "async", server)


def test_refused_request_never_leaves(side: Side) -> None:
    """What ``begin`` raises reaches the program, and the server hears nothing."""

    async def program(client: Any) -> None:
        with pytest.raises(Refused):
            await side.do(client.post(side.url("/"), json=CALL))

    record(side, program, refuses=Refused())
    assert side.server.received == []


def test_refused_answer_is_raised_instead_of_returned(side: Side) -> None:
    """The program gets the exception, and the next call finds the connection in order."""
    side.server.scripts["/"] = whole(b"{}", JSON)
    refused = Refused()

    async def program(client: Any) -> None:
        for _ in range(2):
            with pytest.raises(Refused) as raised:
                await side.do(client.post(side.url("/"), json=CALL))
            assert raised.value is refused
            assert raised.value.__context__ is None

    record(side, program, options={"judge": lambda: refused})
    assert len({received.connection for received in side.server.received}) == 1


def test_refused_document_read_as_a_stream_is_raised_at_its_end(side: Side) -> None:
    """All bytes are delivered, then the exception comes in place of the end; the connection is free again."""
    side.server.scripts["/"] = whole(b'{"a": 1}', JSON)
    refused = Refused()
    limits = side.library.Limits(max_connections=1)

    async def program(_: Any) -> None:
        async with side.open(side.client(limits=limits)) as client:
            for _ in range(2):
                response = await side.do(client.send(client.build_request("GET", side.url("/")), stream=True))
                chunks = side.each(response, "iter_raw")
                assert await chunks.__anext__() == b'{"a": 1}'
                with pytest.raises(Refused) as raised:
                    await chunks.__anext__()
                assert raised.value is refused and raised.value.__context__ is None

    record(side, program, options={"judge": lambda: refused})


@pytest.mark.parametrize("cut", [0, 4, len(EVENTS[1])])
@pytest.mark.parametrize("leaves_at_once", [True, False])
def test_refused_event_is_cut_off(side: Side, cut: int, leaves_at_once: bool) -> None:
    """What came before is delivered, the connection is closed and the exception raised once; then comes the end."""
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
        async with side.open(side.client(limits=side.library.Limits(max_connections=1))) as client:
            response = await side.do(client.send(client.build_request("GET", side.url("/")), stream=True))
            chunks = side.each(response, "iter_raw")
            with pytest.raises(Refused) as raised:
                async for chunk in chunks:
                    got.append(chunk)
                    side.server.signal("next").set()
            assert raised.value is refused and raised.value.__context__ is None
            with pytest.raises(StopAsyncIteration):
                await chunks.__anext__()
            with pytest.raises((side.library.StreamConsumed, side.library.StreamClosed)):
                await side.each(response, "iter_raw").__anext__()
            if not leaves_at_once:
                await side.close(response)
            side.server.scripts["/"] = whole(b"{}")
            # The only connection is free, so the pool is in order.
            await side.do(client.get(side.url("/")))

    options = {"cut": lambda chunk: cut if chunk == EVENTS[1] else None, "refusal": refused}
    recorder = record(side, program, options=options, wanted=lambda exchange: exchange.method == "GET")
    assert got == [chunk for chunk in (EVENTS[0], EVENTS[1][:cut]) if chunk]
    assert side.server.signal("gone").wait(5)
    assert recorder.operations[0].ending == ("Refused", "Refused")


def test_program_that_leaves_after_the_cut_gets_no_exception(side: Side) -> None:
    """Who stops reading before the refused part never hears of it, and the stream is closed as ever."""

    async def program(client: Any) -> None:
        async with side.open(client.stream("GET", side.url("/"))) as response:
            async for chunk in side.each(response, "iter_raw"):
                assert chunk == EVENTS[0][:3]
                break

    seen = record(side, program, options={"cut": lambda chunk: 3, "refusal": Refused()}).only
    assert (seen.settle() or ("",))[0] == "closed-early"
