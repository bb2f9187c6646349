# SPDX-License-Identifier: Apache-2.0
"""The ASGI middleware: sees deliveries, and is not seen."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route

from otel_a2a import semconv
from otel_a2a.webhooks import A2AWebhookMiddleware
from tests.support.servers import serve
from tests.support.telemetry import Telemetry
from tests.webhooks.application import STATE, TOKEN, Application, application

Body = list[bytes]
BODY = json.dumps({"statusUpdate": {"taskId": "t1", "status": {"state": STATE + "WORKING"}}}).encode()
TOKEN_HEADER = (b"x-a2a-notification-token", TOKEN.encode())


def scope(path: str = "/hook", method: str = "POST", headers: Any = None, **more: Any) -> dict[str, Any]:
    """A request's scope; with the token, and no announced length."""
    given = [(b"content-type", b"application/json"), TOKEN_HEADER] if headers is None else headers
    return {"type": "http", "method": method, "path": path, "headers": given, **more}


def messages(*chunks: bytes) -> list[dict[str, Any]]:
    """What a server hands over for a body in these chunks."""
    last = len(chunks) - 1
    return [{"type": "http.request", "body": chunk, "more_body": i < last} for i, chunk in enumerate(chunks)]


async def run(
    app: Any, of: dict[str, Any], incoming: list[dict[str, Any]], sent: list[Any] | None = None
) -> list[dict[str, Any]]:
    """Let ``app`` have a request; returns what it sent."""
    waiting = iter(incoming)
    out: list[dict[str, Any]] = [] if sent is None else sent

    async def receive() -> dict[str, Any]:
        return next(waiting, {"type": "http.disconnect"})

    async def send(message: dict[str, Any]) -> None:
        out.append(message)

    await app(of, receive, send)
    return out


