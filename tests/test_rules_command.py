# SPDX-License-Identifier: Apache-2.0
"""``otel-a2a rules``: all rules, one rule, and what is said of a name that there is not."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from otel_a2a.cli import main
from otel_a2a.engine.findings import Strictness
from otel_a2a.engine.rules import Rule
from otel_a2a.engine.strictness import Policy
from otel_a2a.sources import effective
from otel_a2a_policies import RULES


def _asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["rules", *arguments]) == 0
    return capsys.readouterr().out


def test_all_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """One line for each, in columns, with the level that it has by default."""
    head, *lines = _asked(capsys).splitlines()
    assert head.split() == ["name", "level", "party", "phase", "boundary", "origin", "summary"]
    assert [line.split()[0] for line in lines] == [rule.name for rule in RULES]
    by_name = {line.split()[0]: line for line in lines}
    assert by_name["task-lost"].split()[1:5] == ["violation", "agent", "response", "lifecycle"]
    assert by_name["duplicate-send"].split()[1] == "information"
    assert by_name["task-lost"].endswith("The agent does not know a task any more that it had not ended.")


def test_one_rule_is_told_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    """Everything that somebody needs who has just been paged."""
    text = _asked(capsys, "continued-across-revisions")
    titles = [line for line in text.splitlines() if line and not line.startswith(" ")]
    assert titles == [
        "continued-across-revisions  violation",
        "Exactly",
        "Why it hurts",
        "Looks like it, and is right",
        "What to do",
        "Modes",
        "Settings",
        "Profiles",
        "Off",
    ]
    for needed in (
        "TaskResurrectionError",
        "seed 002",
        "policies/README.md#continued-across-revisions",
        "G5: ",
        "authority: information",
        'OTEL_PYTHON_A2A_RULES="continued-across-revisions=off"',
        'suppress_policy("continued-across-revisions")',
    ):
        assert needed in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("place", "elsewhere"),
    [("in a policy file:", Strictness.OFF), ("at one agent, in a policy file:", Strictness.ANNOTATE)],
)
def test_how_to_switch_off_can_be_pasted(
    place: str, elsewhere: Strictness, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What is shown for a policy file is one, and does it: everywhere, or at that agent alone."""
    lines = iter(_asked(capsys, "task-lost").splitlines())
    assert any(line.strip() == place for line in lines)
    file = tmp_path / "mine.toml"
    file.write_text("\n".join(itertools.takewhile(lambda line: line.startswith("    "), lines)), "utf-8")
    policy = Policy(effective({}, profile=str(file)).settings)
    assert policy.action("task-lost", "a.partner.example") is Strictness.OFF
    assert policy.action("task-lost", "elsewhere") is elsewhere


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_can_be_asked_for(rule: Rule, capsys: pytest.CaptureFixture[str]) -> None:
    """In every format."""
    name = rule.name
    assert _asked(capsys, name).startswith(f"{name}  ")
    assert json.loads(_asked(capsys, name, "--format", "json"))["name"] == name
    assert _asked(capsys, name, "--format", "markdown").startswith(f"# {name}\n")


def test_json_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    """A list of objects for other programs."""
    found = json.loads(_asked(capsys, "--format", "json"))
    assert [each["name"] for each in found] == [rule.name for rule in RULES]
    assert {"why", "look_alike", "remedy", "safe_in", "switch_off", "profiles", "exception", "origin"} <= set(found[0])


def test_markdown_of_all_is_the_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    """What ``make catalogue`` writes."""
    text = _asked(capsys, "--format", "markdown")
    assert text.startswith("# The rules\n")
    assert text.endswith(" |\n")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("backwards-transition", "is it backward-transition?"),
        ("webhook", "is it webhook-denied-by-card or webhook-from-stale-card or webhook-for-terminal-task?"),
        ("Task-Lost", "is it task-lost"),
        ("xyzzy", "without a name all rules are listed"),
    ],
)
def test_an_unknown_name_is_told_with_near_ones(name: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, nothing on standard output, and a way on."""
    assert main(["rules", name]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"otel-a2a rules: there is no rule {name!r}; ")
    assert hint in said.err


@pytest.mark.parametrize("arguments", [[], ["task-lost"]])
def test_it_works_without_the_extras(arguments: list[str]) -> None:
    """The texts are plain where rich is not installed."""
    program = f"import sys; sys.modules['rich'] = None; from otel_a2a.cli import main; main(['rules', *{arguments}])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    assert "task-lost" in result.stdout
