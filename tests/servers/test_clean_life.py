# SPDX-License-Identifier: Apache-2.0
"""A clean life at an agent in another language, by the client of a2a-sdk, in mode raise."""

from __future__ import annotations

from a2a.types import TaskState

from otel_a2a import semconv
from tests.servers.caller import Caller, calling, task_of
from tests.servers.conftest import Agent
from tests.support.telemetry import Telemetry

COMPLETED, CANCELED, ASKING = (
    TaskState.TASK_STATE_COMPLETED,
    TaskState.TASK_STATE_CANCELED,
    TaskState.TASK_STATE_INPUT_REQUIRED,
)
SEEN = {semconv.A2A_TASK_STATE, semconv.A2A_PROTOCOL_VERSION, semconv.CARD_REVISION_ID}
"""What the span of each of these calls has."""
ON_THE_WAY = {"TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"}
"""What an agent that answers before it has done its work says."""


async def live(caller: Caller) -> None:
    """All that a task can go through: worked on, asked about, looked at, canceled."""
    for streaming in (False, True):
        await caller.until(await caller.send("work", streaming=streaming), COMPLETED)

        asking = await caller.until(await caller.send("ask", streaming=streaming), ASKING)
        await caller.send("the first", streaming=streaming, task_id=asking.id, context_id=asking.context_id)
        await caller.until(asking.id, COMPLETED)

    task_id = ""
    async for event in caller.say("slow", streaming=True):
        if not task_id:
            task_id = task_of(event)
            canceled = await caller.cancel(task_id)
            assert canceled.status.state == CANCELED


async def test_a_clean_life_gives_no_finding(agent: Agent) -> None:
    """In mode raise nothing is raised and nothing found, and each call's span has the state and the card's revision."""
    for binding in agent.bindings:
        telemetry = Telemetry()
        with telemetry.instrumented(strictness="raise"):
            async with calling(agent.base, binding) as caller:
                await live(caller)

        assert telemetry.findings() == [], binding
        told = [dict(span.attributes or {}) for span in telemetry.ours()]
        calls = [attributes for attributes in told if attributes.keys() >= SEEN]
        assert len(calls) == caller.calls, binding
        states = {str(call[semconv.A2A_TASK_STATE]) for call in calls}
        assert states - ON_THE_WAY == {TaskState.Name(state) for state in (COMPLETED, ASKING, CANCELED)}, binding
        assert len({str(call[semconv.CARD_REVISION_ID]) for call in calls}) == 1, binding
        assert {str(call[semconv.A2A_PROTOCOL_VERSION]) for call in calls} == {agent.version}, binding
