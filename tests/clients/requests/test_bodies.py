# SPDX-License-Identifier: Apache-2.0
"""Whatever a server sends and however a program reads it from requests, it sees the same with us as without us."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pytest

from tests.clients.bodies import BODIES
from tests.clients.loopback import Server
from tests.clients.requests.sides import Each, RequestsSide, compare

Reader = Callable[[Any], Iterable[Any]]


def whole(side: RequestsSide) -> None:
    with side.session() as session, side.noting():
        response = side.call(session)
        side.look(response)
        side.log += [response.content, response.text]
        side.log.append(response.json())


def by(read: Reader, side: RequestsSide) -> None:
    with side.session() as session, side.noting():
        with side.stream(session) as response:
            side.look(response)
            with side.noting():
                items = list(Each(read(response)))
                # Where a body spans several packets, the network decides how it falls into pieces.
                side.log += items if len(items) < 200 else [items[0][:0].join(items)]
            side.look(response)
        side.look(response)


def until_empty(read: Callable[[], bytes]) -> Iterable[bytes]:
    """Read until nothing comes, and once more."""
    yield from iter(read, b"")
    yield read()


def by_readinto(response: Any) -> Iterable[bytes]:
    buffer = bytearray(16)
    while count := response.raw.readinto(buffer):
        yield bytes(buffer[:count])


def by_hints(response: Any) -> Iterable[bytes]:
    while lines := response.raw.readlines(20):
        yield from lines


READERS: dict[str, Reader] = {
    "content": lambda response: [response.content, response.content],
    "lines": lambda response: response.iter_lines(),
    "content-by-7": lambda response: response.iter_content(7),
    "raw-read": lambda response: [response.raw.read(), response.raw.read()],
    "raw-stream": lambda response: [b"".join(response.raw.stream())],
}
"""Of every body."""
MORE: dict[str, Reader] = {
    "text": lambda response: [response.text],
    "unicode-lines": lambda response: response.iter_lines(decode_unicode=True),
    "small-lines": lambda response: response.iter_lines(chunk_size=1),
    "content-as-it-comes": lambda response: [b"".join(response.iter_content(None))],
    "response": lambda response: response,
    "raw-read-decoded": lambda response: [response.raw.read(decode_content=True)],
    "raw-read-16": lambda response: until_empty(partial(response.raw.read, 16)),
    "raw-read-16-decoded": lambda response: until_empty(partial(response.raw.read, 16, True)),
    "raw-read1": lambda response: [b"".join(iter(partial(response.raw.read1, 16), b""))],
    "raw-readline": lambda response: until_empty(response.raw.readline),
    "raw-readline-5": lambda response: until_empty(partial(response.raw.readline, 5)),
    "raw-readlines": lambda response: response.raw.readlines(),
    "raw-readlines-by-hint": by_hints,
    "raw-readinto": by_readinto,
    "raw-stream-9": lambda response: response.raw.stream(9, decode_content=False),
    "raw-stream-decoded": lambda response: [b"".join(response.raw.stream(decode_content=True))],
    "raw-read-chunked": lambda response: response.raw.read_chunked(),
    "raw-iterated": lambda response: response.raw,
    "raw-data": lambda response: [response.raw.data, response.raw.data],
    "raw-json": lambda response: [response.raw.json()],
    "raw-as-text": lambda response: io.TextIOWrapper(response.raw, encoding="utf-8", errors="replace"),
    "raw-buffered": lambda response: io.BufferedReader(response.raw),
}
VARIED = ("json", "json-gzip", "no-content", "sse-crlf", "sse-gzip-one-byte-chunks", "sse-no-length", "cut-short")
"""Bodies that differ for what reads them: with and without a length, chunked, encoded, without content, broken."""


@pytest.mark.parametrize("body", BODIES)
def test_every_body_is_read_as_without_us_every_body_as_without_us(
    body: str, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """Bytes, text, exceptions and everything else that a response tells are equal, however the body is read."""
    server.scripts["/"] = BODIES[body]
    seen = compare(whole, server, caplog)
    assert len(seen.operations) == 1
    for name, read in READERS.items():
        if "big" in body and name not in ("content", "raw-read"):
            continue
        seen = compare(partial(by, read), server, caplog)
        assert len(seen.operations) == 1, name


@pytest.mark.parametrize("reader", MORE)
def test_every_reader_reads_as_without_us(reader: str, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """The same for everything else that a file can be read by, of the bodies that it may treat differently."""
    for body in VARIED:
        server.scripts["/"] = BODIES[body]
        compare(partial(by, MORE[reader]), server, caplog)
