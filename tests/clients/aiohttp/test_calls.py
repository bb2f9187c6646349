# SPDX-License-Identifier: Apache-2.0
"""Calls and sessions of every kind: what the server receives and what the program gets are as without us."""

from __future__ import annotations

import asyncio
import inspect
import io
import json
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from multidict import CIMultiDict

from tests.clients.aiohttp.sides import AiohttpSide, run
from tests.clients.loopback import Peer, Server, whole
from tests.clients.sides import CALL
from tests.clients.situations import Situations

JSON = "content-type: application/json"
ANSWER = b'{"jsonrpc": "2.0", "id": 1, "result": {}}'
BODY = json.dumps(CALL)

calls = Situations()


async def tell(side: AiohttpSide, call: Any) -> None:
    """Make a call and write down its answer, or what it raises."""
    with side.noting():
        async with call as response:
            side.log.append(await response.read())
        # Not before: until then the connection may still be written to.
        side.look(response)


@calls()
async def every_method(side: AiohttpSide) -> None:
    async with side.session() as session:
        for name in ("get", "post", "put", "patch", "delete", "options", "head"):
            await tell(side, getattr(session, name)(side.url("/")))
        await tell(side, session.request("post", side.url("/"), json=CALL))
        await tell(side, session.request(method="PURGE", url=side.url("/")))


@calls()
async def awaited_and_entered(side: AiohttpSide) -> None:
    async with side.session() as session:
        response = await session.post(side.url("/"), json=CALL)
        side.log.append(await response.json())
        async with await session.post(side.url("/"), json=CALL) as response:
            side.log.append(await response.json())
        side.log += [await each.read() for each in await asyncio.gather(*(session.get(side.url("/")) for _ in "12"))]
        side.server.received.clear()


@calls()
async def without_a_session(side: AiohttpSide) -> None:
    async with aiohttp.request("POST", side.url("/"), json=CALL) as response:
        side.log.append(await response.json())
    with side.noting():
        async with aiohttp.request("GET", side.server.deaf_url):
            pass


@calls()
async def bodies(side: AiohttpSide) -> None:
    async def generated() -> AsyncIterator[bytes]:
        yield BODY.encode()

    form = aiohttp.FormData({"a": "1", "b": "ü"})
    # Its boundary is not made of chance, as a form's is.
    parts = aiohttp.MultipartWriter("form-data", boundary="b")
    parts.append(b"bytes")
    bodies: tuple[Any, ...] = (
        BODY,
        BODY.encode(),
        bytearray(BODY.encode()),
        memoryview(BODY.encode()),
        io.BytesIO(BODY.encode()),
        aiohttp.JsonPayload(CALL),
        aiohttp.BytesPayload(BODY.encode(), content_type="application/json"),
        generated(),
        form,
        {"a": "1"},
        b"",
        object(),
    )
    for body in (*bodies, parts):
        # A connection that is still being written to is not used again, which is a matter of time.
        async with side.session() as session:
            headers = {} if body is parts else {"content-type": "application/json"}
            await tell(side, session.post(side.url("/"), data=body, headers=headers))


@calls()
async def documents(side: AiohttpSide) -> None:
    async with side.session() as session:
        for document in (CALL, {}, [], "text", 0, False, {"ü": [1.5, None]}, {1: object()}, object()):
            await tell(side, session.post(side.url("/"), json=document))
        await tell(side, session.post(side.url("/"), json=CALL, data=b"both"))
        await tell(side, session.post(side.url("/"), json=CALL, headers={"Content-Type": "application/a2a+json"}))
        await tell(side, session.post(side.url("/"), json=CALL, skip_auto_headers=["Content-Type"]))
        await tell(side, session.post(side.url("/"), json=CALL, compress="deflate"))
        await tell(side, session.post(side.url("/"), json=CALL, chunked=True))


@calls()
async def own_encoder_is_asked_once(side: AiohttpSide) -> None:
    def dumps(document: Any) -> str:
        side.log.append(f"encoded {document}")
        return json.dumps(document, indent=1)

    async with side.session(json_serialize=dumps) as session:
        await tell(side, session.post(side.url("/"), json=CALL))


if "json_serialize_bytes" in inspect.signature(aiohttp.ClientSession.__init__).parameters:  # since aiohttp 3.14

    @calls()
    async def own_encoder_to_bytes_is_asked_once(side: AiohttpSide) -> None:
        def dumps(document: Any) -> bytes:
            side.log.append(f"encoded {document}")
            return json.dumps(document, indent=1).encode()

        async with side.session(json_serialize_bytes=dumps) as session:
            await tell(side, session.post(side.url("/"), json=CALL))


