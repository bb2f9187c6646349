# SPDX-License-Identifier: Apache-2.0
"""Our metrics as a real Prometheus has them: names, types, units, labels and values of an application's traffic."""

from __future__ import annotations

import re
from typing import Any

import pytest

from otel_a2a import semconv
from otel_a2a.packs import load_rules
from otel_a2a.telemetry.metrics import DURATION_BUCKETS, TASK_BUCKETS
from tests.backends.prometheus import RULES, Prometheus

AGENTS = {"127.0.0.1", "localhost"}
NOBODY = "127.0.0.2"
LIVE = {f"TASK_STATE_{state}" for state in ("SUBMITTED", "WORKING", "INPUT_REQUIRED", "AUTH_REQUIRED")}
OF_EVERY_SERIES = {"__name__", "job", "instance", "otel_scope_name", "otel_scope_version", "otel_scope_schema_url"}

# The metric, its series, type, unit, and the labels that every series, or some series, has besides those of the scrape.
METRICS = (
    (
        semconv.METRIC_FINDINGS,
        "otel_a2a_policy_findings_total",
        "counter",
        "",
        {"security_rule_name", "otel_a2a_finding_level", "otel_a2a_finding_action"},
        {"server_address"},
    ),
    (
        semconv.METRIC_OPERATION_DURATION,
        "otel_a2a_operation_duration_seconds_count",
        "histogram",
        "seconds",
        {"a2a_method_name", "server_address"},
        {"error_type"},
    ),
    (
        semconv.METRIC_TASK_DURATION,
        "otel_a2a_task_duration_seconds_count",
        "histogram",
        "seconds",
        {"a2a_task_state", "server_address"},
        set[str](),
    ),
    (semconv.METRIC_TASK_ACTIVE, "otel_a2a_task_active", "gauge", "", {"a2a_task_state"}, set[str]()),
    (
        semconv.METRIC_CARD_FETCHES,
        "otel_a2a_card_fetches_total",
        "counter",
        "",
        {"server_address"},
        {"error_type"},
    ),
    (semconv.METRIC_CARD_CHANGES, "otel_a2a_card_changes_total", "counter", "", {"server_address"}, set[str]()),
    (semconv.METRIC_INTERNAL_ERRORS, "otel_a2a_internal_errors_total", "counter", "", {"error_type"}, set[str]()),
)


def _values(prometheus: Prometheus, expression: str, *labels: str) -> dict[Any, float]:
    found = prometheus.query(expression)
    keys = [tuple(sample["metric"].get(label, "") for label in labels) for sample in found]
    return {
        key[0] if len(key) == 1 else key: float(sample["value"][1]) for key, sample in zip(keys, found, strict=True)
    }


@pytest.mark.parametrize(
    ("name", "series", "kind", "unit", "always", "sometimes"), METRICS, ids=[metric[0] for metric in METRICS]
)
def test_a_metric_has_the_name_type_unit_and_labels_that_are_published(
    prometheus: Prometheus,
    name: str,
    series: str,
    kind: str,
    unit: str,
    always: set[str],
    sometimes: set[str],
) -> None:
    """A metric arrives under its name with the suffixes of Prometheus, and with no label but its own."""
    family = re.sub(r"_(total|count)$", "", series)
    assert family.startswith(name.replace(".", "_"))
    (described,) = prometheus.ask("metadata", metric=family)[family]
    assert described["type"] == kind
    assert described["unit"] == unit
    assert described["help"]
    found = [set(each) - OF_EVERY_SERIES for each in prometheus.ask("series", **{"match[]": series})]
    assert found
    assert set.intersection(*found) == always
    assert set.union(*found) == always | sometimes


def test_the_documentation_has_the_same_table() -> None:
    """What exporters/prometheus/README.md says of names, types and labels is what arrives."""
    lines = (RULES.parent / "README.md").read_text("utf-8").splitlines()
    rows = [re.findall(r"`(\w+)`|\| (\w+) \|", line) for line in lines if line.startswith("| `otel_a2a_")]
    told = {row[0][0]: (row[1][1], {label for label, _ in row[2:]}) for row in rows}
    assert told == {
        series.removesuffix("_count"): (kind, always | sometimes) for _, series, kind, _, always, sometimes in METRICS
    }


