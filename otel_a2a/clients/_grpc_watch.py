# SPDX-License-Identifier: Apache-2.0
"""What an application takes from a gRPC call, told to the call's operation."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, Protocol

from otel_a2a.clients._proxy import Proxy
from otel_a2a.exchange import GrpcStatus
from otel_a2a.operation import CLOSED_EARLY, EOF

DETAILS: Final = "grpc-status-details-bin"


class Listener(Protocol):
    """What is told of a call: the part of ``otel_a2a.message_operation.MessageOperation`` that concerns answers."""

    def answer(self, message: Any) -> None: ...
    def event(self, message: Any) -> BaseException | None: ...
    def refuse(self, status: GrpcStatus, error: BaseException) -> None: ...
    def end(self, reason: str) -> None: ...
    def fail(self, error: BaseException) -> None: ...
    def end_later(self, reason: str) -> None: ...


def tell_failure(operation: Listener, error: BaseException) -> None:
    """The call ended with ``error``.

    Raises:
        A2APolicyError: the application is to get this instead.
    """
    status = status_of(error)
    if status is None:
        operation.fail(error)
    else:
        operation.refuse(status, error)


def status_of(error: BaseException) -> GrpcStatus | None:
    """The status that an ``RpcError`` carries; None for any other exception. Never raises."""
    try:
        code = error.code().name  # type: ignore[attr-defined]  # RpcError itself has none of these
        message = error.details()  # type: ignore[attr-defined]
        trailing = error.trailing_metadata()  # type: ignore[attr-defined]
        details = next((value for key, value in trailing or () if key == DETAILS), b"")
        return GrpcStatus(code, message or "", details if isinstance(details, bytes) else b"")
    except Exception:
        return None


class Watch:
    """What the application takes from a call, told to its operation; after the end it is told nothing more.

    ``reading`` is set while the application waits for a message: what ends the call then is what the wait ends with.
    ``iterator`` is the one that an asynchronous call hands out, once it has.
    """

    __slots__ = ("_lock", "_operation", "_refusal", "iterator", "reading")

    def __init__(self, operation: Listener) -> None:
        self._operation: Listener | None = operation
        self._refusal: BaseException | None = None
        # Two threads may ask a future for its result, and the second must not have it before the first has judged it.
        self._lock = threading.Lock()
        self.reading = False
        self.iterator: Any = None

    def answer(self, message: Any) -> None:
        """The application is about to get the whole answer. Raises a policy error, each time."""
        self._conclude(lambda operation: operation.answer(message))

    def fail(self, error: BaseException) -> None:
        """The application is about to get ``error``. Raises a policy error, each time."""
        if isinstance(error, GeneratorExit):
            self.drop()
        else:
            self._conclude(lambda operation: tell_failure(operation, error))

    def tell(self, message: Any) -> BaseException | None:
        """The application is about to get a message of a stream. Returns what it is to get instead."""
        operation = self._operation
        refusal = operation.event(message) if operation is not None else None
        if operation is not None and refusal is not None:
            self._operation = None
            operation.fail(refusal)
        return refusal

    def end(self, reason: str) -> None:
        """The stream is over."""
        operation, self._operation = self._operation, None
        if operation is not None:
            operation.end(reason)

    def close(self) -> None:
        """The application gave the stream up."""
        # A generator that is finalised may cancel its call on the way out, even inside a lock of ours.
        if sys.exc_info()[0] is GeneratorExit:
            self.drop()
        elif not self.reading:
            self.end(CLOSED_EARLY)

    def drop(self) -> None:
        """The call was forgotten; called from finalisers."""
        operation, self._operation = self._operation, None
        if operation is not None:
            operation.end_later(CLOSED_EARLY)

    def _conclude(self, tell: Callable[[Listener], None]) -> None:
        with self._lock:
            operation, self._operation = self._operation, None
            if operation is not None:
                try:
                    tell(operation)
                except Exception as refusal:
                    self._refusal = refusal
        if self._refusal is not None:
            raise self._refusal


# --- streams ---------------------------------------------------------------------------------------------------------


class Waiting:
    """The application waits for a message, in whatever way: a context manager that tells what comes in its place.

    ``is_over`` is asked whether an error ends the call. A plain class, because it is entered for every message.
    """

    __slots__ = ("_is_over", "_watch")

    def __init__(self, watch: Watch, is_over: Callable[[], bool] | None = None) -> None:
        self._watch = watch
        self._is_over = is_over

    def __enter__(self) -> None:
        self._watch.reading = True

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self._watch.reading = False
        if isinstance(error, (StopIteration, StopAsyncIteration)):
            self._watch.end(EOF)
        elif error is not None and (self._is_over is None or self._is_over()):
            self._watch.fail(error)


def pass_or_refuse(watch: Watch, message: Any, call: Any) -> None:
    """Raise what the application is to get in place of ``message``, after its stream has been given up."""
    refusal = watch.tell(message)
    if refusal is None:
        return
    # An error of giving up must not hide the one that is about to be raised.
    with suppress(Exception):
        call.cancel()
    raise refusal


class AsyncMessages(Proxy):
    """The iterator of an asynchronous call, which is a generator of the library's and finalised as such."""

    def __init__(self, iterator: Any, watch: Watch, call: Callable[[], Any]) -> None:
        super().__init__(iterator)
        self._self_watch = watch
        self._self_call = call

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        return await self._self_take(self.__wrapped__.__anext__())

    async def asend(self, value: Any) -> Any:
        """As a generator has it."""
        return await self._self_take(self.__wrapped__.asend(value))

    async def aclose(self) -> None:
        """As a generator has it. The call goes on; nobody can read from it any more."""
        try:
            await self.__wrapped__.aclose()
        finally:
            self._self_watch.close()

    async def _self_take(self, following: Awaitable[Any]) -> Any:
        # Held until it is told: the library's generator lets go of its call when it ends.
        watch, call = self._self_watch, self._self_call()
        with Waiting(watch):
            message = await following
        pass_or_refuse(watch, message, call)
        return message
