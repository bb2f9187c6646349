# SPDX-License-Identifier: Apache-2.0
"""The one exception for a step: its class, its findings, and that it survives pickling."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from otel_a2a import errors
from otel_a2a.config import Settings
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.rules import Hit, Rule, View, rule
from otel_a2a.errors import (
    A2APolicyError,
    AgentCardDivergenceError,
    AgentCardStalenessError,
    CardTaskBoundaryError,
    TaskContinuationBlockedError,
    TaskResurrectionError,
)
from otel_a2a.observations import CallStarted, Method
from otel_a2a_policies import RULES
from tests.support.world import World


def custom(name: str, level: Level, exception: type[A2APolicyError]) -> Rule:
    """A rule that finds something in every send."""

    @rule(
        name=name,
        boundary="admission",
        level=level,
        party=Party.CLIENT,
        phase=Phase.REQUEST,
        exception=exception,
        on=(CallStarted,),
        origin="test",
        summary="Finds something in every send.",
        ruleset="test",
    )
    def judge(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
        if call.is_send:
            yield Hit(f"{name} says no")

    return judge


def test_one_exception_of_the_gravest_class_with_all_findings() -> None:
    """Several rules at one step: the gravest names the class and comes first, and none is left out."""
    world = World(
        strictness="raise",
        raise_on="improvement",
        rule_set=(
            custom("a", Level.INFORMATION, TaskContinuationBlockedError),
            custom("b", Level.IMPROVEMENT, AgentCardStalenessError),
            custom("c", Level.VIOLATION, AgentCardDivergenceError),
            custom("d", Level.VIOLATION, CardTaskBoundaryError),
        ),
    )
    world.leaves(Method.SEND_MESSAGE)
    error = world.last.error
    assert type(error) is AgentCardDivergenceError
    assert [each.rule for each in error.findings] == ["c", "a", "b", "d"]
    assert "c says no" in str(error) and all(name in str(error) for name in ("a", "b", "d"))
    assert [each.action.value for each in error.findings] == ["raise", "log", "raise", "raise"]


def test_a_graver_finding_that_does_not_raise_does_not_name_the_class() -> None:
    """The class is that of the gravest finding among those that raise."""
    world = World(
        strictness="raise",
        raise_on="improvement",
        rules="grave=log",
        rule_set=(
            custom("grave", Level.VIOLATION, TaskResurrectionError),
            custom("light", Level.IMPROVEMENT, AgentCardStalenessError),
        ),
    )
    world.leaves(Method.SEND_MESSAGE)
    assert type(world.last.error) is AgentCardStalenessError
    assert [each.rule for each in world.last.error.findings] == ["light", "grave"]


def test_a_rule_of_a_third_party_refuses_the_first_call_of_all() -> None:
    """Policy by host counts from the first call on, when no agent is known yet."""
    strict = custom("strict", Level.VIOLATION, CardTaskBoundaryError)
    world = World(agents="agent.example=raise", rule_set=(*RULES, strict))
    world.leaves(Method.SEND_MESSAGE)
    assert isinstance(world.last.error, CardTaskBoundaryError)
    assert world.last.error.findings[0].ruleset == "test"


CLASSES = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, A2APolicyError)]


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("copied", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy])
def test_exceptions_can_be_pickled(kind: type[A2APolicyError], copied: Callable[[Any], Any]) -> None:
    """Process pools and task queues carry an exception with all that it knows."""
    world = World(strictness="raise", rule_set=(custom("a", Level.VIOLATION, kind),))
    world.leaves(Method.SEND_MESSAGE)
    error = world.last.error
    assert type(error) is kind
    error.args = (*error.args, "more")
    error.__dict__["note"] = "kept"
    again = copied(error)
    assert type(again) is kind and again.args == error.args and str(again) == str(error)
    assert again.__dict__ == error.__dict__
    assert again.findings == error.findings and again.findings[0].level is Level.VIOLATION


def test_a_divergence_keeps_what_was_declared_and_observed() -> None:
    """The seed's attributes survive pickling."""
    error = AgentCardDivergenceError("x", declared="one", observed="two", detail="three")
    again = pickle.loads(pickle.dumps(error))
    assert (again.declared, again.observed, again.detail, again.request_sent) == ("one", "two", "three", True)


def test_the_seeds_names_are_runtime_errors() -> None:
    """Programs of the seeds catch RuntimeError, and CardTaskBoundaryError for what seed 004 says."""
    assert len(CLASSES) == 6 and all(issubclass(each, RuntimeError) for each in CLASSES)
    assert issubclass(AgentCardStalenessError, CardTaskBoundaryError)
    assert issubclass(TaskContinuationBlockedError, CardTaskBoundaryError)
    assert not issubclass(TaskResurrectionError, CardTaskBoundaryError)