async def reads_all(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads its body and answers."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


# --- what it sees


@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_a_delivery_is_seen(app: Application, size: int) -> None:
    """In one message or in many."""
    app.send("SUBMITTED")
    chunks = [BODY[i : i + size] for i in range(0, len(BODY), size)]
    await run(A2AWebhookMiddleware(reads_all, paths="/hook"), scope(), messages(*chunks))
    assert app.state() == "WORKING"


async def test_the_whole_body_is_seen_before_the_application_acts_on_it(app: Application) -> None:
    """A call that the handler makes left after the delivery was received, as it did."""
    app.send("SUBMITTED")
    seen: list[str] = []

    async def acts(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        seen.append(app.state())
        await receive()
        seen.append(app.state())

    half = len(BODY) // 2
    await run(A2AWebhookMiddleware(acts), scope(), messages(BODY[:half], BODY[half:]))
    assert seen == ["SUBMITTED", "WORKING"]


@pytest.mark.parametrize(
    ("paths", "of", "seen"),
    [
        ("/hook", {"path": "/hook"}, True),
        ("/hook", {"path": "/hook/t1"}, False),
        ("/hook/*", {"path": "/hook/t1"}, True),
        (("/a", "/hook"), {"path": "/hook"}, True),
        ("/hook", {"path": "/api/hook", "root_path": "/api"}, True),
        ("/api/hook", {"path": "/api/hook", "root_path": "/api"}, True),
        ("/hook", {"path": "/other"}, False),
        ("*", {"path": "/anything"}, True),
        ("*", {"method": "PUT"}, False),
        ("*", {"headers": [TOKEN_HEADER]}, True),
        ("*", {"headers": [(b"content-type", b"application/a2a+json"), TOKEN_HEADER]}, True),
        ("*", {"headers": [(b"content-type", b"multipart/form-data"), TOKEN_HEADER]}, False),
    ],
)
async def test_which_requests_are_looked_at(app: Application, paths: Any, of: dict[str, Any], seen: bool) -> None:
    """POSTs of JSON at the paths that were named, wherever the application is mounted."""
    app.send("SUBMITTED")
    await run(A2AWebhookMiddleware(reads_all, paths=paths), scope(**of), messages(BODY))
    assert (app.state() == "WORKING") is seen


async def test_other_bodies_are_nothing(app: Application) -> None:
    """What does not read as a delivery is nobody's business, and the application is not asked to vouch for it."""
    asked: list[bytes] = []

    def verify(headers: Any, body: bytes) -> bool:
        asked.append(body)
        return True

    await run(A2AWebhookMiddleware(reads_all, verified=verify), scope(), messages(b'{"action": "opened"}'))
    await run(A2AWebhookMiddleware(reads_all, verified=verify), scope(), messages(b"{"))
    assert asked == [] and app.found == []


async def test_an_application_that_turns_a_delivery_away_unread_was_not_told(app: Application) -> None:
    """It looked at the token itself, and answered."""
    app.send("SUBMITTED")

    async def refuses(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 401, "headers": []})

    await run(A2AWebhookMiddleware(refuses), scope(), messages(BODY))
    await run(A2AWebhookMiddleware(refuses), scope(headers=[]), messages(BODY))
    assert app.state() == "SUBMITTED"
    assert app.found == []


async def test_a_body_that_breaks_off_is_none(app: Application) -> None:
    """The client left in the middle; or it sent less than it had announced."""
    app.send("SUBMITTED")
    await run(A2AWebhookMiddleware(reads_all), scope(), messages(BODY, b"")[:1])
    length = (b"content-length", str(len(BODY) + 1).encode())
    await run(A2AWebhookMiddleware(reads_all), scope(headers=[TOKEN_HEADER, length]), messages(BODY))
    assert app.state() == "SUBMITTED"


async def test_a_body_over_the_limit_is_let_go(telemetry: Telemetry) -> None:
    """Announced or not, no more than MAX_BODY is kept."""
    with application(telemetry, max_body=1000) as app:
        app.card()
        app.send("SUBMITTED")
        padded = BODY + b" " * 1000
        await run(A2AWebhookMiddleware(reads_all), scope(), messages(padded[:600], padded[600:]))
        length = (b"content-length", str(len(padded)).encode())
        await run(A2AWebhookMiddleware(reads_all), scope(headers=[TOKEN_HEADER, length]), messages(padded))
        assert app.state() == "SUBMITTED"


# --- who vouches


@pytest.mark.parametrize(
    ("verified", "believed"),
    [
        (True, True),
        (False, False),
        (lambda headers, body: headers["authorization"] == "Bearer signed" and body == BODY, True),
        (lambda headers, body: False, False),
        (lambda headers, body: "yes", False),
        (lambda headers, body: 1 / 0, False),
    ],
)
async def test_the_application_vouches(app: Application, verified: Any, believed: bool) -> None:
    """For all, or by a function of headers and body; one that fails vouches for nobody and harms nobody."""
    app.send("SUBMITTED", token="")
    headers = [(b"content-type", b"application/json"), (b"Authorization", b"Bearer signed")]
    sent = await run(A2AWebhookMiddleware(reads_all, verified=verified), scope(headers=headers), messages(BODY))
    assert (app.state() == "WORKING") is believed
    assert len(sent) == 2


def test_a_coroutine_function_cannot_vouch() -> None:
    """It would never be awaited, and its coroutine is not an answer."""

    async def verify(headers: Any, body: bytes) -> bool:
        return True

    with pytest.raises(ValueError, match="plain function"):
        A2AWebhookMiddleware(reads_all, verified=verify)  # type: ignore[arg-type]


# --- that it is not seen


async def test_messages_pass_as_they_are(app: Application) -> None:
    """The same objects, in the same order, at once; what is sent is not touched at all."""
    incoming = [*messages(BODY[:5], BODY[5:]), {"type": "http.disconnect"}, {"type": "x.unknown", "body": 7}]
    got: list[Any] = []
    inner: list[Any] = []

    async def records(scope: Any, receive: Any, send: Any) -> None:
        inner.append(send)
        for _ in incoming:
            got.append(await receive())
        await send({"type": "http.response.start", "status": 200, "headers": [(b"a", b"b")]})

    sent: list[Any] = []
    the_scope = scope()
    await run(A2AWebhookMiddleware(records), the_scope, incoming, sent)
    assert all(one is other for one, other in zip(got, incoming, strict=True))
    assert sent == [{"type": "http.response.start", "status": 200, "headers": [(b"a", b"b")]}]


@pytest.mark.parametrize("kind", ["lifespan", "websocket"])
async def test_other_scopes_pass_untouched(app: Application, kind: str) -> None:
    """The application gets the server's own functions."""
    given: list[Any] = []

    async def records(*args: Any) -> None:
        given.extend(args)

    arguments = ({"type": kind}, object(), object())
    await A2AWebhookMiddleware(records)(*arguments)  # type: ignore[arg-type]
    assert [one is other for one, other in zip(given, arguments, strict=True)] == [True] * 3


async def test_exceptions_pass(app: Application) -> None:
    """The application's own, and the server's, with the very object."""
    error = RuntimeError("handler")

    async def fails(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        raise error

    with pytest.raises(RuntimeError) as caught:
        await run(A2AWebhookMiddleware(fails), scope(), messages(BODY))
    assert caught.value is error

    async def broken() -> dict[str, Any]:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        await A2AWebhookMiddleware(reads_all)(scope(), broken, None)  # type: ignore[arg-type]


async def test_cancellation_passes(app: Application) -> None:
    """A request that is canceled while it waits for its body."""

    async def never() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    running = asyncio.ensure_future(A2AWebhookMiddleware(reads_all)(scope(), never, None))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_fault_of_ours_does_not_reach_the_application(
    app: Application, telemetry: Telemetry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is counted, and the request is served."""

    def fails(*args: Any) -> Any:
        raise LookupError

    monkeypatch.setattr("otel_a2a.webhooks.observe.webhooks.read_told", fails)
    assert len(await run(A2AWebhookMiddleware(reads_all), scope(), messages(BODY))) == 2
    await run(A2AWebhookMiddleware(reads_all), scope(headers=[b"no pairs"]), messages(BODY))
    assert sum(point.value for point in telemetry.metric(semconv.METRIC_INTERNAL_ERRORS)) == 2


async def test_without_instrumentation_it_is_not_there() -> None:
    """The application gets the server's own receive."""
    given: list[Any] = []

    async def records(scope: Any, receive: Any, send: Any) -> None:
        given.append(receive)

    async def receive() -> dict[str, Any]:
        raise AssertionError

    await A2AWebhookMiddleware(records)(scope(), receive, None)  # type: ignore[arg-type]
    assert given == [receive]


# --- over real sockets


async def echo(request: Request) -> Response:
    body = b"".join([chunk async for chunk in request.stream()])
    return PlainTextResponse(f"{len(body)} {request.headers.get('x-a2a-notification-token')}")


async def pass_on(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    return await call_next(request)


@pytest.mark.parametrize("position", ["outermost", "mounted", "innermost"])
def test_over_a_real_server(telemetry: Telemetry, position: str) -> None:
    """Starlette under uvicorn, with the middleware around all, in a mounted application, or below another one."""
    routes = [Route("/hook", echo, methods=["POST"])]
    served: Any
    if position == "outermost":
        served = A2AWebhookMiddleware(Starlette(routes=routes), paths="/hook")
    elif position == "mounted":
        inner = Starlette(routes=routes)
        inner.add_middleware(A2AWebhookMiddleware, paths="/hook")
        served = Starlette(routes=[Mount("/api", app=inner)])
    else:
        served = Starlette(routes=routes)
        served.add_middleware(A2AWebhookMiddleware, paths="/hook")
        served.add_middleware(BaseHTTPMiddleware, dispatch=pass_on)
    path = "/api/hook" if position == "mounted" else "/hook"
    headers = {"content-type": "application/json", "x-a2a-notification-token": TOKEN}
    with application(telemetry) as app, serve(served) as base:
        app.card()
        app.send("SUBMITTED")
        whole = httpx.post(base + path, content=BODY, headers=headers)
        assert whole.text == f"{len(BODY)} {TOKEN}"
        assert app.state() == "WORKING"
        done = BODY.replace(b"WORKING", b"COMPLETED")
        chunked = httpx.post(base + path, content=iter([done[:9], done[9:]]), headers=headers)
        assert chunked.text == f"{len(done)} {TOKEN}"
        assert app.state() == "COMPLETED"
        large = httpx.post(base + path, content=b" " * 3_000_000, headers=headers)
        assert large.text == f"3000000 {TOKEN}"
        assert app.found == []


def test_an_unsampled_process_judges_all_the_same() -> None:
    """No span is needed for a verdict."""
    telemetry = Telemetry(ALWAYS_OFF)
    served = A2AWebhookMiddleware(Starlette(routes=[Route("/hook", echo, methods=["POST"])]))
    with telemetry.instrumented(), serve(served) as base:
        app = Application()
        app.card()
        app.send("COMPLETED")
        failed = BODY.replace(b"WORKING", b"FAILED")
        httpx.post(f"{base}/hook", content=failed, headers={"x-a2a-notification-token": TOKEN})
    assert telemetry.spans == []
    assert telemetry.findings() == [("terminal-state-changed", "violation")]
