# SPDX-License-Identifier: Apache-2.0
"""Streams over requests that are read, left, closed, forgotten or broken: nothing differs from a run without us."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import requests

from tests.clients.loopback import PATIENCE, Peer, Server, whole
from tests.clients.requests.sides import Each, RequestsSide, collect, compare_situation
from tests.clients.sides import CALL
from tests.clients.situations import EVENTS, SSE, Situations, gone, patient

streams = Situations()


@streams("eof")
def drained(side: RequestsSide) -> None:
    with side.session() as session:
        for _ in range(2):
            with side.stream(session) as response:
                side.log += Each(response.iter_lines())
            side.look(response)
    assert len({received.connection for received in side.server.received}) == 1


@streams("eof")
def drained_and_never_closed(side: RequestsSide) -> None:
    with side.session() as session:
        for _ in range(3):
            side.log += Each(side.stream(session).iter_lines())
    assert len({received.connection for received in side.server.received}) == 1


@streams("closed-early")
def left_at_the_first_line(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        with side.stream(session) as response:
            for line in Each(response.iter_lines(chunk_size=1)):
                side.log.append(line)
                break
        side.log.append(gone(side))
        side.look(response)


@streams("closed-early")
def left_and_closed_by_hand(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        response = side.stream(session)
        lines = response.iter_lines(chunk_size=1)
        side.log.append(next(lines))
        response.close()
        response.close()
        side.log.append(gone(side))
        with side.noting():
            side.log += list(lines)
        with side.noting():
            side.log.append(response.content)
        side.look(response)


@streams("closed-early")
def left_by_closing_the_generator(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        response = side.stream(session)
        chunks: Any = response.iter_content(None)
        side.log.append(next(chunks))
        chunks.close()
        # Closing urllib3's generator has closed the connection.
        side.log.append(gone(side))
        side.look(response)
        response.close()


@streams("closed-early")
def forgotten_half_way(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        lines = side.stream(session).iter_lines(chunk_size=1)
        side.log.append(next(lines))
        del lines
        side.log.append(gone(side))


@streams("closed-early")
def never_read(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        with side.stream(session) as response:
            side.look(response)
        side.log.append(gone(side))
        side.look(response)


@streams("closed-early")
def never_read_and_forgotten(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        response = side.stream(session)
        del response
        side.log.append(gone(side))


@streams("closed-early")
def forgotten_in_a_cycle(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        cycle: list[Any] = [side.stream(session)]
        cycle.append(cycle)
        del cycle
        collect()
        side.log.append(gone(side))


@streams("eof")
def generator_never_started(side: RequestsSide) -> None:
    with side.session() as session, side.stream(session) as response:
        response.iter_lines()
        response.raw.stream()
        side.log += Each(response.iter_lines())
        side.look(response)


@streams("eof")
def read_twice(side: RequestsSide) -> None:
    with side.session() as session, side.stream(session) as response:
        side.log += Each(response.iter_lines())
        with side.noting():
            side.log += list(response.iter_lines())
        with side.noting():
            side.log.append(response.content)
        side.log += [response.raw.read(), list(response.raw.stream()), response.raw.readline()]
        with side.noting(StopIteration):
            next(response.raw)
        side.look(response)


@streams("eof")
def whole_after_a_part(side: RequestsSide) -> None:
    with side.session() as session, side.stream(session) as response:
        chunks = response.iter_content(5)
        side.log += [next(chunks), next(chunks), response.content]
        with side.noting():
            side.log += list(chunks)
        side.look(response)


@streams("eof")
def copies_and_pickles_of_a_response_unread(side: RequestsSide) -> None:
    with side.session() as session, side.stream(session) as response:
        for twin in (copy.copy(response), pickle.loads(pickle.dumps(response)), copy.deepcopy(response)):
            side.log += [twin.content, twin.raw, sorted(vars(twin)), list(twin.iter_lines())]
        side.look(response)


@streams("ReadTimeoutError")
def silence(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        with side.stream(session, timeout=(PATIENCE, 0.1)) as response:
            with side.noting():
                for line in Each(response.iter_lines(chunk_size=1)):
                    side.log.append(line)
            side.look(response)
        side.look(response)
        side.log.append(gone(side))


@streams("ProtocolError")
def reset_by_the_server(side: RequestsSide) -> None:
    def script(peer: Peer) -> None:
        peer.head("transfer-encoding: chunked", SSE)
        peer.chunk(EVENTS[0])
        peer.wait("seen")
        peer.reset()

    side.server.scripts["/"] = script
    with side.session() as session:
        with side.stream(session) as response:
            with side.noting():
                for line in Each(response.iter_lines(chunk_size=1)):
                    side.log.append(line)
                    side.server.signal("seen").set()
            side.look(response)
        side.look(response)


@streams("eof")
def behind_redirect_and_auth(side: RequestsSide) -> None:
    side.server.scripts["/a"] = whole(b"moved", "location: /", status="307 Temporary Redirect")
    with side.session() as session, side.stream(session, "/a", auth=("u", "p")) as response:
        side.log += Each(response.iter_lines())
        side.look(response)


@streams("body")
def redirect_not_followed(side: RequestsSide) -> None:
    side.server.scripts["/a"] = whole(b"moved", "location: /", status="307 Temporary Redirect")
    with side.session() as session:
        with side.stream(session, "/a", allow_redirects=False) as response:
            side.look(response)
        assert response.next is not None
        side.log += Each(session.send(response.next, stream=True, timeout=PATIENCE).iter_lines())


@streams("eof")
def stream_by_default_of_the_session(side: RequestsSide) -> None:
    with side.session() as session:
        session.stream = True
        with side.call(session) as response:
            side.look(response)
            side.log += Each(response.iter_lines())


@streams("eof")
def streamed_by_a_module_level_function(side: RequestsSide) -> None:
    with requests.post(side.url("/"), json=CALL, stream=True, timeout=PATIENCE, proxies={"no_proxy": "*"}) as response:
        side.log += Each(response.iter_lines())
        side.look(response)


@pytest.mark.parametrize("name", streams)
def test_streams_go_as_without_us(name: str, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """What the program gets and catches, and when the server loses it, are equal; the end is told rightly."""
    compare_situation(streams, name, server, caplog)
