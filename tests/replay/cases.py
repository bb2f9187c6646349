# SPDX-License-Identifier: Apache-2.0
"""The field cases and what they expect, as far as it can be judged with the rules and profiles that there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from otel_a2a.replay.compare import Expectation, expectations
from otel_a2a.replay.profiles import check_name
from otel_a2a.replay.script import Script, load
from otel_a2a_policies import RULES

OWN = Path(__file__).parent.parent / "cases"
SHARED = Path(__file__).parents[3] / "shared" / "cases"


@dataclass(frozen=True)
class Judged:
    """A case under one profile. ``left_out``: expected rules and the profile, where they do not exist."""

    path: Path
    expectation: Expectation
    left_out: tuple[str, ...]

    def __str__(self) -> str:
        whose = "shared-" if self.path.parent == SHARED else ""
        without = "".join(f"-without-{name}" for name in self.left_out)
        return f"{whose}{self.path.stem}-{self.expectation.profile}{without}"

    @property
    def script(self) -> Script:
        return load(self.path)

    @property
    def can_be_judged(self) -> bool:
        return self.expectation.profile not in self.left_out


def paths() -> list[Path]:
    """Our cases, and those beside the repository that differ from them or are more."""
    own = {path.name: path.read_bytes() for path in sorted(OWN.glob("*.json"))}
    return [OWN / name for name in own] + [
        path for path in sorted(SHARED.glob("*.json")) if path.read_bytes() != own.get(path.name)
    ]


def known_rules() -> set[str]:
    return {rule.name for rule in RULES}


def named_rules() -> set[str]:
    """The rules that any case expects."""
    return {rule.rule for path in paths() for each in expectations(load(path)) for rule in each.rules}


def is_profile(name: str) -> bool:
    try:
        check_name(name)
    except ValueError:
        return False
    return True


@cache
def judged() -> tuple[Judged, ...]:
    """Each case under each profile that it names, with its expectation cut down to the rules that exist."""
    return tuple(_judged())


def _judged() -> Iterator[Judged]:
    known = known_rules()
    for path in paths():
        for full in expectations(load(path)):
            absent = sorted({each.rule for each in full.rules} - known)
            if not is_profile(full.profile):
                absent.append(full.profile)
            rules = tuple(each for each in full.rules if each.rule in known)
            yield Judged(path, Expectation(full.profile, rules), tuple(absent))
