# SPDX-License-Identifier: Apache-2.0
"""Settings: what can be set, and what is set when nobody says anything.

Keyword arguments (which is also how ``OTEL_CONFIG_FILE`` arrives) win over the environment, that over the policy file,
that over the defaults here. Read once, in ``instrument()``.
"""

from __future__ import annotations

from dataclasses import dataclass

from otel_a2a.engine.findings import Level, Strictness


@dataclass(slots=True, frozen=True)
class ActionRule:
    """One line of policy: what to do about the rules that ``rule`` names, at the agents ``agent`` names (globs)."""

    action: Strictness | None
    """None leaves the action as it is; the line then only sets a level."""
    rule: str = "*"
    agent: str = "*"
    level: Level | None = None


@dataclass(slots=True, frozen=True, kw_only=True)
class Settings:
    """The effective settings. Durations in seconds, sizes in bytes."""

    strictness: Strictness = Strictness.ANNOTATE
    raise_on: Level = Level.VIOLATION
    policy: tuple[ActionRule, ...] = ()
    """Profile lines, then agents, then rules: later and more exact lines win (``engine.strictness``)."""
    profile: str = "default"
    exporters: tuple[str, ...] = ("span", "log", "metric")
    disabled_clients: frozenset[str] = frozenset()
    excluded_urls: tuple[str, ...] = ()
    card_urls: tuple[str, ...] = ()
    """URLs besides the well-known ones that serve a card."""
    max_tasks: int = 20_000
    max_agents: int = 1_000
    max_body: int = 1_048_576
    clock_skew: float = 5.0
    raise_in_stream: bool = False
    fenced: bool = False
    """Seed 002 to the letter: any change of the card orphans its tasks."""
    state_spans: bool = True
    transition_events: bool = False
    propagate: bool = True
    suppress_sdk_spans: bool = False
