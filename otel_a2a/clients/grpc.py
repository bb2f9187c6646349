# SPDX-License-Identifier: Apache-2.0
"""gRPC, blocking and asyncio, by the objects that a stub calls.

Every stub's methods are multicallables of a few classes of the library's, whatever made the channel and whenever: so
their calls are wrapped, on the class. A channel with blocking interceptors has classes of its own, which call the plain
ones: a call with one answer is seen by the outermost, so that interceptors run within its span. A stream is seen
beneath them, because an interceptor may be a generator, which calls only when it is read. Which methods are A2A is not
known here.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import logging
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, Final

from otel_a2a import message_operation, patching
from otel_a2a.clients import _grpc_calls, _grpc_watch
from otel_a2a.exchange import GRPC
from otel_a2a.message_operation import MessageOperation
from otel_a2a.patching import Method, Patch

LAYERS: Final = 50
"""How deep to look for the channel beneath interceptors."""
TARGET: Final = "_otel_a2a_target"

_logger = logging.getLogger(__name__)

Point = tuple[type, str, Callable[[Patch], Method]]


def install(library: ModuleType) -> list[Patch]:
    """Patch the calls of all unary requests of ``library``, or none of them.

    Raises:
        PatchPointMissing: the library lacks what is needed here.
    """
    channel, interceptor = _module(library, "_channel"), _module(library, "_interceptor")
    aio = _module(library, "aio._channel")
    points: list[Point] = [
        *unary_points(channel, "_UnaryUnaryMultiCallable"),
        *unary_points(interceptor, "_UnaryUnaryMultiCallable"),
        (_class(channel, "_UnaryStreamMultiCallable"), "__call__", _streaming),
        (_class(channel, "_SingleThreadedUnaryStreamMultiCallable"), "__call__", _streaming),
        (_class(aio, "UnaryUnaryMultiCallable"), "__call__", _awaiting),
        (_class(aio, "UnaryStreamMultiCallable"), "__call__", functools.partial(_async_streaming, library.aio.EOF)),
        (_class(aio, "Channel"), "__init__", _remembering),
    ]
    for owner, name, _ in points:
        patching.find(owner, name)
    _require_target(library)
    return [patching.install(owner, name, build) for owner, name, build in points]


def unary_points(module: ModuleType, name: str) -> list[Point]:
    """What to patch of the class ``name`` of ``module``, whose calls block and have one answer.

    Raises:
        PatchPointMissing: there is none.
    """
    owner = _class(module, name)
    return [
        (owner, "__call__", _blocking),
        (owner, "with_call", _blocking_with_call),
        (owner, "future", _in_future),
    ]


def _module(library: ModuleType, name: str) -> ModuleType:
    # The library loads some of its own modules with the first channel only.
    try:
        return importlib.import_module(f"{library.__name__}.{name}")
    except ImportError as error:
        raise patching.PatchPointMissing(str(error)) from error


def _class(module: ModuleType, name: str) -> type:
    found = getattr(module, name, None)
    if not isinstance(found, type):
        raise patching.PatchPointMissing(f"{module.__name__} has no {name}")
    return found


def _require_target(library: ModuleType) -> None:
    # An agent is known by its address. cygrpc would tell it too, and crashes when the channel is closed.
    multicallable: Any = _class(_module(library, "_channel"), "_UnaryUnaryMultiCallable")
    if "target" not in inspect.signature(multicallable.__init__).parameters:
        raise patching.PatchPointMissing("its calls do not know their target")


class GrpcExchange:
    """A ``MessageExchange`` over the arguments of a call, read when asked for."""

    __slots__ = ("_callable", "_metadata", "_request")

    def __init__(self, called: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        self._callable = called
        self._request = args[0] if args else kwargs.get("request")
        self._metadata = args[2] if len(args) > 2 else kwargs.get("metadata")

    @property
    def method(self) -> str:
        return GRPC

    @property
    def path(self) -> str:
        return _text(self._callable._method)

    @property
    def target(self) -> str:
        return _target(self._callable)

    def url(self) -> str:
        return f"grpc://{self.target}{self.path}"

    def header(self, name: str) -> str | None:
        return next((_text(value) for key, value in _pairs(self._metadata) if _is(key, name)), None)

    def body(self) -> bytes | None:
        return None

    def message(self) -> Any:
        return self._request


# --- the calls --------------------------------------------------------------------------------------------------------


def _blocking(patch: Patch) -> Method:
    return _answering(patch, lambda answer: answer)


def _blocking_with_call(patch: Patch) -> Method:
    return _answering(patch, lambda answer: answer[0])


def _answering(patch: Patch, response_of: Callable[[Any], Any]) -> Method:
    original = patch.original

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        ours = message_operation.begin(GrpcExchange(self, args, kwargs)) if patch.active else None
        if ours is None:
            return original(self, *args, **kwargs)
        answer = _made(ours, original, self, args, kwargs)
        ours.answer(response_of(answer))
        return answer

    return call


def _telling(patch: Patch, watch: Callable[[Any, MessageOperation], Any]) -> Method:
    """For calls that return at once: ``watch`` has the call object tell what comes."""
    original = patch.original

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        ours = message_operation.begin(GrpcExchange(self, args, kwargs)) if patch.active else None
        if ours is None:
            return original(self, *args, **kwargs)
        made = _made(ours, original, self, args, kwargs)
        ours.expect()
        return watch(made, ours)

    return call


def _in_future(patch: Patch) -> Method:
    return _telling(patch, _grpc_calls.watch_future)


def _streaming(patch: Patch) -> Method:
    return _telling(patch, _grpc_calls.watch_stream)


def _awaiting(patch: Patch) -> Method:
    return _telling(patch, _grpc_calls.watch_awaited)


def _async_streaming(eof: object, patch: Patch) -> Method:
    return _telling(patch, functools.partial(_grpc_calls.watch_async_stream, eof=eof))


def _made(ours: MessageOperation, original: Method, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make the call, with our metadata and under our span."""
    args, kwargs = _propagated(ours, args, kwargs)
    try:
        with ours.attached():
            return original(called, *args, **kwargs)
    except BaseException as error:
        _grpc_watch.tell_failure(ours, error)
        raise


