# SPDX-License-Identifier: Apache-2.0
"""google-adk's runner with remote agents, while we, OpenInference's instrumentation of it, both or none look on.

    python -m tests.neighbours.programs.adk AGENT STEP…

A step is ``+ours`` or ``-ours``, ``+theirs`` or ``-theirs``, ``+retiring`` (ours, without the SDK's spans), or a life.
Prints a list of what was seen in each life.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from opentelemetry import context, trace

from otel_a2a import A2AInstrumentor
from tests.neighbours.processes import described
from tests.support.telemetry import Telemetry

USER = "user"


class Application:
    """Runs agents, and notes in ``current`` the name of the span that is current at each event, empty for none."""

    def __init__(self, base: str) -> None:
        self.current: list[str] = []
        self._base = base

    def remote(self, name: str) -> Any:
        """A remote agent."""
        from google.adk.agents.remote_a2a_agent import RemoteA2aAgent

        return RemoteA2aAgent(name=name, agent_card=f"{self._base}/.well-known/agent-card.json")

    async def converse(self, agent: Any, *texts: str) -> None:
        """Each text is a turn of one session, whose events are all read."""
        runner, session = await self._session(agent)
        for text in texts:
            async for _ in self._turn(runner, session, text):
                self._note()
        await runner.close()

    async def close_early(self, agent: Any) -> None:
        """Only the first event of the turn is read."""
        runner, session = await self._session(agent)
        turn = self._turn(runner, session, "work")
        async for _ in turn:
            self._note()
            break
        await turn.aclose()
        await runner.close()

    async def give_up(self, agent: Any) -> None:
        """The turn is canceled from outside, once its first event is there."""
        runner, session = await self._session(agent)
        begun = asyncio.Event()

        async def read() -> None:
            async for _ in self._turn(runner, session, "slow"):
                self._note()
                begun.set()

        reading = asyncio.create_task(read())
        await begun.wait()
        reading.cancel()
        await asyncio.wait([reading])
        await runner.close()

    async def _session(self, agent: Any) -> tuple[Any, str]:
        from google.adk.runners import InMemoryRunner

        runner = InMemoryRunner(agent, app_name="application")
        session = await runner.session_service.create_session(app_name=runner.app_name, user_id=USER)
        return runner, session.id

    def _turn(self, runner: Any, session: str, text: str) -> Any:
        from google.genai.types import Content, Part

        message = Content(role="user", parts=[Part(text=text)])
        return runner.run_async(user_id=USER, session_id=session, new_message=message)

    def _note(self) -> None:
        self.current.append(getattr(trace.get_current_span(), "name", ""))


async def short(application: Application) -> None:
    """One turn."""
    await application.converse(application.remote("lives"), "work")


async def long(application: Application) -> None:
    """Turns that end, one that asks, one whose events are not all read, one that is given up, and two at once."""
    from google.adk.agents import ParallelAgent

    await application.converse(application.remote("lives"), "work", "ask", "the first")
    await application.close_early(application.remote("early"))
    await application.give_up(application.remote("slow"))
    sides = [application.remote("left"), application.remote("right")]
    await application.converse(ParallelAgent(name="both", sub_agents=sides), "work")


LIVES = {"short": short, "long": long}


class Errors(logging.Handler):
    """Keeps what OpenTelemetry and we log as errors, such as a context that could not be detached."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.startswith(("opentelemetry", "otel_a2a")):
            self.messages.append(record.getMessage())


class Process:
    """The steps, and what is exported."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._errors = Errors()
        logging.getLogger().addHandler(self._errors)
        self._telemetry = Telemetry()
        trace.set_tracer_provider(self._telemetry.tracer_provider)
        self._steps: dict[str, Callable[[], None]] = {
            "+ours": self._instrument,
            "+retiring": lambda: self._instrument(suppress_sdk_spans=True),
            "-ours": lambda: A2AInstrumentor().uninstrument(),
            "+theirs": lambda: openinference().instrument(),
            "-theirs": lambda: openinference().uninstrument(),
        }

    def take(self, step: str) -> dict[str, Any] | None:
        """What was seen, where the step is a life."""
        if step in LIVES:
            return self._live(LIVES[step])
        self._steps[step]()
        return None

    def _instrument(self, **settings: Any) -> None:
        A2AInstrumentor().instrument(logger_provider=self._telemetry.logger_provider, **settings)

    def _live(self, life: Callable[[Application], Awaitable[None]]) -> dict[str, Any]:
        self._telemetry.clear()
        self._errors.messages.clear()
        application = Application(self._base)
        is_left_clean = asyncio.run(leaves_clean(life(application)))
        gc.collect()  # the runner leaves a stream that it does not read to the end to the garbage collector
        return {
            "spans": described(self._telemetry.spans),
            "findings": self._telemetry.findings(),
            "current": application.current,
            "is_left_clean": is_left_clean,
            "errors": list(self._errors.messages),
        }


async def leaves_clean(life: Awaitable[None]) -> bool:
    """Whether the application's context is the same before and after its life."""
    before = context.get_current()
    await life
    return context.get_current() == before


def openinference() -> Any:
    """Its instrumentation of google-adk, which imports google-adk."""
    from openinference.instrumentation.google_adk import GoogleADKInstrumentor

    return GoogleADKInstrumentor()


if __name__ == "__main__":
    base, *steps = sys.argv[1:]
    process = Process(base)
    print(json.dumps([seen for step in steps if (seen := process.take(step))]))
