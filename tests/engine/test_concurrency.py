# SPDX-License-Identifier: Apache-2.0
"""Threads and forks: no deadlock, and nothing that was observed is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections import Counter

import pytest

from otel_a2a.engine.apply import Transition
from otel_a2a.observations import CallStarted, Channel, Form, Method, Observation, TaskSeen
from tests.support.threads import PATIENCE, THREADS, together
from tests.support.world import COMPLETED, INPUT, SUBMITTED, WORKING, World, message


def seen(call: CallStarted, state: str, *, form: str = Form.SNAPSHOT, channel: str = Channel.RESPONSE) -> TaskSeen:
    return TaskSeen(call=call, channel=channel, form=form, task_id="t1", context_id="c1", state=state)


# --- threads


def test_64_threads_on_one_task_lose_no_transition() -> None:
    """Transitions seen from any thread form one chain, each beginning where the one before it ended."""
    world = World()
    world.send(WORKING)
    transitions: list[Transition] = []

    def reads(number: int) -> None:
        for turn in range(20):
            call = world.leaves(Method.GET_TASK, "t1")
            verdict = world.engine.observe(seen(call, INPUT if (number + turn) % 2 else WORKING))
            if verdict.transition is not None:
                transitions.append(verdict.transition)

    together(reads)
    assert not world.internal_errors and transitions
    assert all(each.previous != each.state for each in transitions)
    left, entered = Counter(each.previous for each in transitions), Counter(each.state for each in transitions)
    entered[WORKING] += 1
    final = world.task().state
    assert {state: entered[state] - left[state] for state in (WORKING, INPUT)} == {
        WORKING: int(final == WORKING),
        INPUT: int(final == INPUT),
    }


def test_64_threads_count_one_incident() -> None:
    """No repeat is counted twice or not at all, and the first is exported once."""
    counts: list[int] = []
    world = World()
    world.send(WORKING)

    def reads(number: int) -> None:
        for _ in range(10):
            call = world.leaves(Method.GET_TASK, "t1")
            counts.extend(
                each.count
                for each in world.engine.observe(seen(call, SUBMITTED)).findings
                if each.rule == "backward-transition"
            )

    together(reads)
    assert sorted(counts) == list(range(1, THREADS * 10 + 1))


def test_places_in_the_order_are_given_once() -> None:
    """No two observations, and no tick between them, share a place."""
    world = World()
    places: list[int] = []

    def observes(number: int) -> None:
        for _ in range(50):
            observation = Observation()
            world.engine.observe(observation)
            places.extend((observation.seq, world.engine.tick()))

    together(observes)
    assert len(places) == len(set(places)) == THREADS * 100


def test_threads_that_make_agents_merge_them_and_evict() -> None:
    """Calls, cards that make one agent of two, redirects and full ledgers at once break nothing."""
    world = World(max_agents=8, max_tasks=32)
    endpoints = [f"https://a{number}.example/" for number in range(12)]

    def works(number: int) -> None:
        here = endpoints[number % len(endpoints)]
        there = endpoints[(number + 1) % len(endpoints)]
        for turn in range(10):
            call = world.leaves(Method.SEND_MESSAGE, endpoint=here, sent=message("x", f"m{number}.{turn}"))
            world.answers(call, COMPLETED if turn % 2 else WORKING, task=f"t{number}.{turn}")
            if turn == 5:
                world.card(url=f"{here}card", interfaces=(here, there), name="One")
            if turn == 8:
                world.redirected(call, there)
            world.get(f"t{number}.{turn - 1}", COMPLETED, endpoint=here)

    together(works)
    ledger = world.engine.ledger
    assert not world.internal_errors
    assert len(ledger.tasks()) <= 32 and len({id(each) for each in ledger.by_endpoint.values()}) <= 8
    assert all(task.agent.tasks[(task.tenant, task.task_id)] is task for task in ledger.tasks())
    assert all(endpoint in agent.endpoints for endpoint, agent in ledger.by_endpoint.items())


# --- fork

FORKING = """
import os, signal, threading, warnings
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.rules import rule
from otel_a2a.errors import CardTaskBoundaryError
from otel_a2a.observations import MessageSeen, Method
from otel_a2a_policies import RULES
from tests.support.world import SUBMITTED, WORKING, World

warnings.simplefilter("ignore")
held, free = threading.Event(), threading.Event()

@rule(name="holds", boundary="lifecycle", level=Level.INFORMATION, party=Party.AGENT, phase=Phase.RESPONSE,
      exception=CardTaskBoundaryError, on=(MessageSeen,), origin="test", summary="Holds the lock.")
def holds(observation, view, settings):
    held.set()
    free.wait(30)
    return ()

world = World(rule_set=(holds, *RULES))
world.send(WORKING)
other = threading.Thread(target=lambda: world.says(world.leaves(Method.SEND_MESSAGE)))
other.start()
assert held.wait(10)

child = os.fork()
if child == 0:
    signal.alarm(10)
    world.get("t1", SUBMITTED)
    os._exit(0 if world.rules() == ["backward-transition"] and not world.task().born_here else 1)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
free.set()
other.join(10)
world.get("t1", SUBMITTED)
print("child", status, "parent", world.rules(), world.task().born_here)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_a_fork_while_another_thread_holds_the_lock() -> None:
    """The child observes with a lock of its own, knows the tasks as one who came late, and the parent goes on."""
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FORKING)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(each or "." for each in sys.path)},
    )
    assert ended.stdout.strip() == "child 0 parent ['backward-transition'] True", ended.stderr
