# SPDX-License-Identifier: Apache-2.0
"""Whole answers, in every coding and shape, read in every way: nothing differs from a run without us."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import aiohttp
import pytest

from tests.clients.aiohttp.sides import AiohttpSide, packed, run
from tests.clients.loopback import Peer, Script, Server, split, whole
from tests.clients.sides import CALL

JSON = "content-type: application/json"
DOCUMENT = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"text": "Grüße 你好 🎉"}}, ensure_ascii=False).encode()


def until_closed(peer: Peer) -> None:
    peer.head(JSON, "connection: close", body=DOCUMENT)
    peer.close()


def cut_off(peer: Peer) -> None:
    peer.head(JSON, f"content-length: {len(DOCUMENT)}", body=DOCUMENT[:-5])
    peer.close()


def bad_chunk(peer: Peer) -> None:
    peer.head(JSON, "transfer-encoding: chunked", body=b"5\r\n12345\r\nzz\r\n")
    peer.wait_for_hangup()


def bad_head(peer: Peer) -> None:
    peer.send(b"HTTP/1.1 whatever\r\n\r\n")
    peer.close()


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


BODIES: dict[str, Script] = {
    "json": whole(DOCUMENT, JSON),
    "chunked": packed(split(DOCUMENT, 7), JSON),
    "byte by byte": packed(split(DOCUMENT, 1), JSON),
    "gzip": whole(gzip.compress(DOCUMENT), JSON, "content-encoding: gzip"),
    "gzip in pieces": packed(split(gzip.compress(DOCUMENT), 9), JSON, "content-encoding: gzip"),
    "GZIP in capitals": whole(gzip.compress(DOCUMENT), JSON, "content-encoding: GZIP"),
    "deflate": whole(zlib.compress(DOCUMENT), JSON, "content-encoding: deflate"),
    "raw deflate": whole(raw_deflate(DOCUMENT), JSON, "content-encoding: deflate"),
    "identity": whole(DOCUMENT, JSON, "content-encoding: identity"),
    "unknown coding": whole(DOCUMENT, JSON, "content-encoding: secret"),
    "broken gzip": whole(b"no gzip at all", JSON, "content-encoding: gzip"),
    "truncated gzip": whole(gzip.compress(DOCUMENT)[:-12], JSON, "content-encoding: gzip"),
    "error with a body": whole(DOCUMENT, JSON, status="500 Internal Server Error"),
    "not found": whole(b"no such page", "content-type: text/plain", status="404 Not Found"),
    "no content": whole(b"", status="204 No Content"),
    "empty": whole(b"", JSON),
    "empty and chunked": packed([], JSON),
    "not modified": whole(b"", "etag: x", status="304 Not Modified"),
    "wrong content type": whole(DOCUMENT, "content-type: text/html"),
    "latin-1": whole("Grüße".encode("latin-1"), "content-type: text/plain; charset=latin-1"),
    "no json": whole(b"{", JSON),
    "until closed": until_closed,
    "cut off": cut_off,
    "bad chunk": bad_chunk,
    "bad head": bad_head,
}


async def read_in_every_way(side: AiohttpSide) -> None:
    async def parts(response: Any) -> None:
        side.log += [part async for part in response.content.iter_packed(11)]

    ways = {
        "read": lambda response: response.read(),
        "text": lambda response: response.text(),
        "json": lambda response: response.json(),
        "content": lambda response: response.content.read(),
        "parts": parts,
    }
    async with side.session() as session:
        for read in ways.values():
            with side.noting():
                async with session.post(side.url("/"), json=CALL) as response:
                    side.look(response, is_over=False)
                    side.log += [await read(response), response.content.at_eof(), response.content.total_bytes]
                    # The second time from aiohttp's own memory, or in vain.
                    with side.noting():
                        side.log.append(await read(response))
                    side.log.append(await response.content.read(1))
                    side.look(response)


async def left_compressed(side: AiohttpSide) -> None:
    for decompress in (False, True):
        async with side.session(auto_decompress=decompress) as session:
            for body in (gzip.compress(DOCUMENT, mtime=0), zlib.compress(DOCUMENT)):
                coding = "gzip" if body[:1] == b"\x1f" else "deflate"
                side.server.scripts["/"] = whole(body, JSON, f"content-encoding: {coding}")
                async with session.post(side.url("/"), json=CALL) as response:
                    side.log.append(await response.read())
                async with session.post(side.url("/"), json=CALL) as response:
                    side.log += [part async for part in response.content.iter_any()]


async def released_or_closed_and_read(side: AiohttpSide) -> None:
    async with side.session() as session:
        for name in ("release", "close"):
            for first in (False, True):
                response = await side.opened(session)
                if first:
                    side.log.append(await response.read())
                getattr(response, name)()
                getattr(response, name)()
                side.look(response)
                with side.noting():
                    side.log.append(await response.read())
                with side.noting():
                    side.log.append(await response.content.readany())


async def large(side: AiohttpSide) -> None:
    side.server.scripts["/"] = whole(json.dumps({"text": "x" * 1_500_000}).encode(), JSON)
    async with side.session() as session:
        async with session.post(side.url("/"), json=CALL) as response:
            side.log.append(await response.json())
        async with session.post(side.url("/"), json=CALL) as response:
            side.log.append(b"".join([part async for part in response.content.iter_chunked(4096)]))


async def head_request(side: AiohttpSide) -> None:
    async with side.session() as session, session.head(side.url("/")) as response:
        side.look(response)
        side.log += [await response.read(), repr(response.content)]


async def multipart(side: AiohttpSide) -> None:
    body = b'--b\r\ncontent-type: application/json\r\n\r\n{"a": 1}\r\n--b\r\n\r\ntwo\r\nlines\r\n--b--\r\n'
    side.server.scripts["/"] = packed(split(body, 10), "content-type: multipart/mixed; boundary=b")
    async with side.session() as session, session.post(side.url("/"), json=CALL) as response:
        reader: Any = aiohttp.MultipartReader.from_response(response)
        while (part := await reader.next()) is not None:
            side.log.append((dict(part.headers), await part.read()))


async def passed_on_as_a_body(side: AiohttpSide) -> None:
    side.server.scripts["/copy"] = whole(b"{}", JSON)
    side.server.scripts["/"] = packed(split(DOCUMENT, 7), JSON)
    async with side.session() as session:
        response = await side.opened(session)
        async with session.put(side.url("/copy"), data=response.content) as copied:
            side.look(copied)
    assert side.server.received[-1].body == DOCUMENT


@pytest.mark.parametrize("body", BODIES)
def test_bodies_are_as_without_us(body: str, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """Every way to read gives the same bytes, text, documents and exceptions."""
    server.scripts["/"] = BODIES[body]
    assert run(read_in_every_way, server, caplog).operations


@pytest.mark.parametrize(
    "program", [left_compressed, released_or_closed_and_read, large, head_request, multipart, passed_on_as_a_body]
)
def test_bodies_go_where_they_went(program: Any, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """Neither compressed nor closed nor partial answers differ, nor what is made of them."""
    server.scripts["/"] = whole(DOCUMENT, JSON)
    assert run(program, server, caplog).operations
