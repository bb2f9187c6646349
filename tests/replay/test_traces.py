# SPDX-License-Identifier: Apache-2.0
"""What recorded spans carry is judged; what they do not show accuses nobody, and is said."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from otel_a2a import semconv
from otel_a2a.cli import main
from otel_a2a.replay.profiles import settings_for
from otel_a2a.replay.script import ScriptSettings
from otel_a2a.replay.spans import RecordedSpan, read
from otel_a2a.replay.traces import DECIDED, UNDECIDED, Recording, play
from otel_a2a_policies import RULES

TRACES = Path(__file__).parents[2] / "examples" / "replay" / "traces"
SEND, GET, CANCEL = "SendMessage", "GetTask", "CancelTask"
_ids = itertools.count(1)


def call(
    name: str,
    state: str = "",
    *,
    at: float,
    took: float = 0.5,
    origin: str = "",
    also: dict[str, Any] | None = None,
    **of_the_span: Any,
) -> RecordedSpan:
    """The span of a call about task t-1 that began at second ``at``."""
    attributes = {
        semconv.A2A_METHOD_NAME: name,
        semconv.SERVER_ADDRESS: "agent.example",
        semconv.SERVER_PORT: 443,
        semconv.A2A_PROTOCOL_VERSION: "1.0",
        semconv.A2A_TASK_ID: "t-1",
        semconv.GEN_AI_CONVERSATION_ID: "c-1",
    }
    if state:
        attributes[semconv.A2A_TASK_STATE] = f"TASK_STATE_{state}"
    start = int(at * 1e9)
    span_id = f"{next(_ids):016x}"
    return RecordedSpan(
        name=name,
        trace_id=of_the_span.pop("trace_id", "0a" * 16),
        span_id=span_id,
        start=start,
        end=start + int(took * 1e9),
        attributes=attributes | (also or {}),
        is_call=True,
        links=(origin,) if origin else (),
        **of_the_span,
    )


def over_http(span: RecordedSpan, url: str, method: str = "POST") -> tuple[RecordedSpan, RecordedSpan]:
    """A call, and the span of its HTTP request beneath it."""
    attributes = {semconv.URL_FULL: url, "http.request.method": method}
    return span, RecordedSpan(
        method, span.trace_id, f"{next(_ids):016x}", span.start, span.end, attributes, True, (), span.span_id
    )


def found(*spans: RecordedSpan, **settings: Any) -> list[tuple[str, str]]:
    """Rule and level of each finding."""
    recording = Recording("r", list(spans), settings=ScriptSettings.model_validate(settings))
    chosen = settings_for(recording, "default", RULES)
    played = play(recording, chosen.settings, RULES)
    assert played.faults == []
    return [(each.finding.rule, each.finding.level.value) for each in played.found]


def rules(*spans: RecordedSpan, **settings: Any) -> set[str]:
    return {rule for rule, _ in found(*spans, **settings)}


ERROR: dict[str, Any] = {semconv.ERROR_TYPE: "-32001"}
FIRST = call(SEND, "WORKING", at=0)
LATER = call(GET, "COMPLETED", at=400, also={semconv.A2A_TASK_ID: "t-2"})
"""A call about something else, by which time has passed."""
INCIDENTS: dict[str, tuple[list[RecordedSpan], dict[str, Any]]] = {
    "backward-transition": ([FIRST, call(GET, "SUBMITTED", at=5)], {}),
    "terminal-state-changed": ([call(SEND, "COMPLETED", at=0), call(GET, "FAILED", at=5)], {}),
    "task-lost": ([FIRST, call(GET, at=5, also=ERROR)], {}),
    "unknown-state": ([FIRST, call(GET, at=5, also={semconv.A2A_TASK_STATE: "TASK_STATE_PONDERING"})], {}),
    "terminal-task-reused": (
        [call(SEND, "COMPLETED", at=0), call(SEND, "COMPLETED", at=5, origin=FIRST.span_id), FIRST],
        {},
    ),
    "poisoned-task-used": ([FIRST, call(GET, "SUBMITTED", at=5), call(SEND, "WORKING", at=9)], {}),
    "cancel-unconfirmed": ([FIRST, call(CANCEL, at=5, also={semconv.ERROR_TYPE: "500"}), LATER], {}),
    "interrupted-unanswered": ([call(SEND, "INPUT_REQUIRED", at=0), LATER], {"deadline_s": 60}),
    "task-orphaned": ([FIRST, call(CANCEL, at=5, also=ERROR)], {}),
    "task-stuck": ([FIRST, call(GET, "WORKING", at=100), LATER], {"deadline_s": 60}),
    "terminal-state-ignored": ([call(SEND, "COMPLETED", at=0), *(call(GET, "COMPLETED", at=n) for n in (2, 3, 4))], {}),
    "message-resent-after-regression": (
        [
            call(SEND, "WORKING", at=0, also={semconv.A2A_MESSAGE_ID: "m-1"}),
            call(GET, "SUBMITTED", at=5),
            call(SEND, "WORKING", at=9, also={semconv.A2A_MESSAGE_ID: "m-1"}),
        ],
        {},
    ),
}


def every_rule() -> Iterator[str]:
    yield from DECIDED
    for names in UNDECIDED.values():
        yield from names


def test_of_each_rule_it_is_said_whether_spans_decide_it() -> None:
    """Once, and there is no name that is no rule's."""
    assert sorted(every_rule()) == sorted(rule.name for rule in RULES)


