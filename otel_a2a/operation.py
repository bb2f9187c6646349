# SPDX-License-Identifier: Apache-2.0
"""The seam between the HTTP libraries and everything else.

A client module calls ``begin`` before a request leaves and tells the ``Operation`` it gets what happens to it; it knows
no protocol. The operation asks the wire what bytes mean, keeps the span, asks the engine, and raises where the engine
says so: here, and nowhere else.

    op = begin(exchange)                    None: not A2A, or not to be looked at; A2APolicyError: nothing has left
    with op.attached():                     around the library's own call
        response = send(request)            after op.propagate(…) has set headers on it
    op.respond(status, header, url)         the head of the answer is here
    op.body(content)                        a whole answer; or, for a stream,
    op.feed(chunk) … op.end("eof")          each chunk before it is handed on
"""

from __future__ import annotations

import atexit
import itertools
from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

from opentelemetry.instrumentation.utils import is_instrumentation_enabled

from otel_a2a import binding, open_calls, refusals, semconv
from otel_a2a.attached import is_inside
from otel_a2a.errors import A2APolicyError
from otel_a2a.exchange import Exchange
from otel_a2a.hints import current_hints
from otel_a2a.observations import CallRedirected, CallStarted, CardRequested, Observation
from otel_a2a.observed_call import CLOSED_EARLY, EOF, ObservedCall
from otel_a2a.runtime import Runtime
from otel_a2a.wire import answers, bodies, correlation, credentials, redirects, requests, responses

__all__ = ["CLOSED_EARLY", "EOF", "Operation", "begin", "begin_as", "last_call", "running", "start", "stop"]

Call = TypeVar("Call", bound=ObservedCall)

_runtime: Runtime | None = None
_last_call: ContextVar[CallStarted | None] = ContextVar("otel_a2a_last_call", default=None)
_executions = itertools.count(1)


def start(runtime: Runtime) -> None:
    """Begin to look at calls."""
    global _runtime
    _runtime = runtime
    atexit.register(_end, runtime)


def stop() -> None:
    """Look at no further call. Operations under way end as they would."""
    global _runtime
    runtime, _runtime = _runtime, None
    if runtime is not None:
        runtime.stop()
        atexit.unregister(_end)


def _end(runtime: Runtime) -> None:
    open_calls.end_all(CLOSED_EARLY)
    runtime.worker.drain()


def running() -> Runtime | None:
    """What looks at calls now; None while the process is not instrumented."""
    return _runtime


def last_call() -> CallStarted | None:
    """The call that this execution context made last: what a framework decides there is about that call's task."""
    return _last_call.get()


def begin(exchange: Exchange, replayed_on: Runtime | None = None) -> Operation | None:
    """Look at a request that is about to leave.

    ``replayed_on``: the request is played, not sent, and is looked at by this runtime in place of the process's own.

    Raises:
        A2APolicyError: in mode ``raise``, for a request that must not leave.
    """
    return begin_as(Operation, exchange, replayed_on)


def begin_as(kind: type[Call], exchange: Exchange, replayed_on: Runtime | None = None) -> Call | None:
    """``begin``, for an operation of another kind."""
    runtime = replayed_on or _runtime
    if runtime is None:
        return None
    try:
        refusal = refusals.standing(exchange)
        operation = _open(runtime, exchange, kind) if refusal is None and _may_matter(runtime, exchange) else None
    except Exception as error:
        runtime.internal_error("request", error)
        return None
    if refusal is not None:
        raise refusal
    if operation is not None:
        operation.judge_request()
    return operation


def _may_matter(runtime: Runtime, exchange: Exchange) -> bool:
    method, path = exchange.method, exchange.path
    if method == "GET" and binding.current_resolution() is not None:
        return not is_inside()
    content_type = exchange.header("content-type") if method == "POST" else None
    return requests.may_be_a2a(method, path, content_type, runtime.card_paths) and not is_inside()


def _open(runtime: Runtime, exchange: Exchange, kind: type[Call]) -> Call | None:
    if not is_instrumentation_enabled():
        return None
    request = requests.read_request(
        exchange,
        knows=runtime.engine.knows,
        card_urls=runtime.card_urls,
        max_body=runtime.settings.max_body,
        correlation_key=runtime.correlation_key(exchange),
        resolves_card=binding.current_resolution() is not None,
    )
    if request is None or (runtime.excluded is not None and runtime.excluded.url_disabled(exchange.url())):
        return None
    runtime.worker.drain()
    if runtime.on_operation is not None:
        runtime.on_operation()
    if isinstance(request, CallStarted):
        request.hints = current_hints()
        request.bound = binding.current_card()
        earlier = _last_call.get()
        request.execution = earlier.execution if earlier is not None else next(_executions)
        _last_call.set(request)
    return kind(runtime, exchange, request)