@calls()
async def headers(side: AiohttpSide) -> None:
    given: tuple[Any, ...] = (
        {"X-One": "1", "User-Agent": "mine"},
        CIMultiDict([("x-one", "1"), ("X-One", "2")]),
        [("X-One", "1"), ("x-default", "over")],
        (("X-One", "1"),),
        {"traceparent": "00-11111111111111111111111111111111-2222222222222222-01"},
        {},
        None,
        {"X-One": object()},
    )
    async with side.session(headers=[("x-default", "d"), ("x-default", "e"), ("x-last", "l")]) as session:
        for each in given:
            before = repr(each)
            await tell(side, session.post(side.url("/"), json=CALL, headers=each))
            assert repr(each) == before
        await tell(side, session.post(side.url("/"), json=CALL, headers=iter([("X-One", "1")])))


@calls()
async def urls(side: AiohttpSide) -> None:
    side.server.scripts["/a%20b"] = whole(ANSWER, JSON)
    async with side.session() as session:
        for url in ("/?x=1", "/?x=1#part", "/a b"):
            await tell(side, session.post(side.url(url), json=CALL, params={"x": "2", "y": "ü"}))
        await tell(side, session.post(side.url("/"), json=CALL, params="a=b"))
        for wrong in ("", "/relative", "http://", "ftp://a/", "http://[", 7, None):
            await tell(side, session.post(wrong, json=CALL))


@calls()
async def relative_to_a_base(side: AiohttpSide) -> None:
    side.server.scripts["/v1/call"] = whole(ANSWER, JSON)
    async with side.session(base_url=side.url("/")) as session:
        await tell(side, session.post("/v1/call", json=CALL))
        await tell(side, session.post("/", json=CALL))
        await tell(side, session.post(side.url("/"), json=CALL))


