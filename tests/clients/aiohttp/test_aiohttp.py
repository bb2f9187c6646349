# SPDX-License-Identifier: Apache-2.0
"""What the operation learns of a call over aiohttp."""

from __future__ import annotations

import copy
import importlib
import inspect
import io
from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any

import aiohttp
import pytest
from multidict import CIMultiDict

from otel_a2a import clients, patching
from otel_a2a.clients import aiohttp as client
from tests.clients.aiohttp.sides import AiohttpSide, packed, record
from tests.clients.loopback import Peer, Server, whole
from tests.clients.recording import Recorder
from tests.clients.sides import CALL, execute, watching
from tests.clients.situations import EVENTS, SSE

JSON = "content-type: application/json"
RELEASED = ("close", "release")


@pytest.fixture
def side(server: Server) -> AiohttpSide:
    server.scripts["/"] = packed(EVENTS, SSE)
    return AiohttpSide(server)


def test_request_is_told_as_it_leaves(side: AiohttpSide) -> None:
    """Method, path, URL, headers, size and body are the request's, and the answer's head and body follow."""
    side.server.scripts["/a%20b"] = whole(b'{"ok": 1}', JSON)

    async def program(session: Any) -> None:
        async with session.request("post", side.url("/a b?x=1"), params={"y": "2"}, json=CALL) as response:
            await response.json()

    seen = record(side, program).only
    body = side.server.received[0].body
    assert seen.request == {
        "method": "POST",
        "path": "/a b",
        "url": side.url("/a%20b?x=1&y=2"),
        "content-type": "application/json",
        "body": body,
    }
    assert seen.response == (200, "application/json", side.url("/a%20b?x=1&y=2"))
    assert seen.fed == [b'{"ok": 1}']
    assert seen.calls == ["respond", "end"]
    assert seen.ending == ("eof", "")


async def generated() -> AsyncIterator[bytes]:
    yield b"{}"


@pytest.mark.parametrize(
    ("options", "body"),
    [
        ({"data": b"{}"}, b"{}"),
        ({"data": bytearray(b"{}")}, b"{}"),
        ({"data": memoryview(b"{}")}, b"{}"),
        ({"data": '{"a": "ü"}'}, '{"a": "ü"}'.encode()),
        ({"data": "\udc00"}, b"?"),
        ({"data": aiohttp.BytesPayload(b"{}")}, b"{}"),
        ({"data": aiohttp.JsonPayload({})}, b"{}"),
        ({"json": {}}, b"{}"),
        ({"json": {}, "data": b"both"}, b"both"),
        ({}, b""),
        ({"data": io.BytesIO(b"{}")}, None),
        ({"data": {"a": "1"}}, None),
        ({"data": generated()}, None),
    ],
)
async def test_bodies_are_read_where_that_takes_nothing_away(options: dict[str, Any], body: bytes | None) -> None:
    """Bytes, text and documents are read; forms, files and generators are the network's."""
    async with aiohttp.ClientSession() as session:
        exchange = client.AiohttpExchange(aiohttp, session, "POST", "http://agent/", options)
        assert exchange.body() == body
        # Asked again it says the same.
        assert exchange.body() == body


@pytest.mark.parametrize(
    ("given", "default", "found"),
    [
        ({"Content-Type": "a"}, {}, "a"),
        ([("content-TYPE", "a"), ("content-type", "b")], {}, "a"),
        (CIMultiDict({"CONTENT-TYPE": "a"}), {"content-type": "d"}, "a"),
        ({}, {"Content-Type": "d"}, "d"),
        (None, {}, "application/json"),
        (iter([("content-type", "a")]), {}, "application/json"),
    ],
)
async def test_headers_are_the_calls_then_the_sessions(given: Any, default: dict[str, str], found: str) -> None:
    """In any form that aiohttp takes, in any case; ``json`` brings its own type; an iterator is not used up."""
    async with aiohttp.ClientSession(headers=default) as session:
        exchange = client.AiohttpExchange(aiohttp, session, "POST", "http://agent/", {"json": {}, "headers": given})
        for _ in range(2):
            assert exchange.header("content-type") == found
            assert exchange.header("x-other") is None
            exchange.body()
    if not isinstance(given, (dict, list, type(None))) and hasattr(given, "__next__"):
        assert list(given) == [("content-type", "a")]


@pytest.mark.parametrize("url", ["nonsense://[", "http://[", 7, None])
async def test_urls_that_are_none_have_no_path(url: Any) -> None:
    """What is wrong with them, aiohttp says itself; we make up no host."""
    async with aiohttp.ClientSession() as session:
        exchange = client.AiohttpExchange(aiohttp, session, "GET", url, {"params": {"a": "1"}})
        assert exchange.path in ("", "/")
        assert "None" not in exchange.url()


