# SPDX-License-Identifier: Apache-2.0
"""A script over real sockets: a server plays the agents' side, httpx is the client, and time is the script's.

Everything runs in one event loop, in the order of the script's timeline: nothing goes on before the bytes of the last
moment have been sent, received and read. URLs stay those of the script: only the transport, which lies below what is
instrumented, goes to the loopback server in place of the script's hosts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Protocol

import httpx

from otel_a2a.replay.player import Observer, bytes_of, decide, deliver, hinted
from otel_a2a.replay.script import Script
from otel_a2a.replay.steps import Event, HttpStep, PushStep, SseStep, Stream
from otel_a2a.replay.timeline import Act, Moment, timeline
from tests.replay.agents import Agents, Arrival

PATIENCE: Final = 10.0
"""Seconds after which what never comes is a failure."""
READ_TIMEOUT: Final = 0.05
"""Seconds that the client waits where the script says that it waited in vain; the server then never answers."""


# --- the client's side


class Call(Protocol):
    """One call of the application."""

    async def send(self, *, whole: bool) -> None: ...
    async def read(self) -> bytes | None: ...
    async def close(self) -> None: ...


class AsyncCall:
    """By ``httpx.AsyncClient``."""

    def __init__(self, client: httpx.AsyncClient, request: httpx.Request) -> None:
        self._client = client
        self._request = request
        self.response: httpx.Response | None = None
        self._chunks: AsyncIterator[bytes] | None = None

    async def send(self, *, whole: bool) -> None:
        self.response = await self._client.send(self._request, stream=not whole)

    async def read(self) -> bytes | None:
        """The next bytes, or None at the end."""
        assert self.response is not None
        self._chunks = self._chunks or self.response.aiter_raw()
        return await anext(self._chunks, None)

    async def close(self) -> None:
        if self.response is not None:
            await self.response.aclose()


class SyncCall:
    """By ``httpx.Client``, in a thread."""

    def __init__(self, client: httpx.Client, request: httpx.Request) -> None:
        self._client = client
        self._request = request
        self.response: httpx.Response | None = None
        self._chunks: Iterator[bytes] | None = None

    async def send(self, *, whole: bool) -> None:
        self.response = await asyncio.to_thread(self._client.send, self._request, stream=not whole)

    async def read(self) -> bytes | None:
        """The next bytes, or None at the end."""
        assert self.response is not None
        self._chunks = self._chunks or self.response.iter_raw()
        return await asyncio.to_thread(next, self._chunks, None)

    async def close(self) -> None:
        if self.response is not None:
            await asyncio.to_thread(self.response.close)


def _moved(request: httpx.Request, port: int) -> httpx.Request:
    """The same request to a loopback port; the one that the application made stays as it is."""
    url = request.url.copy_with(scheme="http", host="127.0.0.1", port=port)
    return httpx.Request(
        request.method, url, headers=request.headers, stream=request.stream, extensions=request.extensions
    )


class AsyncApplication:
    """An application on ``httpx.AsyncClient``, for which ``port`` is the place of all hosts."""

    def __init__(self) -> None:
        self.port = 0
        inner = httpx.AsyncHTTPTransport(verify=False)
        application = self

        class ToLoopback(httpx.AsyncBaseTransport):
            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                return await inner.handle_async_request(_moved(request, application.port))

            async def aclose(self) -> None:
                await inner.aclose()

        self._client = httpx.AsyncClient(transport=ToLoopback())

    async def __aenter__(self) -> AsyncApplication:
        await self._client.__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException], error: BaseException, trace: TracebackType) -> None:
        await self._client.__aexit__(kind, error, trace)

    def call(self, step: HttpStep | SseStep, timeout: float) -> Call:
        return AsyncCall(self._client, self._client.build_request(**_arguments(step, timeout)))


class SyncApplication:
    """The same on ``httpx.Client``."""

    def __init__(self) -> None:
        self.port = 0
        inner = httpx.HTTPTransport(verify=False)
        application = self

        class ToLoopback(httpx.BaseTransport):
            def handle_request(self, request: httpx.Request) -> httpx.Response:
                return inner.handle_request(_moved(request, application.port))

            def close(self) -> None:
                inner.close()

        self._client = httpx.Client(transport=ToLoopback())

    async def __aenter__(self) -> SyncApplication:
        self._client.__enter__()
        return self

    async def __aexit__(self, kind: type[BaseException], error: BaseException, trace: TracebackType) -> None:
        self._client.__exit__(kind, error, trace)

    def call(self, step: HttpStep | SseStep, timeout: float) -> Call:
        return SyncCall(self._client, self._client.build_request(**_arguments(step, timeout)))


Application = AsyncApplication | SyncApplication


def _arguments(step: HttpStep | SseStep, timeout: float) -> dict[str, Any]:
    request = step.request
    return {
        "method": request.method,
        "url": request.url,
        "headers": request.header_fields(),
        "content": request.content or None,
        "timeout": httpx.Timeout(PATIENCE, read=timeout),
    }


# --- both


@dataclass
class Exchange:
    """One call under way, seen from both sides."""

    call: Call
    sending: asyncio.Task[None]
    arrival: Arrival | None
    """None where nobody was there to receive it."""

    async def answer(self, step: HttpStep | SseStep, *, whole: bool) -> None:
        response, arrival = step.response, self.arrival
        assert response is not None
        if response.error is not None:
            if arrival is not None and not _is_timeout(step):
                arrival.reset()
            await _fails(self.sending)
            return
        assert arrival is not None
        headers = response.header_fields()
        if isinstance(step, SseStep):
            arrival.head(response.status or 0, {**headers, "transfer-encoding": "chunked"})
            await self.sending
            return
        arrival.whole(response.status or 0, headers, response.content)
        await self.sending
        while not whole and await self.call.read() is not None:
            pass
        await self.call.close()

    async def event(self, event: Event, headers: dict[str, str]) -> None:
        assert self.arrival is not None
        data = bytes_of(event, headers)
        self.arrival.chunk(data)
        received = b""
        while len(received) < len(data):
            received += await self.call.read() or b"the stream ended too early"
        assert received == data

    async def end(self, how: str) -> None:
        assert self.arrival is not None
        if how.startswith("client_close"):
            await self.call.close()
        elif how.startswith("server_close"):
            self.arrival.last_chunk()
            assert await self.call.read() is None
            await self.call.close()
        else:
            self.arrival.reset()
            await _fails(asyncio.ensure_future(self.call.read()))


@asynccontextmanager
async def happened(script: Script, observer: Observer, application: Application, *, whole: bool) -> AsyncIterator[None]:
    """Let ``script`` happen, and leave open what it leaves open for as long as the block runs.

    ``whole``: the application reads ordinary answers at once, not as streams.
    """
    exchanges: dict[int, Exchange] = {}
    async with Agents() as agents, application, _all_closed(exchanges):
        for moment in timeline(script):
            observer.come_to(moment.t, moment.step)
            step = moment.exchange
            if isinstance(step, HttpStep | SseStep):
                happening = _perform_call(moment, step, exchanges, agents, application, whole)
                await asyncio.wait_for(happening, PATIENCE)
            elif isinstance(step, PushStep):
                deliver(observer.engine, step)
            elif moment.act == Act.DECISION:
                decide(step)
        yield


async def _perform_call(
    moment: Moment,
    step: HttpStep | SseStep,
    exchanges: dict[int, Exchange],
    agents: Agents,
    application: Application,
    whole: bool,
) -> None:
    if moment.act == Act.REQUEST:
        exchanges[moment.index] = await _leave(step, agents, application, whole)
        return
    exchange = exchanges[moment.index]
    if moment.act == Act.ANSWER:
        await exchange.answer(step, whole=whole)
    elif moment.event is not None:
        assert step.response is not None
        await exchange.event(moment.event, step.response.header_fields())
    elif isinstance(step.response, Stream):
        await exchange.end(step.response.end)


async def _leave(step: HttpStep | SseStep, agents: Agents, application: Application, whole: bool) -> Exchange:
    unreachable = "connect" in _error(step)
    application.port = agents.deaf_port if unreachable else agents.port
    call = application.call(step, READ_TIMEOUT if _is_timeout(step) else PATIENCE)
    with hinted(step.hints):
        sending = asyncio.create_task(call.send(whole=whole and isinstance(step, HttpStep)))
    if unreachable:
        await asyncio.wait([sending])
        return Exchange(call, sending, None)
    arrival = await agents.arrivals.get()
    assert arrival.body == step.request.content
    assert httpx.URL(step.request.url).path.endswith(arrival.target.partition("?")[0])
    return Exchange(call, sending, arrival)


def _is_timeout(step: HttpStep | SseStep) -> bool:
    return "time" in _error(step)


def _error(step: HttpStep | SseStep) -> str:
    return (step.response.error or "").lower() if step.response is not None else ""


async def _fails(action: asyncio.Future[Any]) -> None:
    try:
        await action
    except httpx.TransportError:
        return
    raise AssertionError("the transport was expected to fail")


@asynccontextmanager
async def _all_closed(exchanges: dict[int, Exchange]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        for exchange in exchanges.values():
            exchange.sending.cancel()
            with suppress(httpx.TransportError, asyncio.CancelledError):
                await exchange.sending
            await exchange.call.close()
