# SPDX-License-Identifier: Apache-2.0
"""What the operation learns of a call over requests."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from io import BytesIO
from types import ModuleType
from typing import Any

import pytest
import requests

from otel_a2a import clients, patching
from otel_a2a.clients import requests as client
from tests.clients.loopback import PATIENCE, Peer, Server, chunked, whole
from tests.clients.recording import Recorder
from tests.clients.requests.readers import READERS_TO_THE_END
from tests.clients.requests.sides import RequestsSide, record, run
from tests.clients.sides import watching
from tests.clients.situations import EVENTS, SSE

JSON = "content-type: application/json"


@pytest.fixture
def side(server: Server) -> RequestsSide:
    server.scripts["/"] = chunked(EVENTS, SSE)
    return RequestsSide(server)


def test_request_is_told_as_it_leaves(side: RequestsSide) -> None:
    """Method, path, URL, headers, size and body are the request's, and the answer's head and body follow."""
    side.server.scripts["/a%20b"] = whole(b'{"ok": 1}', JSON)
    seen = record(side, lambda session: side.call(session, "/a b?x=1")).only
    body = side.server.received[0].body
    assert seen.request == {
        "method": "POST",
        "path": "/a%20b",
        "url": side.url("/a%20b?x=1"),
        "content-type": "application/json",
        "body": body,
    }
    assert seen.response == (200, "application/json", side.url("/a%20b?x=1"))
    assert seen.content == b'{"ok": 1}'
    assert seen.calls == ["respond", "body"]


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (b"{}", b"{}"),
        ('{"a": "\u00fc"}', '{"a": "\u00fc"}'.encode()),
        (None, b""),
        (BytesIO(b"{}"), None),
        (iter([b"{}"]), None),
    ],
    ids=["bytes", "text", "none", "file", "generator"],
)
def test_bodies_are_read_where_that_takes_nothing_away(data: Any, body: bytes | None) -> None:
    """Bytes and text are read; files and generators are the network's."""
    request = requests.PreparedRequest()
    request.prepare_method("POST")
    request.prepare_url("http://agent", {})
    request.prepare_headers({})
    request.prepare_body(data, None)
    exchange = client.RequestsExchange(request)
    assert (exchange.body(), exchange.path) == (body, "/")
    if body is None:
        assert b"".join(data) == b"{}"


def test_text_that_no_coding_can_hold_is_read_all_the_same() -> None:
    """It will not leave, and that is for the library to say."""
    request = requests.Request("POST", "http://agent/").prepare()
    request.body = "\udc00"
    assert client.RequestsExchange(request).body() == b"?"


@pytest.mark.parametrize("url", ["nonsense://[", "nonsense:", "", None])
def test_urls_of_any_kind_have_a_path(url: str | None) -> None:
    """Of schemes that are not HTTP's the library takes any text, and so do we."""
    request = requests.PreparedRequest()
    request.url = url
    assert client.RequestsExchange(request).path in ("/", "")


def test_headers_may_be_bytes() -> None:
    """The library sends them as they are."""
    headers: Any = {"Content-Type": b"application/json"}
    request = requests.Request("POST", "http://agent/", headers=headers).prepare()
    assert client.RequestsExchange(request).header("content-type") == "application/json"


@pytest.mark.parametrize("reader", READERS_TO_THE_END)
def test_everything_that_is_read_is_told_once(reader: str, side: RequestsSide) -> None:
    """The bytes told are those of the body, each once, and then its end."""

    def program(session: requests.Session) -> None:
        with side.stream(session) as response:
            READERS_TO_THE_END[reader](response)

    seen = record(side, program).only
    assert b"".join(seen.fed) == b"".join(EVENTS)
    assert seen.ending == ("eof", "")


def test_first_event_arrives_while_the_server_waits(side: RequestsSide) -> None:
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
    told: list[bytes] = []
    chunks: list[bytes] = []

    def program(session: requests.Session) -> None:
        with side.stream(session) as response:
            for chunk in response.iter_content(None):
                assert told[-1] == chunk
                number, half = divmod(len(chunks), 2)
                chunks.append(chunk)
                side.server.signal(f"have {number}" if half else f"half {number}").set()

    record(side, program, options={"cut": lambda chunk: told.append(chunk)})
    assert b"".join(chunks) == b"".join(EVENTS)
    assert len(chunks) == 6


