# SPDX-License-Identifier: Apache-2.0
"""The dashboard: what is wrong, in which traces to see it, whose card changed when, and which tasks it hit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DashboardLinkType,
    VariableOption,
    VariableRefresh,
    VariableSort,
)

from grafana import panels, promql, traceql

UID: Final = "otel-a2a"
VARIABLES: Final = ("prometheus", "tempo", "jaeger", "job", "agent", "rule", "service")


def dashboard() -> builders.Dashboard:
    """All of it, panels numbered in their order."""
    made = (
        builders.Dashboard("A2A: cards and tasks")
        .uid(UID)
        .description(
            "Where the line between what an agent's card says and what its tasks did was crossed. By otel-a2a."
        )
        .tags(["a2a", "opentelemetry"])
        .time("now-6h", "now")
        .refresh("1m")
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .editable()
        .annotation(_markers())
    )
    for variable in _variables():
        made.with_variable(variable)
    for number, part in enumerate(_parts(), start=1):
        part.id(number)
        if isinstance(part, builders.Row):
            made.with_row(part)
        else:
            made.with_panel(part)
    return made


def _variables() -> Iterator[Any]:
    for name, label in (("prometheus", "Prometheus"), ("tempo", "Tempo"), ("jaeger", "Jaeger")):
        yield builders.DatasourceVariable(name).label(label).type(name)
    yield _choice("job", "Job", "label_values(otel_a2a_task_active, job)")
    yield _choice(
        "agent", "Agent", 'label_values(otel_a2a_operation_duration_seconds_count{job=~"$job"}, server_address)'
    )
    yield _choice("rule", "Rule", 'label_values(otel_a2a_policy_findings_total{job=~"$job"}, security_rule_name)')
    yield (
        builders.TextBoxVariable("service")
        .label("Service in Jaeger")
        .description("Jaeger searches one service at a time: the OTEL_SERVICE_NAME of the application.")
        .default_value("unknown_service")
    )


def _choice(name: str, label: str, query: str) -> builders.QueryVariable:
    return (
        builders.QueryVariable(name)
        .label(label)
        .datasource(panels.PROMETHEUS)
        .query({"query": query, "refId": name})
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.ALPHABETICAL_ASC)
        .multi(True)
        .include_all(True)
        .all_value(".*")
        .current(VariableOption(selected=True, text="All", value="$__all"))
    )


def _markers() -> builders.AnnotationQuery:
    return (
        builders.AnnotationQuery()
        .name("Card changes")
        .datasource(panels.PROMETHEUS)
        .enable(True)
        .hide(False)
        .icon_color("purple")
        .expr(promql.CHANGE_MARKERS)
        .step("1m")
        .title_format("The card of {{server_address}} changed")
        .tag_keys("server_address")
    )


def _parts() -> Iterator[Any]:
    yield from _numbers()
    yield from _violations()
    yield from _cards()
    yield from _tasks()
    yield from _calls()


def _numbers() -> Iterator[Any]:
    yield panels.number("Violations", "Findings at level violation.", promql.VIOLATIONS, color="red")
    yield panels.number("Improvements", "Findings at level improvement.", promql.IMPROVEMENTS, color="yellow")
    yield panels.number("Stuck tasks", "Findings of the rules about waiting.", promql.STUCK_TASKS, color="orange")
    yield panels.number("Card changes", "Each is marked in the panels below.", promql.CARD_CHANGES, color="purple")
    yield panels.number(
        "Agents without a card",
        "Agents whose every card fetch of the last 10 minutes failed.",
        promql.AGENTS_WITHOUT_CARD,
        color="orange",
    )
    yield panels.number("Faults of otel-a2a", "The application is not affected.", promql.FAULTS, color="yellow")


def _violations() -> Iterator[Any]:
    yield builders.Row("What was found")
    yield _linked(
        panels.bars(
            "Violations by rule",
            "A click on a bar shows this rule only. `otel-a2a rules NAME` tells what it means and what to do.",
            promql.VIOLATIONS_BY_RULE,
            "{{security_rule_name}}",
        ),
        "Show this rule only",
        _narrowed("rule", "security_rule_name"),
    )
    yield _linked(
        panels.bars(
            "Violations by agent",
            "A click on a bar shows this agent only.",
            promql.VIOLATIONS_BY_AGENT,
            "{{server_address}}",
        ),
        "Show this agent only",
        _narrowed("agent", "server_address"),
    )
    yield panels.spans(
        "Newest violations (Tempo)",
        "The Span ID opens the trace. A row has the card of the task, the one in force, and since when.",
        traceql.NEWEST_VIOLATIONS,
    )
    yield panels.traces(
        "Newest traces with a violation (Jaeger)",
        "The Trace ID opens it. Set the service above; Jaeger cannot search all at once.",
        traceql.JAEGER_VIOLATIONS,
    )
    yield panels.counts("Findings by rule and agent", "All levels, over the time that is shown.", promql.FINDINGS_TABLE)


def _cards() -> Iterator[Any]:
    yield builders.Row("Agents and their cards")
    yield panels.span_metrics(
        "Calls by agent and card revision (Tempo)",
        "Which revision of whose card was in force for the calls. A rolling deployment shows two at a time.",
        traceql.CALLS_BY_REVISION,
        unit="short",
    )
    yield panels.steps(
        "Changes of the card, by agent",
        "How often each agent's card has changed since the process began; each step is marked in all panels.",
        promql.CHANGES_BY_AGENT,
        "{{server_address}}",
    )
    yield panels.lines(
        "Card fetches by outcome",
        "No error: the card was fetched, or confirmed.",
        (promql.FETCHES_BY_OUTCOME, "{{server_address}} {{error_type}}"),
        unit="ops",
    )
    yield panels.lines(
        "Card fetches that succeed",
        "The share of an agent's card fetches. Tasks under way do not need the card; new work does.",
        (promql.FETCHED_SHARE, "{{server_address}}"),
        unit="percentunit",
    ).max(1)
    yield panels.spans(
        "Newest changes of a card (Tempo)", "From which revision to which, and when.", traceql.CARD_CHANGES
    )
    yield panels.traces(
        "Newest changes of a card (Jaeger)",
        "The span GetAgentCard of the trace says from which revision to which.",
        traceql.JAEGER_CARD_CHANGES,
    )


def _tasks() -> Iterator[Any]:
    yield builders.Row("Tasks")
    yield panels.areas(
        "Tasks by state",
        "Tasks that are not known to have ended.",
        promql.TASKS_BY_STATE,
        "{{a2a_task_state}}",
    )
    yield panels.lines("Tasks that end, by their end", "", (promql.ENDS_BY_STATE, "{{a2a_task_state}}"), unit="ops")
    yield panels.span_metrics(
        "Time in a state (Tempo)",
        "Median and 95th percentile of the time that tasks spent in each state before they left it.",
        traceql.TIME_IN_STATE,
        unit="s",
    )
    yield panels.lines(
        "Time to the end",
        "From a task's first sight to its end: median and 95th percentile.",
        (promql.time_to_the_end(0.5), "{{a2a_task_state}} median"),
        (promql.time_to_the_end(0.95), "{{a2a_task_state}} 95 %"),
        unit="s",
    )
    yield panels.bars(
        "Stuck tasks over time",
        "Findings of the rules about waiting. They need a deadline: OTEL_PYTHON_A2A_TASK_DEADLINE, or a hint.",
        promql.STUCK_BY_RULE,
        "{{security_rule_name}} {{server_address}}",
    ).span(24)
    yield panels.spans("Newest stuck tasks (Tempo)", "The Span ID opens the trace.", traceql.STUCK_TASKS)
    yield panels.traces(
        "Newest traces with a stuck task (Jaeger)",
        "Of the rule task-stuck; the Trace ID opens it.",
        traceql.JAEGER_STUCK_TASKS,
    )


def _calls() -> Iterator[Any]:
    yield builders.Row("Calls, and otel-a2a itself")
    yield panels.lines("Calls by method", "", (promql.CALLS_BY_METHOD, "{{a2a_method_name}}"), unit="ops")
    yield panels.lines(
        "Calls that fail",
        "The error is the protocol's code, the HTTP status, or the exception.",
        (promql.FAILED_CALLS, "{{a2a_method_name}} {{server_address}} {{error_type}}"),
        unit="ops",
    )
    yield panels.lines(
        "Duration of calls, 95th percentile",
        "A stream counts from its request to its end.",
        (promql.CALL_DURATION, "{{a2a_method_name}}"),
        unit="s",
    )
    yield panels.bars(
        "Faults of otel-a2a, by place",
        "The logger otel_a2a has the traceback of the first of each kind.",
        promql.FAULTS_BY_PLACE,
        "{{error_type}}",
    )


def _linked(panel: Any, title: str, url: str) -> Any:
    link = builders.DashboardLink(title).type(DashboardLinkType.LINK).url(url).include_vars(False).keep_time(False)
    return panel.data_links([link])


def _narrowed(variable: str, label: str) -> str:
    """The address of the dashboard with ``variable`` set to a label of what was clicked on, all else as it is."""
    kept = "&".join(f"${{{name}:queryparam}}" for name in VARIABLES if name != variable)
    return f"/d/{UID}?${{__url_time_range}}&{kept}&var-{variable}=${{__field.labels.{label}}}"
