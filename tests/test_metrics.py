# SPDX-License-Identifier: Apache-2.0
"""Metrics of calls, cards and tasks: their labels, that those are bounded, and that series begin before they count."""

from __future__ import annotations

from typing import Any

import httpx
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from otel_a2a import semconv
from otel_a2a.packs import load_rules
from otel_a2a.telemetry.addresses import MAX_ADDRESSES, OTHER_ADDRESS
from otel_a2a.telemetry.metrics import A2AMetrics
from tests.support.agents import CARD_PATH, HEADERS, ScriptedAgent, card, envelope, send, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry

LIVE = {"AUTH_REQUIRED": 0, "INPUT_REQUIRED": 0, "SUBMITTED": 0, "WORKING": 0}


def _by_label(points: list[Any], name: str) -> dict[str, float]:
    return {point.attributes[name].removeprefix("TASK_STATE_"): point.value for point in points}


def _call(client: httpx.Client, base: str, method: str, params: dict[str, Any]) -> None:
    client.post(f"{base}/rpc", json=envelope(method, params), headers=HEADERS)


def test_active_tasks_are_counted_by_state() -> None:
    """A task counts in the state it is in until it has ended, and every state that a live task can have is there."""
    states = {"t-1": "WORKING", "t-2": "INPUT_REQUIRED"}
    agent = ScriptedAgent(lambda method, params: task(params["id"], states[params["id"]]))
    telemetry = Telemetry()
    with serve(agent.app) as base, telemetry.instrumented(), httpx.Client() as client:
        assert _by_label(telemetry.metric(semconv.METRIC_TASK_ACTIVE), semconv.A2A_TASK_STATE) == LIVE
        for task_id in states:
            _call(client, base, "GetTask", {"id": task_id})
        active = telemetry.metric(semconv.METRIC_TASK_ACTIVE)
        assert _by_label(active, semconv.A2A_TASK_STATE) == {**LIVE, "WORKING": 1, "INPUT_REQUIRED": 1}
        states["t-1"] = "COMPLETED"
        _call(client, base, "GetTask", {"id": "t-1"})
        active = telemetry.metric(semconv.METRIC_TASK_ACTIVE)
    assert _by_label(active, semconv.A2A_TASK_STATE) == {**LIVE, "INPUT_REQUIRED": 1}


def test_a_task_without_a_known_state_is_active_all_the_same() -> None:
    """A state that A2A does not have is nobody's label: the task counts as one whose state is not known."""
    agent = ScriptedAgent(lambda method, params: {"id": "t-1", "contextId": "c", "status": {"state": "busy"}})
    telemetry = Telemetry()
    with serve(agent.app) as base, telemetry.instrumented(), httpx.Client() as client:
        _call(client, base, "SendMessage", send("go", "m-1"))
        active = telemetry.metric(semconv.METRIC_TASK_ACTIVE)
    assert _by_label(active, semconv.A2A_TASK_STATE) == {**LIVE, "UNSPECIFIED": 1}


def test_findings_are_counted_by_rule_level_action_and_agent() -> None:
    """Every rule reads 0 before anything is found; a finding has the agent's host as a label, and no id."""
    states = iter(("COMPLETED", "WORKING"))
    agent = ScriptedAgent(lambda method, params: task("t-1", next(states)))
    telemetry = Telemetry()
    with serve(agent.app) as base, telemetry.instrumented(), httpx.Client() as client:
        before = telemetry.metric(semconv.METRIC_FINDINGS)
        for _ in range(2):
            _call(client, base, "GetTask", {"id": "t-1"})
        found = [point for point in telemetry.metric(semconv.METRIC_FINDINGS) if point.value]
    rules = {rule.name: rule.level.value for rule in load_rules()}
    assert {point.attributes[semconv.SECURITY_RULE_NAME]: point.value for point in before} == dict.fromkeys(rules, 0)
    for rule in ("backward-transition", "terminal-state-changed"):
        (point,) = (each for each in found if each.attributes[semconv.SECURITY_RULE_NAME] == rule)
        assert point.attributes == {
            semconv.SECURITY_RULE_NAME: rule,
            semconv.FINDING_LEVEL: "violation",
            semconv.FINDING_ACTION: "annotate",
            semconv.SERVER_ADDRESS: "127.0.0.1",
        }


def test_changes_of_a_card_read_0_from_its_first_fetch() -> None:
    """The series of an agent's changes is there before the first change, so that an increase can be seen of it."""
    agent = ScriptedAgent(lambda method, params: None)
    telemetry = Telemetry()
    with serve(agent.app) as base, telemetry.instrumented(), httpx.Client() as client:
        client.get(base + CARD_PATH)
        before = telemetry.metric(semconv.METRIC_CARD_CHANGES)
        agent.card = card(f"{base}/rpc", streaming=False)
        client.get(base + CARD_PATH)
        after = telemetry.metric(semconv.METRIC_CARD_CHANGES)
    assert _by_label(before, semconv.SERVER_ADDRESS) == {"127.0.0.1": 0}
    assert _by_label(after, semconv.SERVER_ADDRESS) == {"127.0.0.1": 1}


def test_hosts_are_bounded() -> None:
    """Further hosts share one label, and a host that has its own keeps it."""
    reader = InMemoryMetricReader()
    metrics = A2AMetrics(MeterProvider([reader]), dict)
    for number in range(MAX_ADDRESSES + 10):
        metrics.operation("GetTask", f"agent-{number}", 0.1, "")
        metrics.card_fetch(f"agent-{number}", "")
    metrics.operation("GetTask", "agent-0", 0.1, "")
    data: Any = reader.get_metrics_data()
    found: dict[str, dict[str, Any]] = {
        metric.name: {point.attributes[semconv.SERVER_ADDRESS]: point for point in metric.data.data_points}
        for metric in data.resource_metrics[0].scope_metrics[0].metrics
    }
    calls = found[semconv.METRIC_OPERATION_DURATION]
    assert len(calls) == MAX_ADDRESSES + 1
    assert (calls["agent-0"].count, calls[OTHER_ADDRESS].count) == (2, 10)
    assert found[semconv.METRIC_CARD_CHANGES].keys() == calls.keys()
