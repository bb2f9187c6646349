# SPDX-License-Identifier: Apache-2.0
"""crewAI: when a poll, a stream or a wait for a webhook goes wrong, it counts the agent's task as failed.

Its public event bus tells so. A response that it calls failed is always its own word: it emits none for a task that the
agent failed. The events do not say which A2A task they are about (in a crew, ``task_id`` is the crew's own task). The
last A2A call of the execution context does, and the bus calls handlers in a copy of that context.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Final

from otel_a2a import operation, patching
from otel_a2a.engine import current
from otel_a2a.hooks._tell import notice, tell_state
from otel_a2a.observations import Reason, TaskState
from otel_a2a.wire import urls

BUS: Final = "crewai.events.event_bus"
EVENTS: Final = "crewai.events.types.a2a_events"
HEARD: Final = ("A2AResponseReceivedEvent", "A2APushNotificationTimeoutEvent")


class Subscription:
    """A handler at the bus."""

    __slots__ = ("active", "bus", "event_type")

    def __init__(self, bus: Any, event_type: Any) -> None:
        self.bus = bus
        self.event_type = event_type
        self.bus.on(event_type)(_heard)
        self.active = True

    def remove(self) -> None:
        """Take the handler from the bus."""
        self.active = False
        notice(lambda: self.bus.off(self.event_type, _heard))


def install(module: ModuleType) -> list[Subscription]:
    """Listen, once both the bus and the events are there: they are imported apart from each other.

    Raises:
        PatchPointMissing: this version has no such bus or events.
    """
    if module.__name__ == BUS:
        _attribute(module, "crewai_event_bus")
    else:
        for name in HEARD:
            _attribute(module, name)
    bus = getattr(sys.modules.get(BUS), "crewai_event_bus", None)
    types = [getattr(sys.modules.get(EVENTS), name, None) for name in HEARD]
    if bus is None or None in types:
        return []
    return [Subscription(bus, event_type) for event_type in types]


def _attribute(module: ModuleType, name: str) -> None:
    if not hasattr(module, name):
        raise patching.PatchPointMissing(f"{module.__name__} has no {name}")


def _heard(source: Any, event: Any) -> None:
    notice(_failed, event)


def _failed(event: Any) -> None:
    if getattr(event, "status", "failed") != "failed" or _is_replayed():
        return
    task_id = _task_of(event)
    if task_id:
        tell_state(task_id, TaskState.FAILED, reason=Reason.TRANSPORT)


def _is_replayed() -> bool:
    """Whether the bus tells again what it told long ago, from a checkpoint."""
    ask = getattr(sys.modules.get(BUS), "is_replaying", None)
    return ask is not None and bool(ask())


def _task_of(event: Any) -> str:
    engine = current()
    if engine is None:
        return ""
    if event.task_id and engine.endpoint_of(event.task_id):
        return str(event.task_id)
    call = operation.last_call()
    # Some calls are not seen: the last one that was may be of another turn, to another agent.
    if call is None or (event.endpoint and urls.server(event.endpoint)[0] != call.server_address):
        return ""
    return call.answered_task or call.task_id
