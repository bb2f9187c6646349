# SPDX-License-Identifier: Apache-2.0
"""The agent that these tests call."""

from __future__ import annotations

from tests.support.agents import ScriptedAgent, task

EVENTS = 2
"""How many it streams."""


def working() -> ScriptedAgent:
    """It streams a task to its end, and answers any other call with a task that is worked on."""
    events = [{"task": task("t-1", "SUBMITTED")}, {"task": task("t-1", "COMPLETED")}]
    return ScriptedAgent(lambda method, _: events if "Streaming" in method else {"task": task("t-2", "WORKING")})
