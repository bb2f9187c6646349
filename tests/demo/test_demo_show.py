# SPDX-License-Identifier: Apache-2.0
"""What the demo writes for people."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from otel_a2a import semconv
from otel_a2a.cli.demo.result import FindingSeen, Result
from otel_a2a.cli.demo.scenario import Outcome
from otel_a2a.cli.demo.show import raised, shortened, show, without_tracebacks
from otel_a2a.cli.otlp.records import Span

REVISION = "sha256:" + "0123456789abcdef" * 4
CRASH = (
    "< task t-1 is submitted",
    "Traceback (most recent call last):",
    '  File "client.py", line 1, in run',
    "    raise ValueError",
    "ValueError: first",
    "",
    "During handling of the above exception, another exception occurred:",
    "",
    "Traceback (most recent call last):",
    '  File "client.py", line 2, in run',
    "    await send()",
    "    ^^^^^^^^^^^^",
    f"otel_a2a.errors.TaskResurrectionError: task t-1 of {REVISION}",
)


def span(name: str, span_id: str, parent_id: str = "", attributes: dict[str, object] | None = None) -> Span:
    return Span(name, semconv.SCOPE, 3, "t", span_id, parent_id, 0, 1_000_000, attributes or {}, False, "")


def finding(phase: str = "request", action: str = "raise") -> FindingSeen:
    return FindingSeen("message-resent-after-regression", "violation", action, phase, "t-1", "sent again", ("t", "1"))


def text_of(result: Result, outcome: Outcome, spans: list[Span], *, sampled: bool = True) -> str:
    console = Console(file=io.StringIO(), width=100)
    show(console, result, outcome, spans, sampled=sampled)
    assert isinstance(console.file, io.StringIO)
    return " ".join(console.file.getvalue().replace("│", " ").split())


def test_a_traceback_becomes_its_last_line() -> None:
    """People see what was raised, not where; ordinary lines stay, indented ones too."""
    lines = list(without_tracebacks([*CRASH, "", "  bye"]))
    assert lines == [CRASH[0], CRASH[-1], "", "  bye"]


def test_a_traceback_at_the_end_keeps_its_exception() -> None:
    """The exception that ends the application is the last line shown."""
    assert list(without_tracebacks(CRASH)) == [CRASH[0], CRASH[-1]]


def test_revisions_are_shortened_to_what_people_compare() -> None:
    """Only whole revision ids are cut."""
    assert shortened(f"from {REVISION} to {REVISION}.") == "from sha256:0123456789ab to sha256:0123456789ab."
    assert shortened("sha256:0123456789abcd") == "sha256:0123456789abcd"


def test_the_exception_is_named_by_its_class() -> None:
    """The last exception in the output counts; where there is none, it is called an error."""
    assert raised(Outcome((), CRASH, 1)) == "TaskResurrectionError"
    assert raised(Outcome((), ("done",), 0)) == "error"


@pytest.mark.parametrize(
    ("result", "sentences"),
    [
        (Result("annotate", 2, 0, (finding(action="annotate"),), {}), ["charged twice", "Nobody got an error"]),
        (Result("log", 2, 0, (finding(action="log"),), {}), ["charged twice", "the logger otel_a2a.policy"]),
        (
            Result("raise", 1, 1, (finding(),), {}),
            ["charged once", "before a byte left", "got a TaskResurrectionError"],
        ),
        (Result("raise", 1, 0, (finding("response"),), {}), ["charged once", "from its look-up"]),
        (Result("annotate", 2, 0, (), {}), ["charged twice", "otel-a2a said nothing", "otel-a2a status"]),
    ],
)
def test_the_verdict_says_what_happened(result: Result, sentences: list[str]) -> None:
    """How often the charge ran, and what otel-a2a did about it, in plain words."""
    text = text_of(result, Outcome((), CRASH, 1), [])
    assert [sentence for sentence in sentences if sentence not in text] == []


def test_the_next_step_is_the_other_strictness() -> None:
    """A demo that watched offers to stop, and the reverse."""
    outcome = Outcome((), (), 0)
    assert "otel-a2a demo --strictness raise" in text_of(Result("annotate", 2, 0, (), {}), outcome, [])
    assert (
        "--strictness raise" not in text_of(Result("raise", 1, 1, (finding(),), {}), outcome, []).split("Try next")[1]
    )


def test_the_trace_shows_calls_with_their_facts_and_violations_with_their_message() -> None:
    """Task, state, changed revision and message are in the tree."""
    card = {
        semconv.CARD_REVISION_ID: REVISION,
        semconv.CARD_REVISION_CHANGED: True,
        semconv.CARD_REVISION_PREVIOUS_ID: "sha256:" + "f" * 64,
    }
    call = {semconv.A2A_TASK_ID: "t-1", semconv.A2A_TASK_STATE: "TASK_STATE_SUBMITTED"}
    violation = {semconv.FINDING_LEVEL: "violation", semconv.FINDING_MESSAGE: "task t-1 went back"}
    spans = [
        span("GetAgentCard", "1", attributes=dict(card)),
        span("GetTask", "2", attributes=dict(call)),
        span("violation backward-transition", "3", "2", dict(violation)),
    ]
    text = text_of(Result("annotate", 2, 0, (finding(),), {}), Outcome((), (), 0), spans)
    assert "sha256:0123456789ab was sha256:ffffffffffff" in text
    assert "GetTask 1 ms t-1 submitted" in text
    assert "✖ violation backward-transition" in text and "task t-1 went back" in text


def test_without_a_trace_the_findings_are_listed() -> None:
    """With an unsampled trace the findings, which came as log events, take its place."""
    result = Result("annotate", 2, 0, (finding(action="annotate"),), {})
    text = text_of(result, Outcome((), (), 0), [], sampled=False)
    assert "not sampled" in text and "✖ violation message-resent-after-regression" in text and "sent again" in text
