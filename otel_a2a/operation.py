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
import time
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar, Token
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.context import Context, attach, detach
from opentelemetry.instrumentation.utils import is_instrumentation_enabled

from otel_a2a import binding, semconv
from otel_a2a.config import names_host
from otel_a2a.engine.findings import Finding
from otel_a2a.errors import A2APolicyError
from otel_a2a.exchange import Exchange
from otel_a2a.hints import current_hints
from otel_a2a.observations import (
    CallFailed,
    CallRedirected,
    CallStarted,
    CardFetched,
    CardFetchFailed,
    CardRequested,
    Observation,
    StreamEnded,
)
from otel_a2a.runtime import Runtime
from otel_a2a.telemetry import calls, enrich
from otel_a2a.telemetry.coverage import coverage
from otel_a2a.telemetry.propagation import TRACEPARENT
from otel_a2a.wire import answers, bodies, correlation, credentials, redirects, requests, responses, urls

EOF: Final = "eof"
CLOSED_EARLY: Final = "closed-early"

_runtime: Runtime | None = None
_inside: ContextVar[bool] = ContextVar("otel_a2a_inside", default=False)
"""Set while a library of ours does its own call, so that one beneath it (httpx over aiohttp) does not count it
again."""
_last_call: ContextVar[CallStarted | None] = ContextVar("otel_a2a_last_call", default=None)


def start(runtime: Runtime) -> None:
    """Begin to look at calls."""
    global _runtime
    _runtime = runtime
    atexit.register(runtime.worker.drain)


def stop() -> None:
    """Look at no further call. Operations under way end as they would."""
    global _runtime
    runtime, _runtime = _runtime, None
    if runtime is not None:
        runtime.stop()
        atexit.unregister(runtime.worker.drain)


def running() -> Runtime | None:
    """What looks at calls now; None while the process is not instrumented."""
    return _runtime


def last_call() -> CallStarted | None:
    """The call that this execution context made last: what a framework decides there is about that call's task."""
    return _last_call.get()


def begin(
    exchange: Exchange, replayed_on: Runtime | None = None, kind: type[Operation] | None = None
) -> Operation | None:
    """Look at a request that is about to leave.

    ``replayed_on``: the request is played, not sent, and is looked at by this runtime in place of the process's own.
    ``kind``: what is returned is of this class.

    Raises:
        A2APolicyError: in mode ``raise``, for a request that must not leave.
    """
    runtime = replayed_on or _runtime
    if runtime is None:
        return None
    try:
        operation = _open(runtime, exchange, kind or Operation) if _may_matter(runtime, exchange) else None
    except Exception as error:
        runtime.internal_error("request", error)
        return None
    if operation is not None:
        operation.judge_request()
    return operation


def _may_matter(runtime: Runtime, exchange: Exchange) -> bool:
    method, path = exchange.method, exchange.path
    if method == "GET" and binding.current_resolution() is not None:
        return not _inside.get()
    content_type = exchange.header("content-type") if method == "POST" else None
    return requests.may_be_a2a(method, path, content_type, runtime.card_paths) and not _inside.get()


def _open(runtime: Runtime, exchange: Exchange, kind: type[Operation]) -> Operation | None:
    if not is_instrumentation_enabled():
        return None
    request = requests.read_request(
        exchange,
        knows=runtime.engine.knows,
        card_urls=runtime.card_urls,
        max_body=runtime.settings.max_body,
        correlation_key=runtime.settings.correlation_key,
        resolves_card=binding.current_resolution() is not None,
    )
    if request is None or (runtime.excluded is not None and runtime.excluded.url_disabled(exchange.url())):
        return None
    runtime.worker.drain()
    if runtime.on_operation is not None:
        runtime.on_operation()
    return kind(runtime, exchange, request)


