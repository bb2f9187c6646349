# SPDX-License-Identifier: Apache-2.0
"""A reply that names its task alone: the agent takes the context from the task (A2A 1.0, section 3.4.3)."""

from __future__ import annotations

from a2a.types import TaskState

from tests.servers.caller import calling
from tests.servers.conftest import Agent
from tests.support.telemetry import Telemetry

CONTEXT_CHANGED = [("context-changed", "violation")]


async def test_a_reply_without_its_context(agent: Agent) -> None:
    """The SDK for Java makes up a new context for what it then streams, which is found; the others keep the task's."""
    for binding in agent.bindings:
        telemetry = Telemetry()
        with telemetry.instrumented():
            async with calling(agent.base, binding) as caller:
                task_id = await caller.send("ask", streaming=True)
                await caller.send("the first", streaming=True, task_id=task_id)
                await caller.until(task_id, TaskState.TASK_STATE_COMPLETED)
        assert telemetry.findings() == (CONTEXT_CHANGED if agent.language == "java" else []), binding
