# SPDX-License-Identifier: Apache-2.0
"""What is known after facts came, and what of them was news."""

from __future__ import annotations

from otel_a2a.cli.watch.facts import CardSeen, Fact, Finding, Place, Transition
from otel_a2a.cli.watch.known import Found, Known, RevisionChanged, StateChanged
from tests.watch.facts import (
    AGENT,
    COMPLETED,
    REVISION_A,
    REVISION_B,
    SECOND,
    START,
    SUBMITTED,
    WORKING,
    call,
    card,
    finding,
    left,
    redeploy,
)

INPUT_REQUIRED = "TASK_STATE_INPUT_REQUIRED"


def states(*facts: Fact) -> list[str]:
    """The states that were told of task t-1."""
    return [news.state for news in Known().learn(facts) if isinstance(news, StateChanged) and news.task_id == "t-1"]


def event(at: float, state: str) -> Transition:
    return Transition(START + int(at * SECOND), Place(AGENT.address), "t-1", state)


def test_states_are_told_once_each() -> None:
    """A span of a state and the call that saw it are one change; a poll that brings nothing new is none."""
    assert states(left(1, 2, SUBMITTED), call(1, 3, WORKING), call(4, 5, WORKING)) == [SUBMITTED, WORKING]


def test_a_task_that_goes_back_is_told() -> None:
    """A state that the task was in before is news again."""
    assert states(*redeploy()) == [SUBMITTED, WORKING, SUBMITTED, COMPLETED]


def test_a_stream_that_ends_late_does_not_take_a_task_back() -> None:
    """What a long call saw last is old where another call has seen the task leave that state meanwhile."""
    assert states(call(1, 2, WORKING), left(1, 5, WORKING), call(4, 5, COMPLETED), call(1, 9, WORKING)) == [
        WORKING,
        COMPLETED,
    ]


def test_a_task_that_came_back_within_a_call_is_in_that_state() -> None:
    """Working, a question, working again, all in one stream: the last state is the one that is shown."""
    facts: list[Fact] = [left(1, 2, WORKING), left(2, 3, INPUT_REQUIRED), call(1, 9, WORKING, INPUT_REQUIRED)]
    assert states(*facts) == [WORKING, INPUT_REQUIRED, WORKING]


def test_a_span_that_comes_late_changes_nothing() -> None:
    """The span of a state that was left before what is known began is the past."""
    assert states(call(4, 5, COMPLETED), left(1, 2, WORKING)) == [COMPLETED]


def test_events_are_believed_and_spans_only_add() -> None:
    """Where a program sends events of transitions, states come from those alone."""
    events = (event(1, SUBMITTED), event(2, WORKING), event(8, COMPLETED))
    assert states(*events, left(2, 8, WORKING), call(1, 9, WORKING)) == [SUBMITTED, WORKING, COMPLETED]


def test_events_after_the_spans_of_the_same_changes_are_no_news() -> None:
    """Spans and events are exported apart: whichever comes second tells only what the first did not."""
    known = Known()
    known.learn([left(1, 2, SUBMITTED), call(1, 3, WORKING)])
    news = known.learn([event(1, SUBMITTED), event(2, WORKING), event(4, COMPLETED)])
    assert [(each.previous, each.state) for each in news if isinstance(each, StateChanged)] == [(WORKING, COMPLETED)]
    assert known.tasks[AGENT.address, "t-1"].states == [SUBMITTED, WORKING, COMPLETED]


def test_revisions_are_told_when_they_change() -> None:
    """The first fetch is news, the same card again is none, another one is; a failed fetch keeps what was known."""
    known = Known()
    failed = CardSeen(START, AGENT, "", "", "", "503")
    facts = [card(0, "1.0", REVISION_A), card(1, "1.0", REVISION_A), failed, card(2, "1.1", REVISION_B)]
    news = [each for each in known.learn(facts) if isinstance(each, RevisionChanged)]
    assert [(each.version, each.previous, each.revision) for each in news] == [
        ("1.0", "", REVISION_A),
        ("1.1", REVISION_A, REVISION_B),
    ]
    assert known.agents[AGENT].changes == 1


def test_a_finding_is_told_once() -> None:
    """Its log event and its span are the same finding; the same rule at another time is another one."""
    known = Known()
    news = known.learn([finding(1, "a-rule", "x"), finding(1, "a-rule", "x"), finding(2, "a-rule", "x")])
    assert [isinstance(each, Found) for each in news] == [True, True]
    assert known.counts == {"violation": 2}
    assert known.tasks[AGENT.address, "t-1"].findings == {"violation": 2}


def test_an_agent_is_known_by_its_name() -> None:
    """Also where only the host is told, unless two agents are there."""
    known = Known()
    known.learn([card(0, "1.0", REVISION_A)])
    assert known.name_of(Place(AGENT.address)) == known.name_of(AGENT) == "Payments"
    assert known.name_of(Place(AGENT.address, 8080)) == f"{AGENT.address}:8080"
    known.learn([CardSeen(1, Place(AGENT.address, 8080), "Other", "", REVISION_B, "")])
    assert known.name_of(Place(AGENT.address)) == AGENT.address


def test_memory_is_bounded_and_the_newest_stays() -> None:
    """However much comes, so many tasks, agents, findings and states are kept, and counts go on."""
    known = Known(tasks=10, agents=5, findings=7)
    for number in range(1000):
        place = Place(f"agent-{number}.example", 443)
        known.learn(
            [
                CardSeen(number, place, "Agent", "", f"sha256:{number}", ""),
                Finding(number, "violation", "a-rule", "annotate", place, f"t-{number}", ""),
                Transition(number, AGENT, "busy", f"STATE_{number}"),
                left(number, number + 1, f"STATE_{number}", "busy"),
            ]
        )
    assert (len(known.tasks), len(known.agents), len(known.findings)) == (10, 5, 7)
    assert list(known.agents)[-1] == Place("agent-999.example", 443)
    assert known.findings[-1].finding.task_id == "t-999"
    assert known.counts == {"violation": 1000}
    busy = known.tasks[AGENT.address, "busy"]
    assert len(busy.states) <= 6 and len(busy.left) <= 6
    known.learn(finding(number, "a-rule", "x") for number in range(10_000))
    assert len(known._remembered) < 5000
