# SPDX-License-Identifier: Apache-2.0
"""Everything that is remembered is bounded, ended tasks leave first, and what had to leave accuses nobody."""

from __future__ import annotations

import tracemalloc

import pytest

from otel_a2a.engine import deadlines, judge
from otel_a2a.engine.card_records import HISTORY
from otel_a2a.engine.ledger import ENDPOINTS, TROUBLED
from otel_a2a.engine.records import ARTIFACTS, CONTEXTS, REVISIONS, STREAMS
from otel_a2a.engine.strictness import CACHE
from otel_a2a.observations import Method
from tests.support.whole import Whole
from tests.support.world import COMPLETED, SUBMITTED, WORKING, World, message

RESENT = "message-resent-after-regression"


def tasks(world: World, state: str, *names: str) -> None:
    for name in names:
        world.send(state, task=name, sent=message(name, name))


def known(world: World) -> list[str]:
    return [task.task_id for task in world.engine.ledger.tasks()]


# --- tasks


def test_ended_tasks_leave_first() -> None:
    """The oldest ended task makes room, and live ones stay."""
    world = World(max_tasks=3)
    tasks(world, WORKING, "live")
    tasks(world, COMPLETED, "one", "two", "three")
    assert sorted(known(world)) == ["live", "three", "two"]


def test_the_oldest_live_task_leaves_where_all_are_live() -> None:
    """Nothing grows beyond the bound, and what has just changed stays."""
    world = World(max_tasks=3)
    tasks(world, SUBMITTED, "one", "two", "three")
    world.get("one", WORKING)
    tasks(world, WORKING, "four")
    assert sorted(known(world)) == ["four", "one", "three"]


def test_never_more_than_max_tasks() -> None:
    """Whatever comes, no more than the bound is held, by the agents neither."""
    world = World(max_tasks=50)
    for number in range(500):
        tasks(world, COMPLETED if number % 3 else WORKING, f"t{number}")
        world.get(f"t{number // 2}", COMPLETED)
    ledger = world.engine.ledger
    assert len(ledger.tasks()) == 50 and world.engine.live_tasks <= 50
    (agent,) = {id(each): each for each in ledger.by_endpoint.values()}.values()
    assert len(agent.tasks) == 50 and len(ledger._tombstones) <= 50


def test_a_tombstone_still_knows_the_end() -> None:
    """A message into a task that had ended, and had to leave, is found all the same; so is a second end."""
    world = World(max_tasks=2)
    tasks(world, COMPLETED, "old", "two", "three", "four")
    assert "old" not in known(world)
    world.leaves(Method.SEND_MESSAGE, "old", sent=message("more", "m2"))
    assert world.rules() == ["terminal-task-reused"]
    world.get("two", WORKING)
    assert sorted(world.rules())[:2] == ["backward-transition", "terminal-state-changed"]


def test_in_0_1_an_end_leaves_no_tombstone() -> None:
    """There a task that has ended may begin anew: the end alone would accuse whoever does that."""
    world = World(max_tasks=2)
    for name in ("old", "two", "three"):
        world.answers(world.leaves(Method.SEND_MESSAGE, name, version="0.1"), COMPLETED)
    assert "old" not in known(world)
    again = world.leaves(Method.SEND_MESSAGE, "old", version="0.1", sent=message("again", "m2"))
    world.answers(again, SUBMITTED)
    world.get("old", WORKING, version="0.1")
    assert not world.rules()


def test_a_tombstone_forgets_in_the_end() -> None:
    """Tombstones are bounded too, and a task of which nothing is left is unknown."""
    world = World(max_tasks=2)
    tasks(world, COMPLETED, *(f"t{number}" for number in range(10)))
    world.leaves(Method.SEND_MESSAGE, "t0", sent=message("more", "m2"))
    assert not world.rules()