def _remembering(patch: Patch) -> Method:
    """An asyncio channel keeps its target where only some versions can read it."""
    original = patch.original

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        setattr(self, TARGET, args[0] if args else kwargs.get("target"))

    return __init__


# --- arguments --------------------------------------------------------------------------------------------------------


def _propagated(
    ours: MessageOperation, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with our headers in their metadata; the application's own metadata stay as they are."""
    try:
        # What gRPC does not take as metadata would fail the call: better no trace than that.
        added = [
            (name.lower(), value) for name, value in ours.headers().items() if name.isascii() and value.isprintable()
        ]
        if not added:
            return args, kwargs
        metadata = _extended(args[2] if len(args) > 2 else kwargs.get("metadata"), added)
        if len(args) > 2:
            return (*args[:2], metadata, *args[3:]), kwargs
        return args, {**kwargs, "metadata": metadata}
    except Exception:
        _logger.debug("a call goes without trace context", exc_info=True)
        return args, kwargs


def _extended(metadata: Any, added: list[tuple[str, str]]) -> Any:
    """New metadata of the same kind, in which ``added`` stand in place of others of their names."""
    if metadata is None:
        return tuple(added)
    if not _is_readable(metadata):
        return metadata
    names = {name for name, _ in added}
    pairs = [pair for pair in metadata if not any(_is(pair[0], name) for name in names)] + added
    if isinstance(metadata, tuple):
        return tuple(pairs)
    return pairs if isinstance(metadata, list) else type(metadata)(*pairs)


def _is_readable(metadata: Any) -> bool:
    """Whether reading it leaves it as it is: not so for an iterator."""
    return isinstance(metadata, (tuple, list)) or type(metadata).__module__.startswith("grpc.aio")


def _pairs(metadata: Any) -> Iterator[tuple[Any, Any]]:
    if metadata is not None and _is_readable(metadata):
        yield from (pair for pair in metadata if len(pair) == 2)


def _is(key: Any, name: str) -> bool:
    return isinstance(key, str) and key.lower() == name


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _target(called: Any) -> str:
    """What the channel beneath was made for; empty where nobody can tell."""
    for _ in range(LAYERS):
        target = getattr(called, "_target", None)
        if target is not None:
            return _text(target)
        thunk = getattr(called, "_thunk", None)
        inner = thunk(called._method) if thunk is not None else getattr(called, "_base_callable", None)
        if inner is None:
            break
        called = inner
    channel = next(iter(getattr(called, "_references", ())), None)
    target = getattr(channel, TARGET, None) or getattr(getattr(channel, "_channel", None), "target", None)
    if isinstance(target, (str, bytes)):
        return _text(target)
    _warn_of_unknown_target()
    return ""


@functools.cache
def _warn_of_unknown_target() -> None:
    _logger.warning("a channel of grpc.aio was made before otel-a2a was started: A2A calls through it stay unseen")
