# SPDX-License-Identifier: Apache-2.0
"""Threads, finalisers and forks: no deadlock, and nothing that was observed is lost."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from otel_a2a.config import Settings
from otel_a2a.engine.apply import Transition
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.rules import Hit, Rule, View, rule
from otel_a2a.errors import CardTaskBoundaryError
from otel_a2a.observations import CallStarted, Channel, Form, Method, Observation, TaskSeen
from otel_a2a_policies import RULES
from tests.support.world import COMPLETED, INPUT, SUBMITTED, WORKING, VirtualClock, World, message

THREADS = 64
PATIENCE = 60.0
"""Seconds that nothing here takes, unless it hangs."""


def together(work: Callable[[int], None], threads: int = THREADS) -> None:
    """Run ``work`` in so many threads at once."""
    start = threading.Barrier(threads)
    failed: list[BaseException] = []

    def run(number: int) -> None:
        try:
            start.wait(PATIENCE)
            work(number)
        except BaseException as error:
            failed.append(error)

    running = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(threads)]
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for each in running:
            each.start()
        for each in running:
            each.join(PATIENCE)
    finally:
        sys.setswitchinterval(usual)
    assert not any(each.is_alive() for each in running), "a deadlock"
    assert not failed, failed


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


# --- finalisers


class Forgotten:
    """An object in a cycle, that observes when the collector finds it."""

    def __init__(self, observe: Callable[[], object]) -> None:
        self.me = self
        self.observe = observe

    def __del__(self) -> None:
        self.observe()


def within(seconds: float, work: Callable[[], None]) -> None:
    """Do ``work`` in a thread, so that a deadlock fails and does not hang."""
    together(lambda number: work(), threads=1)


class CollectingClock(VirtualClock):
    """A clock whose reading, inside the engine's lock, starts the collector."""

    def monotonic(self) -> float:
        gc.collect()
        return super().monotonic()


def collecting_rule() -> Rule:
    @rule(
        name="collects",
        boundary="lifecycle",
        level=Level.INFORMATION,
        party=Party.AGENT,
        phase=Phase.RESPONSE,
        exception=CardTaskBoundaryError,
        on=(TaskSeen,),
        origin="test",
        summary="Starts the collector while it judges.",
        ruleset="test",
    )
    def judge(observation: TaskSeen, view: View, settings: Settings) -> Iterator[Hit]:
        gc.collect()
        yield from ()

    return judge


@pytest.mark.parametrize(
    "world",
    [lambda: World(clock=CollectingClock()), lambda: World(rule_set=(collecting_rule(), *RULES))],
    ids=["in the clock", "in a rule"],
)
def test_a_finaliser_inside_the_lock(world: Callable[[], World]) -> None:
    """It does not wait for itself, gets an empty verdict, and what it told is taken at the next observation."""
    here = world()
    verdicts: list[Any] = []

    def happens() -> None:
        here.send(WORKING)
        read = here.leaves(Method.GET_TASK, "t1")
        late = here.leaves(Method.GET_TASK, "t1")
        gc.disable()
        try:
            Forgotten(lambda: verdicts.append(here.engine.observe(seen(read, INPUT))))
            here.answers(late, WORKING)
        finally:
            gc.enable()
        assert len(verdicts) == 1 and not verdicts[0].findings and verdicts[0].task is None
        assert here.task().state == WORKING
        here.get("t9", WORKING)
        assert here.task().state == INPUT

    within(PATIENCE, happens)
    assert not here.internal_errors


def test_what_a_finaliser_told_is_judged() -> None:
    """Its finding is exported like any other, with the context that it passed; nothing is raised at somebody else."""
    exported: list[tuple[str, Any]] = []

    class Exporter:
        def export(self, finding: Any, context: Any) -> None:
            exported.append((finding.rule, context))

    here = World(clock=CollectingClock(), exporters=[Exporter()], strictness="raise")

    def happens() -> None:
        here.send(WORKING)
        read = here.leaves(Method.GET_TASK, "t1")
        gc.disable()
        try:
            Forgotten(lambda: here.engine.observe(seen(read, SUBMITTED), "the finaliser's"))
            here.send(WORKING, task="t2", sent=message("other", "m2"))
        finally:
            gc.enable()
        assert here.get("t2", WORKING).error is None

    within(PATIENCE, happens)
    assert exported == [("backward-transition", "the finaliser's")]


def test_a_finaliser_outside_the_lock_is_served_at_once() -> None:
    """Elsewhere an observation in a finaliser is one like any other."""
    here = World()
    here.send(WORKING)
    read = here.leaves(Method.GET_TASK, "t1")
    Forgotten(lambda: here.engine.observe(seen(read, INPUT)))
    gc.collect()
    assert here.task().state == INPUT


def test_asking_inside_the_lock_gives_no_answer() -> None:
    """A finaliser that asks, or lets time pass, in the middle of a judgement changes nothing."""
    here = World(clock=CollectingClock(), task_deadline=1)
    answers: list[Any] = []

    def happens() -> None:
        here.send(COMPLETED)
        call = here.leaves(Method.GET_TASK, "t1")
        gc.disable()
        try:
            Forgotten(lambda: answers.extend((here.engine.ask(seen(call, WORKING)), here.engine.pass_time())))
            here.get("t1", COMPLETED)
        finally:
            gc.enable()

    within(PATIENCE, happens)
    assert answers == [(), ()] and not here.internal_errors


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
