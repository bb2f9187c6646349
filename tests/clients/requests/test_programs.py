# SPDX-License-Identifier: Apache-2.0
"""Streams in generators, threads and hooks of the program: nothing differs from a run without us."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter

from tests.clients.bodies import JSON
from tests.clients.loopback import PATIENCE, Server, whole
from tests.clients.requests.sides import Each, RequestsSide, compare_situation
from tests.clients.situations import Situations, gone, patient

streams = Situations()


@streams("closed-early")
def program_that_raises(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        with side.noting(), side.stream(session) as response:
            for line in Each(response.iter_lines(chunk_size=1)):
                raise LookupError(line)
        side.look(response)
        side.log.append(gone(side))


@streams("closed-early")
def program_that_raises_in_its_own_generator(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient

    def events(session: requests.Session) -> Iterator[bytes]:
        with side.stream(session) as response:
            yield from response.iter_lines(chunk_size=1)

    with side.session() as session:
        lines: Any = events(session)
        side.log.append(next(lines))
        with side.noting():
            lines.throw(LookupError("thrown"))
        side.log.append(gone(side))


@streams("closed-early")
def generator_of_the_program_forgotten(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient

    def events(session: requests.Session) -> Iterator[bytes]:
        with side.stream(session) as response:
            yield from response.iter_lines(chunk_size=1)

    with side.session() as session:
        lines = events(session)
        side.log.append(next(lines))
        del lines
        side.log.append(gone(side))


@streams("body")
def read_by_a_hook(side: RequestsSide) -> None:
    def hook(response: Any, **options: Any) -> None:
        side.log += [sorted(options), response.content]

    with side.session() as session:
        response = side.stream(session, hooks={"response": hook})
        side.look(response)
        side.log += [response.content, list(response.iter_lines())]


@streams("closed-early")
def streamed_by_a_hook(side: RequestsSide) -> None:
    def hook(response: Any, **options: Any) -> None:
        side.log.extend(response.iter_lines())

    with side.session() as session, side.stream(session, hooks={"response": hook}) as response:
        side.look(response)
        with side.noting():
            side.log.append(response.content)


@streams("eof")
def closed_by_a_hook(side: RequestsSide) -> None:
    def hook(response: Any, **options: Any) -> None:
        response.close()

    with side.session() as session, side.stream(session, hooks={"response": [hook]}) as response:
        side.look(response)
        with side.noting():
            side.log.append(response.content)


@streams("closed-early")
def one_connection_only(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    side.server.scripts["/other"] = whole(b"{}", JSON)
    with side.session() as session:
        session.mount("http://", HTTPAdapter(pool_maxsize=1, pool_block=True))
        response = side.stream(session)
        free = threading.Timer(0.05, response.close)
        free.start()
        # Waits for the only connection.
        side.look(session.get(side.url("/other"), timeout=PATIENCE))
        free.join()


@streams("eof")
def two_at_once(side: RequestsSide) -> None:
    with side.session() as session:
        both = [Each(side.stream(session).iter_lines(chunk_size=1)) for _ in range(2)]
        for _ in range(3):
            side.log += [next(lines) for lines in both]
        for lines in reversed(both):
            side.log += lines


@streams("eof")
def passed_between_threads(side: RequestsSide) -> None:
    with side.session() as session:
        lines = side.stream(session).iter_lines(chunk_size=1)
        for _ in range(6):
            reader = threading.Thread(target=lambda: side.log.append(next(lines)))
            reader.start()
            reader.join()
        side.log += list(lines)


@pytest.mark.parametrize("name", streams)
def test_streams_of_programs_go_as_without_us(name: str, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """What the program gets and catches, and when the server loses it, are equal; the end is told rightly."""
    compare_situation(streams, name, server, caplog)
