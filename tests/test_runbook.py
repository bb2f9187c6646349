# SPDX-License-Identifier: Apache-2.0
"""The runbook says of every rule what to look at first, and names nothing that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from otel_a2a import semconv
from otel_a2a_policies import RULES

RUNBOOK = Path(__file__).parent.parent / "docs" / "runbook.md"
ROW = re.compile(r"^\| \[([a-z-]+)\]\(\.\./policies/README\.md#([a-z-]+)\) \| (.+) \|$")
NAMES = {value for name, value in vars(semconv).items() if name.isupper() and isinstance(value, str)}

pytestmark = pytest.mark.skipif(not RUNBOOK.is_file(), reason="needs the sources")


def _rows() -> list[tuple[str, str, str]]:
    """Heading, rule and text of each row, in order."""
    rows, heading = [], ""
    for line in RUNBOOK.read_text("utf-8").splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ").partition(":")[0].lower()
        elif found := ROW.match(line):
            assert found[1] == found[2], line
            rows.append((heading, found[1], found[3]))
    return rows


def test_every_rule_is_in_the_runbook_once() -> None:
    """Below the heading of its boundary, with something to look at."""
    rows = _rows()
    assert sorted((heading, rule) for heading, rule, _ in rows) == sorted((each.boundary, each.name) for each in RULES)
    assert all(len(text) > 15 or text.startswith("nothing") for _, _, text in rows)


def test_no_row_is_passed_over() -> None:
    """Each line of a table is its head or a rule's: a row that is written in another way would not be checked."""
    lines = [line for line in RUNBOOK.read_text("utf-8").splitlines() if line.startswith("|")]
    heads = [line for line in lines if line in ("| rule | look at first |", "|---|---|")]
    assert len(lines) == len(heads) + len(_rows())


def test_the_runbook_names_what_exists() -> None:
    """Each rule and attribute in it is one."""
    named = re.findall(r"`([^`]+)`", RUNBOOK.read_text("utf-8"))
    attributes = {name.partition("=")[0] for name in named if re.match(r"[a-z_0-9]+\.[a-z_.]+", name)}
    assert attributes <= NAMES
    assert attributes
    rules = {name for name in named if re.fullmatch(r"[a-z]+(-[a-z]+)+", name)}
    assert rules <= {each.name for each in RULES} | {"declared-history"}
    assert rules