def test_no_other_metric_is_ours(prometheus: Prometheus) -> None:
    """What is published is all there is."""
    names = {re.sub(r"_(total|count|sum|bucket)$", "", series) for _, series, *_ in METRICS}
    ours = [name for name in prometheus.ask("label/__name__/values") if name.startswith("otel_a2a")]
    assert {re.sub(r"_(total|count|sum|bucket)$", "", name) for name in ours} == names


@pytest.mark.parametrize(
    ("metric", "buckets"),
    [("otel_a2a_operation_duration_seconds", DURATION_BUCKETS), ("otel_a2a_task_duration_seconds", TASK_BUCKETS)],
)
def test_durations_have_buckets_in_seconds(prometheus: Prometheus, metric: str, buckets: list[float]) -> None:
    """The buckets are those of calls and tasks, in seconds, not OpenTelemetry's default ones in milliseconds."""
    found = prometheus.query(f"count by (le) ({metric}_bucket)")
    bounds = sorted(float(sample["metric"]["le"]) for sample in found)
    assert bounds == [*(float(bound) for bound in buckets), float("inf")]


def test_findings_are_counted_by_rule_and_agent(prometheus: Prometheus) -> None:
    """A violation counts for its rule at its agent, a lesser finding at its own level."""
    found = _values(
        prometheus,
        "sum by (security_rule_name, otel_a2a_finding_level, server_address) (otel_a2a_policy_findings_total) > 0",
        "security_rule_name",
        "otel_a2a_finding_level",
        "server_address",
    )
    for rule, level in (
        ("backward-transition", "violation"),
        ("terminal-state-changed", "violation"),
        ("task-stuck", "violation"),
        ("created-without-card", "improvement"),
        ("card-revision-changed", "information"),
    ):
        for agent in AGENTS:
            assert found[(rule, level, agent)] >= 1


def test_every_rule_reads_0_before_anything_is_found(prometheus: Prometheus) -> None:
    """There is a series of each rule, so that a panel or an alert can tell nothing found from nothing known."""
    found = _values(prometheus, 'otel_a2a_policy_findings_total{server_address=""}', "security_rule_name")
    assert found == dict.fromkeys([*(rule.name for rule in load_rules()), "house-broken"], 0.0)


def test_tasks_are_counted_by_state_and_by_their_end(prometheus: Prometheus) -> None:
    """Live tasks are a gauge by state; those that ended are in a histogram by how they ended."""
    active = _values(prometheus, "otel_a2a_task_active", "a2a_task_state")
    assert active.keys() == LIVE
    assert active["TASK_STATE_INPUT_REQUIRED"] == active["TASK_STATE_AUTH_REQUIRED"] == len(AGENTS)
    ended = _values(prometheus, "otel_a2a_task_duration_seconds_count", "a2a_task_state", "server_address")
    assert ended.keys() == {(f"TASK_STATE_{state}", agent) for state in ("COMPLETED", "FAILED") for agent in AGENTS}


def test_calls_are_counted_by_method_agent_and_error(prometheus: Prometheus) -> None:
    """A call that the agent refused has the protocol's code, one that went well has no error at all."""
    calls = _values(
        prometheus,
        "otel_a2a_operation_duration_seconds_count",
        "a2a_method_name",
        "server_address",
        "error_type",
    )
    outcomes = (("SendMessage", ""), ("SendStreamingMessage", ""), ("GetTask", ""), ("GetTask", "-32001"))
    assert calls.keys() == {(method, agent, error) for method, error in outcomes for agent in AGENTS}


def test_card_fetches_changes_and_faults_of_ours_are_counted(prometheus: Prometheus) -> None:
    """A fetch counts with how it failed, a change with its agent, a fault of somebody's rule with where it happened."""
    fetches = _values(prometheus, "otel_a2a_card_fetches_total", "server_address", "error_type")
    assert fetches.keys() == {(agent, error) for agent in AGENTS for error in ("", "503")} | {(NOBODY, "ConnectError")}
    changes = _values(prometheus, "otel_a2a_card_changes_total", "server_address")
    assert changes.keys() == AGENTS | {NOBODY}
    assert min(changes[agent] for agent in AGENTS) >= 1
    assert changes[NOBODY] == 0
    assert _values(prometheus, "otel_a2a_internal_errors_total > 0", "error_type").keys() == {"rule"}
