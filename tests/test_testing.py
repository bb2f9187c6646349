# SPDX-License-Identifier: Apache-2.0
"""``otel_a2a.testing``: what users' own tests say of findings."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import httpx
import pytest

from otel_a2a import Level
from otel_a2a.testing import expected_findings
from otel_a2a_policies import RULES
from tests.support.agents import HEADERS, ScriptedAgent, envelope, send, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry
from tests.support.world import COMPLETED, SUBMITTED, WORKING, World


@pytest.fixture
def world() -> World:
    """An engine with all rules, in which task t1 works."""
    world = World(rule_set=RULES)
    world.send(WORKING)
    return world


def test_nothing_found_and_nothing_expected(world: World) -> None:
    """The usual case passes."""
    with expected_findings(engine=world.engine) as found:
        world.get("t1", COMPLETED)
    assert found == []


def test_what_is_expected_passes_and_can_be_looked_at(world: World) -> None:
    """However often it is found; the findings themselves are handed out."""
    with expected_findings("backward-transition", engine=world.engine) as found:
        world.get("t1", SUBMITTED)
        world.get("t1", SUBMITTED)
    assert [(each.rule, each.task_id, each.count) for each in found] == [
        ("backward-transition", "t1", 1),
        ("backward-transition", "t1", 2),
    ]


def test_what_is_not_expected_fails(world: World) -> None:
    """The text says which rule, whose fault, where, and what happened, a line for each."""
    with pytest.raises(AssertionError) as failed, expected_findings("task-lost", engine=world.engine):
        world.passes(2)
        world.not_found()
        world.get("t1", COMPLETED)
        world.message("t1", COMPLETED)
    lines = str(failed.value).splitlines()
    assert lines[0] == "otel-a2a: the findings are not those expected (task-lost)"
    assert lines[1] == "+ terminal-task-reused: violation of the client at agent.example, found"
    assert "t1 had ended as TASK_STATE_COMPLETED" in lines[2]
    assert len(lines) == 3


def test_an_expectation_that_no_longer_occurs_fails(world: World) -> None:
    """A bug that was fixed is noticed, so that its line is removed."""
    with (
        pytest.raises(AssertionError, match=r"- backward-transition: expected, and does not occur any more"),
        expected_findings("backward-transition", engine=world.engine),
    ):
        world.get("t1", COMPLETED)


def test_an_incident_of_before_counts_when_it_happens_again(world: World) -> None:
    """A repeat is no new finding for an operator, and one for the test in which it happens."""
    world.get("t1", SUBMITTED)
    with expected_findings("backward-transition", engine=world.engine):
        world.get("t1", SUBMITTED)
    with (
        pytest.raises(AssertionError, match=r"backward-transition: violation .*, found again \(3 times so far\)"),
        expected_findings(engine=world.engine),
    ):
        world.get("t1", SUBMITTED)


@pytest.mark.parametrize(("levels", "fails"), [(["violation"], False), (["violation", Level.IMPROVEMENT], True)])
def test_levels_that_may_surprise(world: World, levels: list[Level | str], fails: bool) -> None:
    """Findings at other levels are seen, and are not unexpected."""

    def look() -> None:
        with expected_findings(levels=levels, engine=world.engine) as found:
            world.get("t1", None)
        assert [each.level.value for each in found] == ["improvement"]

    if fails:
        with pytest.raises(AssertionError, match="unknown-state"):
            look()
    else:
        look()


def test_information_can_be_expected_too(world: World) -> None:
    """A rule that is named has to find something at whatever level, also where that level surprises nobody."""
    world.card()
    with expected_findings("card-revision-changed", engine=world.engine):
        world.card(skills=("pay", "refund", "more"))
    with (
        pytest.raises(AssertionError, match="- card-revision-changed"),
        expected_findings("card-revision-changed", engine=world.engine),
    ):
        world.card(skills=("pay", "refund", "more"))


def test_what_is_due_is_judged_at_the_end() -> None:
    """No test has to wait for the timer: time that has passed counts."""
    world = World(rule_set=RULES, task_deadline=30)
    world.send(WORKING)
    with expected_findings("task-stuck", engine=world.engine):
        world.passes(31)


def test_an_exception_of_the_test_is_not_hidden(world: World) -> None:
    """The block's own failure is what the test reports."""
    with pytest.raises(ZeroDivisionError), expected_findings("task-lost", engine=world.engine):
        _ = 1 / 0
    assert world.engine.watchers == ()


def test_misspelt_names_are_told(world: World) -> None:
    """A rule that is not there could never be found, so that is no matter of the traffic."""
    with (
        pytest.raises(ValueError, match=r"no rule 'backward-transitions'; is it backward-transition\?"),
        expected_findings("backward-transitions", engine=world.engine),
    ):
        pass
    with (
        pytest.raises(ValueError, match="otel-a2a rules"),
        expected_findings("xyzzy", engine=world.engine),
    ):
        pass
    with pytest.raises(ValueError, match="grave"), expected_findings(levels=["grave"], engine=world.engine):
        pass


def test_a_test_that_could_not_fail_is_refused() -> None:
    """Where nothing is instrumented, nothing would ever be found."""
    with pytest.raises(RuntimeError, match="instrument"), expected_findings():
        pass


def _resurrects(method: str, params: dict[str, Any]) -> Any:
    return {"task": task("t-1", "WORKING")} if method == "SendMessage" else task("t-1", "SUBMITTED")


def test_a_whole_test_of_an_application() -> None:
    """Over real sockets, with the engine of the process: the same lines as in a user's test suite."""
    with serve(ScriptedAgent(_resurrects).app) as base, Telemetry().instrumented(), httpx.Client() as client:

        def call(method: str, params: dict[str, Any]) -> None:
            client.post(f"{base}/rpc", json=envelope(method, params), headers=HEADERS)

        with expected_findings():
            call("SendMessage", send("x", "m1"))
        with expected_findings("backward-transition"):
            call("GetTask", {"id": "t-1"})
        with (
            pytest.raises(AssertionError, match=r"\+ message-resent-after-regression: violation of the client"),
            expected_findings(),
        ):
            call("SendMessage", send("x", "m1", task_id="t-1"))


def test_it_needs_no_test_framework() -> None:
    """Importing it brings no pytest."""
    program = "import sys, otel_a2a.testing; sys.exit('pytest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