@pytest.mark.parametrize("rule", sorted(DECIDED))
def test_a_rule_that_spans_decide_fires(rule: str) -> None:
    """Each of them on a trace that shows it."""
    spans, settings = INCIDENTS[rule]
    assert rule in rules(*spans, **settings)


LIVES = {
    "a question and its answer": [
        call(SEND, "INPUT_REQUIRED", at=0),
        call(SEND, "SUBMITTED", at=5),
        call(GET, "WORKING", at=6),
        call(GET, "COMPLETED", at=7),
        call(GET, "COMPLETED", at=8),
    ],
    "polls that overtake each other": [
        call(SEND, "SUBMITTED", at=0),
        call(GET, "WORKING", at=2, took=1),
        call(GET, "SUBMITTED", at=1, took=5),
        call(GET, "COMPLETED", at=8),
    ],
    "a look-up that a proxy failed": [call(SEND, "WORKING", at=0), call(GET, at=5, also={semconv.ERROR_TYPE: "503"})],
    "a task that ended before the recording": [call(GET, at=0, also=ERROR), call(GET, at=5, also=ERROR)],
    "a cancel": [call(SEND, "WORKING", at=0), call(CANCEL, "CANCELED", at=5), call(GET, "CANCELED", at=6)],
    "a broken stream, read again": [
        call("SendStreamingMessage", "WORKING", at=0, also={semconv.ERROR_TYPE: "RemoteProtocolError"}),
        call("SubscribeToTask", "COMPLETED", at=5),
    ],
}


@pytest.mark.parametrize("life", LIVES)
def test_a_legal_life_accuses_nobody(life: str) -> None:
    """As spans show it."""
    assert [level for _, level in found(*LIVES[life]) if level != "information"] == []


def life(*states: str, at: float, method: str = GET, **of_the_spans: Any) -> list[RecordedSpan]:
    """Calls that show the states of one task, one a second."""
    return [call(method, state, at=at + number, **of_the_spans) for number, state in enumerate(states)]


def named(name: str) -> dict[str, Any]:
    return {semconv.GEN_AI_AGENT_NAME: name}


def test_agents_at_one_host_are_told_apart_by_their_names() -> None:
    """Behind a gateway two agents may use the same ids; a call that does not name its agent is that task's."""
    first = [FIRST, call(GET, "COMPLETED", at=2, also=named("Pay"))]
    second = life("SUBMITTED", "WORKING", at=10, also={semconv.A2A_TASK_ID: "t-1"} | named("Ship"))
    assert rules(*first, *second) == set()
    assert rules(*first, *second, call(GET, "SUBMITTED", at=20, also=named("Ship"))) == {"backward-transition"}


@pytest.mark.parametrize("path", ["/{agent}/a2a", "/{agent}/v1/tasks/t-1"])
def test_agents_at_one_host_are_told_apart_by_their_urls(path: str) -> None:
    """The spans of HTTP beneath the calls have them, over either binding."""
    spans: list[RecordedSpan] = []
    for number, agent in enumerate(("pay", "ship")):
        url = "https://agent.example" + path.format(agent=agent)
        for span in life("SUBMITTED", "WORKING", "COMPLETED", at=number * 10):
            spans += over_http(span, url, "GET" if "tasks" in path else "POST")
    assert rules(*spans) == set()
    url = "https://agent.example" + path.format(agent="ship")
    back = over_http(call(GET, "WORKING", at=30), url, "GET" if "tasks" in path else "POST")
    assert rules(*spans, *back) == {"backward-transition", "terminal-state-changed"}


