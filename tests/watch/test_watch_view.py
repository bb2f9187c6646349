# SPDX-License-Identifier: Apache-2.0
"""What ``otel-a2a watch`` shows in a terminal, and what it writes where there is none."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from otel_a2a.cli.watch.facts import CallSeen, CardSeen, Finding, Place, StateLeft, Transition
from otel_a2a.cli.watch.known import Known
from otel_a2a.cli.watch.lines import clock, line
from otel_a2a.cli.watch.view import view
from tests.conftest import Snapshot
from tests.watch.facts import AGENT, REVISION_A, REVISION_B, SECOND, finding, redeploy


def text_of(known: Known, height: int = 60, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(view(known, height))
    assert isinstance(console.file, io.StringIO)
    text = re.sub(r"\d\d:\d\d:\d\d", "hh:mm:ss", console.file.getvalue())
    return "".join(f"{each.rstrip()}\n" for each in text.splitlines())


def test_the_view_of_a_redeploy(snapshot: Snapshot) -> None:
    """Agents with their revisions, tasks with their states, and findings are one readable picture."""
    known = Known()
    known.learn(redeploy())
    snapshot("view", text_of(known))


def test_the_lines_of_a_redeploy(snapshot: Snapshot) -> None:
    """Each change is one line, in the order in which it came."""
    lines = [line(news) for news in Known().learn(redeploy())]
    snapshot("lines", "".join(re.sub(r"^\d\d:\d\d:\d\d", "hh:mm:ss", each) + "\n" for each in lines))


def test_nothing_has_come() -> None:
    """An empty view says that it is empty."""
    assert "Nothing has come yet." in text_of(Known())


def test_a_small_terminal_has_the_newest() -> None:
    """What does not fit is left out, the oldest first, and the view says so."""
    known = Known()
    known.learn(Transition(number, AGENT, f"t-{number}", "TASK_STATE_WORKING") for number in range(1, 101))
    known.learn(Finding(number, "violation", f"rule-{number}", "annotate", AGENT, "", "") for number in range(1, 101))
    text = text_of(known, height=24)
    assert text.count("\n") <= 24
    assert "t-100 " in text and "t-1 " not in text
    assert "rule-100" in text and "rule-1 " not in text
    assert re.search(r"Tasks   the newest \d of 100", text) and re.search(r"Findings   the newest \d of 100", text)


def test_a_narrow_terminal_has_findings_too() -> None:
    """Where rows fold, fewer are shown, and no section is pushed out by the one above it."""
    known = Known()
    known.learn(redeploy())
    known.learn(Transition(number, AGENT, f"t-{number}", "TASK_STATE_WORKING") for number in range(100, 200))
    known.learn(finding(number, f"rule-{number}", "a sentence that folds " * 9) for number in range(10, 60))
    text = text_of(known, height=24, width=80)
    assert text.count("\n") <= 24
    assert "Agents" in text and "t-199" in text
    assert "violation rule-59" in text


def test_what_the_state_says_is_not_said_twice() -> None:
    """A task that has ended is terminal, and one that waits is interrupted: that goes without saying."""
    known = Known()
    seen = [("t-1", "COMPLETED", "terminal"), ("t-2", "INPUT_REQUIRED", "interrupted"), ("t-3", "WORKING", "orphaned")]
    known.learn(
        CallSeen(1, 2, AGENT, "Agent", "1", task, f"TASK_STATE_{name}", "", REVISION_A, REVISION_A, disposition)
        for task, name, disposition in seen
    )
    text = text_of(known)
    assert "terminal" not in text and "interrupted" not in text
    assert "working  orphaned" in text


def test_findings_are_in_the_order_of_their_time() -> None:
    """Spans and log events are exported apart, so a finding may come after a newer one."""
    known = Known()
    known.learn([finding(2, "later", "x"), finding(1, "sooner", "x")])
    assert re.search("violation later.*violation sooner", text_of(known), re.DOTALL)


@pytest.mark.parametrize("width", [1, 20, 80])
def test_a_narrow_terminal_is_no_error(width: int) -> None:
    """However narrow it is, something is shown."""
    known = Known()
    known.learn(redeploy())
    assert text_of(known, height=1, width=width)


def test_square_brackets_are_text() -> None:
    """What looks like markup of rich in an id or a message is shown as it is."""
    known = Known()
    known.learn(
        [
            Finding(1, "violation", "a-rule", "annotate", AGENT, "[red]t[/]", "message of [/b] [link=x]"),
            CardSeen(1, AGENT, "[b]Agent[/b]", "[1]", REVISION_A, ""),
        ]
    )
    text = text_of(known)
    for each in ("[red]t[/]", "message of [/b] [link=x]", "[b]Agent[/b]", "[1]"):
        assert each in text


def test_a_card_that_cannot_be_fetched_is_told() -> None:
    """The reason stands beside the version that was known, and goes with the next fetch."""
    known = Known()
    known.learn([CardSeen(1, AGENT, "Agent", "1.0", REVISION_A, ""), CardSeen(2, AGENT, "", "", "", "ConnectError")])
    assert "1.0  ✗ ConnectError" in text_of(known)
    known.learn([CardSeen(3, AGENT, "Agent", "1.0", REVISION_A, "")])
    assert "ConnectError" not in text_of(known)


@pytest.mark.parametrize("at", [2**64 - 1, -(2**70), 10**40])
def test_a_time_that_no_clock_can_show(at: int) -> None:
    """A nonsensical time is no error."""
    assert re.fullmatch(r"(\d\d|--):(\d\d|--):(\d\d|--)", clock(at))


def test_a_task_of_a_whole_stream() -> None:
    """Spans of states and the call's own span add up to the path of the task."""
    known = Known()
    place = Place("agent.example", 443)
    known.learn(
        [
            StateLeft(1 * SECOND, 2 * SECOND, Place("agent.example"), "t", "TASK_STATE_SUBMITTED", REVISION_A),
            StateLeft(2 * SECOND, 3 * SECOND, Place("agent.example"), "t", "TASK_STATE_INPUT_REQUIRED", REVISION_A),
            CallSeen(
                1 * SECOND, 4 * SECOND, place, "Agent", "1", "t", "TASK_STATE_FAILED", "", REVISION_A, REVISION_B, ""
            ),
        ]
    )
    assert "submitted → input-required → failed" in text_of(known)
