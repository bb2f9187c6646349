# SPDX-License-Identifier: Apache-2.0
"""What was found beside what a script expects.

Each expected rule must fire at violation or improvement, first at the step that is named, and no other rule may fire at
these levels. What is found beyond that as information is no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from otel_a2a.engine.findings import Level
from otel_a2a.engine.rules import Rule
from otel_a2a.replay.player import Found, Played, play
from otel_a2a.replay.profiles import DEFAULT, settings_for
from otel_a2a.replay.script import Expected, Script


@dataclass(slots=True, frozen=True)
class Expectation:
    """What is to be found under a profile."""

    profile: str
    rules: tuple[Expected, ...]


@dataclass(slots=True, frozen=True)
class Check:
    """How a script compares under a profile. As expected where there is no difference."""

    profile: str
    differences: tuple[str, ...]
    problems: tuple[str, ...] = ()
    """What could not be used of the settings."""


def expectations(script: Script) -> list[Expectation]:
    """What ``script`` expects, by profile; empty where it expects nothing in particular."""
    stated = [] if script.expected is None else [Expectation(DEFAULT, tuple(script.expected))]
    return stated + [Expectation(name, tuple(rules)) for name, rules in script.expected_by_profile.items()]


def check(script: Script, expectation: Expectation, rules: Sequence[Rule]) -> Check:
    """Play ``script`` under the profile of ``expectation``, and compare."""
    try:
        chosen = settings_for(script, expectation.profile, rules)
    except ValueError as error:
        return Check(expectation.profile, (str(error),))
    played = play(script, chosen.settings, rules)
    return Check(expectation.profile, tuple(differences(expectation, played)), chosen.problems)


def differences(expectation: Expectation, played: Played) -> Iterator[str]:
    """Each difference as a sentence; none where all is as expected."""
    yield from played.faults
    grave = [each for each in played.found if each.finding.level is not Level.INFORMATION]
    for wanted in expectation.rules:
        yield from _missed(wanted, grave, [each for each in expectation.rules if each.rule == wanted.rule])
    named = {wanted.rule for wanted in expectation.rules}
    for rule, first in _firsts(grave).items():
        if rule not in named:
            yield f"{rule} at step {first.step} is not expected ({first.finding.level.value}): {first.finding.message}"


def _missed(wanted: Expected, found: Iterable[Found], same_rule: Sequence[Expected]) -> Iterator[str]:
    steps = [each.step for each in found if each.finding.rule == wanted.rule]
    # A rule may be expected more than once, for several incidents: then each has its step.
    told = steps if len(same_rule) > 1 else steps[:1]
    if not steps:
        yield (
            f"{wanted.rule} is not found, expected at step {wanted.step}"
            if wanted.step is not None
            else (f"{wanted.rule} is not found")
        )
    elif wanted.step is not None and wanted.step not in told:
        yield f"{wanted.rule} is found at step {steps[0]}, expected at step {wanted.step}"


def _firsts(found: Iterable[Found]) -> dict[str, Found]:
    firsts: dict[str, Found] = {}
    for each in found:
        firsts.setdefault(each.finding.rule, each)
    return firsts
