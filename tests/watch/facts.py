# SPDX-License-Identifier: Apache-2.0
"""Facts for the tests of ``otel-a2a watch``: what a redeploy in the middle of a task looks like."""

from __future__ import annotations

import dataclasses
from typing import Any

from otel_a2a.cli.watch.facts import CallSeen, CardSeen, Fact, Finding, Place, StateLeft

SECOND = 1_000_000_000
START = 1_796_000_000 * SECOND
AGENT = Place("agent.example", 443)
REVISION_A = "sha256:" + "a1" * 32
REVISION_B = "sha256:" + "b2" * 32
SUBMITTED, WORKING, COMPLETED = (f"TASK_STATE_{name}" for name in ("SUBMITTED", "WORKING", "COMPLETED"))


def call(start: float, end: float, state: str, previous: str = "", task_id: str = "t-1", **more: Any) -> CallSeen:
    """A call of the task, in seconds from the start."""
    times = (START + int(start * SECOND), START + int(end * SECOND))
    seen = CallSeen(*times, AGENT, "Payments", "1.0", task_id, state, previous, REVISION_A, REVISION_A, "active")
    return dataclasses.replace(seen, **more)


def left(start: float, end: float, state: str, task_id: str = "t-1") -> StateLeft:
    """A span of a state, in seconds from the start; it names no port, as those that we make."""
    times = (START + int(start * SECOND), START + int(end * SECOND))
    return StateLeft(*times, Place(AGENT.address), task_id, state, REVISION_A)


def card(at: float, version: str, revision: str) -> CardSeen:
    """A fetch of the card, in seconds from the start."""
    return CardSeen(START + int(at * SECOND), AGENT, "Payments", version, revision, "")


def finding(at: float, rule: str, message: str, level: str = "violation", task_id: str = "t-1") -> Finding:
    """A finding, in seconds from the start."""
    return Finding(START + int(at * SECOND), level, rule, "annotate", AGENT, task_id, message)


def redeploy() -> list[Fact]:
    """In the order in which a program exports it: a stream that breaks, another card, a task that went back."""
    return [
        card(0, "1.0", REVISION_A),
        left(1, 2, SUBMITTED),
        call(1, 3, WORKING, SUBMITTED),
        card(5, "1.1", REVISION_B),
        finding(5, "card-revision-changed", f"the card went from {REVISION_A} to {REVISION_B}", "information", ""),
        left(2, 6, WORKING),
        finding(6, "backward-transition", "task t-1 went back from working to submitted. Do not send again"),
        call(5.5, 6, SUBMITTED, WORKING, revision=REVISION_B, disposition="poisoned"),
        finding(7, "message-resent-after-regression", "its message was sent again under the same task id"),
        left(6, 8, SUBMITTED),
        call(7, 8, COMPLETED, SUBMITTED, revision=REVISION_B, disposition="poisoned"),
        call(9, 10, WORKING, task_id="t-2"),
    ]