def test_first_event_arrives_while_the_server_waits(side: AiohttpSide) -> None:
    """The server sends its second event only after the program has the first: nothing is read ahead or held back."""

    def script(peer: Peer) -> None:
        peer.head("transfer-encoding: chunked", SSE)
        for number, event in enumerate(EVENTS):
            # In two pieces: a half event must come through as well.
            peer.chunk(event[:5])
            peer.wait(f"half {number}")
            peer.chunk(event[5:])
            peer.wait(f"have {number}")
        peer.last_chunk()

    side.server.scripts["/"] = script
    chunks: list[bytes] = []

    async def program(session: Any) -> None:
        async with session.post(side.url("/"), json=CALL) as response:
            async for chunk in response.content.iter_any():
                number, half = divmod(len(chunks), 2)
                chunks.append(chunk)
                side.server.signal(f"have {number}" if half else f"half {number}").set()

    seen = record(side, program).only
    assert chunks == [part for event in EVENTS for part in (event[:5], event[5:])]
    assert seen.fed == chunks


def test_each_part_is_told_before_the_program_has_it(side: AiohttpSide) -> None:
    """In the same order, and the end once."""
    before: list[bytes] = []

    async def program(session: Any) -> None:
        async with session.post(side.url("/"), json=CALL) as response:
            async for line in response.content:
                assert before[-1] == line

    seen = record(side, program, options={"cut": before.append}).only
    assert seen.calls == ["respond", "end"]


def test_propagation_headers_reach_the_server(side: AiohttpSide) -> None:
    """In place of older ones of the same name; the program's own object stays as it was."""
    own = {"TraceParent": "old", "x": "y"}

    async def program(session: Any) -> None:
        for headers in (own, None):
            async with session.post(side.url("/"), json=CALL, headers=headers):
                pass

    record(side, program, options={"propagated": {"traceparent": "new", "baggage": "a=1"}})
    for received in side.server.received:
        assert (received.headers["traceparent"], received.headers["baggage"]) == ("new", "a=1")
    assert side.server.received[0].headers["x"] == "y"
    assert own == {"TraceParent": "old", "x": "y"}


def test_redirects_and_credentials_are_one_call(side: AiohttpSide) -> None:
    """One operation from the first request to the last answer, whose URL is told, and the headers as they were sent."""
    side.server.scripts["/a"] = whole(b"", "location: /", status="307 Temporary Redirect")

    async def program(session: Any) -> None:
        async with session.post(side.url("/a").replace("://", "://user:secret@"), json=CALL) as response:
            assert len(response.history) == 1

    seen = record(side, program).only
    assert seen.request["path"] == "/a"
    assert seen.response is not None and seen.response[2] == side.url("/")
    assert (seen.exchange.header("authorization") or "").startswith("Basic ")


def test_exception_ends_the_operation(side: AiohttpSide) -> None:
    """What aiohttp raises is told by its name, and reaches the program unchanged."""

    async def program(session: Any) -> None:
        with pytest.raises(aiohttp.ClientConnectorError):
            await session.get(side.server.deaf_url)

    assert record(side, program).only.ending == ("ClientConnectorError", "ClientConnectorError")


@pytest.mark.parametrize("choice", ["session", "call"])
def test_an_answer_that_is_raised_for_is_an_answer(choice: str, side: AiohttpSide) -> None:
    """With ``raise_for_status`` the program sees no body, and so does the operation, but it learns the status."""
    side.server.scripts["/"] = whole(b"why", JSON, status="503 Busy")

    async def program(side: Any) -> None:
        async with side.session(raise_for_status=choice == "session") as session:
            with pytest.raises(aiohttp.ClientResponseError):
                await session.get(side.url("/"), **({"raise_for_status": True} if choice == "call" else {}))

    with watching(Recorder()) as recorder:
        execute(program, side)
    seen = recorder.only
    assert seen.response == (503, "application/json", side.url("/"))
    assert (seen.content, seen.calls) == (b"", ["respond", "body"])


@pytest.mark.parametrize("fault", ["own class", "no head", "too many redirects"])
def test_other_exceptions_are_no_answer(fault: str, side: AiohttpSide) -> None:
    """A fault in the head, a loop of redirects, or an exception of the program's own say nothing of a status."""

    async def own(response: Any) -> None:
        raise type("Own", (aiohttp.ClientResponseError,), {})(response.request_info, (), status=500)

    side.server.scripts["/"] = {
        "own class": whole(b"", JSON, status="500 Internal Server Error"),
        "no head": lambda peer: peer.send(b"HTTP/1.1 whatever\r\n\r\n"),
        "too many redirects": whole(b"", "location: /", status="307 Temporary Redirect"),
    }[fault]

    async def program(session: Any) -> None:
        with pytest.raises(aiohttp.ClientResponseError):
            await session.get(side.url("/"), raise_for_status=own if fault == "own class" else None)

    seen = record(side, program).only
    assert seen.response is None and seen.calls == ["end"]


