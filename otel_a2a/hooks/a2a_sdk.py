# SPDX-License-Identifier: Apache-2.0
"""a2a-sdk: the client's merged record of a task (0.3 only), and task stores that a client keeps its tasks in.

Both are also fed with what an agent said: ``ClientTaskManager`` by the SDK's client, and a store by the SDK's server,
which *is* the agent. A process that is both has in its store what the wire has yet to bring, so what the SDK's own code
saves is passed over. Only what the application saves by itself is a decision of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final
from weakref import WeakSet

from otel_a2a import patching
from otel_a2a.hooks._tell import notice, state_of, tell, tell_state
from otel_a2a.observations import Decision
from otel_a2a.patching import Method, Patch

SERVER: Final = "a2a.server."
STORES: Final = frozenset(
    f"a2a.server.{name}"
    for name in (
        "cluster.task_store",
        "tasks.copying_task_store",
        "tasks.database_task_store",
        "tasks.inmemory_task_store",
    )
)
"""Modules of the server that an application calls too: a store beneath a store."""
RELAY: Final = "a2a.client."
MANAGER: Final = "a2a.client.client_task_manager"
MANAGERS: Final = frozenset((MANAGER,))

_served: WeakSet[Any] = WeakSet()
"""Stores that the SDK's server has saved to: they are an agent's, whoever else writes to them."""


def install(module: ModuleType) -> list[Patch]:
    """Watch the class that ``module`` is there for.

    Raises:
        PatchPointMissing: this version has no such class or method.
    """
    class_name, method, build = POINTS[module.__name__]
    owner = getattr(module, class_name, None)
    if not isinstance(owner, type):
        raise patching.PatchPointMissing(f"{module.__name__} has no {class_name}")
    return [patching.install(owner, method, build)]


def _save(patch: Patch) -> Method:
    """For ``save(task, context)`` of a task store."""
    original = patch.original

    async def save(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not patch.active:
            return await original(self, *args, **kwargs)
        is_agents = _is_agents(self)
        result = await original(self, *args, **kwargs)
        if not is_agents:
            notice(_saved, args[0] if args else kwargs.get("task"))
        return result

    return save


def _save_task_event(patch: Patch) -> Method:
    """For ``save_task_event(event)`` of the client's task manager, which returns the merged task."""
    original = patch.original

    async def save_task_event(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not patch.active:
            return await original(self, *args, **kwargs)
        is_relayed = _is_called_by(RELAY, but_not=MANAGERS)
        merged = await original(self, *args, **kwargs)
        notice(_merged, args[0] if args else kwargs.get("event"), merged, is_relayed)
        return merged

    return save_task_event


def _is_agents(store: Any) -> bool:
    """Whether the SDK's server is saving to this store, or ever has. Never raises; in doubt it is."""
    try:
        if store in _served:
            return True
        if not _is_called_by(SERVER, but_not=STORES):
            return False
        _served.add(store)
    except TypeError:  # a store that cannot be hashed, or not be referred to weakly
        pass
    return True


def _is_called_by(prefix: str, *, but_not: frozenset[str]) -> bool:
    """Whether a module of this prefix is among those that await the wrapper that asks.

    All of them are looked at, not the next alone: there are decorators in between, and stores derived from these.
    """
    frame = sys._getframe().f_back
    while frame is not None:
        name = frame.f_globals.get("__name__")
        if isinstance(name, str) and name.startswith(prefix) and name not in but_not:
            return True
        frame = frame.f_back
    return False


def _saved(task: Any) -> None:
    # Live states too: they take back an end that had been recorded.
    state = state_of(task.status)
    if state:
        tell_state(task.id, state)


def _merged(event: Any, merged: Any, is_relayed: bool) -> None:
    artifact = getattr(event, "artifact", None)
    if artifact is not None:
        if all(held.artifact_id != artifact.artifact_id for held in merged.artifacts or ()):
            tell(Decision.ARTIFACT_DROPPED, task_id=event.task_id, artifact_id=artifact.artifact_id)
    elif not is_relayed:
        _saved(merged)


POINTS: Final[dict[str, tuple[str, str, Callable[[Patch], Method]]]] = {
    MANAGER: ("ClientTaskManager", "save_task_event", _save_task_event),
    "a2a.server.tasks.inmemory_task_store": ("InMemoryTaskStore", "save", _save),
    "a2a.server.tasks.database_task_store": ("DatabaseTaskStore", "save", _save),
}
"""By module: the class, its method, and what makes the wrapper."""
