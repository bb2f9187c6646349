# SPDX-License-Identifier: Apache-2.0
"""What the application decided by itself. It never counts as seen (rules.md, G1)."""

from __future__ import annotations

from otel_a2a.engine.apply.effects import NOTHING, Effect
from otel_a2a.engine.ledger import Ledger
from otel_a2a.engine.records import Expectation
from otel_a2a.observations import TERMINAL, Decision, LocalDecision, StateExpected

EXPECTATIONS = 16
"""Expectations held per task."""


def local_decision(ledger: Ledger, told: LocalDecision) -> Effect:
    """The application decided something about a task or a card."""
    if told.decision == Decision.CARD_REJECTED:
        for document in ledger.documents_at(told.card_url):
            document.rejected = True
        return NOTHING
    task = ledger.find(told.task_id, told.endpoint, told.tenant)
    if task is None:
        return NOTHING
    if told.decision == Decision.STATE:
        # A record of what the agent has said is the agent's word; only what goes beyond it can turn out wrong.
        invented = told.state in TERMINAL and told.state != task.terminal
        task.local_state, task.local_seq = (told.state, told.seq) if invented else ("", 0)
    elif told.decision == Decision.ABANDONED:
        task.abandoned = True
    return Effect(task)


def state_expected(ledger: Ledger, told: StateExpected) -> Effect:
    """The application expects a state by a time."""
    task = ledger.find(told.task_id, told.endpoint, told.tenant)
    if task is None or not told.state or len(task.expectations) >= EXPECTATIONS:
        return NOTHING
    if task.state != told.state:
        task.expectations.append(Expectation(told.state, told.at + told.within, told.seq))
    return Effect(task)
