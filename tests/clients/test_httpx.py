# SPDX-License-Identifier: Apache-2.0
"""What the operation learns of a call over httpx, and what it can do about it."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from otel_a2a import clients
from tests.clients.loopback import Peer, Server, chunked, whole
from tests.clients.recording import Recorder
from tests.clients.sides import CALL, Side, execute, record, watching
from tests.clients.situations import EVENTS, SSE

JSON = "content-type: application/json"


@pytest.fixture
def side(library: str, kind: str, server: Server) -> Side:
    server.scripts["/"] = chunked(EVENTS, SSE)
    return Side(importlib.import_module(library), kind == "async", server)


def test_request_is_told_as_it_leaves(side: Side) -> None:
    """Method, path, URL, headers, size and body are the request's, and the answer's head and body follow."""
    side.server.scripts["/a b"] = side.server.scripts["/a%20b"] = whole(b'{"ok": 1}', JSON)

    async def program(client: Any) -> None:
        await side.do(client.post(side.url("/a b?x=1"), json=CALL))

    seen = record(side, program).only
    body = side.server.received[0].body
    assert seen.request == {
        "method": "POST",
        "path": "/a b",
        "url": side.url("/a%20b?x=1"),
        "content-type": "application/json",
        "body": body,
    }
    assert seen.response == (200, "application/json", side.url("/a%20b?x=1"))
    assert seen.content == b'{"ok": 1}'
    assert seen.calls == ["respond", "body"]


def test_generated_body_is_left_alone(library: str) -> None:
    """A body that only a generator knows is not read."""
    from otel_a2a.clients.httpx import HttpxExchange

    def parts() -> Iterator[bytes]:
        yield b"{}"

    request = importlib.import_module(library).Request("POST", "http://a/", content=parts())
    exchange = HttpxExchange(request)
    assert exchange.body() is None
    assert request.read() == b"{}"
    assert exchange.body() == b"{}"


def test_header_is_the_first_of_its_name_in_any_case(library: str) -> None:
    """Headers are found by their lower-case name and decoded as the library does it; one that is not there is None."""
    from otel_a2a.clients.httpx import HttpxExchange

    headers = [("X-Key", "\u00fc".encode()), ("x-key", "later"), ("Accept", "a/b")]
    request = importlib.import_module(library).Request("GET", "http://a/", headers=headers)
    exchange = HttpxExchange(request)
    assert [exchange.header(name) for name in ("x-key", "accept", "x-other")] == ["\u00fc", "a/b", None]


def test_header_set_by_an_auth_flow_is_seen(side: Side) -> None:
    """What is set within the library's own call is there when the answer is."""

    def sign(request: Any) -> Any:
        request.headers["authorization"] = "Bearer 1"
        return request

    async def program(client: Any) -> None:
        await side.do(client.get(side.url("/"), auth=sign))

    recorder = record(side, program)
    assert recorder.only.exchange.header("authorization") == "Bearer 1"


def test_stream_is_told_chunk_by_chunk(side: Side) -> None:
    """Each chunk is seen before the program has it, the end once, and nothing is called a body."""

    seen_before: list[bytes] = []

    def note(chunk: bytes) -> None:
        seen_before.append(chunk)

    async def program(client: Any) -> None:
        async with side.open(client.stream("POST", side.url("/"), json=CALL)) as response:
            async for chunk in side.each(response, "iter_raw"):
                assert seen_before[-1] == chunk

    seen = record(side, program, options={"cut": note}).only
    assert seen.fed == EVENTS
    assert seen.calls == ["respond", "end"]
    assert seen.ending == ("eof", "")


def test_first_event_arrives_while_the_server_waits(side: Side) -> None:
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

    async def program(client: Any) -> None:
        async with side.open(client.stream("POST", side.url("/"), json=CALL)) as response:
            async for chunk in side.each(response, "iter_raw"):
                number, half = divmod(len(chunks), 2)
                chunks.append(chunk)
                side.server.signal(f"have {number}" if half else f"half {number}").set()

    record(side, program)
    assert b"".join(chunks) == b"".join(EVENTS)
    assert len(chunks) == 6


