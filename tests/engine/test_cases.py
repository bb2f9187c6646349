# SPDX-License-Identifier: Apache-2.0
"""The field cases: every finding of the rules that exist, at its step, and no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel_a2a_policies import RULES
from tests.support.scripts import play

CASES = sorted((Path(__file__).parent.parent / "cases").glob("*.json"))
SHARED = sorted((Path(__file__).parents[3] / "shared" / "cases").glob("*.json"))
KNOWN = {rule.name for rule in RULES}


def load(path: Path) -> dict[str, Any]:
    script: dict[str, Any] = json.loads(path.read_text())
    return script


@pytest.mark.parametrize("path", CASES + SHARED, ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_a_case_gives_what_it_expects_and_nothing_else(path: Path) -> None:
    """Each script gives exactly the findings that it names, of the rules that exist, at the steps that it names."""
    script = load(path)
    expected = sorted((each["rule"], each["step"]) for each in script["expected"] if each["rule"] in KNOWN)
    assert play(script).rules("violation", "improvement") == expected


def test_there_are_cases() -> None:
    """The scripts are found, so that the test above cannot pass by being empty."""
    assert len(CASES) > 70
    assert sum(bool({each["rule"] for each in load(path)["expected"]} & KNOWN) for path in CASES) >= 7
