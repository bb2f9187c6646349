# SPDX-License-Identifier: Apache-2.0
"""Calls over requests, and sessions with all that can be built into them: nothing differs from a run without us."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import pytest
import requests

from tests.clients.bodies import ANSWER, JSON
from tests.clients.loopback import PATIENCE, Peer, Server, chunked, whole
from tests.clients.requests.sides import RequestsSide, compare
from tests.clients.sides import CALL
from tests.clients.situations import Situations

calls = Situations()


def silent(peer: Peer) -> None:
    peer.wait_for_hangup()


def redirect(status: str, location: str) -> Callable[[Peer], None]:
    return whole(b"moved", f"location: {location}", status=status)


@calls()
def post_and_read(side: RequestsSide) -> None:
    with side.session() as session:
        response = side.call(session)
        side.look(response)
        side.log += [response.json(), response.text, str(response), response.apparent_encoding, list(response)]
        response.close()


@calls()
def every_verb(side: RequestsSide) -> None:
    with side.session() as session:
        for verb in ("get", "head", "options", "delete", "put", "patch"):
            side.look(getattr(session, verb)(side.url("/"), timeout=PATIENCE))
        side.look(session.request("report", side.url("/?a=1&b=%20#part"), timeout=PATIENCE))


@calls()
def raise_for_status(side: RequestsSide) -> None:
    side.server.scripts["/"] = whole(ANSWER, JSON, status="503 Service Unavailable")
    with side.session() as session, side.noting():
        side.call(session).raise_for_status()


@calls()
def nobody_listens(side: RequestsSide) -> None:
    with side.session() as session, side.noting():
        session.get(side.server.deaf_url, timeout=PATIENCE)


@calls()
def no_answer_in_time(side: RequestsSide) -> None:
    side.server.scripts["/"] = silent
    with side.session() as session, side.noting():
        side.call(session, timeout=0.05)


@calls()
def half_an_answer_in_time(side: RequestsSide) -> None:
    side.server.scripts["/"] = chunked([ANSWER[:10]], JSON, end=silent)
    with side.session() as session, side.noting():
        side.call(session, timeout=(PATIENCE, 0.05))


@calls()
def redirects_with_history(side: RequestsSide) -> None:
    side.server.scripts["/a"] = redirect("307 Temporary Redirect", "/b")
    side.server.scripts["/b"] = redirect("308 Permanent Redirect", "/")
    with side.session() as session:
        response = side.call(session, "/a")
        side.look(response)
        side.log += [response.content, [(past.content, past.request.url) for past in response.history]]


@calls()
def redirects_that_change_the_method(side: RequestsSide) -> None:
    for number, status in enumerate(("301 Moved Permanently", "302 Found", "303 See Other")):
        side.server.scripts[f"/{number}"] = redirect(status, "/")
        with side.session() as session:
            side.look(side.call(session, f"/{number}"))


@calls()
def redirect_not_followed(side: RequestsSide) -> None:
    side.server.scripts["/a"] = redirect("307 Temporary Redirect", "/")
    with side.session() as session:
        response = side.call(session, "/a", allow_redirects=False)
        side.look(response)
        assert response.next is not None
        side.look(session.send(response.next, timeout=PATIENCE))


@calls()
def endless_redirects(side: RequestsSide) -> None:
    side.server.scripts["/a"] = redirect("307 Temporary Redirect", "/a")
    with side.session() as session, side.noting():
        session.max_redirects = 3
        side.call(session, "/a")


@calls()
def redirect_to_nonsense(side: RequestsSide) -> None:
    side.server.scripts["/a"] = redirect("307 Temporary Redirect", "https://[::")
    with side.session() as session, side.noting():
        side.call(session, "/a")


@calls()
def redirect_of_a_generated_body(side: RequestsSide) -> None:
    side.server.scripts["/a"] = redirect("307 Temporary Redirect", "/")
    with side.session() as session, side.noting():
        session.post(side.url("/a"), data=iter([b"{}"]), timeout=PATIENCE)


@calls()
def every_kind_of_body(side: RequestsSide) -> None:
    def parts() -> Iterator[bytes]:
        yield b'{"jsonrpc":'
        yield b' "2.0"}'

    bodies: list[Any] = [b'{"a": 1}', '{"a": "\u00fc"}', parts(), BytesIO(b'{"file": 1}'), bytearray(b"{}"), {"a": "1"}]
    bodies += [[("a", "1"), ("a", "2")], "", b"", None, iter(())]
    with side.session() as session:
        for body in bodies:
            with side.noting(UnicodeEncodeError):
                side.look(session.post(side.url("/"), data=body, timeout=PATIENCE))


@calls()
def file_that_stands_in_the_middle(side: RequestsSide) -> None:
    file = BytesIO(b'...{"jsonrpc": "2.0"}')
    file.seek(3)
    side.server.scripts["/a"] = redirect("307 Temporary Redirect", "/")
    with side.session() as session:
        side.look(
            session.post(side.url("/a"), data=file, headers={"content-type": "application/json"}, timeout=PATIENCE)
        )
        side.log.append(file.tell())


@calls()
def body_that_raises(side: RequestsSide) -> None:
    def parts() -> Iterator[bytes]:
        yield b"{"
        raise LookupError("no more")

    with side.session() as session, side.noting():
        session.post(side.url("/"), data=parts(), timeout=PATIENCE)


@calls()
def form_and_files(side: RequestsSide) -> None:
    with side.session() as session:
        session.post(side.url("/"), files={"f": ("n", b"data")}, data={"a": "1"}, timeout=PATIENCE)
        for received in side.server.received:
            boundary = received.body.partition(b"\r\n")[0].removeprefix(b"--")
            assert boundary
            received.body = received.body.replace(boundary, b"b")


@calls()
def headers_as_bytes(side: RequestsSide) -> None:
    with side.session() as session:
        headers: Any = {"content-type": b"application/json", "x-own": b"1"}
        side.look(session.post(side.url("/"), data=b"{}", headers=headers, timeout=PATIENCE))


@calls()
def the_same_request_again(side: RequestsSide) -> None:
    with side.session() as session:
        prepared = session.prepare_request(requests.Request("POST", side.url("/"), json=CALL))
        for _ in range(3):
            side.look(session.send(prepared, timeout=PATIENCE))
        side.look(session.send(request=prepared.copy(), stream=False, allow_redirects=True, timeout=PATIENCE))


@calls()
def cookies(side: RequestsSide) -> None:
    side.server.scripts["/"] = whole(ANSWER, JSON, "set-cookie: a=1")
    with side.session() as session:
        for _ in range(2):
            side.look(side.call(session))
        side.log += [dict(session.cookies), side.server.received[-1].headers.get("cookie")]


@calls()
def wrong_arguments(side: RequestsSide) -> None:
    with side.session() as session:
        prepared: Any = session.prepare_request(requests.Request("GET", side.url("/")))
        bare: Any = requests.PreparedRequest()
        send: Any = session.send
        unprepared: Any = requests.Request("GET", side.url("/"))
        for arguments, options in (
            ((), {}),
            ((prepared, True), {}),
            ((prepared,), {"no_such": 1}),
            ((None,), {}),
            ((unprepared,), {}),
            ((bare,), {}),
        ):
            with side.noting():
                send(*arguments, **options)
        for url in ("nonsense://host/", "nonsense://[/", "/no-host", "http://", "mailto:agent@host"):
            with side.noting():
                session.post(url, json=CALL, timeout=PATIENCE)


@pytest.mark.parametrize("name", calls)
def test_every_kind_of_call_goes_as_without_us(name: str, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """What the program gets, what it catches and what the server receives are equal."""
    server.scripts["/"] = whole(ANSWER, JSON)
    assert compare(calls[name], server, caplog).asked
