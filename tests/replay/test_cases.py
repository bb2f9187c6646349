# SPDX-License-Identifier: Apache-2.0
"""The field cases, played: every finding at its step, and no other."""

from __future__ import annotations

import pytest

from otel_a2a.replay.compare import check, expectations
from otel_a2a.replay.script import load
from otel_a2a_policies import RULES
from tests.replay import cases
from tests.replay.cases import Judged


@pytest.mark.parametrize("case", cases.judged(), ids=str)
def test_a_case_gives_what_it_expects_and_nothing_else(case: Judged) -> None:
    """Each script gives exactly the findings that it names, of the rules that exist, at the steps that it names."""
    if not case.can_be_judged:
        pytest.skip(f"there is no profile {case.expectation.profile}")
    assert check(case.script, case.expectation, RULES).differences == ()


def test_there_are_cases() -> None:
    """The scripts are found, so that the test above cannot pass by being empty."""
    assert len(cases.paths()) >= 73
    assert len(cases.judged()) >= 83
    assert sum(bool(case.expectation.rules) for case in cases.judged()) >= 12


def test_only_what_does_not_exist_is_left_out() -> None:
    """Once all rules and profiles that the cases name exist, every case is judged by all that it expects."""
    absent = cases.named_rules() - cases.known_rules()
    full = [each for path in cases.paths() for each in expectations(load(path))]
    for case, whole in zip(cases.judged(), full, strict=True):
        left_out = {each.rule for each in whole.rules} - {each.rule for each in case.expectation.rules}
        assert left_out == {each.rule for each in whole.rules} & absent
        assert case.can_be_judged == cases.is_profile(whole.profile)
    if not absent and all(cases.is_profile(each.profile) for each in full):
        assert [case.expectation for case in cases.judged()] == full
        assert not any(case.left_out for case in cases.judged())