class Operation:
    """One call or card fetch, from its request to the end of its answer. Used by one task or thread at a time."""

    __slots__ = (
        "_attributes",
        "_context",
        "_ended",
        "_error_type",
        "_exchange",
        "_findings",
        "_from_cache",
        "_header",
        "_moved_to",
        "_owns_span",
        "_reader",
        "_request",
        "_right_to_end",
        "_runtime",
        "_span",
        "_started",
        "_started_ns",
        "_status",
        "error",
    )

    def __init__(self, runtime: Runtime, exchange: Exchange, request: CallStarted | CardRequested) -> None:
        self._runtime = runtime
        self._exchange = exchange
        self._request = request
        if isinstance(request, CallStarted):
            request.hints = current_hints()
            request.bound = binding.current_card()
            _last_call.set(request)
        self._span: trace.Span | None = None
        self._owns_span = False
        self._context: Context | None = None
        self._reader: bodies.BodyReader | None = None
        self._header: Callable[[str], str | None] = _no_header
        self._status = 0
        self._moved_to = ""
        self._error_type = ""
        self._findings: list[Finding] = []
        self._attributes: dict[str, Any] = {}
        self._ended = False
        self._from_cache = False
        # Popped by whoever ends the operation: a reading and a closing thread may both try, and pop() is atomic.
        self._right_to_end = [True]
        self._started = time.perf_counter()
        self._started_ns = 0
        self.error: BaseException | None = None

    # --- before the request leaves

    def judge_request(self) -> None:
        """Open the span and let the engine see the request.

        Raises:
            A2APolicyError: the request must not leave. The span has ended by then.
        """
        request = self._request
        if isinstance(request, CallStarted) and not request.certain:
            # Perhaps another protocol's: only the answer decides, so there is no span yet and nothing is judged. Its
            # place in the order of things is taken now.
            request.seq = self._runtime.engine.tick()
            self._started_ns = time.time_ns()
            return
        error: A2APolicyError | None = None
        try:
            self._open_span()
            error = self._observe(request)
        except Exception as fault:
            self._runtime.internal_error("request", fault)
        if error is not None:
            self.error = error
            self._finish(type(error).__name__)
            raise error

    def _open_span(self) -> None:
        request, tracer = self._request, self._runtime.tracer
        current = trace.get_current_span()
        request.is_traced = current.get_span_context().is_valid
        if isinstance(request, CallStarted):
            if enrich.is_same_call(current, request.method):
                self._span = current
                coverage.cover(current.get_span_context().span_id)
            else:
                coverage.cover(current.get_span_context().span_id)
                self._span = calls.start_call(tracer, request, self._started_ns or None)
                self._owns_span = True
        else:
            self._span = calls.start_card_fetch(tracer, request, urls.redacted(self._exchange.url()))
            self._owns_span = True
        request.span = calls.reference(self._span)
        self._context = trace.set_span_in_context(self._span)

    def attached(self) -> _Attached:
        """A context manager: the span is current, and other libraries of ours stay quiet. Not to be held across a
        yield."""
        return _Attached(self._context)

    def headers(self) -> Mapping[str, str]:
        """Propagation headers to set. None where they are switched off, or where the application has set its own."""
        if self._span is None or self._context is None or not self._may_propagate():
            return {}
        return self._runtime.propagation.headers(self._context, self._exchange.header(TRACEPARENT))

    def propagate(self, set_header: Callable[[str, str], object]) -> None:
        """Set what ``headers`` gives, each by its name and value. A trace that breaks is better than a call that
        does."""
        try:
            for name, value in self.headers().items():
                set_header(name, value)
        except Exception as error:
            self._runtime.internal_error("propagation", error)

    def _may_propagate(self) -> bool:
        allowed, request = self._runtime.settings.propagate, self._request
        return (
            allowed if isinstance(allowed, bool) else names_host(allowed, request.server_address, request.server_port)
        )

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
                    self.error = error
                    return reader.cut(index)
        except Exception as fault:
            self._runtime.internal_error("stream", fault)
        return None

    def end(self, reason: str, error: BaseException | None = None) -> None:
        """The operation is over: ``eof``, ``closed-early``, or an exception. Only the first call counts.

        Raises:
            A2APolicyError: for ``eof`` only, where the answer was a document that was read to its end as a stream.
        """
        if not self._claim_end():
            return
        refusal: A2APolicyError | None = None
        try:
            if error is not None:
                self._error_type = type(error).__qualname__
            if reason == EOF and error is None:
                refusal = self._judge_end()
            else:
                self._observe_break(reason)
        except Exception as fault:
            self._runtime.internal_error("end", fault)
        self._finish(type(refusal).__name__ if refusal is not None else self._error_type)
        if refusal is not None:
            self.error = refusal
            raise refusal

    def _claim_end(self) -> bool:
        try:
            return self._right_to_end.pop()
        except IndexError:
            return False

    def end_later(self, reason: str) -> None:
        """``end`` for finalisers: they may run inside any lock, so the work is done elsewhere."""
        if not self._ended:
            self._runtime.worker.defer(lambda: self.end(reason))

    # --- judging

    def _new_reader(self) -> bodies.BodyReader:
        # A stream may be forgotten, and a finaliser must not be the one that starts a thread.
        self._runtime.worker.start()
        self._reader = bodies.body_reader(
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
        request = self._request
        rest = reader.finish()
        if not reader.judged:
            self._attributes[semconv.RESPONSE_JUDGED] = False
        if not reader.is_stream:
            content = next(iter(rest)).data if rest else b""
            return self._observe_all(self._read_answer(content)) if reader.judged else None
        error: A2APolicyError | None = None
        for event in rest:
            error = error or self._judge_event(event)
        if isinstance(request, CallStarted) and self._span is not None:
            self._observe(StreamEnded(call=request, reason=EOF))
        return error

    def _observe_break(self, reason: str) -> None:
        request = self._request
        why = self._error_type or reason
        if isinstance(request, CardRequested):
            self._observe(CardFetchFailed(request=request, reason=why))
        elif self._span is not None:
            if self._status:
                self._observe(StreamEnded(call=request, reason=why))
            else:
                self._observe(CallFailed(call=request, error=why, from_agent=False))

    def _observe_all(self, observations: Iterable[Observation]) -> A2APolicyError | None:
        first: A2APolicyError | None = None
        for observation in observations:
            error = self._observe(observation)
            first = first or error
        return first

    def _observe(self, observation: Observation) -> A2APolicyError | None:
        if self._span is None:
            # The answer shows that the call was A2A after all.
            self._open_span()
            self._observe(self._request)
        if self._moved_to and redirects.is_of_agent(observation):
            self._note_redirect()
        verdict = self._runtime.observe(observation, self._context)
        if isinstance(observation, CardFetched):
            _tell_resolver(observation)
        if verdict.findings:
            self._findings += verdict.findings
        self._error_type = enrich.describe(
            observation, verdict, self._attributes, self._span, self._runtime.metrics, self._error_type
        )
        return verdict.error

    def _note_redirect(self) -> None:
        endpoint, self._moved_to = self._moved_to, ""
        assert isinstance(self._request, CallStarted)
        self._runtime.observe(CallRedirected(call=self._request, endpoint=endpoint), self._context)

    # --- the end

    def _finish(self, error_type: str) -> None:
        if self._ended:
            return
        self._ended = True
        try:
            self._write(error_type)
        except Exception as error:
            self._runtime.internal_error("end", error)

    def _write(self, error_type: str) -> None:
        span, request = self._span, self._request
        if span is None:
            return
        if span.is_recording():
            if self._attributes:
                span.set_attributes(self._attributes)
            if error_type:
                calls.mark_error(span, error_type)
            if self._findings:
                calls.mark_findings(span, self._findings)
        if self._owns_span:
            span.end()
        seconds = time.perf_counter() - self._started
        metrics = self._runtime.metrics
        if isinstance(request, CardRequested):
            metrics.card_fetch(request.server_address, error_type)
        else:
            metrics.operation(request.method, request.server_address, seconds, error_type)


def _tell_resolver(fetched: CardFetched) -> None:
    resolution = binding.current_resolution()
    if resolution is not None:
        resolution.fetched = fetched


class _Attached:
    """See ``Operation.attached``. A plain class, because this is entered on every call."""

    __slots__ = ("_context", "_inside_token", "_token")

    def __init__(self, context: Context | None) -> None:
        self._context = context
        self._token: Any = None
        self._inside_token: Token[bool] | None = None

    def __enter__(self) -> None:
        self._inside_token = _inside.set(True)
        if self._context is not None:
            self._token = attach(self._context)

    def __exit__(self, *exc_info: object) -> None:
        if self._token is not None:
            detach(self._token)
        if self._inside_token is not None:
            _inside.reset(self._inside_token)


def _no_header(name: str) -> str | None:
    return None
