# SPDX-License-Identifier: Apache-2.0
"""Calls and their answers: the program and the server see the same with us as without us."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.clients.loopback import Peer, Server, chunked, whole
from tests.clients.sides import CALL, Side, compare
from tests.clients.situations import Situations

JSON = "content-type: application/json"
ANSWER = b'{"jsonrpc": "2.0", "id": 1, "result": {}}'

calls = Situations()


def silent(peer: Peer) -> None:
    peer.wait_for_hangup()


def redirect(status: str, location: str) -> Callable[[Peer], None]:
    return whole(b"", f"location: {location}", status=status)


@calls()
async def post_and_read(side: Side) -> None:
    async with side.open(side.client()) as client:
        response = await side.do(client.post(side.url("/"), json=CALL))
        side.look(response)
        side.log += [response.json(), response.text, str(response), response.encoding, dict(response.cookies)]


@calls()
async def every_verb(side: Side) -> None:
    async with side.open(side.client()) as client:
        for verb in ("get", "head", "options", "delete", "put", "patch"):
            side.look(await side.do(getattr(client, verb)(side.url("/"))))
        side.look(await side.do(client.request("report", side.url("/?a=1&b=%20"))))


@calls()
async def raise_for_status(side: Side) -> None:
    side.server.scripts["/"] = whole(ANSWER, JSON, status="503 Service Unavailable")
    async with side.open(side.client()) as client:
        with side.noting():
            (await side.do(client.get(side.url("/")))).raise_for_status()


@calls()
async def nobody_listens(side: Side) -> None:
    async with side.open(side.client()) as client:
        with side.noting():
            await side.do(client.get(side.server.deaf_url))


@calls()
async def no_answer_in_time(side: Side) -> None:
    side.server.scripts["/"] = silent
    async with side.open(side.client(timeout=0.05)) as client:
        with side.noting():
            await side.do(client.post(side.url("/"), json=CALL))


@calls()
async def half_an_answer_in_time(side: Side) -> None:
    side.server.scripts["/"] = chunked([ANSWER[:10]], JSON, end=silent)
    async with side.open(side.client(timeout=0.05)) as client:
        with side.noting():
            await side.do(client.post(side.url("/"), json=CALL))


@calls()
async def redirects_with_history(side: Side) -> None:
    side.server.scripts["/a"] = redirect("307 Temporary Redirect", "/b")
    side.server.scripts["/b"] = redirect("308 Permanent Redirect", "/")
    async with side.open(side.client(follow_redirects=True)) as client:
        response = await side.do(client.post(side.url("/a"), json=CALL))
        side.look(response)
        side.log += [response.content, [past.is_closed for past in response.history]]


@calls()
async def redirect_that_changes_the_method(side: Side) -> None:
    side.server.scripts["/a"] = redirect("303 See Other", "/")
    async with side.open(side.client()) as client:
        side.look(await side.do(client.post(side.url("/a"), json=CALL, follow_redirects=True)))


@calls()
async def redirect_not_followed(side: Side) -> None:
    side.server.scripts["/a"] = redirect("307 Temporary Redirect", "/")
    async with side.open(side.client()) as client:
        response = await side.do(client.post(side.url("/a"), json=CALL))
        side.look(response)
        side.look(await side.do(client.send(response.next_request)))


@calls()
async def endless_redirects(side: Side) -> None:
    side.server.scripts["/a"] = redirect("307 Temporary Redirect", "/a")
    async with side.open(side.client(follow_redirects=True, max_redirects=3)) as client:
        with side.noting():
            await side.do(client.get(side.url("/a")))


@calls()
async def redirect_to_nonsense(side: Side) -> None:
    side.server.scripts["/a"] = redirect("307 Temporary Redirect", "https://[::")
    async with side.open(side.client(follow_redirects=True)) as client:
        with side.noting():
            await side.do(client.get(side.url("/a")))


@calls()
async def generated_request_body(side: Side) -> None:
    def parts() -> Iterator[bytes]:
        yield b'{"jsonrpc":'
        yield b' "2.0"}'

    async def parts_async() -> Any:
        for part in parts():
            yield part

    async with side.open(side.client()) as client:
        content = parts_async() if side.asynchronous else parts()
        side.look(await side.do(client.post(side.url("/"), content=content)))


@calls()
async def form_and_files(side: Side) -> None:
    async with side.open(side.client()) as client:
        await side.do(client.post(side.url("/"), data={"a": "1"}))
        headers = {"content-type": "multipart/form-data; boundary=b"}
        request = client.build_request("POST", side.url("/"), files={"f": ("n", b"data")}, headers=headers)
        await side.do(client.send(request))
        # Older versions invent a boundary, however much they are told one.
        boundary = side.server.received[-1].body.partition(b"\r\n")[0].removeprefix(b"--")
        assert boundary
        for received in side.server.received:
            received.body = received.body.replace(boundary, b"b")


@calls()
async def the_same_request_again(side: Side) -> None:
    async with side.open(side.client()) as client:
        request = client.build_request("POST", side.url("/"), json=CALL)
        for _ in range(3):
            side.look(await side.do(client.send(request)))


@calls()
async def cookies(side: Side) -> None:
    side.server.scripts["/"] = whole(ANSWER, JSON, "set-cookie: a=1")
    async with side.open(side.client()) as client:
        for _ in range(2):
            await side.do(client.get(side.url("/")))
        side.log += [dict(client.cookies), side.server.received[-1].headers.get("cookie")]


@calls()
async def copies_and_pickles(side: Side) -> None:
    async with side.open(side.client()) as client:
        response = await side.do(client.post(side.url("/"), json=CALL))
        for twin in (copy.copy(response), pickle.loads(pickle.dumps(response))):
            side.log += [twin.content, twin.status_code, twin.is_closed, twin.num_bytes_downloaded]
        streamed = await side.do(client.send(client.build_request("GET", side.url("/")), stream=True))
        side.log.append(type(copy.copy(streamed).stream).__name__)
        await side.do(side.method(streamed, "read")())
        twin = pickle.loads(pickle.dumps(streamed))
        side.log += [twin.content, twin.is_closed, sorted(vars(twin))]
        with side.noting():
            await side.close(twin)


@calls()
async def wrong_arguments(side: Side) -> None:
    async with side.open(side.client()) as client:
        request = client.build_request("GET", side.url("/"))
        for arguments, options in (((), {}), ((request, True), {}), ((request,), {"no_such": 1}), ((None,), {})):
            with side.noting():
                await side.do(client.send(*arguments, **options))
        with side.noting():
            await side.do(client.get("nonsense://host/"))
        with side.noting():
            await side.do(client.get("/no-host"))


@calls()
async def request_by_keyword(side: Side) -> None:
    async with side.open(side.client()) as client:
        request = client.build_request("GET", side.url("/"))
        side.look(await side.do(client.send(request=request, stream=False, auth=None, follow_redirects=True)))


@calls()
async def wrong_kind_of_body(side: Side) -> None:
    def parts() -> Iterator[bytes]:
        yield b"x"

    async def parts_async() -> Any:
        yield b"x"

    async with side.open(side.client()) as client:
        with side.noting():
            await side.do(client.post(side.url("/"), content=parts() if side.asynchronous else parts_async()))


@pytest.mark.parametrize("name", calls)
def test_every_kind_of_call_goes_as_without_us(
    name: str, library: str, kind: str, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """What the program gets, what it catches and what the server receives are equal."""
    server.scripts["/"] = whole(ANSWER, JSON)
    seen = compare(calls[name], library, kind, server, caplog)
    assert seen.asked or calls.endings[name] == "asks nothing"
