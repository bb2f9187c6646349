# SPDX-License-Identifier: Apache-2.0
"""Comparing what was found with what is expected."""

from __future__ import annotations

import pytest

from otel_a2a.engine.findings import Finding, Level, Party, Phase, Strictness
from otel_a2a.replay.compare import Expectation, check, differences, expectations
from otel_a2a.replay.player import Found, Played
from otel_a2a.replay.script import Expected
from otel_a2a_policies import RULES
from tests.replay.scripts import get, script, send

BACK = {"rule": "backward-transition", "step": 1}


def found(rule: str, step: int, level: Level = Level.VIOLATION) -> Found:
    finding = Finding(
        rule=rule,
        boundary="lifecycle",
        level=level,
        action=Strictness.ANNOTATE,
        phase=Phase.RESPONSE,
        party=Party.AGENT,
        message="as it is",
    )
    return Found(float(step), step, finding)


def expecting(*rules: tuple[str, int | None], profile: str = "default") -> Expectation:
    return Expectation(profile, tuple(Expected(rule=rule, step=step) for rule, step in rules))


def told(expectation: Expectation, *findings: Found) -> list[str]:
    return list(differences(expectation, Played(list(findings))))


def test_as_expected() -> None:
    """Each rule fires first at its step; what more is information is no difference."""
    assert not told(
        expecting(("lost", 3), ("back", 2)), found("back", 2), found("lost", 3), found("card", 1, Level.INFORMATION)
    )
    assert not told(expecting())


def test_a_missing_finding() -> None:
    """What is not found is named, with the step at which it was to be."""
    assert told(expecting(("lost", 3))) == ["lost is not found, expected at step 3"]
    assert told(expecting(("lost", None))) == ["lost is not found"]


@pytest.mark.parametrize("step", [2, 4])
def test_another_step(step: int) -> None:
    """The first step at which a rule fires is the one that counts."""
    findings = found("lost", step), found("lost", 3)
    assert told(expecting(("lost", 3)), *sorted(findings, key=lambda each: each.step)) == (
        ["lost is found at step 2, expected at step 3"] if step == 2 else []
    )
    assert told(expecting(("lost", 3)), found("lost", step)) == [f"lost is found at step {step}, expected at step 3"]


def test_an_unexpected_finding() -> None:
    """A violation or an improvement that nobody expects is told once, with its level and its message."""
    assert told(expecting(), found("lost", 3), found("lost", 4)) == [
        "lost at step 3 is not expected (violation): as it is"
    ]
    assert told(expecting(), found("lost", 3, Level.IMPROVEMENT)) == [
        "lost at step 3 is not expected (improvement): as it is"
    ]


def test_several_incidents_of_one_rule() -> None:
    """A rule that is expected twice must fire at both steps."""
    twice = expecting(("lost", 3), ("lost", 5))
    assert not told(twice, found("lost", 3), found("lost", 5))
    assert told(twice, found("lost", 3)) == ["lost is found at step 3, expected at step 5"]


def test_information_is_not_enough() -> None:
    """An expected rule must accuse, whatever the profile."""
    mild = found("lost", 3, Level.INFORMATION)
    assert told(expecting(("lost", 3)), mild) == ["lost is not found, expected at step 3"]
    assert told(expecting(("lost", None), profile="authority"), mild) == ["lost is not found"]


def test_a_fault_of_ours_is_a_difference() -> None:
    """Where a rule failed, nothing is as expected."""
    assert list(differences(expecting(), Played(faults=["rule lost: KeyError"]))) == ["rule lost: KeyError"]


def test_expectations_of_a_script() -> None:
    """What the script says, by profile; without a word of it there is nothing to compare."""
    read = script(send(), expected=[BACK], expected_by_profile={"fenced": ["lost"], "spec": []})
    assert expectations(read) == [
        expecting(("backward-transition", 1)),
        expecting(("lost", None), profile="fenced"),
        expecting(profile="spec"),
    ]
    assert expectations(script(send())) == []
    assert expectations(script(send(), expected=[])) == [expecting()]


def test_a_script_is_checked_under_its_profiles() -> None:
    """A script is played anew under each profile; one that does not exist is a difference that names the choices."""
    read = script(
        send(),
        get("SUBMITTED"),
        expected=[BACK],
        expected_by_profile={"spec": ["backward-transition"], "spek": []},
    )
    default, spec, wrong = (check(read, each, RULES) for each in expectations(read))
    assert default.differences == ()
    assert spec.differences == ("backward-transition is not found",)
    assert len(wrong.differences) == 1 and "built in are default, authority, fenced" in wrong.differences[0]


def test_what_cannot_be_used_of_the_environment_is_told() -> None:
    """A setting of the script's environment that is misspelt is not passed over in silence."""
    read = script(send(), settings={"env": {"OTEL_PYTHON_A2A_CLOCK_SKEW": "soon"}}, expected=[])
    (only,) = expectations(read)
    assert [problem for problem in check(read, only, RULES).problems if "OTEL_PYTHON_A2A_CLOCK_SKEW" in problem]
