# SPDX-License-Identifier: Apache-2.0
"""crewAI: what it counts as failed by itself is noticed, what an agent failed is not, in real delegations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from crewai.a2a.updates import PollingConfig, PushNotificationConfig, StreamingConfig
from crewai.a2a.utils.delegation import aexecute_a2a_delegation, execute_a2a_delegation
from crewai.events.event_bus import crewai_event_bus
from crewai.events.types.a2a_events import A2AResponseReceivedEvent

from otel_a2a import semconv
from tests.hooks.libraries.old_agent import OldAgent, found, served, status, task
from tests.support.telemetry import Telemetry

PHANTOM = "phantom-terminal-state"
REFUSED = {"error": {"code": -32603, "message": "Internal error"}}
OF_CREW = SimpleNamespace(id="crew-task", name="work", description="work")
POLLING = PollingConfig(interval=0.01, max_polls=2)


async def delegate(base: str, updates: Any, **more: Any) -> str:
    """The status that crewAI gives a delegated piece of work, once its handlers have run."""
    result = await aexecute_a2a_delegation(
        endpoint=f"{base}/.well-known/agent-card.json",
        auth=None,
        timeout=5,
        task_description="work",
        updates=updates,
        **more,
    )
    await asyncio.to_thread(crewai_event_bus.flush)
    return str(result["status"].value)


def answering(**by_method: Any) -> Callable[[str, dict[str, Any]], Any]:
    """Answers by the last word of the method: ``send``, ``get``, ``stream``, ``resubscribe``."""
    return lambda method, params: by_method[method.rpartition("/")[2]]


async def test_a_poll_that_gives_up_is_noticed(telemetry: Telemetry) -> None:
    """crewAI says failed, the agent says working; nothing is raised, and its result is what it was."""
    agent = OldAgent(answering(send=task("working"), get=task("working")), streaming=False)
    with served(agent, telemetry, strictness="raise", raise_on="information") as base:
        assert await delegate(base, POLLING) == "failed"
    assert agent.methods == ["message/send", "tasks/get", "tasks/get"]
    assert found(telemetry) == [(PHANTOM, "information", "client")]


async def test_a_poll_that_the_agent_refused_is_no_failure_of_the_task(telemetry: Telemetry) -> None:
    """An A2A error to a read says nothing about the task."""
    agent = OldAgent(answering(send=task("working"), get=REFUSED), streaming=False)
    with served(agent, telemetry) as base:
        assert await delegate(base, POLLING) == "failed"
    assert found(telemetry) == [(PHANTOM, "violation", "client")]


async def test_a_poll_that_finds_nobody_is_an_improvement(telemetry: Telemetry) -> None:
    """The network failed, not the task; and in a crew the event carries the crew's own task."""
    agent = OldAgent(answering(send=task("working"), get=503), streaming=False)
    with served(agent, telemetry) as base:
        assert await delegate(base, POLLING, from_task=OF_CREW) == "failed"
    assert found(telemetry) == [(PHANTOM, "improvement", "client")]


async def test_a_stream_that_cannot_be_taken_up_again_is_noticed(telemetry: Telemetry) -> None:
    """The stream brings what the SDK cannot read, the read after it fails, and crewAI gives up."""
    agent = OldAgent(answering(stream=[task("working"), {"kind": "nonsense"}], get=503))
    with served(agent, telemetry) as base:
        assert await delegate(base, StreamingConfig()) == "failed"
    assert found(telemetry) == [(PHANTOM, "improvement", "client")]


def test_without_a_loop_crewai_runs_in_a_context_of_its_own(telemetry: Telemetry) -> None:
    """Its synchronous way in, where the calls are made in a loop that it starts."""
    agent = OldAgent(answering(send=task("working"), get=503), streaming=False)
    with served(agent, telemetry) as base:
        result = execute_a2a_delegation(
            endpoint=f"{base}/.well-known/agent-card.json",
            auth=None,
            timeout=5,
            task_description="work",
            updates=POLLING,
        )
        crewai_event_bus.flush()
        assert result["status"].value == "failed"
    assert found(telemetry) == [(PHANTOM, "improvement", "client")]


@pytest.mark.parametrize("state", ["completed", "failed", "rejected", "canceled", "input-required", "auth-required"])
@pytest.mark.parametrize("streaming", [False, True])
async def test_what_the_agent_said_is_its_own_word(streaming: bool, state: str, telemetry: Telemetry) -> None:
    """Also where crewAI has another name for it: a rejected task is failed there."""
    agent = OldAgent(
        answering(send=task("working"), get=task(state), stream=[task("working"), status(state)]), streaming=streaming
    )
    with served(agent, telemetry) as base:
        await delegate(base, StreamingConfig() if streaming else POLLING)
    assert not found(telemetry)


