# SPDX-License-Identifier: Apache-2.0
"""The field cases and what they expect, under each profile that they name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from otel_a2a.replay.compare import Expectation, expectations
from otel_a2a.replay.script import Script, load

OWN = Path(__file__).parent.parent / "cases"
SHARED = Path(__file__).parents[3] / "shared" / "cases"


@dataclass(frozen=True)
class Judged:
    """A case under one profile."""

    path: Path
    expectation: Expectation

    def __str__(self) -> str:
        whose = "shared-" if self.path.parent == SHARED else ""
        return f"{whose}{self.path.stem}-{self.expectation.profile}"

    @property
    def script(self) -> Script:
        return load(self.path)


def paths() -> list[Path]:
    """Our cases, and those beside the repository that differ from them or are more."""
    own = {path.name: path.read_bytes() for path in sorted(OWN.glob("*.json"))}
    return [OWN / name for name in own] + [
        path for path in sorted(SHARED.glob("*.json")) if path.read_bytes() != own.get(path.name)
    ]


@cache
def judged() -> tuple[Judged, ...]:
    """Each case under each profile that it names."""
    return _judged(paths())


@cache
def as_written() -> tuple[Judged, ...]:
    """Cases about how something is written, which therefore have no translation into another dialect."""
    return _judged(sorted((OWN / "as_written").glob("*.json")))


def _judged(found: list[Path]) -> tuple[Judged, ...]:
    return tuple(Judged(path, expectation) for path in found for expectation in expectations(load(path)))
