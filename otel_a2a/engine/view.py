# SPDX-License-Identifier: Apache-2.0
"""Whom and what an observation is about: the agent, the task, the call and the card, as the ledger has them."""

from __future__ import annotations

from otel_a2a.engine.ledger import Ledger
from otel_a2a.engine.records import Task
from otel_a2a.engine.rules import View
from otel_a2a.observations import (
    ArtifactSeen,
    CallStarted,
    CardFetched,
    CardRequested,
    DeadlineReached,
    LocalDecision,
    Observation,
    StateExpected,
    TaskSeen,
)


def view_of(ledger: Ledger, observation: Observation) -> View:
    """What the rules get to see beside ``observation``, at its time."""
    now = observation.at
    if isinstance(observation, CallStarted):
        agent = ledger.agent(observation.endpoint)
        return View(agent, ledger.task(agent, observation.tenant, observation.task_id), observation, ledger, now)
    call: CallStarted | None = getattr(observation, "call", None)
    if call is not None:
        agent = ledger.agent(call.endpoint)
        task_id = getattr(observation, "task_id", "") or call.task_id or call.answered_task
        return View(agent, ledger.task(agent, call.tenant, task_id), call, ledger, now)
    if isinstance(observation, CardRequested):
        return View(ledger.agent(observation.endpoint), None, None, ledger, now)
    if isinstance(observation, CardFetched):
        held = ledger.document(observation.request)
        return View(held[0] if held else None, None, None, ledger, now, held[1] if held else None)
    task: Task | None = None
    if isinstance(observation, LocalDecision | StateExpected):
        task = ledger.find(observation.task_id, observation.endpoint, observation.tenant)
    elif isinstance(observation, DeadlineReached):
        task = observation.task
    elif isinstance(observation, TaskSeen | ArtifactSeen):
        task = ledger.delivered_to(observation)
    return View(task.agent if task else None, task, None, ledger, now)
