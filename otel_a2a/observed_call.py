# SPDX-License-Identifier: Apache-2.0
"""What every operation has, over whatever library it goes: a span, what is judged in it, and one end.

``otel_a2a.operation`` adds answers that are bytes, ``otel_a2a.message_operation`` answers that are messages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.context import Context

from otel_a2a import binding, open_calls, refusals
from otel_a2a.attached import Attached
from otel_a2a.config import names_host
from otel_a2a.engine.findings import Finding
from otel_a2a.errors import A2APolicyError
from otel_a2a.exchange import Exchange
from otel_a2a.observations import (
    CallFailed,
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
from otel_a2a.telemetry.references import reference
from otel_a2a.wire import urls

EOF: Final = "eof"
CLOSED_EARLY: Final = "closed-early"


class ObservedCall:
    """One call or card fetch, from its request to the end of its answer. Used by one task or thread at a time."""

    __slots__ = (
        "__weakref__",
        "_attributes",
        "_context",
        "_ended",
        "_error_type",
        "_exchange",
        "_findings",
        "_owns_span",
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
        self._span: trace.Span | None = None
        self._owns_span = True
        self._context: Context | None = None
        self._status = 0
        self._error_type = ""
        self._findings: list[Finding] = []
        self._attributes: dict[str, Any] = {}
        self._ended = False
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
            self._refuse(error)
            self._finish(type(error).__name__)
            raise error

    def _open_span(self) -> None:
        request, tracer = self._request, self._runtime.tracer
        current = trace.get_current_span()
        context = current.get_span_context()
        request.is_traced = context.is_valid
        if isinstance(request, CardRequested):
            self._span = calls.start_card_fetch(tracer, request, urls.redacted(self._exchange.url()))
        else:
            coverage.cover(context.span_id)
            if enrich.is_same_call(current, request.method):
                self._span, self._owns_span = current, False
            else:
                self._span = calls.start_call(tracer, request, self._started_ns or None)
        request.span = reference(self._span)
        self._context = trace.set_span_in_context(self._span)

    def attached(self) -> Attached:
        """A context manager: the span is current, and other libraries of ours stay quiet. Not to be held across a
        yield."""
        return Attached(self._context)

    def headers(self) -> Mapping[str, str]:
        """Propagation headers to set. None where they are switched off, where the application has set its own, or where
        its propagator fails: a trace that breaks is better than a call that does."""
        if self._span is None or self._context is None:
            return {}
        try:
            if not self._may_propagate():
                return {}
            return self._runtime.propagation.headers(self._context, self._exchange.header(TRACEPARENT))
        except Exception as error:
            self._runtime.internal_error("propagation", error)
            return {}

    def propagate(self, set_header: Callable[[str, str], object]) -> None:
        """Set what ``headers`` gives, each by its name and value, as far as it can be set."""
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

    # --- what is observed

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
        verdict = self._runtime.observe(observation, self._context)
        if isinstance(observation, CardFetched):
            _tell_resolver(observation)
        if verdict.findings:
            self._findings += verdict.findings
        self._error_type = enrich.describe(
            observation, verdict, self._attributes, self._span, self._runtime.metrics, self._error_type
        )
        return verdict.error

    def _refuse(self, error: A2APolicyError) -> None:
        self.error = error
        refusals.note(error, self._exchange)

    # --- the end

    def end(self, reason: str) -> None:
        """The operation is over: ``eof``, ``closed-early``, or the name of an exception. Only the first end counts.

        Raises:
            A2APolicyError: for ``eof`` only, where the answer was a document that was read to its end as a stream.
        """
        if not self._claim_end():
            return
        refusal: A2APolicyError | None = None
        try:
            if reason == EOF:
                refusal = self._judge_end()
            else:
                self._observe_break(reason)
        except Exception as fault:
            self._runtime.internal_error("end", fault)
        self._finish(type(refusal).__name__ if refusal is not None else self._error_type)
        if refusal is not None:
            self._refuse(refusal)
            raise refusal

    def fail(self, error: BaseException) -> None:
        """The operation is over: the call or its answer broke with ``error``, or was refused with it. Never raises."""
        if not self._claim_end():
            return
        self._error_type = type(error).__qualname__
        try:
            self._observe_break(self._error_type)
        except Exception as fault:
            self._runtime.internal_error("end", fault)
        self._finish(self._error_type)

    def end_later(self, reason: str) -> None:
        """``end`` for finalisers: they may run inside any lock, so the work is done elsewhere."""
        if not self._ended:
            self._runtime.worker.defer(lambda: self.end(reason))

    def _claim_end(self) -> bool:
        try:
            return self._right_to_end.pop()
        except IndexError:
            return False

    def _judge_end(self) -> A2APolicyError | None:
        """What the end of a stream says. For whoever knows what there is to be read."""
        if isinstance(self._request, CallStarted) and self._span is not None:
            return self._observe(StreamEnded(call=self._request, reason=EOF))
        return None

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

    def _finish(self, error_type: str) -> None:
        if self._ended:
            return
        self._ended = True
        open_calls.discard(self)
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
