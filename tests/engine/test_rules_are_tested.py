# SPDX-License-Identifier: Apache-2.0
"""Every rule has a test in which it fires, one of legal traffic that resembles it, and one of a late observer."""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from otel_a2a_policies import RULES
from tests.support.marks import KINDS

HERE = Path(__file__).parent
NAMES = [rule.name for rule in RULES]


def modules() -> Iterator[ModuleType]:
    """The modules of tests at and below this one."""
    for path in sorted(HERE.rglob("test_*.py")):
        spec = importlib.util.spec_from_file_location(f"marks_of_{path.stem}", path)
        assert spec is not None and spec.loader is not None
        if path != Path(__file__):
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            yield module


def marks() -> dict[str, set[str]]:
    """Rule → the kinds of tests that are marked as being about it."""
    found: dict[str, set[str]] = defaultdict(set)
    for module in modules():
        for name, test in vars(module).items():
            for mark in getattr(test, "pytestmark", ()) if name.startswith("test_") else ():
                if mark.name == "rule":
                    found[mark.args[0]].add(mark.kwargs["kind"])
    return found


@pytest.fixture(scope="module", name="found")
def _found() -> dict[str, set[str]]:
    return marks()


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_has_all_three_kinds_of_tests(name: str, found: dict[str, set[str]]) -> None:
    """It fires, it lets pass what only looks like it, and it does not accuse where it cannot know."""
    assert found[name] == set(KINDS)


def test_marks_name_rules_that_there_are(found: dict[str, set[str]]) -> None:
    """A rule that was renamed takes its marks along."""
    assert set(found) <= set(NAMES)
