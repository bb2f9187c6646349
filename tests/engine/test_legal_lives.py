# SPDX-License-Identifier: Apache-2.0
"""Every rule is on, and legal lives of careful applications are played at random: nobody is accused, and one fault is
found for what it is. A life that fails is told by its seed: ``applications.play_all(Random(seed), Whole())``.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from otel_a2a.observations import TERMINAL
from tests.support.applications import play_all
from tests.support.faults import FAULTS, Fault
from tests.support.interrupted import case_of
from tests.support.whole import Whole

SEEDS = st.integers(min_value=0, max_value=2**32)


def accused(world: Whole) -> list[tuple[str, str]]:
    return [(each.rule, each.message) for each in world.findings if each.level.value != "information"]


@example(seed=10009378)
@example(seed=20004707)
@example(seed=2210500194)
@example(seed=210503083)
@example(seed=310500835)
@example(seed=310501123)
@example(seed=2010514152)
@settings(max_examples=200, deadline=None)
@given(seed=SEEDS)
def test_legal_lives_accuse_nobody(seed: int) -> None:
    """Races, loss, repeats, lag, webhooks, tenants, 0.1 to 1.0, late starts; rolling deploys, outages, hedged fetches;
    artifacts that grow, retries, cancels, follow-ups and records: not one improvement, not one violation."""
    world = Whole()
    play_all(Random(seed), world)
    assert accused(world) == [] and not world.internal_errors


@example(seed=80408751)
@settings(max_examples=100, deadline=None)
@given(seed=SEEDS)
def test_legal_lives_are_not_stopped(seed: int) -> None:
    """In mode raise, in streams too, and from improvements on: nothing raises."""
    world = Whole(strictness="raise", raise_on="improvement", raise_in_stream=True)
    play_all(Random(seed), world)
    assert not any(each.action.value == "raise" for each in world.findings)


@pytest.mark.parametrize(("fault", "rules"), FAULTS.items(), ids=[fault.__name__ for fault in FAULTS])
@settings(max_examples=25, deadline=None)
@given(seed=SEEDS)
def test_one_fault_is_found_for_what_it_is(fault: Fault, rules: set[str], seed: int) -> None:
    """After any legal past, one fault gives exactly its rules."""
    world = Whole()
    case = case_of(seed, world)
    if case is None:
        return
    assert accused(world) == []
    fault(case)
    assert {rule for rule, _ in accused(world)} == rules


def test_the_lives_are_full() -> None:
    """There is something to accuse in them: ends, chunks, outages, retries, records, and tasks to do wrong."""
    ends = alive = 0
    told: set[str] = set()
    for seed in range(100):
        world = Whole()
        callers = play_all(Random(seed), world)
        ends += sum(task.state in TERMINAL for caller in callers for task in caller.agent.tasks.values())
        told |= {each.rule for each in world.findings}
        alive += case_of(seed, Whole()) is not None
    assert ends > 200 and alive > 20
    assert {"card-revision-changed", "discovery-unavailable", "late-notification", "task-orphaned"} <= told
