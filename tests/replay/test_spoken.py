# SPDX-License-Identifier: Apache-2.0
"""Lives and faults that are played at random give one verdict in every dialect: what happens in them is written down in
the dialect, and its bytes are read and judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Final, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_a2a.observations import CallStarted, CardRequested, LocalDecision, Method, Observation
from tests.replay.dialects import DIALECTS, HTTP_JSON, Dialect
from tests.replay.spoken import spoken
from tests.support.applications import play_all
from tests.support.faults import FAULTS, Fault
from tests.support.interrupted import Case, case_of
from tests.support.whole import Whole

SEEDS: Final = st.integers(min_value=0, max_value=2**32)
PASTS: Final = [seed for seed in range(60) if case_of(seed, Whole()) is not None]
"""Lives that leave a task to do wrong."""


class Verdict(NamedTuple):
    rule: str
    level: str
    task_id: str


def verdicts(world: Whole) -> Counter[Verdict]:
    """What was found; a repeat of one finding is none."""
    return Counter(Verdict(each.rule, each.level.value, each.task_id) for each in world.findings if each.count == 1)


# What the bytes cannot tell has its reason in ``tests.replay.reasons``, where it is worked out for scripts.


def has_references(dialect: Dialect) -> bool:
    return dialect.is_1_0 or dialect.binding != HTTP_JSON


def has_timestamps(dialect: Dialect) -> bool:
    return has_references(dialect) or dialect.sdk == "js"


def depends(dialect: Dialect) -> set[str]:
    """Information in legal lives that is another one where references, timestamps or refusals of streams are lost."""
    # A refusal that cuts the stream answers nothing, so that the message sent again repeats one without an answer.
    lost = {"reply-without-task-id", "live-operation-refused", "task-orphaned", "duplicate-send"}
    found = set() if has_references(dialect) else lost
    return found if has_timestamps(dialect) else found | {"late-notification"}


@pytest.mark.parametrize("dialect", DIALECTS, ids=str)
@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_legal_lives_accuse_nobody_in_any_dialect(dialect: Dialect, seed: int) -> None:
    """No violation, no improvement, and the same information as without a wire."""
    silent = Whole()
    play_all(Random(seed), silent)
    with spoken(dialect) as world:
        play_all(Random(seed), world)
    without, aloud = verdicts(silent), verdicts(world)
    assert [verdict for verdict in aloud if verdict.level != "information"] == []
    assert {each.rule for each in (without - aloud) | (aloud - without)} <= depends(dialect)
    assert not world.internal_errors


INSTEAD: Final[dict[str, tuple[Callable[[Dialect], bool], str]]] = {
    "is_final_and_works": (lambda dialect: not dialect.is_1_0, ""),
    "shows_an_older_version": (has_timestamps, ""),
    "answers_as_another_task": (lambda dialect: dialect.is_1_0, "information"),
    "is_passed_by": (has_references, "information"),
}
"""Faults that not every dialect tells of: which do, and the level of what is found in the others; empty for nothing."""


def done_wrong(fault: Fault, seed: int, world: Whole) -> tuple[Counter[Verdict], Counter[Verdict], Case]:
    """What the past of a seed gives, and what a fault after it adds."""
    case = case_of(seed, world)
    assert case is not None
    past = verdicts(world)
    fault(case)
    assert not world.internal_errors
    return past, verdicts(world) - past, case


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.__name__ for fault in FAULTS])
def test_a_fault_is_the_same_in_every_dialect(fault: Fault) -> None:
    """Rules, levels and tasks, each time after another past."""
    for number, dialect in enumerate(DIALECTS):
        seed = PASTS[(number + len(fault.__name__)) % len(PASTS)]
        _, wanted, case = done_wrong(fault, seed, Whole())
        with spoken(dialect) as world:
            past, got, _ = done_wrong(fault, seed, world)
        tells, level = INSTEAD.get(fault.__name__, (lambda dialect: True, ""))
        is_said = dialect.is_1_0 or not case.agent.tenant
        if is_said and not tells(dialect):
            wanted = _at_level(level, wanted, FAULTS[fault])
        # A legal life may be told of by the same information: then the fault's is a repeat, and no finding.
        repeated = {each for each in past if each.rule in FAULTS[fault]}
        fresh = Counter({each: count for each, count in wanted.items() if each not in repeated})
        assert got == fresh, f"{dialect}, seed {seed}"


def _at_level(level: str, found: Counter[Verdict], rules: set[str]) -> Counter[Verdict]:
    """The same with the findings of ``rules`` at ``level``, or without them."""
    changed: Counter[Verdict] = Counter()
    for verdict, times in found.items():
        if verdict.rule not in rules:
            changed[verdict] += times
        elif level:
            changed[verdict._replace(level=level)] += times
    return changed


@pytest.mark.parametrize("dialect", DIALECTS, ids=str)
def test_all_is_said_that_there_are_words_for(dialect: Dialect) -> None:
    """What is compared went over the wire, but for 0.1, extended cards, decisions, and what 0.3 does not have."""
    said = 0
    for seed in range(10):
        with spoken(dialect) as world:
            play_all(Random(seed), world)
        said += world.said
        assert [seen for seen in world.unsaid if not _has_no_words(seen, dialect)] == []
    assert said > 500


def _has_no_words(seen: Observation, dialect: Dialect) -> bool:
    asked = getattr(seen, "call", None) or getattr(seen, "request", None) or seen
    if isinstance(asked, CardRequested):
        return asked.extended
    if isinstance(asked, CallStarted):
        hides_tenant = asked.tenant and (not dialect.is_1_0 or dialect.binding == HTTP_JSON)
        is_new = not dialect.is_1_0 and asked.method == Method.LIST_TASKS
        return asked.protocol_version == "0.1" or bool(hides_tenant) or is_new
    return isinstance(asked, LocalDecision)
