# SPDX-License-Identifier: Apache-2.0
"""Clients with all that can be built into them: nothing differs from a run without us."""

from __future__ import annotations

import base64
from collections.abc import Generator
from typing import Any

import pytest

from tests.clients.loopback import Peer, Server, whole
from tests.clients.sides import CALL, Side, compare, describe
from tests.clients.situations import Situations

JSON = "content-type: application/json"
ANSWER = b'{"jsonrpc": "2.0", "id": 1, "result": {}}'

setups = Situations()


@setups()
async def basic_auth(side: Side) -> None:
    async with side.open(side.client(auth=("user", "secret"))) as client:
        side.look(await side.do(client.get(side.url("/"))))
        side.log.append(side.server.received[-1].headers["authorization"])
        assert base64.b64encode(b"user:secret").decode() in str(side.log[-1])


@setups()
async def digest_auth(side: Side) -> None:
    def challenge(peer: Peer) -> None:
        if "authorization" in peer.request.headers:
            whole(ANSWER, JSON)(peer)
        else:
            header = 'www-authenticate: Digest realm="a", nonce="n", qop="auth", algorithm=MD5'
            whole(b"who?", header, status="401 Unauthorized")(peer)

    side.server.scripts["/"] = challenge
    async with side.open(side.client(auth=side.library.DigestAuth("user", "secret"))) as client:
        response = await side.do(client.post(side.url("/"), json=CALL))
        side.look(response)
        side.log.append(response.content)


@setups()
async def auth_flow_that_reads_the_answer(side: Side) -> None:
    class Flow(side.library.Auth):  # type: ignore[misc, name-defined]
        requires_response_body = True

        def auth_flow(self, request: Any) -> Generator[Any, Any, None]:
            response = yield request
            side.log.append(response.content)
            request.headers["x-token"] = "again"
            yield request

    async with side.open(side.client(auth=Flow())) as client:
        side.look(await side.do(client.post(side.url("/"), json=CALL)))


@setups()
async def event_hooks(side: Side) -> None:
    def on_request(request: Any) -> None:
        side.log.append((request.method, str(request.url)))
        request.headers["x-hook"] = "1"

    def on_response(response: Any) -> None:
        side.log.append((response.status_code, response.is_closed))

    async def on_request_async(request: Any) -> None:
        on_request(request)

    async def on_response_async(response: Any) -> None:
        on_response(response)

    hooks = (on_request_async, on_response_async) if side.asynchronous else (on_request, on_response)
    async with side.open(side.client(event_hooks={"request": [hooks[0]], "response": [hooks[1]]})) as client:
        side.look(await side.do(client.get(side.url("/"))))


@setups()
async def event_hook_that_raises(side: Side) -> None:
    def on_response(response: Any) -> None:
        response.raise_for_status()

    async def on_response_async(response: Any) -> None:
        response.raise_for_status()

    side.server.scripts["/"] = whole(ANSWER, JSON, status="500 Internal Server Error")
    hook = on_response_async if side.asynchronous else on_response
    async with side.open(side.client(event_hooks={"response": [hook]})) as client:
        with side.noting():
            await side.do(client.get(side.url("/")))


@setups()
async def one_connection_for_many_calls(side: Side) -> None:
    async with side.open(side.client(limits=side.library.Limits(max_connections=1))) as client:
        for _ in range(3):
            side.look(await side.do(client.post(side.url("/"), json=CALL)))
    assert len({received.connection for received in side.server.received}) == 1


@setups()
async def closed_client(side: Side) -> None:
    client = side.client()
    await side.close(client)
    with side.noting():
        await side.do(client.get(side.url("/")))


@setups()
async def subclass_with_its_own_send(side: Side) -> None:
    base = side.library.AsyncClient if side.asynchronous else side.library.Client

    class Sync(base):  # type: ignore[misc, valid-type]
        def send(self, request: Any, **options: Any) -> Any:
            request.headers["x-own"] = "1"
            return super().send(request, **options)

    async with side.open(side.client(Sync)) as client:
        side.look(await side.do(client.get(side.url("/"))))


