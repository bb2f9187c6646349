# SPDX-License-Identifier: Apache-2.0
"""Beside the spans that google-adk makes by itself, and those of OpenInference's instrumentation of it.

Both need the global provider, so each test runs its program in a process of its own. google-adk asks real agents there.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from otel_a2a.semconv import SCOPE
from tests.neighbours.processes import run
from tests.support.agents import Recording, ScriptedAgent, task
from tests.support.sdk_agent import SdkAgent
from tests.support.servers import serve

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="google-adk needs Python 3.11")

ADK, OPENINFERENCE, SDK = "gcp.vertex.agent", "openinference.instrumentation.google_adk", "a2a-python-sdk"
STEPS = (
    *("long", "+ours", "long", "+theirs", "long", "-ours", "long", "-theirs", "long"),
    *("+theirs", "+ours", "long", "-theirs", "long", "-ours", "long"),
    *("+ours", "+theirs", "-theirs", "long", "-ours"),
    *("+theirs", "+ours", "-ours", "long", "-theirs"),
)
"""Either comes first and either leaves first."""
CALLS = 7
"""How many messages a long life sends."""


@dataclass(frozen=True, slots=True)
class Life:
    """What was seen of a life, and by whom: ``present``."""

    present: frozenset[str]
    seen: dict[str, Any]
    parents: list[list[str]]
    """The ``traceparent`` headers of each call that reached the agent."""

    def spans(self, *scopes: str) -> list[dict[str, Any]]:
        return [span for span in self.seen["spans"] if span["scope"] in scopes]

    def calls(self) -> list[dict[str, Any]]:
        """Our spans of calls."""
        return [span for span in self.spans(SCOPE) if span["kind"] == "CLIENT"]

    def of_others(self) -> dict[str, Any]:
        """All that must be the same without us. What is read of a turn that is given up differs by itself, and so does
        how often OpenInference's instrumentation cannot detach its contexts where a turn is not read to its end."""
        return {
            "spans": Counter((span["scope"], span["name"], span["status"]) for span in self.spans(ADK, OPENINFERENCE)),
            "of the SDK": {span["name"] for span in self.spans(SDK)},
            "current": set(self.seen["current"]),
            "is_left_clean": self.seen["is_left_clean"],
            "errors": set(self.seen["errors"]),
        }


@pytest.fixture(scope="module")
def lives() -> list[Life]:
    """The lives of STEPS, in order."""
    agent = Recording(SdkAgent())
    with serve(agent) as base:
        seen = iter(run("adk", base, *STEPS))
    lives: list[Life] = []
    present: set[str] = set()
    for step in STEPS:
        if step == "long":
            first = CALLS * len(lives)
            lives.append(Life(frozenset(present), next(seen), agent.parents[first : first + CALLS]))
        elif step.startswith("+"):
            present.add(step[1:])
        else:
            present.remove(step[1:])
    assert len(agent.parents) == CALLS * len(lives)
    return lives


def test_theirs_are_as_without_us(lives: list[Life]) -> None:
    """Their spans, what the application finds current at each event and after, and what is logged."""
    without = {life.present: life.of_others() for life in lives if "ours" not in life.present}
    for life in lives:
        assert life.of_others() == without[life.present - {"ours"}]
    assert without[frozenset()]["errors"] == set()
    assert without[frozenset()]["current"] == {""}


def test_each_call_has_one_span_within_its_agents(lives: list[Life]) -> None:
    """Also where it is not read to the end, given up, or one of two at once; a clean life has no finding."""
    agents = {"early": 2, "left": 2, "lives": 4, "right": 2, "slow": 2}
    for life in (life for life in lives if "ours" in life.present):
        assert Counter(span["name"] for span in life.calls()) == {"GetAgentCard": 5, "SendStreamingMessage": CALLS}
        spans = {span["id"]: span for span in life.seen["spans"]}
        parents = [spans[span["parent"]] for span in life.calls()]
        assert {span["scope"] for span in parents} == {ADK}
        assert Counter(span["name"] for span in parents) == {f"invoke_agent {name}": n for name, n in agents.items()}
        assert life.seen["findings"] == []


def test_one_traceparent_which_is_of_our_span(lives: list[Life]) -> None:
    """With each call, and none where we are not there: neither of them sends one."""
    for life in lives:
        if "ours" in life.present:
            sent = [int(parent.split("-")[2], 16) for (parent,) in life.parents]
            assert sorted(sent) == sorted(s["id"] for s in life.calls() if s["name"] == "SendStreamingMessage")
        else:
            assert life.parents == [[]] * CALLS


def test_who_has_left_makes_no_spans(lives: list[Life]) -> None:
    """And who is there does, whoever came or left first."""
    for life in lives:
        assert bool(life.spans(SCOPE)) == ("ours" in life.present)
        assert bool(life.spans(OPENINFERENCE)) == ("theirs" in life.present)
        assert life.spans(ADK) and life.spans(SDK)


def test_without_the_spans_of_the_sdk() -> None:
    """Where a setting retires them, those of google-adk and OpenInference stay, and ours lie within them."""
    with serve(SdkAgent()) as base:
        (seen,) = run("adk", base, "+retiring", "+theirs", "short")
    life = Life(frozenset({"ours", "theirs"}), seen, [])
    assert life.spans(SDK) == []
    assert life.spans(OPENINFERENCE)
    (agents,) = life.spans(ADK)
    assert [(span["name"], span["parent"]) for span in life.calls()] == [
        ("GetAgentCard", agents["id"]),
        ("SendStreamingMessage", agents["id"]),
    ]


def test_violations_are_found() -> None:
    """The same beside google-adk alone and beside OpenInference, whoever came first."""
    states = ("SUBMITTED", "COMPLETED", "WORKING")
    agent = ScriptedAgent(lambda *_: [{"task": task("t-1", state)} for state in states])
    with serve(agent.app) as base:
        seen = run(
            *("adk", base, "+ours", "short", "-ours"),
            *("+ours", "+theirs", "short", "-ours", "-theirs"),
            *("+theirs", "+ours", "short"),
        )
    found = [[tuple(finding) for finding in life["findings"]] for life in seen]
    assert found == [[("backward-transition", "violation"), ("terminal-state-changed", "violation")]] * 3
