# SPDX-License-Identifier: Apache-2.0
"""Findings: what the engine says, and the words in which it says it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from otel_a2a.observations import SpanRef


class Level(str, Enum):
    """How grave a finding is. A property of the rule, not of what was done about it."""

    INFORMATION = "information"
    IMPROVEMENT = "improvement"
    VIOLATION = "violation"

    @property
    def severity(self) -> int:
        """0 for information, 1 for improvement, 2 for violation."""
        return _SEVERITY[self]


_SEVERITY = {Level.INFORMATION: 0, Level.IMPROVEMENT: 1, Level.VIOLATION: 2}


class Strictness(str, Enum):
    """What is done about a finding; each step includes the one before it.

    ``off`` judges nothing, ``annotate`` writes telemetry, ``log`` also writes to the logger ``otel_a2a.policy``,
    ``raise`` also raises.
    """

    OFF = "off"
    ANNOTATE = "annotate"
    LOG = "log"
    RAISE = "raise"


class Party(str, Enum):
    """Who crossed the boundary: the application (``client``) or the remote (``agent``)."""

    CLIENT = "client"
    AGENT = "agent"


class Phase(str, Enum):
    """When a rule decides. Only a ``request`` can be stopped before anything leaves."""

    REQUEST = "request"
    RESPONSE = "response"
    LOCAL = "local"
    DEADLINE = "deadline"


@dataclass(slots=True, frozen=True, kw_only=True)
class Finding:
    """One boundary crossing. Plain values, and no content: identifiers, states and revisions.

    ``count`` is how often this incident was found so far (same rule, agent, task and discriminator); ``would_raise``
    marks what mode ``raise`` would have stopped. ``agent`` is ``host:port`` of the interface. Trace and span ids are 0
    where the finding has no span. ``time_unix_nano`` is wall time.

    ``card_revision`` and ``task_card_revision`` are those that the rule is about; else those between which the card
    changed in the task's life, and empty where it did not. ``card_since_ns`` is when the card was first seen at the
    former (nanoseconds since the epoch, 0 where that is not known), and ``card_span`` the span of that fetch;
    ``task_span`` is that of the call which made the task, or first showed it.
    """

    rule: str
    boundary: str
    level: Level
    action: Strictness
    phase: Phase
    party: Party
    message: str
    agent: str = ""
    server_address: str = ""
    server_port: int | None = None
    task_id: str = ""
    context_id: str = ""
    message_id: str = ""
    state: str = ""
    previous_state: str = ""
    card_revision: str = ""
    task_card_revision: str = ""
    card_since_ns: int = 0
    card_span: SpanRef | None = None
    task_span: SpanRef | None = None
    would_raise: bool = False
    count: int = 1
    trace_id: int = 0
    span_id: int = 0
    trace_flags: int = 1
    time_unix_nano: int = 0
    ruleset: str = "otel-a2a"
    reference: str = ""