class Operation(ObservedCall):
    """A call or card fetch over HTTP, whose answer is bytes."""

    __slots__ = ("_from_cache", "_header", "_moved_to", "_reader")

    def __init__(self, runtime: Runtime, exchange: Exchange, request: CallStarted | CardRequested) -> None:
        super().__init__(runtime, exchange, request)
        self._header: Callable[[str], str | None] = _no_header
        self._reader: bodies.BodyReader | None = None
        self._moved_to = ""
        self._from_cache = False

    # --- the answer

    def respond(self, status: int, header: Callable[[str], str | None], url: str, *, from_cache: bool = False) -> None:
        """The head of the answer is here. ``url`` is where it came from, after redirects.

        ``from_cache``: the library had it in a cache of its own, and asked nobody.
        """
        self._status = status
        self._header = header
        self._from_cache = from_cache
        request = self._request
        try:
            # Auth flows set their header within the library's own call.
            request.credential = credentials.of_request(self._exchange.header)
            if isinstance(request, CallStarted):
                correlation.mark_answer(request, header)
                if request.certain:
                    self._moved_to = redirects.moved_to(self._exchange.url(), request.endpoint, url)
        except Exception as error:
            self._runtime.internal_error("response", error)

    def body(self, content: bytes) -> None:
        """A whole, decoded answer. Ends the operation.

        Raises:
            A2APolicyError: the answer must not reach the application.
        """
        self._claim_end()
        error = self._judge_answer(content)
        self._finish(type(error).__name__ if error is not None else self._error_type)
        if error is not None:
            self._refuse(error)
            raise error

    def feed(self, chunk: bytes) -> int | None:
        """A chunk of a streamed answer, as it came from the network, before it is handed on.

        Returns None, or how many bytes may still be handed on before ``error`` is to be raised.
        """
        if self._ended:
            return None
        try:
            reader = self._reader or self._new_reader()
            for index, event in enumerate(reader.feed(chunk)):
                error = self._judge_event(event)
                if error is not None:
                    self._refuse(error)
                    return reader.cut(index)
        except Exception as fault:
            self._runtime.internal_error("stream", fault)
        return None

    # --- judging

    def _new_reader(self) -> bodies.BodyReader:
        # A stream may be forgotten, and a finaliser must not be the one that starts a thread.
        self._runtime.worker.start()
        open_calls.add(self)
        self._reader = bodies.BodyReader(
            self._header("content-type"), self._header("content-encoding"), self._runtime.settings.max_body
        )
        return self._reader

    def _judge_answer(self, content: bytes) -> A2APolicyError | None:
        try:
            return self._observe_all(self._read_answer(content))
        except Exception as error:
            self._runtime.internal_error("response", error)
            return None

    def _read_answer(self, content: bytes) -> list[Observation]:
        limit = self._runtime.settings.max_body
        observations, judged = answers.read_whole(
            self._request, self._status, self._header, content, limit, from_cache=self._from_cache
        )
        if not judged:
            self._attributes[semconv.RESPONSE_JUDGED] = False
        return observations

    def _judge_event(self, event: bodies.Event) -> A2APolicyError | None:
        if isinstance(self._request, CardRequested):
            return None
        return self._observe_all(responses.read_event(self._request, event.data, event.type))

    def _judge_end(self) -> A2APolicyError | None:
        reader = self._reader or self._new_reader()
        rest = reader.finish()
        if not reader.judged:
            self._attributes[semconv.RESPONSE_JUDGED] = False
        if not reader.is_stream:
            content = next(iter(rest)).data if rest else b""
            return self._observe_all(self._read_answer(content)) if reader.judged else None
        error: A2APolicyError | None = None
        for event in rest:
            error = error or self._judge_event(event)
        super()._judge_end()
        return error

    def _observe(self, observation: Observation) -> A2APolicyError | None:
        if self._moved_to and redirects.is_of_agent(observation):
            self._note_redirect()
        return super()._observe(observation)

    def _note_redirect(self) -> None:
        endpoint, self._moved_to = self._moved_to, ""
        assert isinstance(self._request, CallStarted)
        self._runtime.observe(CallRedirected(call=self._request, endpoint=endpoint), self._context)


def _no_header(name: str) -> str | None:
    return None
