# SPDX-License-Identifier: Apache-2.0
"""Sessions of requests with all that can be built into them: nothing differs from a run without us."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
import requests
import urllib3
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.auth import AuthBase, HTTPDigestAuth
from urllib3.util.retry import Retry

from tests.clients.bodies import ANSWER, JSON
from tests.clients.loopback import PATIENCE, Peer, Server, whole
from tests.clients.requests.sides import RequestsSide, compare
from tests.clients.sides import CALL, describe
from tests.clients.situations import Situations

calls = Situations()


def redirect(status: str, location: str) -> Callable[[Peer], None]:
    return whole(b"moved", f"location: {location}", status=status)


@calls()
def copies_and_pickles(side: RequestsSide) -> None:
    with side.session() as session:
        response = side.call(session)
        for twin in (copy.copy(response), copy.deepcopy(response), pickle.loads(pickle.dumps(response))):
            side.log += [twin.content, twin.status_code, twin.raw, sorted(vars(twin)), twin.json()]
        with pickle.loads(pickle.dumps(session)) as twin:
            side.look(side.call(twin))


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
    class Token(AuthBase):
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
def test_every_kind_of_session_works_as_without_us(name: str, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """What the program gets, what it catches and what the server receives are equal."""
    server.scripts["/"] = whole(ANSWER, JSON)
    assert compare(calls[name], server, caplog).asked
