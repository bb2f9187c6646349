# SPDX-License-Identifier: Apache-2.0
"""What an operation refuses over requests: before the request, instead of the answer, at the end and amid a stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter

from tests.clients.bodies import endless
from tests.clients.loopback import PATIENCE, Peer, Server, chunked, whole
from tests.clients.requests.sides import RequestsSide, record
from tests.clients.situations import EVENTS, SSE

JSON = "content-type: application/json"


class Refused(RuntimeError):
    """Stands for a policy error."""


@pytest.fixture
def side(server: Server) -> RequestsSide:
    server.scripts["/"] = chunked(EVENTS, SSE)
    return RequestsSide(server)


def with_one_connection(session: requests.Session) -> requests.Session:
    session.mount("http://", HTTPAdapter(pool_maxsize=1, pool_block=True))
    return session


def test_refused_request_never_leaves(side: RequestsSide) -> None:
    """What ``begin`` raises reaches the program, and the server hears nothing."""

    def program(session: requests.Session) -> None:
        with pytest.raises(Refused):
            side.call(session)

    record(side, program, refuses=Refused())
    assert side.server.received == []


@pytest.mark.parametrize("stream", [False, True])
def test_refused_answer_is_raised_instead_of_returned(side: RequestsSide, stream: bool) -> None:
    """The program gets the exception, from the call or from ``content``; the connection is in order."""
    side.server.scripts["/"] = whole(b"{}", JSON)
    refused = Refused()

    def program(session: requests.Session) -> None:
        for _ in range(2):
            with pytest.raises(Refused) as raised:
                assert side.call(session, stream=stream).content == b"never"
            assert raised.value is refused
            assert raised.value.__context__ is None

    record(side, program, options={"judge": lambda: refused})
    assert len({received.connection for received in side.server.received}) == 1


WHOLE: dict[str, Callable[[Any], Any]] = {
    "read": lambda raw: raw.read(),
    "read of minus one": lambda raw: raw.read(-1),
    "data": lambda raw: raw.data,
    "readlines": lambda raw: raw.readlines(),
}


@pytest.mark.parametrize("way", WHOLE)
@pytest.mark.parametrize("phase", ["stream", "end"])
def test_refused_whole_read_is_raised_at_once(side: RequestsSide, way: str, phase: str) -> None:
    """Who reads everything in one go would not come back for the exception."""
    refused = Refused()
    options = {"judge": lambda: refused} if phase == "end" else {"cut": lambda chunk: 4, "refusal": refused}

    def program(session: requests.Session) -> None:
        with_one_connection(session)
        for _ in range(2):
            response = side.stream(session)
            with pytest.raises(Refused) as raised:
                WHOLE[way](response.raw)
            assert raised.value is refused and raised.value.__context__ is None

    if way == "read of minus one":
        # Older versions of urllib3 then wait for the connection's end.
        side.server.scripts["/"] = endless(EVENTS, SSE)
    record(side, program, options=options)


def test_refused_document_read_in_pieces_is_raised_at_its_end(side: RequestsSide) -> None:
    """All bytes are delivered, then the exception comes in place of the end; the connection is free again."""
    side.server.scripts["/"] = whole(b'{"a": 1}', JSON)
    refused = Refused()

    reads: list[Callable[[Any], bytes]] = [lambda raw: raw.read(4), lambda raw: raw.readline(4)]

    def program(session: requests.Session) -> None:
        with_one_connection(session)
        for read in reads:
            response = side.stream(session)
            assert read(response.raw) + read(response.raw) == b'{"a": 1}'
            with pytest.raises(Refused) as raised:
                read(response.raw)
            assert raised.value is refused and raised.value.__context__ is None
            assert read(response.raw) == b""

    record(side, program, options={"judge": lambda: refused})


def test_refused_document_read_by_its_length_is_raised_by_the_close(side: RequestsSide) -> None:
    """There is no later moment for it."""
    side.server.scripts["/"] = whole(b'{"a": 1}', JSON)

    def program(session: requests.Session) -> None:
        response = side.stream(session)
        assert response.raw.read(8) == b'{"a": 1}'
        with pytest.raises(Refused):
            response.close()
        response.close()

    record(side, program, options={"judge": lambda: Refused()})


@pytest.mark.parametrize("cut", [0, 4, len(EVENTS[1])])
@pytest.mark.parametrize("leaves_at_once", [True, False])
@pytest.mark.parametrize("way", ["iter_content", "raw.stream", "raw.read"])
def test_refused_event_is_cut_off(side: RequestsSide, cut: int, leaves_at_once: bool, way: str) -> None:
    """What came before is delivered, the connection is closed and the exception raised once; then comes the end."""
    refused = Refused()
    size = len(EVENTS[0])

    def script(peer: Peer) -> None:
        peer.head("transfer-encoding: chunked", SSE)
        peer.chunk(EVENTS[0])
        peer.wait("next")
        peer.chunk(EVENTS[1])
        peer.wait_for_hangup()
        peer.server.signal("gone").set()

    def chunks_of(response: Any) -> Any:
        if way == "iter_content":
            return response.iter_content(None)
        return response.raw.stream() if way == "raw.stream" else iter(lambda: response.raw.read(size), b"")

    side.server.scripts["/"] = script
    got: list[bytes] = []

    def program(session: requests.Session) -> None:
        with_one_connection(session)
        response = session.get(side.url("/"), stream=True, timeout=PATIENCE)
        chunks = chunks_of(response)
        with pytest.raises(Refused) as raised:
            for chunk in chunks:
                got.append(chunk)
                side.server.signal("next").set()
        assert raised.value is refused and raised.value.__context__ is None
        assert list(chunks) == [] and list(response.raw.stream()) == []
        assert (response.raw.read(), response.raw.readline(), response.raw.readlines()) == (b"", b"", [])
        assert response.raw.readinto(bytearray(4)) == 0
        if not leaves_at_once:
            response.close()
        side.server.scripts["/"] = whole(b"{}")
        # The only connection is free, so the pool is in order.
        session.get(side.url("/"), timeout=PATIENCE)

    options = {"cut": lambda chunk: cut if chunk == EVENTS[1] else None, "refusal": refused}
    recorder = record(side, program, options=options)
    assert got == [chunk for chunk in (EVENTS[0], EVENTS[1][:cut]) if chunk]
    assert side.server.signal("gone").wait(PATIENCE)
    assert recorder.operations[0].ending == ("Refused", "Refused")


def test_refused_part_of_a_buffer_is_cut_off(side: RequestsSide) -> None:
    """``readinto`` says how much of the buffer holds; ``readlines`` with a hint gives as many whole lines."""
    refused = Refused()
    side.server.scripts["/"] = whole(b"".join(EVENTS), SSE)

    def program(session: requests.Session) -> None:
        response: Any = side.stream(session)
        buffer = bytearray(20)
        assert response.raw.readinto(buffer) == 4 and buffer[:4] == EVENTS[0][:4]
        with pytest.raises(Refused):
            response.raw.readinto(buffer)
        response = side.stream(session)
        assert response.raw.readlines(1) == [EVENTS[0][:4]]
        with pytest.raises(Refused):
            response.raw.readlines(1)

    record(side, program, options={"cut": lambda chunk: 4, "refusal": refused})


def test_program_that_leaves_after_the_cut_gets_no_exception(side: RequestsSide) -> None:
    """Who stops reading before the refused part never hears of it, and the stream is closed as ever."""

    def program(session: requests.Session) -> None:
        with side.stream(session) as response:
            for chunk in response.iter_content(None):
                assert chunk == EVENTS[0][:3]
                break

    seen = record(side, program, options={"cut": lambda chunk: 3, "refusal": Refused()}).only
    assert (seen.settle() or ("",))[0] == "closed-early"
