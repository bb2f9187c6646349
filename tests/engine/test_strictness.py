# SPDX-License-Identifier: Apache-2.0
"""From lines of policy to an action, and from an action to what happens. What may raise is in ``test_raising``."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from otel_a2a.config import ActionRule, Settings
from otel_a2a.engine.findings import Finding, Level, Strictness
from otel_a2a.engine.strictness import Policy, is_suppressed, suppress_policy
from otel_a2a.observations import CallStarted, Method, SpanRef
from tests.support.world import COMPLETED, ENDPOINT, SUBMITTED, WORKING, VirtualClock, World, message

OFF, ANNOTATE, LOG, RAISE = Strictness.OFF, Strictness.ANNOTATE, Strictness.LOG, Strictness.RAISE
HOST = "pay.partner.example"
RULE = "task-lost"


def action(*lines: ActionRule, strictness: Strictness = ANNOTATE, rule: str = RULE, host: str = HOST) -> Strictness:
    return Policy(Settings(strictness=strictness, policy=lines)).action(rule, host, f"{host}:8443")


# --- resolution


def test_without_a_line_the_global_action_counts() -> None:
    """No line, or none that fits: the global strictness."""
    assert action(strictness=LOG) is LOG
    assert action(ActionRule(RAISE, rule="other"), ActionRule(OFF, agent="other.example"), strictness=LOG) is LOG


@pytest.mark.parametrize("turned", [False, True], ids=["in order", "in reverse"])
def test_rule_at_agent_over_rule_over_agent_over_global(turned: bool) -> None:
    """The kind of line decides before exactness and position do."""
    lines = [
        ActionRule(OFF, agent=HOST),
        ActionRule(LOG, rule="task-*"),
        ActionRule(RAISE, rule="*-lost", agent="*"),
        ActionRule(ANNOTATE, rule="t*", agent="*.example"),
    ]
    for kept, expected in ((1, OFF), (2, LOG), (4, ANNOTATE)):
        chosen = lines[:kept][::-1] if turned else lines[:kept]
        assert action(*chosen, strictness=RAISE) is expected


@pytest.mark.parametrize("turned", [False, True], ids=["in order", "in reverse"])
@pytest.mark.parametrize(
    ("vague", "exact"),
    [
        (ActionRule(OFF, rule="*-lost"), ActionRule(RAISE, rule="task-lost")),
        (ActionRule(OFF, rule="t*"), ActionRule(RAISE, rule="task-*")),
        (ActionRule(OFF, rule="task-los?"), ActionRule(RAISE, rule="task-lost")),
        (ActionRule(OFF, agent="*.example"), ActionRule(RAISE, agent="*.partner.example")),
        (ActionRule(OFF, agent="*"), ActionRule(RAISE, agent=HOST)),
        (ActionRule(OFF, rule="task-lost", agent="*.example"), ActionRule(RAISE, rule="task-lost", agent=HOST)),
    ],
    ids=str,
)
def test_the_more_exact_glob_wins(vague: ActionRule, exact: ActionRule, turned: bool) -> None:
    """Among lines of one kind exactness decides, wherever they stand."""
    lines = (exact, vague) if turned else (vague, exact)
    assert action(*lines) is RAISE


def test_the_later_of_two_equal_lines_wins() -> None:
    """What is written later is meant."""
    assert action(ActionRule(OFF, rule=RULE), ActionRule(RAISE, rule=RULE)) is RAISE
    assert action(ActionRule(RAISE, rule=RULE), ActionRule(OFF, rule=RULE)) is OFF


def test_an_agent_is_named_with_or_without_its_port() -> None:
    """A line may name a host, or a host and a port."""
    assert action(ActionRule(RAISE, agent=f"{HOST}:8443")) is RAISE
    assert action(ActionRule(RAISE, agent=f"{HOST}:1")) is ANNOTATE
    assert action(ActionRule(RAISE, agent=HOST)) is RAISE


def test_a_line_that_only_sets_a_level_leaves_the_action() -> None:
    """Action and level are resolved apart."""
    policy = Policy(
        Settings(policy=(ActionRule(RAISE, rule="task-*"), ActionRule(None, rule=RULE, level=Level.INFORMATION)))
    )
    assert policy.action(RULE, HOST) is RAISE
    assert policy.level(RULE, HOST) is Level.INFORMATION
    assert policy.level("backward-transition", HOST) is None


def test_the_host_of_the_call_counts() -> None:
    """Where a card comes from another host, or an agent has several, policy follows the call."""
    world = World(agents="pay.example=raise")
    endpoint, other = "https://pay.example/a2a", "https://pay2.example/a2a"
    world.card(url="https://registry.example/cards/pay", interfaces=(endpoint, other))
    world.send(COMPLETED, endpoint=endpoint)
    for where, raises in ((other, False), (endpoint, True), (other, False)):
        world.leaves(Method.SEND_MESSAGE, "t1", endpoint=where, sent=message("more", "m2"))
        assert (world.last.error is not None) is raises
        world.get("t1", COMPLETED, endpoint=other)


# --- off and levels


def test_off_judges_nothing_and_remembers_all() -> None:
    """Nothing is found; what is switched on later would find the facts."""
    world = World(strictness="off")
    world.send(WORKING)
    world.get("t1", SUBMITTED)
    assert not world.findings
    assert world.task().disposition == "poisoned"


def test_off_for_all_but_one_rule() -> None:
    """A line may switch a rule on."""
    world = World(strictness="off", rules="terminal-task-reused=annotate")
    world.send(WORKING)
    world.get("t1", COMPLETED)
    world.get("t1", WORKING)
    world.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2"))
    assert [each.rule for each in world.findings] == ["terminal-task-reused"]


def test_off_for_one_rule() -> None:
    """A rule that is switched off does not count either."""
    world = World(rules="backward-transition=off")
    world.send(COMPLETED)
    world.get("t1", WORKING)
    assert world.rules() == ["terminal-state-changed"]


def test_a_level_by_policy() -> None:
    """Policy may give a rule another level, and a hit may only lower it."""
    world = World(profile="authority")
    world.card()
    world.send(WORKING, credential="mine")
    world.card(skills=("pay",))
    world.message("t1", WORKING, credential="mine")
    assert world.levels("continued-across-revisions") == ["information"]


# --- raise_on, would_raise


def found(**settings: Any) -> tuple[Finding, World]:
    """An improvement: not found, by another credential."""
    world = World(**settings)
    world.send(WORKING, credential="mine")
    world.passes(5)
    world.not_found("t1", credential="other")
    (finding,) = world.findings
    assert finding.level is Level.IMPROVEMENT
    return finding, world


@pytest.mark.parametrize(("raise_on", "raises"), [("violation", False), ("improvement", True), ("information", True)])
def test_raise_on(raise_on: str, raises: bool) -> None:
    """Mode raise acts on findings at or above raise_on, and logs the others."""
    finding, world = found(strictness="raise", raise_on=raise_on)
    assert (world.last.error is not None) is raises
    assert finding.action is (RAISE if raises else LOG)
    assert not finding.would_raise


@pytest.mark.parametrize(("raise_on", "would"), [("violation", False), ("improvement", True)])
@pytest.mark.parametrize("strictness", ["annotate", "log"])
def test_would_raise(strictness: str, raise_on: str, would: bool) -> None:
    """Elsewhere a mark tells what mode raise would have stopped."""
    finding, world = found(strictness=strictness, raise_on=raise_on)
    assert world.last.error is None
    assert (finding.action.value, finding.would_raise) == (strictness, would)


def test_would_raise_not_where_nothing_can_be_stopped() -> None:
    """What could not be stopped would not have been."""
    world = World()
    world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE), WORKING, SUBMITTED)
    assert [each.would_raise for each in world.findings] == [False]


# --- suppress_policy


def lost(world: World, task_id: str) -> None:
    world.send(WORKING, task=task_id, sent=message(task_id, task_id))
    world.passes(5)
    world.not_found(task_id)


def test_suppressed() -> None:
    """In the context nothing is judged by the rules that are named, and all is remembered."""
    world = World(strictness="raise")
    with suppress_policy("task-*"):
        lost(world, "t1")
        assert not world.findings and world.last.error is None
    assert world.task("t1").disposition == "orphaned"
    lost(world, "t2")
    assert [each.task_id for each in world.findings] == ["t2"]


def test_suppressed_by_name_glob_or_altogether() -> None:
    """Globs name rules; no glob names all."""
    for globs, suppressed in (((), True), (("task-lost",), True), (("x", "*-lost"), True), (("terminal-*",), False)):
        with suppress_policy(*globs):
            assert is_suppressed(RULE) is suppressed
    assert not is_suppressed(RULE)


def test_suppressed_nested() -> None:
    """Inner contexts add to outer ones, and end with themselves."""
    with suppress_policy("task-lost"):
        with suppress_policy("terminal-*"):
            assert is_suppressed("task-lost") and is_suppressed("terminal-task-reused")
        assert is_suppressed("task-lost") and not is_suppressed("terminal-task-reused")
    assert not is_suppressed("task-lost")


def test_suppressed_ends_with_an_exception() -> None:
    """An exception ends the context too."""
    with pytest.raises(KeyError), suppress_policy():
        raise KeyError
    assert not is_suppressed(RULE)


async def test_suppressed_in_one_task_only() -> None:
    """Tasks of asyncio inherit the context in which they are made, and keep their own to themselves."""
    inside, left = asyncio.Event(), asyncio.Event()

    async def suppressing() -> bool:
        with suppress_policy(RULE):
            inside.set()
            await left.wait()
            return await asyncio.create_task(asyncio.to_thread(is_suppressed, RULE))

    task = asyncio.create_task(suppressing())
    await inside.wait()
    assert not is_suppressed(RULE)
    left.set()
    assert await task


def test_suppressed_not_in_another_thread() -> None:
    """A thread begins with a context of its own."""
    seen: list[bool] = []
    with suppress_policy():
        thread = threading.Thread(target=lambda: seen.append(is_suppressed(RULE)))
        thread.start()
        thread.join()
    assert seen == [False]


def test_a_suppressed_incident_is_not_counted() -> None:
    """The first that is judged is the first."""
    world = World()
    with suppress_policy():
        lost(world, "t1")
    world.not_found("t1")
    assert [each.count for each in world.findings] == [1]


# --- the finding


def test_what_a_finding_tells() -> None:
    """Rule, agent, ids, states, revisions, span and time: scalars, and no content."""
    clock = VirtualClock()
    world = World(clock=clock)
    world.card()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, WORKING)
    old = world.task().card_revision
    world.card(streaming=False)
    world.passes(5)
    call = CallStarted(
        method=Method.SEND_MESSAGE,
        binding="JSONRPC",
        protocol_version="1.0",
        endpoint=ENDPOINT,
        server_address="agent.example",
        server_port=8443,
        task_id="t1",
        message=message("more", "m2"),
        span=SpanRef(trace_id=7, span_id=8),
    )
    world.observe(call)
    finding = world.findings[-1]
    assert finding.rule == "continued-across-revisions"
    assert (finding.agent, finding.server_address, finding.server_port) == ("agent.example:8443", "agent.example", 8443)
    assert (finding.task_id, finding.context_id, finding.message_id) == ("t1", "c1", "m2")
    assert (finding.task_card_revision, finding.previous_state) == (old, WORKING)
    assert finding.card_revision not in ("", old)
    assert (finding.trace_id, finding.span_id) == (7, 8)
    assert finding.time_unix_nano == clock.time_ns()
    assert (finding.boundary, finding.phase.value, finding.party.value) == ("identity", "request", "client")
    assert (finding.ruleset, finding.count, finding.action) == ("otel-a2a", 1, ANNOTATE)
    assert finding.rule in finding.reference
