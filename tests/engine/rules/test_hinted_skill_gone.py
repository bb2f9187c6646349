# SPDX-License-Identifier: Apache-2.0
"""continued-across-revisions, where the application has said which skill the task is for (rules.md, G5)."""

from __future__ import annotations

import pytest

from otel_a2a.observations import Hints
from tests.support.marks import fires, legal
from tests.support.whole import Whole
from tests.support.world import INPUT, WORKING, message

RULE = "continued-across-revisions"


def continued(skill: str) -> Whole:
    """A task for ``skill`` goes on after the card has lost *refund*."""
    world = Whole()
    world.card(skills=("pay", "refund"))
    world.send(INPUT, hints=Hints(skill=skill) if skill else None)
    world.card(skills=("pay",))
    world.message("t1", WORKING, sent=message("yes", "m2"))
    return world


@fires(RULE)
@pytest.mark.parametrize("skill", ["refund", ""])
def test_the_skill_of_the_task_is_gone(skill: str) -> None:
    """It was named, or it may be any."""
    assert continued(skill).rules() == [RULE]


@legal(RULE)
def test_another_skill_is_gone() -> None:
    """The task is for one that is still there."""
    assert not continued("pay").rules()
