# SPDX-License-Identifier: Apache-2.0
"""Seed 001: trust the card for routing, and only observed transitions for lifecycle decisions.

Start with ``A2AInstrumentor().instrument(strictness="raise", profile="declared-history", task_deadline=30)``. What is
due by time has no call that could be stopped, so the program asks what was found, and raises itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from examples.seeds.remote import Remote, Task
from otel_a2a import AgentCardDivergenceError, Finding, Level, local

DIVERGENCES = ("task-stuck", "expected-state-missed", "input-required-without-working")


def start_task(remote: Remote, text: str) -> Task:
    """Send, and follow the stream to its end: the states that it shows are the observed history.

    Raises:
        AgentCardDivergenceError: it asked for input before it worked.
    """
    with local.findings() as found:
        task = remote.stream(text)
    surface(found)
    return task


def reconcile_continuation(remote: Remote, task_id: str, text: str) -> Task:
    """Supply the missing input. A new task id is a divergence where the card promised one history per task.

    Raises:
        AgentCardDivergenceError: the agent spawned another task, whose id is ``observed``.
    """
    return remote.send(text, task_id)


def probe(remote: Remote, task_id: str) -> Task | None:
    """Do not assume that the agent is slow: ask once.

    Raises:
        AgentCardDivergenceError: the deadline has passed without progress, or an expected state did not come.
    """
    with local.findings() as found:
        task = remote.get(task_id)
    surface(found)
    return task


def surface(found: Iterable[Finding]) -> None:
    """A divergence is surfaced, not silently absorbed."""
    for finding in found:
        if finding.rule in DIVERGENCES and finding.level is Level.VIOLATION:
            raise AgentCardDivergenceError(
                finding.message,
                (finding,),
                declared=finding.rule,
                observed=finding.state or finding.previous_state,
                detail=finding.message,
            )
