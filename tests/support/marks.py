# SPDX-License-Identifier: Apache-2.0
"""Marks that say which rule a test is about, and what it shows of it.

    @fires("task-lost")         a condition under which the rule finds something
    @legal("task-lost")         traffic that resembles that, and in which it must find nothing
    @late("task-lost")          an observer that started late, and does not accuse where it cannot know

``tests/engine/test_rules_are_tested.py`` checks that every rule has all three, ``tests/engine/conftest.py`` that a test
marked so shows it fire.
"""

from __future__ import annotations

from typing import Final

import pytest

KINDS: Final = ("fires", "legal", "late")


def fires(rule: str) -> pytest.MarkDecorator:
    """The rule finds something."""
    return pytest.mark.rule(rule, kind="fires")


def legal(rule: str) -> pytest.MarkDecorator:
    """The rule finds nothing, in traffic that resembles what it is about."""
    return pytest.mark.rule(rule, kind="legal")


def late(rule: str) -> pytest.MarkDecorator:
    """An observer that started late: the rule says no more than can be known."""
    return pytest.mark.rule(rule, kind="late")