def test_an_answer_that_is_read_already_is_told_at_once(side: AiohttpSide) -> None:
    """A trace config may read it before the program has the response."""

    async def look(session: Any, context: Any, params: Any) -> None:
        await params.response.read()

    config = aiohttp.TraceConfig()
    config.on_request_end.append(look)

    async def program(side: Any) -> None:
        async with side.session(trace_configs=[config]) as session, session.post(side.url("/"), json=CALL) as response:
            assert type(response.content) is aiohttp.StreamReader
            assert await response.read() == b"".join(EVENTS)

    with watching(Recorder()) as recorder:
        execute(program, side)
    assert recorder.only.content == b"".join(EVENTS)
    assert recorder.only.calls == ["respond", "body"]


def test_content_is_copied_and_described_as_before(side: AiohttpSide) -> None:
    """Copies are aiohttp's own readers, and tell nobody."""

    async def program(session: Any) -> None:
        async with session.post(side.url("/"), json=CALL) as response:
            content = response.content
            for again in (copy.copy(content), content.__reduce_ex__(2)[1][0]):
                assert aiohttp.StreamReader in (type(again), again)
            assert repr(content).startswith("<StreamReader")
            assert await copy.copy(content).readline() == EVENTS[0][:-1]

    seen = record(side, program).only
    assert seen.fed == []


def test_request_that_is_none_of_ours_is_only_asked_about(side: AiohttpSide) -> None:
    """Where ``begin`` sees nothing of interest, the response is untouched."""
    contents: list[object] = []

    async def program(session: Any) -> None:
        async with session.get(side.url("/")) as response:
            contents.append(type(response.content))
            await response.read()

    recorder = record(side, program, wanted=lambda exchange: False)
    assert recorder.asked == 1
    assert contents == [aiohttp.StreamReader]


def test_methods_look_as_before() -> None:
    """Signature, name, documentation and being a coroutine function are those of the original."""
    points = [(aiohttp.ClientSession, "_request"), *((aiohttp.ClientResponse, name) for name in RELEASED)]
    for owner, name in points:
        original = getattr(owner, name)
        with watching(Recorder()):
            patched = getattr(owner, name)
            assert patched is not original
            assert inspect.signature(patched) == inspect.signature(original)
            assert inspect.iscoroutinefunction(patched) == inspect.iscoroutinefunction(original)
            for attribute in ("__name__", "__qualname__", "__module__", "__doc__"):
                assert getattr(patched, attribute) == getattr(original, attribute)
        assert getattr(owner, name) is original


def test_session_from_before_and_stream_that_outlives_us(side: AiohttpSide) -> None:
    """A session made before patching is seen; a stream that goes on afterwards is told to its end."""

    async def program(side: Any) -> None:
        async with side.session() as session:
            with watching(Recorder()) as recorder:
                response = await session.post(side.url("/"), json=CALL)
                assert await response.content.readline() == EVENTS[0][:-1]
            side.log += [await response.content.read(), recorder]
            async with session.post(side.url("/"), json=CALL) as later:
                assert type(later.content) is aiohttp.StreamReader

    execute(program, side)
    rest, recorder = side.log
    assert isinstance(recorder, Recorder) and recorder.asked == 1
    assert rest == b"".join(EVENTS)[len(EVENTS[0]) - 1 :]
    assert b"".join(recorder.only.fed) == b"".join(EVENTS)
    assert recorder.only.ending == ("eof", "")


@pytest.mark.parametrize(
    ("owner", "name"),
    [("", "ClientSession"), ("", "BytesPayload"), ("ClientSession", "_request"), ("ClientSession", "_build_url")],
)
def test_library_that_lacks_a_point_is_left_alone_whole(owner: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one thing is gone that is needed, nothing is patched."""
    library = ModuleType("aiohttp")
    library.__dict__.update(vars(aiohttp))
    before = aiohttp.ClientResponse.close
    if owner:
        monkeypatch.delattr(getattr(aiohttp, owner), name)
    else:
        del library.__dict__[name]
    with pytest.raises(patching.PatchPointMissing, match=name):
        client.install(library)
    assert aiohttp.ClientResponse.close is before


def test_status_tells_version_and_patches() -> None:
    """The version that is installed, and whether it is patched now."""
    with watching(Recorder()):
        on = {each.name: each for each in clients.status()}
    off = {each.name: each for each in clients.status()}
    assert on["aiohttp"].version == importlib.import_module("aiohttp").__version__
    assert on["aiohttp"].patched and not off["aiohttp"].patched
