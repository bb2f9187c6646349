# SPDX-License-Identifier: Apache-2.0
"""The seam for gRPC: an operation whose answers are messages, which the library has framed and parsed already.

A client module uses it as it uses ``otel_a2a.operation``:

    op = begin(exchange)                    None: not A2A; A2APolicyError: nothing has left
    with op.attached():                     around the library's own call, with what op.headers() gives
        call = send(request)
    op.answer(message)                      a whole answer; or, for a stream,
    op.event(message) … op.end("eof")       each message before it is handed on; or, at any point,
    op.refuse(status, error)                the status that is not OK
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from otel_a2a import open_calls, operation, semconv
from otel_a2a.errors import A2APolicyError
from otel_a2a.exchange import GrpcStatus, MessageExchange
from otel_a2a.observations import CallStarted, Observation
from otel_a2a.observed_call import ObservedCall
from otel_a2a.wire import grpc, protobuf, responses
from otel_a2a.wire.reading import UNREADABLE

Reader = Callable[[CallStarted, Any], list[Observation]]


def begin(exchange: MessageExchange) -> MessageOperation | None:
    """Look at a gRPC call that is about to leave.

    Raises:
        A2APolicyError: in mode ``raise``, for a request that must not leave.
    """
    return operation.begin_as(MessageOperation, exchange)


class MessageOperation(ObservedCall):
    """One gRPC call, from its request to its status. Used by one task or thread at a time."""

    __slots__ = ()

    def expect(self) -> None:
        """The call is under way. Its end may come from a finaliser, which must not be the one to start a thread."""
        self._runtime.worker.start()

    def answer(self, message: Any) -> None:
        """A whole answer. Ends the operation.

        Raises:
            A2APolicyError: the answer must not reach the application.
        """
        if not self._claim_end():
            return
        refusal = self._judge_message(message, responses.read_message)
        self._conclude(refusal)
        if refusal is not None:
            raise refusal

    def event(self, message: Any) -> A2APolicyError | None:
        """One message of a stream, before it is handed on. Returns what is to be raised in its place."""
        if self._ended:
            return None
        # From here on the agent has answered, and whatever ends the call breaks a stream.
        self._status = 200
        open_calls.add(self)
        self.error = self._judge_message(message, responses.read_event_message)
        return self.error

    def refuse(self, status: GrpcStatus, error: BaseException) -> None:
        """The call ended with ``status``, which the application is about to get as ``error``. Ends the operation.

        Raises:
            A2APolicyError: the application is to get this instead.
        """
        if not self._claim_end():
            return
        self._error_type = status.code
        refusal: A2APolicyError | None = None
        try:
            refusal = self._observe_all(grpc.read_status(self._call, status, in_stream=self._status != 0))
        except Exception as fault:
            self._runtime.internal_error("status", fault)
        self._conclude(refusal)
        if refusal is not None:
            raise refusal from error

    @property
    def _call(self) -> CallStarted:
        # Over gRPC a card comes by a call like any other.
        return cast(CallStarted, self._request)

    def _conclude(self, refusal: A2APolicyError | None) -> None:
        self.error = refusal
        self._finish(type(refusal).__name__ if refusal is not None else self._error_type)

    def _judge_message(self, message: Any, read: Reader) -> A2APolicyError | None:
        try:
            document = protobuf.document(message, self._runtime.settings.max_body)
            if document is UNREADABLE:
                self._attributes[semconv.RESPONSE_JUDGED] = False
            return self._observe_all(read(self._call, document))
        except Exception as fault:
            self._runtime.internal_error("message", fault)
            return None
