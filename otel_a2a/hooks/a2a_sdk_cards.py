# SPDX-License-Identifier: Apache-2.0
"""a2a-sdk: which card a call is bound to.

The SDK's resolver turns a document into an object, and its clients keep that object for life: they choose streaming by
it long after the agent's card has changed. No hash of the object is the hash of the document, so the object itself is
remembered here, with what the wire read of the document it was made from.
"""

from __future__ import annotations

from collections import OrderedDict
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import wrapt

from otel_a2a import binding, patching
from otel_a2a.hooks._tell import notice, tell_rejected
from otel_a2a.observations import BoundCard
from otel_a2a.patching import Method, Patch

if TYPE_CHECKING:
    _Proxy = wrapt.ObjectProxy[Any]
else:  # before wrapt 2 it takes no type argument
    _Proxy = wrapt.ObjectProxy

CARDS: Final = 256
"""Card objects remembered; the oldest leave first, and calls of their clients are judged by the newest document."""

RESOLVER: Final = "A2ACardResolver"
CLIENTS: Final = ("BaseClient", "A2AClient")
CALLS: Final = (
    "get_task",
    "list_tasks",
    "cancel_task",
    "set_task_callback",
    "get_task_callback",
    "create_task_push_notification_config",
    "get_task_push_notification_config",
    "list_task_push_notification_configs",
    "delete_task_push_notification_config",
)
STREAMS: Final = ("send_message_streaming", "resubscribe", "subscribe")
SEND: Final = "send_message"
"""A stream of events in ``BaseClient``, one answer in ``A2AClient``."""

_cards: OrderedDict[int, tuple[Any, BoundCard]] = OrderedDict()
"""By ``id``, with the object itself: messages of protobuf can be neither hashed nor held weakly, and an ``id`` is good
for as long as its object lives."""


def install(module: ModuleType) -> list[Patch]:
    """Watch the resolver and the clients that ``module`` defines, whichever of them it has.

    Raises:
        PatchPointMissing: a class lacks its method.
    """
    patches: list[Patch] = []
    resolver = _defined(module, RESOLVER)
    if resolver is not None:
        patches.append(patching.install(resolver, "get_agent_card", _get_agent_card))
    for name in CLIENTS:
        client = _defined(module, name)
        if client is None:
            continue
        patches.append(patching.install(client, SEND, _stream if name == "BaseClient" else _call))
        patches += [patching.install(client, method, _call) for method in CALLS if hasattr(client, method)]
        patches += [patching.install(client, method, _stream) for method in STREAMS if hasattr(client, method)]
    return patches


def _defined(module: ModuleType, name: str) -> type | None:
    found = getattr(module, name, None)
    return found if isinstance(found, type) and found.__module__ == module.__name__ else None


def _get_agent_card(patch: Patch) -> Method:
    original = patch.original

    async def get_agent_card(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not patch.active:
            return await original(self, *args, **kwargs)
        with binding.resolving() as resolution:
            try:
                card = await original(self, *args, **kwargs)
            except Exception:
                # The document was there, and the SDK would not have it: no card of its, a signature that does not fit.
                notice(_rejected, resolution)
                raise
        notice(_resolved, card, resolution)
        return card

    return get_agent_card


def _rejected(resolution: binding.Resolution) -> None:
    if resolution.fetched is not None:
        tell_rejected(resolution.fetched.request.url)


def _resolved(card: Any, resolution: binding.Resolution) -> None:
    bound = resolution.card()
    if bound is None:
        return
    _cards.pop(id(card), None)
    _cards[id(card)] = (card, bound)
    while len(_cards) > CARDS:
        _cards.popitem(last=False)


def _call(patch: Patch) -> Method:
    original = patch.original

    async def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not patch.active:
            return await original(self, *args, **kwargs)
        with binding.bound_to(_card_of(self)):
            return await original(self, *args, **kwargs)

    return call


def _stream(patch: Patch) -> Method:
    original = patch.original

    def stream(self: Any, *args: Any, **kwargs: Any) -> Any:
        events = original(self, *args, **kwargs)
        card = _card_of(self) if patch.active else None
        return events if card is None else BoundStream(events, card)

    return stream


class BoundStream(_Proxy):
    """An async generator of the SDK: the card is bound while it runs, and never while its consumer does."""

    def __init__(self, events: Any, card: BoundCard) -> None:
        super().__init__(events)
        self._self_card = card

    def __aiter__(self) -> BoundStream:
        return self

    async def __anext__(self) -> Any:
        with binding.bound_to(self._self_card):
            return await self.__wrapped__.__anext__()


def _card_of(client: Any) -> BoundCard | None:
    """What the wire read of the card that ``client`` holds now: an extended card takes the place of the public one."""
    for held in _held(client):
        found = _cards.get(id(held))
        if found is not None and found[0] is held:
            return found[1]
    return None


def _held(client: Any) -> tuple[Any, ...]:
    own: dict[str, Any] = getattr(client, "__dict__", {})
    transport: dict[str, Any] = getattr(own.get("_transport"), "__dict__", {})
    return tuple(card for card in (own.get("_card"), own.get("agent_card"), transport.get("agent_card")) if card)
