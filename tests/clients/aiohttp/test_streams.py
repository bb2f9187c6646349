# SPDX-License-Identifier: Apache-2.0
"""Streams that are read in every way that aiohttp has: nothing differs from a run without us."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.clients.aiohttp.sides import AiohttpSide, packed, run
from tests.clients.loopback import Peer, Server, split
from tests.clients.recording import RecordingOperation
from tests.clients.sides import CALL
from tests.clients.situations import EVENTS, SSE

NDJSON = "content-type: application/x-ndjson"
TEXT = 'data: {"text": "Grüße 你好 🎉"}\n\n'.encode() * 3
STREAMS: dict[str, tuple[list[bytes], str]] = {
    "events": (EVENTS, SSE),
    "crlf": ([event.replace(b"\n", b"\r\n") for event in EVENTS], SSE),
    "split characters": (split(TEXT, 5), SSE),
    "byte by byte": (split(TEXT, 1), SSE),
    "many lines to an event": ([b'event: message\nid: 1\ndata: {"a":\ndata: 1}\n\n: comment\n\n'] * 3, SSE),
    "last event unfinished": ([EVENTS[0], b'data: {"n": 1}'], SSE),
    "lines of json": ([b'{"n": 0}\n{"n"', b": 1}\n", b'{"n": 2}'], NDJSON),
    "one packet, one chunk": ([b"".join(EVENTS)], SSE),
    "nothing": ([], SSE),
}
CODED: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "gzip": (lambda plain: gzip.compress(plain, mtime=0), "content-encoding: gzip"),
    "deflate": (zlib.compress, "content-encoding: deflate"),
}
readers: dict[str, Callable[[AiohttpSide, Any], Awaitable[None]]] = {}
whole: set[str] = set()
"""The readers that read all there is."""


def reads(*, all_of_it: bool = True) -> Callable[[Any], Any]:
    """Register a reader."""

    def register(reader: Any) -> Any:
        name = reader.__name__.replace("_", " ")
        readers[name] = reader
        whole.update([name] if all_of_it else [])
        return reader

    return register


@reads()
async def lines(side: AiohttpSide, content: Any) -> None:
    async for line in content:
        side.log.append(line)


@reads()
async def any_part(side: AiohttpSide, content: Any) -> None:
    async for part in content.iter_any():
        side.log.append(part)


@reads()
async def http_chunks(side: AiohttpSide, content: Any) -> None:
    async for part, ends in content.iter_chunks():
        side.log.append((part, ends))


@reads()
async def parts_of_a_size(side: AiohttpSide, content: Any) -> None:
    async for part in content.iter_chunked(3):
        side.log.append(part)


@reads()
async def readline(side: AiohttpSide, content: Any) -> None:
    while not content.at_eof():
        side.log.append(await content.readline())
    side.log.append(await content.readline())


@reads()
async def readany(side: AiohttpSide, content: Any) -> None:
    while data := await content.readany():
        side.log.append(data)
    side.log += [await content.readany(), content.is_eof()]


@reads()
async def read_some(side: AiohttpSide, content: Any) -> None:
    side.log.append(await content.read(0))
    while data := await content.read(10):
        side.log.append(data)


@reads()
async def read_all_after_some(side: AiohttpSide, content: Any) -> None:
    side.log += [await content.read(n=7), await content.read(), await content.read()]


@reads()
async def readchunk(side: AiohttpSide, content: Any) -> None:
    while (chunk := await content.readchunk()) != (b"", False):
        side.log.append(chunk)


@reads()
async def readuntil(side: AiohttpSide, content: Any) -> None:
    with side.noting():
        await content.readuntil(b"")
    while event := await content.readuntil(b"\n\n"):
        side.log.append(event)


@reads()
async def readexactly(side: AiohttpSide, content: Any) -> None:
    while True:
        side.log.append(await content.readexactly(12))


@reads(all_of_it=False)
async def read_what_is_here(side: AiohttpSide, content: Any) -> None:
    side.log += [await content.read(1), content.read_nowait(5), content.read_nowait()]
    side.log += [await content.readany(), content.read_nowait()]


@reads()
async def put_back(side: AiohttpSide, content: Any) -> None:
    first = await content.readany()
    content.unread_data(first)
    content.unread_data(b"")
    side.log += [first, await content.read(4), await content.readline()]
    content.unread_data(b"x\ny")
    side.log += [part async for part in content.iter_any()]


@reads()
async def waited_for(side: AiohttpSide, content: Any) -> None:
    await content.wait_eof()
    side.log += [content.is_eof(), content.at_eof(), await content.read()]


@reads()
async def mixed(side: AiohttpSide, content: Any) -> None:
    side.log += [
        await content.readline(),
        await content.read(3),
        await content.readuntil(b"}"),
        await content.readany(),
    ]
    side.log += [await content.readchunk(), [line async for line in content]]


@reads()
async def seen_from_outside(side: AiohttpSide, content: Any) -> None:
    side.log += [content.exception(), content.get_read_buffer_limits(), content.total_bytes, repr(content)]
    content.on_eof(lambda: side.log.append("eof"))
    with side.noting():
        content.no_such_attribute  # noqa: B018
    side.log += [part async for part in content.iter_any()]
    side.log += [content.total_bytes, repr(content)]


def told(name: str, server: Server, caplog: pytest.LogCaptureFixture, **options: Any) -> RecordingOperation:
    """What the operation was told of a stream that is read by a reader, with and without us the same."""
    reader = readers[name]

    async def program(side: AiohttpSide) -> None:
        async with side.session() as session:
            with side.noting():
                async with session.post(side.url("/"), json=CALL, **options) as response:
                    side.server.signal("opened").set()
                    await reader(side, response.content)
            side.look(response)

    return run(program, server, caplog).only


@pytest.mark.parametrize("name", readers)
@pytest.mark.parametrize("stream", STREAMS)
def test_streams_are_as_without_us(name: str, stream: str, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """Every way to read any stream gives the same parts and exceptions, and the operation is told all of it once."""
    pieces, kind = STREAMS[stream]
    server.scripts["/"] = packed(pieces, kind)
    seen = told(name, server, caplog)
    if name in whole:
        assert b"".join(seen.fed) == b"".join(pieces)
        assert seen.ending == (("eof", "") if pieces else ("body", ""))


@pytest.mark.parametrize("name", readers)
@pytest.mark.parametrize("coding", CODED)
@pytest.mark.parametrize("decodes", [True, False])
def test_compressed_streams_are_as_without_us(
    name: str, coding: str, decodes: bool, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """The operation is told what the program reads: decoded, unless aiohttp was told to leave that."""
    encode, header = CODED[coding]
    plain = b"".join(EVENTS) * 20
    server.scripts["/"] = packed(split(encode(plain), 15), SSE, header)
    seen = told(name, server, caplog, auto_decompress=decodes)
    if name in whole:
        assert b"".join(seen.fed) == (plain if decodes else encode(plain))


@pytest.mark.parametrize("name", readers)
def test_broken_streams_break_as_without_us(name: str, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """Where the server goes away between two chunks, the exception is the same and comes at the same place."""
    begin = packed(EVENTS, SSE, end=b"")

    def script(peer: Peer) -> None:
        begin(peer)
        peer.wait("opened")
        peer.close()

    server.scripts["/"] = script
    reason, error = told(name, server, caplog).settle() or ("", "")
    assert reason == error != ""
