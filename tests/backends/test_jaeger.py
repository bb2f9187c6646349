# SPDX-License-Identifier: Apache-2.0
"""Findings in a real Jaeger: what the documentation tells people to type brings what it says, in the right place."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from otel_a2a import semconv
from otel_a2a_policies import RULES
from tests.backends.documents import JAEGER_README, README, SERVICE, Row, rows
from tests.backends.incidents import INCIDENTS, Incident
from tests.backends.jaeger import Jaeger, Search, Span, Trace, tags_of
from tests.backends.story import STUCK, TOLD, Story

DEMO_TASK = "t-dc38e40c"
REGRESSION = "violation backward-transition"
A_REVISION = "sha256:…"
"""Stands in the documentation for a revision."""
EVERYTHING = Search(SERVICE)
SEARCHES = [row for row in rows(JAEGER_README, "## Searches") if row.search != EVERYTHING]
OF_INCIDENTS = {row.title: row for row in rows(README, "### The incidents of the seeds")}


def regression(jaeger: Jaeger) -> tuple[Trace, Span]:
    """The demo's trace in which its task went back, and the span that says so."""
    (trace,) = jaeger.search(Search(SERVICE, REGRESSION))
    (span,) = trace.named(REGRESSION)
    return trace, span


def linked(jaeger: Jaeger, trace_id: str, span_id: str) -> Span:
    """The span that a reference leads to."""
    trace = jaeger.trace(trace_id)
    assert trace is not None
    (span,) = (each for each in trace.spans if each.id == span_id)
    return span


def typed(row: Row, jaeger: Jaeger) -> Search:
    """The search of a row, with a revision of the demo's card where one is to be put in."""
    if A_REVISION not in row.search.tags:
        return row.search
    name, _, _ = row.search.tags.partition("=")
    return replace(row.search, tags=f"{name}={regression(jaeger)[1].tags[name]}")


def answers(span: Span, search: Search) -> bool:
    """Whether a span is what was searched for."""
    shown = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in span.tags.items()}
    return search.operation in ("", span.name) and tags_of(search.tags).items() <= shown.items()


@pytest.mark.parametrize("row", SEARCHES, ids=lambda row: row.title)
def test_each_search_of_the_documentation_brings_something(row: Row, jaeger: Jaeger, story: Story) -> None:
    """As it is typed there, save for revisions, which differ from run to run; each trace has a span of that kind."""
    search = typed(row, jaeger)
    found = jaeger.search(search)
    assert found
    assert all(any(answers(span, search) for span in trace.spans) for trace in found)


def test_the_searches_of_the_incidents_are_all_there() -> None:
    """Seven, and each by the number of its seed."""
    assert sorted(OF_INCIDENTS) == sorted([*(each.seed for each in INCIDENTS), "002"])


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda each: each.seed)
def test_each_incident_is_found_by_its_search_alone(jaeger: Jaeger, story: Story, incident: Incident) -> None:
    """The search of the README brings the incident's trace, and neither another's nor that of the right way."""
    found = jaeger.search(OF_INCIDENTS[incident.seed].search)
    assert {trace.id for trace in found} == story.traces[incident.seed]
    (trace,) = found
    assert [span.tags[semconv.A2A_TASK_ID] for span in trace.spans if span.name.endswith(f" {incident.rule}")] == [
        incident.task_id
    ]


def test_the_incident_of_seed_002_is_found(jaeger: Jaeger, story: Story) -> None:
    """It is the demo's: the message was sent again, and both executions are of one task."""
    (trace,) = jaeger.search(OF_INCIDENTS["002"].search)
    (span,) = trace.named("violation message-resent-after-regression")
    assert span.tags[semconv.A2A_TASK_ID] == DEMO_TASK


@pytest.mark.parametrize(
    "search",
    [
        Search(SERVICE, REGRESSION),
        Search(SERVICE, tags=f"{semconv.SECURITY_RULE_NAME}=backward-transition"),
        Search(SERVICE, tags=f"{semconv.FINDING_LEVEL}=violation"),
        Search(SERVICE, tags=f"{semconv.A2A_TASK_ID}={DEMO_TASK}"),
    ],
    ids=["operation", "rule", "level", "task"],
)
def test_a_violation_is_found_in_four_ways(jaeger: Jaeger, story: Story, search: Search) -> None:
    """By operation, rule, level and task: each brings the same trace."""
    trace, _ = regression(jaeger)
    assert trace.id in {found.id for found in jaeger.search(search)}


def test_a_violation_is_below_the_call_that_shows_it(jaeger: Jaeger, story: Story) -> None:
    """A red span without duration, child of the call, which says the same of itself; Jaeger complains of nothing."""
    trace, span = regression(jaeger)
    call = trace.parent_of(span)
    assert (call.name, call.service, call.tags["span.kind"]) == ("GetTask", SERVICE, "client")
    assert call.start <= span.start <= call.start + call.duration
    assert (span.service, span.duration, span.tags["span.kind"]) == (SERVICE, 0, "internal")
    assert (span.tags["error"], span.tags["otel.status_code"]) == (True, "ERROR")
    for each in (span, call):
        assert each.tags[semconv.SECURITY_RULE_NAME] == "backward-transition"
        assert each.tags[semconv.FINDING_LEVEL] == "violation"
        assert each.tags[semconv.A2A_TASK_ID] == DEMO_TASK
    assert [each.warnings for each in trace.spans if each.warnings] == []


