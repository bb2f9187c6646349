# SPDX-License-Identifier: Apache-2.0
"""The agents of these tests."""

from __future__ import annotations

from typing import Any

from tests.support.agents import ScriptedAgent, task


class Recording:
    """An agent that keeps every ``traceparent`` of each call that reaches it, repeated headers too.

    Args:
        app: the agent, an ASGI application.
    """

    def __init__(self, app: Any) -> None:
        self.parents: list[list[str]] = []
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            self.parents.append([value.decode() for name, value in scope["headers"] if name == b"traceparent"])
        await self._app(scope, receive, send)


def working() -> ScriptedAgent:
    """One that streams a task to its end, and answers any other call with a task that is worked on."""
    events = [{"task": task("t-1", "SUBMITTED")}, {"task": task("t-1", "COMPLETED")}]
    return ScriptedAgent(lambda method, _: events if "Streaming" in method else {"task": task("t-2", "WORKING")})