async def test_a_failure_before_there_is_a_task_is_nobody_s(telemetry: Telemetry) -> None:
    """A second delegation that fails at once says nothing of the task of the first, in the same context."""
    agent = OldAgent(answering(send=task("input-required"), get=task("working")), streaming=False)
    with served(agent, telemetry) as base:
        assert await delegate(base, POLLING) == "input-required"
        agent.answer = answering(send=503)
        assert await delegate(base, POLLING) == "failed"
    assert not found(telemetry)


class Mailbox:
    """Where webhooks would arrive: none does, and perhaps another call is made while one is waited for."""

    def __init__(self, other: Callable[[], Any] | None = None) -> None:
        self.other = other

    async def wait_for_result(self, task_id: str, timeout: float, poll_interval: float = 1.0) -> None:
        if self.other is not None:
            await self.other()


@pytest.mark.parametrize("in_crew", [False, True])
async def test_a_wait_for_a_webhook_that_times_out_is_noticed(in_crew: bool, telemetry: Telemetry) -> None:
    """No webhook came, and crewAI did not ask. In a crew its event carries the crew's own task."""
    agent = OldAgent(answering(send=task("working")), streaming=False)
    with served(agent, telemetry, rules="webhook-*=off") as base:
        waiting = PushNotificationConfig(url=f"{base}/hook", timeout=1, result_store=Mailbox())
        more = {"from_task": OF_CREW} if in_crew else {}
        assert await delegate(base, waiting, **more) == "failed"
    assert found(telemetry) == [(PHANTOM, "improvement", "client")]


async def test_another_call_while_a_webhook_is_waited_for(telemetry: Telemetry) -> None:
    """The event names the A2A task where no crew is around, and then that is the one."""
    agent = OldAgent(answering(send=task("working")), streaming=False)
    with served(agent, telemetry, rules="webhook-*=off") as base:

        async def other() -> None:
            agent.answer = answering(send=task("completed", "t-2"))
            await delegate(base, POLLING)

        waiting = PushNotificationConfig(url=f"{base}/hook", timeout=1, result_store=Mailbox(other))
        assert await delegate(base, waiting) == "failed"
    (event,) = (each for each in telemetry.events() if each.attributes[semconv.SECURITY_RULE_NAME] == PHANTOM)
    assert "task t-1 was recorded as TASK_STATE_FAILED" in event.attributes[semconv.FINDING_MESSAGE]


async def test_events_that_are_replayed_are_old_news(telemetry: Telemetry) -> None:
    """A checkpoint's events are about other calls than those of this context."""
    agent = OldAgent(answering(send=task("working"), get=task("input-required")), streaming=False)
    event = A2AResponseReceivedEvent(response="", turn_number=1, status="failed")
    with served(agent, telemetry) as base:
        await delegate(base, POLLING)
        crewai_event_bus.replay(None, event)
        await asyncio.to_thread(crewai_event_bus.flush)
        assert not found(telemetry)
        crewai_event_bus.emit(None, event)
        await asyncio.to_thread(crewai_event_bus.flush)
    assert found(telemetry) == [(PHANTOM, "information", "client")]


async def test_a_failure_at_another_agent_is_not_this_one_s(telemetry: Telemetry) -> None:
    """The last call that was seen may be of another turn, where the calls of this one are over gRPC."""
    agent = OldAgent(answering(send=task("working"), get=task("input-required")), streaming=False)
    with served(agent, telemetry) as base:
        await delegate(base, POLLING)
        crewai_event_bus.emit(
            None,
            A2AResponseReceivedEvent(
                response="", turn_number=1, status="failed", endpoint="https://elsewhere.example/agent.json"
            ),
        )
        await asyncio.to_thread(crewai_event_bus.flush)
    assert not found(telemetry)


def test_listening_ends_with_uninstrument(telemetry: Telemetry) -> None:
    """The bus has our handler while we are on, and not before or after."""

    def ours() -> list[Any]:
        handlers = crewai_event_bus._sync_handlers.get(A2AResponseReceivedEvent, ())
        return [handler for handler in handlers if handler.__module__.startswith("otel_a2a.")]

    assert not ours()
    with telemetry.instrumented():
        assert len(ours()) == 1
    assert not ours()