def test_propagation_headers_reach_the_server(side: RequestsSide) -> None:
    """The operation's headers are set on the request, in place of older ones of the same name, and on redirects."""
    side.server.scripts["/a"] = whole(b"", "location: /", status="307 Temporary Redirect")
    own = {"Traceparent": "old", "x": "y"}
    record(
        side,
        lambda session: side.call(session, "/a", headers=own),
        options={"propagated": {"traceparent": "new", "baggage": "a=1"}},
    )
    for received in side.server.received:
        headers = received.headers
        assert (headers["traceparent"], headers["baggage"], headers["x"]) == ("new", "a=1", "y")


def test_redirects_and_auth_are_one_call(side: RequestsSide) -> None:
    """One operation from the first request to the last answer, whose URL is told."""
    side.server.scripts["/a"] = whole(b"", "location: /", status="307 Temporary Redirect")
    seen = record(side, lambda session: side.call(session, "/a", auth=("u", "p"))).only
    assert seen.request["url"] == side.url("/a")
    assert seen.response is not None and seen.response[2] == side.url("/")
    assert len(side.server.received) == 2


def test_exception_ends_the_operation(side: RequestsSide) -> None:
    """What the library raises is told by its name, and reaches the program unchanged."""

    def program(session: requests.Session) -> None:
        with pytest.raises(requests.ConnectionError) as raised:
            session.get(side.server.deaf_url, timeout=PATIENCE)
        assert type(raised.value) is requests.ConnectionError

    assert record(side, program).only.ending == ("ConnectionError", "ConnectionError")


def test_request_that_is_none_of_ours_is_only_asked_about(side: RequestsSide) -> None:
    """Where ``begin`` sees nothing of interest, the response is untouched."""

    def program(session: requests.Session) -> None:
        with session.get(side.url("/"), stream=True, timeout=PATIENCE) as response:
            assert type(response.raw).__module__.startswith("urllib3")

    assert record(side, program, wanted=lambda exchange: False).asked == 1


def test_answer_out_of_a_cache_is_told_as_such(side: RequestsSide) -> None:
    """CacheControl marks what it has not asked for; an answer that a server has confirmed was asked for."""
    response = requests.Response()
    response.request = requests.Request("GET", "http://agent/").prepare()
    assert not client._is_from_cache(response)
    response.from_cache = True  # type: ignore[attr-defined]
    assert client._is_from_cache(response)
    response.request.headers["If-None-Match"] = '"1"'
    assert not client._is_from_cache(response)


def test_method_looks_as_before() -> None:
    """Signature, name and documentation are those of the original, which is back in the end."""
    original = requests.Session.send
    with watching(Recorder()):
        patched = requests.Session.send
        assert patched is not original
        assert inspect.signature(patched) == inspect.signature(original)
        for attribute in ("__name__", "__qualname__", "__module__", "__doc__"):
            assert getattr(patched, attribute) == getattr(original, attribute)
    assert requests.Session.send is original


def test_session_from_before_and_bound_method_from_within(side: RequestsSide) -> None:
    """A session made before patching is seen; a method bound while patched lets everything through afterwards."""

    def program(side: RequestsSide) -> None:
        with side.session() as session:
            prepared = session.prepare_request(requests.Request("GET", side.url("/")))
            unpatched = session.send
            with watching(Recorder()) as recorder:
                patched = session.send
                session.get(side.url("/"), timeout=PATIENCE)
                unpatched(prepared, timeout=PATIENCE)
                clients.uninstall()
                patched(prepared, timeout=PATIENCE)
            assert recorder.asked == 1

    run(program, side)
    assert len(side.server.received) == 3


@pytest.mark.parametrize("lacking", ["Session", "PreparedRequest", "send"])
def test_library_that_lacks_something_is_left_alone(lacking: str) -> None:
    """The message names what is not there."""
    old = ModuleType("requests")
    session = type("Session", (), {} if lacking == "send" else {"send": lambda self, request: None})
    old.__dict__.update({"Session": session, "PreparedRequest": requests.PreparedRequest})
    if lacking != "send":
        del old.__dict__[lacking]
    with pytest.raises(patching.PatchPointMissing, match=lacking):
        client.install(old)


def test_generator_of_a_request_is_not_consumed(side: RequestsSide) -> None:
    """What only the network may read arrives there, whole."""

    def parts() -> Iterator[bytes]:
        yield b'{"jsonrpc": '
        yield b'"2.0"}'

    headers = {"content-type": "application/json"}
    seen = record(side, lambda session: session.post(side.url("/"), data=parts(), headers=headers, timeout=5)).only
    assert seen.request["body"] is None
    assert json.loads(side.server.received[0].body) == {"jsonrpc": "2.0"}
