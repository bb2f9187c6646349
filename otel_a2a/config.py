# SPDX-License-Identifier: Apache-2.0
"""Settings: what can be set, and what is set when nobody says anything.

Keyword arguments (which is also how ``OTEL_CONFIG_FILE`` arrives) win over the environment, that over the policy file,
that over the defaults here. Read once, in ``instrument()``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from otel_a2a.engine.findings import Level, Strictness

_IPV6: Final = re.compile(r"\A\[([^\[\]]*:[^\[\]]*)\]")


@dataclass(slots=True, frozen=True)
class ActionRule:
    """One line of policy: what to do about the rules that ``rule`` names, at the agents ``agent`` names (globs)."""

    action: Strictness | None
    """None leaves the action as it is; the line then only sets a level."""
    rule: str = "*"
    agent: str = "*"
    level: Level | None = None


@dataclass(slots=True, frozen=True)
class AgentSettings:
    """What is set otherwise at the agents that ``host`` names, a glob of ``host`` or ``host:port``.

    ``changes``: names of fields of ``Settings`` that ``parsing.AT_AGENTS`` holds, and their values.
    """

    host: str
    changes: tuple[tuple[str, object], ...]


@dataclass(slots=True, frozen=True, kw_only=True)
class Settings:
    """The effective settings. Durations in seconds, sizes in bytes."""

    strictness: Strictness = Strictness.ANNOTATE
    raise_on: Level = Level.VIOLATION
    policy: tuple[ActionRule, ...] = ()
    """Profile lines, then agents, then rules: later and more exact lines win (``engine.strictness``)."""
    agents: tuple[AgentSettings, ...] = ()
    """What is set otherwise at single agents (``engine.places``)."""
    profile: str = "default"
    exporters: tuple[str, ...] = ("span", "log", "metric")
    violations_file: str = ""
    """The file to which findings are appended as JSON lines, whatever ``exporters`` names."""
    disabled_clients: frozenset[str] = frozenset()
    excluded_urls: tuple[str, ...] = ()
    card_urls: tuple[str, ...] = ()
    """URLs besides the well-known ones that serve a card."""
    max_tasks: int = 20_000
    max_agents: int = 1_000
    max_body: int = 1_048_576
    task_deadline: float | None = None
    """How long a live task may show no progress; None: no deadline, no finding."""
    max_card_age: float | None = None
    """How old a card may be for new work where it states no ``max-age``; None: any age."""
    card_age_limit: float | None = None
    """No card may be older for new work, whatever it states and whatever else is set (seed 004 to the letter)."""
    webhook_card_window: float = 60.0
    """How long before a webhook's registration its card must have been fetched (seed 004)."""
    card_failure_window: float = 30.0
    """How long after a failed card fetch a cancel is suspected to be its consequence (seed 004)."""
    webhook_silence: float | None = None
    """How long a task with a webhook may be silent; None: only where an expected duration is known."""
    clock_skew: float = 5.0
    gateway_rewrites_ids: bool = False
    """A declared gateway gives tasks and contexts other ids (seed 001)."""
    correlation_key: str = ""
    """Header or metadata member by which such a gateway says what belongs together; the same for all of a task."""
    pinned_cards: tuple[str, ...] = ()
    """Host globs of agents whose card is pinned: no rule about cards applies."""
    watched_elsewhere: bool = False
    """Another process reads and awaits the tasks: no rule about not watching applies."""
    card_per_turn: bool = False
    """The card is re-validated on every turn by contract, and may then decide (seed 000, scope)."""
    immutable_per_version: bool = False
    """The operator declares the card immutable for its ``version`` (seed 004)."""
    artifacts_keyed_by_skill: bool = False
    """The deployment keys artifacts by skill, and may drop them with it (seed 000)."""
    stale_is_violation: bool = False
    """Work on a stale card is a violation even where an unexpired copy covers it (seeds 000 and 004 to the letter)."""
    canceled_is_closed: bool = False
    """The record of a canceled task takes no artifact any more, not even its own late ones (seed 000 to the letter)."""
    resubmission_is_legal: bool = False
    """A live task may be shown as submitted again: A2A itself forbids only the way back from an end."""
    continuation_is_binding: bool = False
    """A message into a task must be answered with that task in 0.x too, whose text is less explicit than 1.0's."""
    sees_whole_life: bool = False
    """This process sees every call about its tasks, so an id that it has not seen is one that the client made up."""
    history_declared: bool = False
    """``stateTransitionHistory: true`` promises that every transition is shown (seed 001 to the letter)."""
    raise_in_stream: bool = False
    fenced: bool = False
    """Seed 002 to the letter: any change of the card orphans its tasks."""
    state_spans: bool = True
    transition_events: bool = False
    propagate: bool | tuple[str, ...] = True
    """Whether trace context is sent, or the globs of hosts to which it is."""
    suppress_sdk_spans: bool = False


def names_host(globs: Iterable[str], host: str, port: int | None) -> bool:
    """Whether one of ``globs`` names the agent at ``host``, by itself or with its port."""
    label = f"{host}:{port}"
    return any(fnmatchcase(host, glob) or fnmatchcase(label, glob) for glob in map(host_glob, globs))


@lru_cache(maxsize=256)
def host_glob(glob: str) -> str:
    """A glob of ``host`` or ``host:port`` in the form that hosts have here: lower case, IPv6 without its brackets."""
    return _IPV6.sub(r"\1", glob.strip().lower())