def test_a_violation_tells_the_whole_story(jaeger: Jaeger, story: Story) -> None:
    """One click on it says who, which task, from which state to which, and under which two cards."""
    _, span = regression(jaeger)
    assert span.tags[semconv.SERVER_ADDRESS] == "127.0.0.1"
    assert span.tags[semconv.TASK_PREVIOUS_STATE] == "TASK_STATE_WORKING"
    assert span.tags[semconv.A2A_TASK_STATE] == "TASK_STATE_SUBMITTED"
    made_under, in_force = span.tags[semconv.TASK_CARD_REVISION_ID], span.tags[semconv.CARD_REVISION_ID]
    assert made_under != in_force
    assert DEMO_TASK in span.tags[semconv.FINDING_MESSAGE]
    changes = jaeger.search(Search(SERVICE, "GetAgentCard", f"{semconv.CARD_REVISION_ID}={in_force}"))
    changed = [each for trace in changes for each in trace.spans if each.tags.get(semconv.CARD_REVISION_CHANGED)]
    assert [each.tags[semconv.CARD_REVISION_PREVIOUS_ID] for each in changed] == [made_under]
    assert changed[0].start < span.start
    since = span.tags[semconv.CARD_REVISION_SINCE]
    seconds = datetime.fromisoformat(since.replace("Z", "+00:00")).timestamp()
    assert abs(seconds - (changed[0].start + changed[0].duration) / 1e6) < 1
    for part in (made_under[:19], in_force[:19], since[:16]):
        assert part in span.tags[semconv.FINDING_MESSAGE], "from which card to which, and when"


def test_a_violation_leads_to_what_happened_before(jaeger: Jaeger, story: Story) -> None:
    """One click further: its references are the fetch that brought the other card, and the call that made the task."""
    for rule in ("backward-transition", "message-resent-after-regression", "continued-across-revisions"):
        (trace,) = jaeger.search(Search(SERVICE, f"violation {rule}"))
        (span,) = trace.named(f"violation {rule}")
        fetch, origin = [linked(jaeger, *each) for each in span.links]
        assert fetch.name == "GetAgentCard" and fetch.tags[semconv.CARD_REVISION_CHANGED] is True
        assert fetch.tags[semconv.CARD_REVISION_ID] == span.tags[semconv.CARD_REVISION_ID]
        assert origin.name == "SendStreamingMessage" and origin.tags[semconv.A2A_TASK_ID] == DEMO_TASK


def test_what_the_demo_says_is_what_jaeger_has(jaeger: Jaeger, story: Story) -> None:
    """Each finding of the demo is one span of that name, about that task."""
    said = sorted(f"{each['level']} {each['rule']}" for each in story.demo["findings"])
    found = jaeger.search(Search(SERVICE, tags=f"{semconv.A2A_TASK_ID}={DEMO_TASK}"))
    spans = [span.name for trace in found for span in trace.spans]
    assert sorted(name for name in spans if name.startswith(semconv.SPAN_FINDING_PREFIXES)) == said


def test_a_violation_by_deadline_is_below_a_call_that_has_ended(jaeger: Jaeger, story: Story) -> None:
    """A task that is stuck: the span is a child of the call that made it, in that trace, after the trace had ended."""
    (trace,) = jaeger.search(Search(SERVICE, "violation task-stuck", f"{semconv.A2A_TASK_ID}={STUCK}"))
    (span,) = trace.named("violation task-stuck")
    (request,) = trace.named("POST /orders")
    call = trace.parent_of(span)
    assert call.name == "SendMessage"
    assert trace.parent_of(call) == request
    assert span.start > request.start + request.duration
    (warning,) = [text for each in trace.spans for text in each.warnings]
    assert warning.startswith("clock skew adjustment disabled"), "told, and not moved"


def test_a_violation_by_webhook_is_below_the_request_that_told_it(jaeger: Jaeger, story: Story) -> None:
    """The second end of a task, told when the task's own trace was long over."""
    (trace,) = jaeger.search(Search(SERVICE, "violation terminal-state-changed", f"{semconv.A2A_TASK_ID}={TOLD}"))
    (span,) = trace.named("violation terminal-state-changed")
    assert trace.parent_of(span).name == "POST /hook"
    assert trace.named("POST /orders") == []
    of_task = jaeger.search(Search(SERVICE, tags=f"{semconv.A2A_TASK_ID}={TOLD}"))
    assert {"POST /hook", "POST /orders"} <= {each.name for found in of_task for each in found.spans}


def test_the_list_of_operations_stays_short(jaeger: Jaeger, story: Story) -> None:
    """Names of findings are those of the rules; no id is in any name of ours."""
    names = jaeger.operations(SERVICE)
    found = {name.partition(" ")[2] for name in names if name.startswith(semconv.SPAN_FINDING_PREFIXES)}
    assert found <= {rule.name for rule in RULES}
    assert {incident.rule for incident in INCIDENTS} <= found
    assert not [name for name in names if DEMO_TASK in name or "sha256" in name]


def test_the_tag_error_is_misread_by_this_jaeger(jaeger: Jaeger, story: Story) -> None:
    """As our page on Jaeger says: it finds no red span. A newer Jaeger that does needs no such line any more."""
    found = {trace.id for trace in jaeger.search(Search(SERVICE, tags="error=true"))}
    assert not found & {trace_id for ids in story.traces.values() for trace_id in ids}