def test_an_evicted_live_task_counts_as_seen_late() -> None:
    """Nothing of its past is held against it: not its states, not its revision, not its messages, nor a loss."""
    world = World(max_tasks=1)
    world.card()
    tasks(world, WORKING, "old")
    world.card(skills=("pay",))
    tasks(world, WORKING, "new")
    world.passes(5)
    world.not_found("old")
    world.message("old", SUBMITTED, sent=message("old", "old"))
    assert not world.rules()
    assert not world.task("old").born_here


def test_a_troubled_task_that_leaves_takes_its_trouble_along() -> None:
    """The list of troubled tasks holds no task that the ledger does not."""
    world = World(max_tasks=1)
    tasks(world, WORKING, "old")
    world.get("old", SUBMITTED)
    tasks(world, WORKING, "new")
    assert not world.task("new").agent.troubled


def test_troubled_tasks_are_bounded_and_the_newest_stay() -> None:
    """After a restart that lost more tasks than are listed, the newest messages are still known."""
    world = World()
    names = [f"t{number}" for number in range(TROUBLED + 20)]
    tasks(world, WORKING, *names)
    for name in names:
        world.get(name, SUBMITTED)
    agent = world.task("t0").agent
    assert len(agent.troubled) == TROUBLED
    world.leaves(Method.SEND_MESSAGE, sent=message(names[-1], names[-1]))
    assert world.rules()[-1] == RESENT


# --- agents


def test_never_more_than_max_agents() -> None:
    """The agent that was not used for longest leaves, with its tasks, cards and endpoints."""
    world = World(max_agents=3)
    for number in range(10):
        endpoint = f"https://a{number}.example/"
        world.card(url=f"{endpoint}card", interfaces=(endpoint,), name=f"{number}")
        world.send(WORKING, task=f"t{number}", endpoint=endpoint)
        world.get("t0", WORKING, endpoint="https://a0.example/")
    ledger = world.engine.ledger
    assert sorted(known(world)) == ["t0", "t8", "t9"]
    assert sorted(ledger.by_endpoint) == [f"https://a{number}.example/" for number in (0, 8, 9)]
    assert len(ledger._by_document) == 3


def test_an_agent_that_leaves_takes_its_discovery_along() -> None:
    """That its card could not be had accuses nobody who calls it again, once nothing else is known of it."""
    world = Whole(max_agents=1)
    world.says(world.leaves(Method.SEND_MESSAGE))
    world.card_fails(503)
    world.says(world.leaves(Method.SEND_MESSAGE, endpoint="https://other.example/a2a"))
    world.leaves(Method.SEND_MESSAGE)
    assert not world.rules()


def test_endpoints_are_bounded() -> None:
    """An agent that redirects to another address each time does not grow, and its tasks are still known."""
    world = World()
    call = world.send(WORKING)
    for number in range(ENDPOINTS * 2):
        world.redirected(call, f"https://agent.example/session/{number}")
    assert len(world.task().agent.endpoints) <= ENDPOINTS == len(world.engine.ledger.by_endpoint)
    world.get("t1", SUBMITTED)
    assert world.rules() == ["backward-transition"]


def test_discoveries_are_bounded() -> None:
    """Card addresses that fail are remembered within the bound of agents."""
    world = World(max_agents=5)
    for number in range(50):
        world.card(url=f"https://a{number}.example/.well-known/agent-card.json", interfaces=())
    assert len(world.engine.ledger.discoveries) <= 5


# --- in a task


def test_card_history_is_bounded() -> None:
    """A card that changes with every fetch keeps its newest revisions."""
    world = World()
    for number in range(HISTORY * 3):
        world.card(skills=(f"s{number}",))
    world.send(WORKING)
    (document,) = world.task().agent.documents.values()
    assert len(document.history) == HISTORY and document.forgotten


def test_re_affirmed_revisions_are_bounded() -> None:
    """A task that is read after every one of many revisions keeps those that still matter."""
    world = World()
    world.card()
    world.send(WORKING)
    for number in range(REVISIONS * 3):
        world.card(skills=("pay", "refund", f"s{number}"))
        world.get("t1", WORKING)
    assert len(world.task().reaffirmed) <= REVISIONS
    world.message("t1", WORKING)
    assert not world.rules()


