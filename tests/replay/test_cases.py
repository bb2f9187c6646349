# SPDX-License-Identifier: Apache-2.0
"""The field cases, played: every finding at its step, and no other."""

from __future__ import annotations

import pytest

from otel_a2a.replay.compare import check
from otel_a2a_policies import RULES
from tests.replay import cases
from tests.replay.cases import Judged


@pytest.mark.parametrize("case", cases.judged() + cases.as_written(), ids=str)
def test_a_case_gives_what_it_expects_and_nothing_else(case: Judged) -> None:
    """Each script gives exactly the findings that it names, at the steps that it names, under each profile it names."""
    assert check(case.script, case.expectation, RULES).differences == ()


def test_there_are_cases() -> None:
    """The scripts are found, so that the test above cannot pass by being empty."""
    assert len(cases.paths()) >= 73
    assert len(cases.judged()) >= 83
    assert len(cases.as_written()) >= 5
    assert sum(bool(case.expectation.rules) for case in cases.judged()) >= 12
    profiles = {
        "default",
        "fenced",
        "authority",
        "declared-history",
        "spec",
        "default+whole-life",
        "default+pinned-card",
    }
    assert {case.expectation.profile for case in cases.judged()} >= profiles


def test_what_the_cases_name_exists() -> None:
    """A case may not name a rule that is gone."""
    assert {rule.rule for case in cases.judged() for rule in case.expectation.rules} <= {rule.name for rule in RULES}