def test_propagation_headers_reach_the_server(side: Side) -> None:
    """The operation's headers are set on the request, in place of older ones of the same name."""

    async def program(client: Any) -> None:
        await side.do(client.post(side.url("/"), json=CALL, headers={"traceparent": "old", "x": "y"}))

    record(side, program, options={"propagated": {"traceparent": "new", "baggage": "a=1"}})
    headers = side.server.received[0].headers
    assert (headers["traceparent"], headers["baggage"], headers["x"]) == ("new", "a=1", "y")


def test_redirects_and_auth_are_one_call(side: Side) -> None:
    """One operation from the first request to the last answer, whose URL is told."""
    side.server.scripts["/a"] = whole(b"", "location: /", status="307 Temporary Redirect")

    async def program(client: Any) -> None:
        await side.do(client.post(side.url("/a"), json=CALL, follow_redirects=True, auth=("u", "p")))

    seen = record(side, program).only
    assert seen.request["url"] == side.url("/a")
    assert seen.response is not None and seen.response[2] == side.url("/")


def test_exception_ends_the_operation(side: Side) -> None:
    """What the library raises is told by its name, and reaches the program unchanged."""
    caught: list[BaseException] = []

    async def program(client: Any) -> None:
        with pytest.raises(side.library.ConnectError) as raised:
            await side.do(client.get(side.server.deaf_url))
        caught.append(raised.value)

    seen = record(side, program).only
    assert seen.ending == ("ConnectError", "ConnectError")
    assert type(caught[0]) is side.library.ConnectError


def test_request_that_is_none_of_ours_is_only_asked_about(side: Side) -> None:
    """Where ``begin`` sees nothing of interest, the response is untouched."""
    streams: list[object] = []

    async def program(client: Any) -> None:
        async with side.open(client.stream("GET", side.url("/"))) as response:
            streams.append(response.stream)
            await side.do(side.method(response, "read")())

    recorder = record(side, program, wanted=lambda exchange: False)
    assert recorder.asked == 1
    assert type(streams[0]).__module__.startswith(side.library.__name__)


@pytest.mark.parametrize("name", ["Client", "AsyncClient"])
def test_method_looks_as_before(library: str, name: str) -> None:
    """Signature, name, documentation and being a coroutine function are those of the original."""
    client = getattr(importlib.import_module(library), name)
    original = client.send
    with watching(Recorder()):
        patched = client.send
        assert patched is not original
        assert inspect.signature(patched) == inspect.signature(original)
        assert inspect.iscoroutinefunction(patched) == inspect.iscoroutinefunction(original)
        for attribute in ("__name__", "__qualname__", "__module__", "__doc__"):
            assert getattr(patched, attribute) == getattr(original, attribute)
    assert client.send is original


def test_client_from_before_and_bound_method_from_within(side: Side) -> None:
    """A client made before patching is seen; a method bound while patched lets everything through afterwards."""

    async def program(side: Side) -> None:
        async with side.open(side.client()) as client:
            unpatched = client.send
            with watching(Recorder()) as recorder:
                patched = client.send
                await side.do(client.get(side.url("/")))
                await side.do(unpatched(client.build_request("GET", side.url("/"))))
                clients.uninstall()
                await side.do(patched(client.build_request("GET", side.url("/"))))
            assert recorder.asked == 1

    execute(program, side)
    assert len(side.server.received) == 3


def test_library_that_lacks_a_class_is_left_alone_whole(library: str) -> None:
    """Without ``AsyncClient`` (httpx 1.0 previews) the synchronous client is not patched either."""
    from types import ModuleType

    from otel_a2a import patching
    from otel_a2a.clients import httpx

    real = importlib.import_module(library)
    preview = ModuleType(library)
    preview.__dict__.update({name: value for name, value in vars(real).items() if name != "AsyncClient"})
    before = real.Client.send
    with pytest.raises(patching.PatchPointMissing, match="AsyncClient"):
        httpx.install(preview)
    assert real.Client.send is before


def test_status_tells_versions_and_patches() -> None:
    """Each known library with its version and whether it is patched now."""
    importlib.import_module("httpx")
    with watching(Recorder()):
        on = {client.name: client for client in clients.status()}
    off = {client.name: client for client in clients.status()}
    assert on["httpx"].version == importlib.import_module("httpx").__version__
    assert on["httpx"].patched and not off["httpx"].patched