@calls()
async def redirects(side: AiohttpSide) -> None:
    for status in ("301 Moved", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"):
        side.server.scripts[f"/{status[:3]}"] = whole(b"moved", "location: /", "set-cookie: a=1", status=status)
    side.server.scripts["/loop"] = whole(b"", "location: /loop", status="307 Temporary Redirect")
    side.server.scripts["/nowhere"] = whole(b"here", status="307 Temporary Redirect")
    side.server.scripts["/bad"] = whole(b"", "location: ftp://a/", status="307 Temporary Redirect")
    async with side.session() as session:
        for path in ("/301", "/302", "/303", "/307", "/308", "/loop", "/nowhere", "/bad"):
            await tell(side, session.post(side.url(path), json=CALL))
        await tell(side, session.post(side.url("/307"), json=CALL, allow_redirects=False))
        await tell(side, session.post(side.url("/loop"), json=CALL, max_redirects=2))


@calls()
async def credentials_and_cookies(side: AiohttpSide) -> None:
    side.server.scripts["/set"] = whole(b"{}", "set-cookie: a=1; path=/", JSON)
    async with side.session(cookies={"b": "2"}, cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        await tell(side, session.get(side.url("/set")))
        await tell(side, session.post(side.url("/"), json=CALL, cookies={"c": "3"}))
        await tell(side, session.post(side.url("/"), json=CALL, auth=aiohttp.BasicAuth("user", "secret")))
        await tell(side, session.post(side.url("/").replace("://", "://user:secret@"), json=CALL))


@calls()
async def raising_for_a_status(side: AiohttpSide) -> None:
    async def check(response: Any) -> None:
        side.log.append(await response.text())
        raise LookupError(response.status)

    side.server.scripts["/bad"] = whole(b"why", "content-type: text/plain", status="500 Internal Server Error")
    async with side.session() as session:
        for path in ("/", "/bad"):
            for choice in (True, False, check):
                await tell(side, session.post(side.url(path), json=CALL, raise_for_status=choice))
            async with session.post(side.url(path), json=CALL) as response:
                with side.noting():
                    response.raise_for_status()
    async with side.session(raise_for_status=True) as session:
        await tell(side, session.post(side.url("/bad"), json=CALL))
        await tell(side, session.post(side.url("/bad"), json=CALL, raise_for_status=False))


@calls()
async def nobody_there(side: AiohttpSide) -> None:
    async with side.session() as session:
        await tell(side, session.post(side.server.deaf_url, json=CALL))
    await tell(side, session.post(side.url("/"), json=CALL))


@calls()
async def time_runs_out(side: AiohttpSide) -> None:
    side.server.scripts["/"] = Peer.wait_for_hangup
    async with side.session() as session:
        for timeout in (aiohttp.ClientTimeout(total=0.1), aiohttp.ClientTimeout(sock_read=0.1)):
            await tell(side, session.post(side.url("/"), json=CALL, timeout=timeout))


@calls()
async def lost_connections(side: AiohttpSide) -> None:
    def flaky(peer: Peer) -> None:
        if len([each for each in peer.server.received if each.target == "/flaky"]) % 2:
            peer.reset()
        whole(ANSWER, JSON)(peer)

    side.server.scripts["/flaky"] = flaky
    async with side.session() as session:
        # aiohttp itself tries a GET again.
        await tell(side, session.get(side.url("/flaky")))
        await tell(side, session.post(side.url("/flaky"), json=CALL))
        await tell(side, session.post(side.url("/flaky"), json=CALL))


@calls()
async def one_connection_for_many_calls(side: AiohttpSide) -> None:
    async with side.session(connector=aiohttp.TCPConnector(limit=1)) as session:
        for _ in range(4):
            await tell(side, session.post(side.url("/"), json=CALL))
    assert len({received.connection for received in side.server.received}) == 1


@calls()
async def continued(side: AiohttpSide) -> None:
    def script(peer: Peer) -> None:
        peer.send(b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n")
        whole(ANSWER, JSON)(peer)

    side.server.scripts["/"] = script
    async with side.session() as session:
        await tell(side, session.post(side.url("/"), json=CALL))


@calls()
async def classes_of_the_program(side: AiohttpSide) -> None:
    class Response(aiohttp.ClientResponse):
        def close(self) -> None:
            side.log.append("close")
            super().close()

        def release(self) -> Any:
            side.log.append("release")
            return super().release()

    class Request(aiohttp.ClientRequest):
        pass

    async with side.session(response_class=Response, request_class=Request) as session:
        await tell(side, session.post(side.url("/"), json=CALL))
        response = await session.post(side.url("/"), json=CALL)
        response.close()


@calls()
async def subclass_of_the_session(side: AiohttpSide) -> None:
    # aiohttp warns of it, which is part of the log.
    class Session(aiohttp.ClientSession):
        async def _request(  # type: ignore[override]  # as a program would
            self, method: str, url: Any, **options: Any
        ) -> Any:
            options["headers"] = {"x-own": "1"}
            return await super()._request(method, url, **options)

    async with side.session(Session) as session:
        await tell(side, session.post(side.url("/"), json=CALL))


@calls()
async def trace_configs(side: AiohttpSide) -> None:
    config = aiohttp.TraceConfig()

    def noting(name: str) -> Any:
        async def note(session: Any, context: SimpleNamespace, params: Any) -> None:
            side.log.append((name, sorted(vars(context)), sorted(set(getattr(params, "__slots__", ())))))
            side.log.append(str(getattr(params, "url", "")).partition("?")[0])
            if name == "on_request_end":
                side.log.append(params.response.status)

        return note

    for name in (
        "on_request_start",
        "on_request_chunk_sent",
        "on_response_chunk_received",
        "on_request_end",
        "on_request_exception",
        "on_request_redirect",
        "on_connection_create_start",
        "on_connection_reuseconn",
        "on_request_headers_sent",
    ):
        getattr(config, name).append(noting(name))
    side.server.scripts["/a"] = whole(b"", "location: /", status="307 Temporary Redirect")
    async with side.session(trace_configs=[config]) as session:
        await tell(side, session.post(side.url("/a"), json=CALL, trace_request_ctx={"a": 1}))
        await tell(side, session.post(side.server.deaf_url, json=CALL))


@calls()
async def trace_config_that_reads_the_answer(side: AiohttpSide) -> None:
    async def read(session: Any, context: Any, params: Any) -> None:
        side.log.append(await params.response.read())

    config = aiohttp.TraceConfig()
    config.on_request_end.append(read)
    async with side.session(trace_configs=[config]) as session:
        await tell(side, session.post(side.url("/"), json=CALL))


if hasattr(aiohttp, "ClientHandlerType"):  # since aiohttp 3.12

    @calls()
    async def middlewares(side: AiohttpSide) -> None:
        async def log(request: Any, handler: Any) -> Any:
            side.log.append((request.method, str(request.url)))
            response = await handler(request)
            side.log.append(response.status)
            return response

        async def try_again(request: Any, handler: Any) -> Any:
            response = await handler(request)
            return await handler(request) if response.status == 503 else response

        async def read(request: Any, handler: Any) -> Any:
            response = await handler(request)
            side.log.append(await response.read())
            return response

        async def fail(request: Any, handler: Any) -> Any:
            raise LookupError("no")

        def busy_once(peer: Peer) -> None:
            busy = len(peer.server.received) == 1
            whole(ANSWER, JSON, status="503 Busy" if busy else "200 OK")(peer)

        side.server.scripts["/"] = busy_once
        async with side.session(middlewares=(log, try_again)) as session:
            await tell(side, session.post(side.url("/"), json=CALL))
            await tell(side, session.post(side.url("/"), json=CALL, middlewares=(read,)))
            await tell(side, session.post(side.url("/"), json=CALL, middlewares=(fail,)))


@calls()
async def websocket_that_is_refused(side: AiohttpSide) -> None:
    async with side.session() as session:
        with side.noting():
            await session.ws_connect(side.url("/"))
    # Its key is made of chance.
    side.log[:] = [len(side.log)]


@pytest.mark.parametrize("name", calls)
def test_calls_go_as_without_us(name: str, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """What the program gets, what it catches and what the server receives are equal."""
    server.scripts["/"] = whole(ANSWER, JSON)
    assert run(calls[name], server, caplog).operations