def test_artifacts_are_bounded_and_then_not_judged() -> None:
    """Beyond the bound nothing is known of what a snapshot should hold, so nothing is missing."""
    world = World()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, WORKING)
    for number in range(ARTIFACTS + 10):
        world.artifact(stream, f"a{number}")
    assert len(world.task().artifacts) == ARTIFACTS and world.task().artifacts_forgotten
    world.get("t1", WORKING)
    assert not world.rules()


def test_streams_and_contexts_are_bounded() -> None:
    """A task that is subscribed to over and over, with ever other contexts."""
    world = World()
    world.send(WORKING)
    for number in range(STREAMS * 3):
        stream = world.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
        world.streams(stream, WORKING, context=f"c{number}")
        world.ends(stream)
    task = world.task()
    assert len(task.streams) <= STREAMS and len(task.contexts) <= CONTEXTS and not task.open_streams


# --- in the engine


def test_reminders_do_not_hold_ended_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A deadline of an hour does not keep the records of that hour's tasks, and still finds the one that is stuck."""
    monkeypatch.setattr(deadlines, "REMINDERS", 100)
    world = World(max_tasks=10, task_deadline=3_600)
    tasks(world, WORKING, "stuck")
    for number in range(1_000):
        tasks(world, WORKING, f"t{number}")
        world.get(f"t{number}", COMPLETED)
    assert len(world.engine._deadlines._heap) <= 102
    world.passes(3_601)
    world.engine.pass_time()
    assert world.task("stuck").diverged


def test_incidents_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Incidents of long ago are forgotten, and then are new ones."""
    monkeypatch.setattr(judge, "INCIDENTS", 100)
    world = World()
    names = [f"t{number}" for number in range(150)]
    tasks(world, WORKING, *names)
    for name in names:
        world.get(name, SUBMITTED)
    assert len(world.engine._judge._incidents) == 100
    world.get("t149", SUBMITTED)
    world.get("t0", SUBMITTED)
    assert [each.count for each in world.findings[-2:]] == [2, 1]


def test_the_cache_of_policy_is_bounded() -> None:
    """A client of very many hosts does not fill the memory with what to do about each."""
    world = World(max_agents=10)
    policy = world.engine._judge._policy
    for number in range(CACHE * 2):
        policy.action("task-lost", f"h{number}.example")
        policy.level("task-lost", f"h{number}.example")
    assert len(policy._actions) <= CACHE and len(policy._levels) <= CACHE


def test_what_a_task_costs(capsys: pytest.CaptureFixture[str]) -> None:
    """Printed, so that a change can be seen; a ledger that is full does not grow."""
    world = World(max_tasks=500)
    world.card()

    def more(first: int, count: int) -> None:
        for number in range(first, first + count):
            world.send(WORKING, task=f"task-{number:032}", sent=message("x", f"m{number}"))
            world.findings.clear()

    more(0, 100)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    more(100, 400)
    full = tracemalloc.get_traced_memory()[0]
    more(500, 1_000)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    with capsys.disabled():
        print(f"\n  a live task costs {(full - before) / 400:.0f} bytes")
    assert len(world.engine.ledger.tasks()) == 500
    assert after < full * 1.5


def test_bad_bounds_do_not_hang() -> None:
    """A ledger of one task and one agent works."""
    world = World(max_tasks=1, max_agents=1)
    for number in range(5):
        world.card(url=f"https://a{number}.example/card", interfaces=(f"https://a{number}.example/",), name=f"{number}")
        world.send(WORKING, endpoint=f"https://a{number}.example/")
        world.get("t1", SUBMITTED, endpoint=f"https://a{number}.example/")
    assert world.rules() == ["backward-transition"] * 5 and not world.internal_errors