def test_a_host_with_one_agent_is_one_agent() -> None:
    """Whether or not a call names it, and a span of HTTP is beneath it."""
    told = over_http(call(GET, "COMPLETED", at=3, also=named("Pay")), "https://agent.example/a2a")
    assert rules(FIRST, *told, call(GET, "WORKING", at=6)) == {"backward-transition", "terminal-state-changed"}


def test_processes_are_judged_each_for_itself() -> None:
    """Between two there is no order but that of their clocks, and each knows only what it was told."""
    fast = life("SUBMITTED", "WORKING", "COMPLETED", at=0, process="one")
    slow = life("SUBMITTED", "WORKING", "COMPLETED", at=1.2, process="two")
    assert rules(*fast, *slow) == set()
    assert rules(*fast, *slow, call(GET, "WORKING", at=9, process="two")) == {
        "backward-transition",
        "terminal-state-changed",
    }


def test_several_users_read_an_ended_task() -> None:
    """Each in a trace of the application's own; a loop is in one."""
    users = [call(GET, "COMPLETED", at=n, trace_id=f"{n:032x}", parent="0f" * 8) for n in range(1, 6)]
    assert rules(call(SEND, "COMPLETED", at=0), *users) == set()
    loop = [call(GET, "COMPLETED", at=n, parent="0f" * 8) for n in range(1, 6)]
    assert rules(call(SEND, "COMPLETED", at=0), *loop) == {"terminal-state-ignored"}


def test_the_agents_own_spans_are_passed_over() -> None:
    """A trace that crosses the process shows the same call twice."""
    served = RecordedSpan(GET, "t", "s", 0, 1, call(GET, "SUBMITTED", at=5).attributes, False)
    assert rules(FIRST, served) == set()


@pytest.mark.parametrize("name", ["redeployed-agent.otlp.jsonl", "redeployed-agent.jaeger.json"])
def test_the_demos_trace_shows_what_happened(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """From OTLP and from Jaeger alike: the violations, what had been reported, and what spans do not show."""
    assert main(["replay", "--format", "json", str(TRACES / name)]) == 0
    (told,) = json.loads(capsys.readouterr().out)["scripts"]
    assert [each["rule"] for each in told["findings"]] == ["backward-transition", "poisoned-task-used"]
    spans = {span.span_id: span.name for span in read(TRACES / name, (TRACES / name).read_bytes()) or []}
    assert [spans[each["span"]] for each in told["findings"]] == ["GetTask", "SendMessage"]
    assert set(told["reported"]) == {
        "violation backward-transition",
        "violation continued-across-revisions",
        "violation message-resent-after-regression",
    }
    assert "skill-not-advertised" in told["undecided"]["what a card says"]


def test_a_trace_is_told_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    """With the span to look for, what the application had reported, and the rules that were not judged."""
    assert main(["replay", str(TRACES / "redeployed-agent.jaeger.json")]) == 0
    text = capsys.readouterr().out
    assert "24 spans, 3 of them A2A calls" in text
    assert "violation    backward-transition" in text
    assert "the application itself reported  violation backward-transition\n" in text
    assert "artifacts: artifact-after-seal" in text


def test_scripts_and_traces_go_together(capsys: pytest.CaptureFixture[str]) -> None:
    """``--check`` counts the scripts alone: nothing is expected of a trace."""
    scripts = TRACES.parent
    assert main(["replay", "--check", str(scripts), str(TRACES)]) == 0
    assert "2 not counted" in capsys.readouterr().out


def test_spans_without_a_call_give_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A trace of something else is no error."""
    (tmp_path / "other.json").write_text('{"resourceSpans": []}')
    assert main(["replay", str(tmp_path)]) == 0
    assert "nothing found" in capsys.readouterr().out


def test_a_rule_that_is_not_decided_says_nothing() -> None:
    """A continuation that another task answered looks as if its client had made that task's id up."""
    named = call(SEND, "WORKING", at=5, origin=FIRST.span_id, also={semconv.A2A_TASK_ID: "t-2"})
    assert rules(FIRST, named, call(GET, "COMPLETED", at=9)) == set()