@setups()
async def base_url_and_parameters(side: Side) -> None:
    side.server.scripts["/v1/call"] = whole(ANSWER, JSON)
    async with side.open(side.client(base_url=side.url("/v1"), params={"tenant": "t"}, headers={"x": "y"})) as client:
        side.look(await side.do(client.post("call", json=CALL)))


@setups()
async def mock_transport(side: Side) -> None:
    def handler(request: Any) -> Any:
        side.log.append((request.method, request.content))
        if request.url.path == "/raise":
            raise side.library.ConnectError("no way", request=request)
        return side.library.Response(200, json={"path": request.url.path}, headers={"x": "1"})

    async with side.open(side.client(transport=side.library.MockTransport(handler))) as client:
        side.look(await side.do(client.post("http://agent/", json=CALL)))
        with side.noting():
            await side.do(client.get("http://agent/raise"))
        streamed = await side.do(client.send(client.build_request("GET", "http://agent/"), stream=True))
        side.log += [streamed.content, [item async for item in side.each(streamed, "iter_bytes")]]
        with side.noting():
            [item async for item in side.each(streamed, "iter_raw")]


@setups()
async def application_transports(side: Side) -> None:
    async def asgi(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
        for part in (b"one", b"two"):
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body"})

    def wsgi(environ: Any, start: Any) -> list[bytes]:
        start("200 OK", [("Content-Type", "text/plain")])
        return [b"one", b"two"]

    transport = side.library.ASGITransport(asgi) if side.asynchronous else side.library.WSGITransport(wsgi)
    async with side.open(side.client(transport=transport)) as client:
        response = await side.do(client.get("http://agent/"))
        side.log += [response.status_code, response.content]
        async with side.open(client.stream("GET", "http://agent/")) as streamed:
            side.log.append([item async for item in side.each(streamed, "iter_raw")])


@setups()
async def application_that_raises(side: Side) -> None:
    async def asgi(scope: Any, receive: Any, send: Any) -> None:
        raise LookupError("agent fell over")

    def wsgi(environ: Any, start: Any) -> list[bytes]:
        raise LookupError("agent fell over")

    transport = side.library.ASGITransport(asgi) if side.asynchronous else side.library.WSGITransport(wsgi)
    async with side.open(side.client(transport=transport)) as client:
        with side.noting():
            await side.do(client.get("http://agent/"))


@setups()
async def retries_by_the_program(side: Side) -> None:
    attempts = []

    def flaky(peer: Peer) -> None:
        attempts.append(1)
        if len(attempts) < 3:
            peer.reset()
        whole(ANSWER, JSON)(peer)

    side.server.scripts["/"] = flaky
    async with side.open(side.client()) as client:
        for _ in range(3):
            try:
                response = await side.do(client.post(side.url("/"), json=CALL))
            except side.library.TransportError as error:
                side.log.append(describe(error))
            else:
                side.look(response)
                break


@setups("asks nothing")
async def module_level_functions(side: Side) -> None:
    if side.asynchronous:
        return
    side.log.append(side.library.get(side.url("/"), trust_env=False).content)
    side.log.append(side.library.post(side.url("/"), json=CALL, trust_env=False).json())
    with side.library.stream("POST", side.url("/"), json=CALL, trust_env=False) as response:
        side.log += list(response.iter_lines())


@pytest.mark.parametrize("name", setups)
def test_every_kind_of_client_works_as_without_us(
    name: str, library: str, kind: str, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """What the program gets, what it catches and what the server receives are equal."""
    server.scripts["/"] = whole(ANSWER, JSON)
    seen = compare(setups[name], library, kind, server, caplog)
    assert seen.asked or setups.endings[name] == "asks nothing"
