# SPDX-License-Identifier: Apache-2.0
"""All that there is to know of a rule, put together from its declaration, its docstring, its guide and the profiles."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final

from otel_a2a import profiles, sources
from otel_a2a.catalogue.guides import Definition, definitions, guide_of
from otel_a2a.config import Settings
from otel_a2a.engine.findings import Level, Phase
from otel_a2a.engine.rules import RULESET, Guide, Rule
from otel_a2a.engine.strictness import Policy
from otel_a2a.observations import ArtifactSeen, CallFailed, CallStarted, LocalDecision, MessageSeen, TaskSeen
from otel_a2a.parsing import READERS

OFF: Final = "off"
ANSWERS: Final = (ArtifactSeen, CallFailed, MessageSeen, TaskSeen)
NO_GUIDE: Final = Guide(why="", look_alike="", remedy="")


@dataclass(slots=True, frozen=True)
class Entry:
    """One rule, for people. Texts are Markdown, and empty where nobody wrote any."""

    rule: Rule
    guide: Guide
    level: str
    """In the profile ``default``; ``off`` where it does not speak there."""
    exactly: tuple[str, ...]
    """The condition, in paragraphs."""
    terms: tuple[Definition, ...]
    """What the condition refers to by number."""
    safe_in: str
    settings: Mapping[str, str]
    """Settings that it depends on, with the variable that sets each, or ``policy file``."""
    profiles: Mapping[str, tuple[str, ...]]
    """By profile, how it differs from the profile ``default``."""


def entries(rules: Iterable[Rule]) -> list[Entry]:
    """An entry for each rule, in their order."""
    return [_entry(rule) for rule in rules]


def _entry(rule: Rule) -> Entry:
    guide = guide_of(rule) or NO_GUIDE
    exactly = _paragraphs(rule.function.__doc__ or "")
    named = re.findall(r"\bG\d+\b", " ".join(exactly)) if rule.ruleset == RULESET else []
    known = definitions()
    level = guide.by_default or rule.level.value
    return Entry(
        rule=rule,
        guide=guide,
        level=level,
        exactly=exactly,
        terms=tuple(known[name] for name in dict.fromkeys(named) if name in known),
        safe_in=guide.safe_in or _safe_in(rule, level),
        settings={name: _set_by(name) for name in guide.settings},
        profiles=_differences(rule, guide),
    )


def _paragraphs(docstring: str) -> tuple[str, ...]:
    text = inspect.cleandoc(docstring).replace("``", "`")
    text = re.sub(r"rules\.md,? ", "", text)
    text = re.sub(r"(\w-)\n(\w)", r"\1\2", text)
    return tuple(" ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip())


def _safe_in(rule: Rule, level: str) -> str:
    """What mode ``raise`` does with the rule, as ``engine.verdict.may_raise`` decides it."""
    stopped = []
    if rule.phase is Phase.RESPONSE and any(kind in ANSWERS for kind in rule.on):
        stopped.append(
            "the answer to a read, or to a message into a task, is withheld; in a stream only if "
            "`OTEL_PYTHON_A2A_RAISE_IN_STREAM` says so. The agent has done its part by then: to send again is no retry"
        )
    if LocalDecision in rule.on:
        stopped.append("the exception comes before the application acts on its decision")
    if CallStarted in rule.on:
        stopped.append(
            "the request does not leave" + (", save reads and cancels" if rule.boundary == "identity" else "")
        )
    if not stopped:
        return "It never raises: there is no call of the application to stop."
    text = f"In mode `raise` {', and '.join(stopped)}."
    if level in (Level.IMPROVEMENT.value, Level.INFORMATION.value):
        text += f" At its level that takes `OTEL_PYTHON_A2A_RAISE_ON={level}`."
    return text


def _set_by(name: str) -> str:
    return sources.variable(name) if name in READERS else "policy file"


@lru_cache(maxsize=16)
def _profile(name: str) -> tuple[profiles.Profile, Policy]:
    profile = profiles.load(name)
    return profile, Policy(Settings(policy=profile.lines))


def _differences(rule: Rule, guide: Guide) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name in profiles.BUILT_IN:
        profile, policy = _profile(name)
        if profile.only is not None and not any(fnmatchcase(rule.name, glob) for glob in profile.only):
            found[name] = (OFF,)
            continue
        level = policy.level(rule.name, "")
        differs = [level.value] if level is not None and level is not rule.level else []
        differs += [
            f"{setting} = {sources.as_text(value)}"
            for setting, value in profile.settings.items()
            if setting in guide.settings
        ]
        if differs:
            found[name] = tuple(differs)
    return found


def plain(entry: Entry) -> dict[str, Any]:
    """An entry as plain data, for JSON."""
    rule, guide = entry.rule, entry.guide
    return {
        "name": rule.name,
        "summary": rule.summary,
        "level": entry.level,
        "declared_level": rule.level.value,
        "party": rule.party.value,
        "phase": rule.phase.value,
        "boundary": rule.boundary,
        "origin": rule.origin,
        "exception": rule.exception.__name__,
        "ruleset": rule.ruleset,
        "reference": rule.reference,
        "exactly": list(entry.exactly),
        "why": guide.why,
        "look_alike": guide.look_alike,
        "remedy": guide.remedy,
        "safe_in": entry.safe_in,
        "settings": dict(entry.settings),
        "switch_off": {
            "everywhere": f'OTEL_PYTHON_A2A_RULES="{rule.name}=off"',
            "at_one_agent": f'[agents.rules."{rule.name}"]\naction = "off"',
            "in_one_place": f'suppress_policy("{rule.name}")',
        },
        "profiles": {name: list(differs) for name, differs in entry.profiles.items()},
        "definitions": {term.name: term.text for term in entry.terms},
    }
