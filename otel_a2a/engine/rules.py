# SPDX-License-Identifier: Apache-2.0
"""What a rule is: a plain function over one observation and the ledger before it, and a few facts about it.

    @rule(
        name="terminal-task-reused", boundary="identity", level=Level.VIOLATION, party=Party.CLIENT,
        phase=Phase.REQUEST, exception=TaskResurrectionError, on=(CallStarted,), origin="seed 000; A2A 1.0 §3.1.1",
        summary="A message was sent under the id of a task that had already ended.",
    )
    def terminal_task_reused(call, view, settings):
        if …:
            yield Hit("task … had already ended …", task=task)

A pack is a module attribute ``RULES``, a tuple of rules; the entry-point group ``otel_a2a_rules`` names one such module
per third-party pack. What people read beside the findings is a ``Guide``, in the declaration or in
``guides/<boundary>.toml`` of the pack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from otel_a2a.engine.card_records import CardDocument
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.records import Agent, Task
from otel_a2a.observations import CallStarted, Observation

if TYPE_CHECKING:
    from otel_a2a.config import Settings
    from otel_a2a.engine.ledger import Ledger
    from otel_a2a.errors import A2APolicyError

RULESET = "otel-a2a"
DOCUMENTATION = "policies/README.md#"
"""Where the built-in rules are described, in the repository and in the source distribution."""


@dataclass(slots=True, frozen=True)
class Hit:
    """A rule's answer: this was a crossing.

    ``message`` is one sentence for people, with ids and states and no content. ``discriminator`` tells incidents of one
    rule in one task apart. ``level`` and ``party`` may differ from the rule's, ``level`` only downwards.
    """

    message: str
    task: Task | None = None
    discriminator: str = ""
    state: str = ""
    previous_state: str = ""
    card_revision: str = ""
    task_card_revision: str = ""
    level: Level | None = None
    party: Party | None = None
    per_agent: bool = False
    """The incident is the agent's, whichever task it was noticed in."""
    declared: str = ""
    observed: str = ""
    """What was promised and what came instead, for an ``AgentCardDivergenceError``."""
    tells_created: bool = False
    """``observed`` is the id of the task that the answer created, so that withholding the answer loses nothing."""


@dataclass(slots=True)
class View:
    """The ledger as it was before the observation, for one observation. Rules read it and change nothing.

    ``now`` is in seconds of the engine's clock. ``document`` is the card document that an observation of a card is
    about.
    """

    agent: Agent | None
    task: Task | None
    call: CallStarted | None
    ledger: Ledger
    now: float
    document: CardDocument | None = None

    @property
    def is_doubted(self) -> bool:
        """A webhook told it that nobody vouches for: its word accuses nobody. For what an answer or a webhook tells."""
        return self.call is None and self.task is None

    @property
    def documents(self) -> Iterable[CardDocument]:
        return self.agent.documents.values() if self.agent else ()


@dataclass(slots=True, frozen=True)
class Guide:
    """What people want to know of a rule beside its summary: two or three plain sentences each, in Markdown."""

    why: str
    """Why it hurts."""
    look_alike: str
    """The legal traffic that most resembles it, and is not reported."""
    remedy: str
    """What to do."""
    safe_in: str = ""
    """What mode ``raise`` does with it, where the rule's declaration does not tell the whole of it."""
    by_default: str = ""
    """The level in the profile ``default``, or ``off``, where that is not the declared one."""
    settings: tuple[str, ...] = ()
    """Fields of ``Settings`` that the rule depends on."""


RuleFunction = Callable[[Any, View, "Settings"], Iterable[Hit]]


@dataclass(slots=True, frozen=True)
class Rule:
    """A rule and what is known of it. ``on`` names the observation types it looks at."""

    name: str
    boundary: str
    level: Level
    party: Party
    phase: Phase
    exception: type[A2APolicyError]
    on: tuple[type[Observation], ...]
    origin: str
    summary: str
    function: RuleFunction
    ruleset: str = RULESET
    version: str = "1"
    guide: Guide | None = None
    """None: it is in ``guides/<boundary>.toml`` beside the rule, or there is none."""

    @property
    def reference(self) -> str:
        """Where people read about it."""
        return DOCUMENTATION + self.name if self.ruleset == RULESET else ""


def rule(
    *,
    name: str,
    boundary: str,
    level: Level,
    party: Party,
    phase: Phase,
    exception: type[A2APolicyError],
    on: tuple[type[Observation], ...],
    origin: str,
    summary: str,
    ruleset: str = RULESET,
    version: str = "1",
    guide: Guide | None = None,
) -> Callable[[RuleFunction], Rule]:
    """Declare the decorated function as a rule."""

    def declare(function: RuleFunction) -> Rule:
        return Rule(
            name,
            boundary,
            level,
            party,
            phase,
            exception,
            on,
            origin,
            summary,
            function,
            ruleset=ruleset,
            version=version,
            guide=guide,
        )

    return declare


def short(revision: str) -> str:
    """Enough of a card revision to tell it from another by eye; the attributes hold the whole."""
    return revision[: len("sha256:") + 12]


def dispatch(rules: Sequence[Rule]) -> dict[type[Observation], tuple[Rule, ...]]:
    """Rules by the type of observation that they look at, built once."""
    table: dict[type[Observation], list[Rule]] = {}
    for entry in rules:
        for kind in entry.on:
            table.setdefault(kind, []).append(entry)
    return {kind: tuple(entries) for kind, entries in table.items()}
