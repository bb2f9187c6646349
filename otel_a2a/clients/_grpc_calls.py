# SPDX-License-Identifier: Apache-2.0
"""gRPC's call objects, which tell an operation what becomes of them.

A call object is a future, an iterator and often its own exception; it hands itself to callbacks, and cancels its RPC
when it is forgotten. A proxy in front of it would be another object in all these places. So the object stays the very
same, and is given a subclass of its own class that looks at what the application takes from it.
"""

from __future__ import annotations

import weakref
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any, Final

from otel_a2a.clients._grpc_watch import AsyncMessages, Listener, Waiting, Watch, pass_or_refuse
from otel_a2a.operation import CLOSED_EARLY, EOF

MOST_KINDS: Final = 64
"""Classes that are remembered: an interceptor may make a new one for each call."""


def watch_future(call: Any, operation: Listener) -> Any:
    """For ``future`` of a unary call: judged when its result is asked for."""
    return _watched(call, operation, _future)


def watch_stream(call: Any, operation: Listener) -> Any:
    """For a stream that is iterated."""
    return _watched(call, operation, _stream)


def watch_awaited(call: Any, operation: Listener) -> Any:
    """For a unary call that is awaited."""
    return _watched(call, operation, _awaited)


def watch_async_stream(call: Any, operation: Listener, eof: object) -> Any:
    """For a stream that is iterated asynchronously, or read until ``eof``."""
    return _watched(call, operation, _async_stream, eof)


Overrides = Callable[..., dict[str, Any]]
_kinds: dict[tuple[type, Overrides], type] = {}


def _watched(call: Any, operation: Listener, overrides: Overrides, *about: Any) -> Any:
    """``call``, now of a subclass with ``overrides``. Where that is not possible, what becomes of it stays unseen."""
    try:
        kind = _kind(type(call), overrides, *about)
        call._otel_a2a = Watch(operation)
        call.__class__ = kind
    except (AttributeError, TypeError):
        operation.end(CLOSED_EARLY)
    return call


def _kind(original: type, overrides: Overrides, *about: Any) -> type:
    kind = _kinds.get((original, overrides))
    if kind is None:
        names = {"__slots__": (), "__module__": original.__module__, "__qualname__": original.__qualname__}
        kind = type(original)(original.__name__, (original,), {**overrides(original, *about), **names})
        if len(_kinds) >= MOST_KINDS:
            _kinds.clear()
        _kinds[original, overrides] = kind
    return kind


def _forgotten(original: Any) -> Callable[[Any], None]:
    finalise = getattr(original, "__del__", None)

    def __del__(self: Any) -> None:
        self._otel_a2a.drop()
        if finalise is not None:
            finalise(self)

    return __del__


def _canceled(original: Any) -> Callable[..., Any]:
    def cancel(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._otel_a2a.close()
        return original.cancel(self, *args, **kwargs)

    return cancel


def _future(original: Any) -> dict[str, Any]:
    def result(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            response = original.result(self, *args, **kwargs)
        except BaseException as error:
            # A wait that was too short ends nothing.
            if self.done():
                self._otel_a2a.fail(error)
            raise
        self._otel_a2a.answer(response)
        return response

    def exception(self: Any, *args: Any, **kwargs: Any) -> Any:
        error = original.exception(self, *args, **kwargs)
        try:
            if error is not None:
                self._otel_a2a.fail(error)
        except Exception as refusal:
            return refusal
        return error

    return {"result": result, "exception": exception, "__del__": _forgotten(original)}


def _stream(original: Any) -> dict[str, Any]:
    def following(self: Any) -> Any:
        watch = self._otel_a2a
        with Waiting(watch):
            message = original.__next__(self)
        pass_or_refuse(watch, message, self)
        return message

    found = {"__next__": following, "cancel": _canceled(original), "__del__": _forgotten(original)}
    if hasattr(original, "next"):
        found["next"] = following
    return found


def _awaited(original: Any) -> dict[str, Any]:
    def __await__(self: Any) -> Generator[Any, Any, Any]:
        watch = self._otel_a2a
        try:
            response = yield from original.__await__(self)
        except BaseException as error:
            watch.fail(error)
            raise
        watch.answer(response)
        return response

    return {"__await__": __await__, "__del__": _forgotten(original)}


def _async_stream(original: Any, eof: object) -> dict[str, Any]:
    async def read(self: Any) -> Any:
        watch = self._otel_a2a
        # Reading and iterating must not be mixed; to try it raises, and ends nothing.
        with Waiting(watch, is_over=self.done):
            message = await original.read(self)
        if message is eof:
            watch.end(EOF)
        else:
            pass_or_refuse(watch, message, self)
        return message

    def __aiter__(self: Any) -> AsyncIterator[Any]:
        watch, inner = self._otel_a2a, original.__aiter__(self)
        if watch.iterator is None:
            watch.iterator = AsyncMessages(inner, watch, weakref.ref(self))
        messages: AsyncIterator[Any] = watch.iterator
        return messages

    return {
        "read": read,
        "__aiter__": __aiter__,
        "cancel": _canceled(original),
        "__del__": _forgotten(original),
    }
