# SPDX-License-Identifier: Apache-2.0
"""Lives of tasks played at random: what is legal is never accused, and one fault is found for what it is.

A life that fails is told by its seed: ``callers.play(Random(seed), World())`` plays it again.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_a2a.engine.findings import Strictness
from otel_a2a.observations import TERMINAL, Method
from tests.support.callers import Caller, play
from tests.support.lives import Served
from tests.support.world import COMPLETED, FAILED, SUBMITTED, WORKING, World, message

SEEDS = st.integers(min_value=0, max_value=2**32)
EXAMPLES = settings(max_examples=120, deadline=None)


def accused(world: World) -> list[tuple[str, str, str]]:
    """Everybody who is accused of anything."""
    return [(each.rule, each.level.value, each.message) for each in world.findings if each.level.value != "information"]


@EXAMPLES
@given(seed=SEEDS)
def test_legal_lives_accuse_nobody(seed: int) -> None:
    """Races, lag, loss, repeats, webhooks, tenants, 0.1 to 1.0, rolling deploys, late starts: nobody is accused."""
    world = World()
    play(Random(seed), world)
    assert accused(world) == [] and not world.internal_errors


@EXAMPLES
@given(seed=SEEDS)
def test_legal_lives_are_not_stopped(seed: int) -> None:
    """The same in mode raise, in streams too: nothing that is found raises."""
    world = World(strictness="raise", raise_in_stream=True)
    play(Random(seed), world)
    assert not any(each.action is Strictness.RAISE for each in world.findings)


@EXAMPLES
@given(seed=SEEDS)
def test_what_is_known_in_the_end_is_true(seed: int) -> None:
    """Once a task's end was received it is what the ledger holds, and a clean read brings every ledger up to date."""
    world = World()
    for caller in play(Random(seed), world):
        for task in caller.agent.tasks.values():
            if task.forgotten or caller.agent.version == "0.1":
                continue
            read(world, caller, task)
            record = world.engine.ledger.task(
                world.engine.ledger.agent(caller.agent.endpoint), caller.agent.tenant, task.task_id
            )
            assert record is not None and (record.state, record.terminal) == (task.state, task.state)
    assert accused(world) == []


def read(world: World, caller: Caller, task: Served, state: str | None = None, *, found: bool = True) -> None:
    """A read of a task, answered with the truth or with ``state``."""
    agent = caller.agent
    call = world.leaves(
        Method.GET_TASK, task.task_id, endpoint=agent.endpoint, tenant=agent.tenant, version=agent.version
    )
    if not found:
        world.fails(call)
        return
    holds = tuple(task.made)
    world.answers(call, state or task.state, task=task.task_id, context=task.context_id, holds=holds)


def interrupted_life(seed: int, world: World) -> tuple[Caller, Served] | None:
    """Lives that are broken off at some time, and one task that is then alive and has not been canceled."""
    random = Random(seed)
    alive = [
        (caller, task)
        for caller in play(random, world, until=random.uniform(20, 150))
        for task in caller.agent.tasks.values()
        if not task.has_ended and task.task_id not in caller.canceled and caller.agent.version != "0.1"
    ]
    return random.choice(alive) if alive else None


def goes_back(world: World, caller: Caller, task: Served) -> None:
    read(world, caller, task, SUBMITTED)


def is_reopened(world: World, caller: Caller, task: Served) -> None:
    read(world, caller, task, COMPLETED)
    read(world, caller, task, WORKING)


def ends_twice(world: World, caller: Caller, task: Served) -> None:
    read(world, caller, task, COMPLETED)
    read(world, caller, task, FAILED)


def is_lost(world: World, caller: Caller, task: Served) -> None:
    world.passes(2)
    read(world, caller, task, found=False)


def is_reused(world: World, caller: Caller, task: Served) -> None:
    read(world, caller, task, COMPLETED)
    agent, words = caller.agent, message("and more", "a new one")
    where: dict[str, Any] = {"endpoint": agent.endpoint, "tenant": agent.tenant, "version": agent.version}
    world.leaves(Method.SEND_MESSAGE, task.task_id, sent=words, **where)


Fault = Callable[[World, Caller, Served], None]
FAULTS: list[tuple[Fault, set[str]]] = [
    (goes_back, {"backward-transition"}),
    (is_reopened, {"backward-transition", "terminal-state-changed"}),
    (ends_twice, {"terminal-state-changed"}),
    (is_lost, {"task-lost"}),
    (is_reused, {"terminal-task-reused"}),
]


@pytest.mark.parametrize(("fault", "rules"), FAULTS, ids=[fault.__name__ for fault, _ in FAULTS])
@EXAMPLES
@given(seed=SEEDS)
def test_one_fault_is_found_for_what_it_is(fault: Fault, rules: set[str], seed: int) -> None:
    """After any legal past, a clean read and then one fault give exactly the rules of that fault."""
    world = World()
    chosen = interrupted_life(seed, world)
    if chosen is None:
        return
    read(world, *chosen, WORKING)
    assert accused(world) == []
    fault(world, *chosen)
    assert {(rule, level) for rule, level, _ in accused(world)} == {(rule, "violation") for rule in rules}


def test_the_lives_are_not_empty() -> None:
    """There is something to accuse: most lives end, many have turns, and nearly all can be broken off alive."""
    ends = turns = alive = 0
    for seed in range(100):
        world = World()
        callers = play(Random(seed), world)
        ends += sum(task.state in TERMINAL for caller in callers for task in caller.agent.tasks.values())
        turns += "backward-transition" in world.rules("information")
        alive += interrupted_life(seed, World()) is not None
    assert ends > 200 and turns > 10 and alive > 30
