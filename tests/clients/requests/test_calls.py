# SPDX-License-Identifier: Apache-2.0
"""Calls over requests, and sessions with all that can be built into them: nothing differs from a run without us."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import pytest
import requests
import urllib3
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.auth import HTTPDigestAuth
from urllib3.util.retry import Retry

from tests.clients.bodies import ANSWER, JSON
from tests.clients.loopback import PATIENCE, Peer, Server, chunked, whole
from tests.clients.requests.sides import RequestsSide, compare
from tests.clients.sides import CALL, describe
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
def copies_and_pickles(side: RequestsSide) -> None:
    with side.session() as session:
        response = side.call(session)
        for twin in (copy.copy(response), copy.deepcopy(response), pickle.loads(pickle.dumps(response))):
            side.log += [twin.content, twin.status_code, twin.raw, sorted(vars(twin)), twin.json()]
        with pickle.loads(pickle.dumps(session)) as twin:
            side.look(side.call(twin))


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


@calls()
def basic_and_digest_auth(side: RequestsSide) -> None:
    def challenge(peer: Peer) -> None:
        if "Digest" in peer.request.headers.get("authorization", ""):
            whole(ANSWER, JSON)(peer)
        else:
            header = 'www-authenticate: Digest realm="a", nonce="n", algorithm=MD5'
            whole(b"who?", header, status="401 Unauthorized")(peer)

    with side.session() as session:
        side.look(side.call(session, auth=("user", "secret")))
        side.log.append(side.server.received[-1].headers["authorization"])
        side.server.scripts["/digest"] = challenge
        response = side.call(session, "/digest", auth=HTTPDigestAuth("user", "secret"))
        side.look(response)
        side.log += [response.content, response.request.headers["authorization"]]


@calls()
def auth_of_the_program(side: RequestsSide) -> None:
    class Token(requests.auth.AuthBase):
        def __call__(self, request: Any) -> Any:
            side.log.append(sorted(set(request.headers)))
            request.headers["authorization"] = "Bearer x"
            return request

    with side.session() as session:
        session.auth = Token()
        side.look(side.call(session))


@calls()
def hook_that_raises(side: RequestsSide) -> None:
    def hook(response: Any, **options: Any) -> None:
        response.raise_for_status()

    side.server.scripts["/"] = whole(ANSWER, JSON, status="500 Internal Server Error")
    with side.session() as session, side.noting():
        session.hooks["response"].append(hook)
        side.call(session)


@calls()
def hook_that_calls(side: RequestsSide) -> None:
    def hook(response: Any, **options: Any) -> None:
        if response.url.endswith("/"):
            side.look(session.get(side.url("/other"), timeout=PATIENCE))

    with side.session() as session:
        side.look(side.call(session, hooks={"response": hook}))


@calls()
def one_connection_for_many_calls(side: RequestsSide) -> None:
    with side.session() as session:
        session.mount("http://", HTTPAdapter(pool_connections=1, pool_maxsize=1, pool_block=True))
        for _ in range(3):
            side.look(side.call(session))
    assert len({received.connection for received in side.server.received}) == 1


@calls()
def closed_session(side: RequestsSide) -> None:
    session = side.session()
    session.close()
    with side.noting():
        side.look(side.call(session))
    session.close()


@calls()
def subclass_with_its_own_send(side: RequestsSide) -> None:
    class Own(requests.Session):
        def send(self, request: Any, **options: Any) -> Any:
            request.headers["x-own"] = "1"
            options["timeout"] = PATIENCE
            response = super().send(request, **options)
            side.log.append(response.status_code)
            return response

    side.server.scripts["/a"] = redirect("307 Temporary Redirect", "/")
    with side.session(Own) as session:
        side.look(side.call(session, "/a"))


@calls()
def retries_by_status(side: RequestsSide) -> None:
    attempts = []

    def busy(peer: Peer) -> None:
        attempts.append(1)
        status = "200 OK" if len(attempts) > 2 else "503 Service Unavailable"
        whole(ANSWER, JSON, "retry-after: 0", status=status)(peer)

    side.server.scripts["/"] = busy
    with side.session() as session:
        session.mount("http://", HTTPAdapter(max_retries=Retry(3, status_forcelist=[503], allowed_methods=None)))
        side.look(side.call(session))
        side.log.append(len(attempts))


@calls()
def retries_given_up(side: RequestsSide) -> None:
    side.server.scripts["/"] = whole(b"", status="503 Service Unavailable")
    with side.session() as session, side.noting():
        session.mount("http://", HTTPAdapter(max_retries=Retry(1, status_forcelist=[503], allowed_methods=None)))
        side.call(session)


@calls()
def retries_of_broken_connections(side: RequestsSide) -> None:
    attempts = []

    def flaky(peer: Peer) -> None:
        attempts.append(1)
        if len(attempts) < 3:
            peer.reset()
        whole(ANSWER, JSON)(peer)

    side.server.scripts["/"] = flaky
    with side.session() as session:
        session.mount("http://", HTTPAdapter(max_retries=Retry(3, backoff_factor=0, allowed_methods=None)))
        response = side.stream(session)
        retries: Any = response.raw.retries
        side.log += [response.content, retries.total]


@calls()
def retries_by_the_program(side: RequestsSide) -> None:
    attempts = []

    def flaky(peer: Peer) -> None:
        attempts.append(1)
        if len(attempts) < 3:
            peer.reset()
        whole(ANSWER, JSON)(peer)

    side.server.scripts["/"] = flaky
    with side.session() as session:
        for _ in range(3):
            try:
                side.look(side.call(session))
            except requests.ConnectionError as error:
                side.log.append(describe(error))


class Canned(BaseAdapter):
    """An adapter of an application, which answers by itself."""

    def __init__(self, raw: Any, content_type: str = "application/json") -> None:
        super().__init__()
        self.raw = raw
        self.content_type = content_type

    def send(self, request: Any, *args: Any, **options: Any) -> Any:
        if request.url.endswith("raise"):
            raise requests.ConnectionError("no way", request=request)
        response = requests.Response()
        response.status_code, response.url, response.request = 200, request.url, request
        response.headers["content-type"] = self.content_type
        response.raw = self.raw
        return response

    def close(self) -> None: ...


@calls()
def adapters_of_the_program(side: RequestsSide) -> None:
    for raw in (BytesIO(ANSWER), None, urllib3.HTTPResponse(BytesIO(ANSWER), preload_content=False, status=200)):
        for stream in (False, True):
            with side.session() as session:
                session.mount("canned://", Canned(raw))
                with session.post("canned://agent/", json=CALL, stream=stream) as response:
                    side.log += [response.content, response.text, response.raw is None]
                    side.look(response)
                with side.noting():
                    session.post("canned://agent/raise", json=CALL, stream=stream)


@calls()
def adapter_with_a_file(side: RequestsSide) -> None:
    for read in (list, lambda raw: raw.readlines(), lambda raw: [next(raw), raw.read(3), raw.getvalue(), raw.tell()]):
        with side.session() as session:
            session.mount("canned://", Canned(BytesIO(b"data: {}\n\ndata: {}\n\n"), "text/event-stream"))
            response = session.post("canned://agent/", json=CALL, stream=True)
            side.log += [read(response.raw), iter(response.raw) is response.raw, hasattr(response.raw, "stream")]
            response.close()
            with side.noting():
                response.raw.read()


@calls()
def module_level_functions(side: RequestsSide) -> None:
    for verb in ("get", "put", "options", "delete"):
        side.look(getattr(requests, verb)(side.url("/"), timeout=PATIENCE, proxies={"no_proxy": "*"}))
    side.look(requests.post(side.url("/"), json=CALL, timeout=PATIENCE, proxies={"no_proxy": "*"}))


@calls()
def many_threads(side: RequestsSide) -> None:
    def call() -> None:
        answers.append(side.call(session).content)

    answers: list[bytes] = []
    with side.session() as session:
        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    side.log += answers
    side.server.received.clear()


@pytest.mark.parametrize("name", calls)
def test_every_kind_of_call_goes_as_without_us(name: str, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """What the program gets, what it catches and what the server receives are equal."""
    server.scripts["/"] = whole(ANSWER, JSON)
    assert compare(calls[name], server, caplog).asked
