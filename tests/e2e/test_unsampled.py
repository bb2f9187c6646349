# SPDX-License-Identifier: Apache-2.0
"""Unsampled traces: no span is exported, and log events and exemplars of the counter still say which trace it was."""

from __future__ import annotations

import time
from typing import Any

import httpx
from opentelemetry.sdk.metrics import AlwaysOnExemplarFilter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import TraceFlags

from otel_a2a import semconv
from tests.support.agents import HEADERS, ScriptedAgent, envelope, send, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry

REUSED = "terminal-task-reused"
STUCK = "task-stuck"


def findings_of(telemetry: Telemetry, rule: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Trace and span ids of the log events about ``rule``, and of the counter's exemplars."""
    name = semconv.SECURITY_RULE_NAME
    events = [event for event in telemetry.events() if event.attributes[name] == rule]
    points = [point for point in telemetry.metric(semconv.METRIC_FINDINGS) if point.attributes[name] == rule]
    exemplars = [exemplar for point in points for exemplar in point.exemplars]
    return (
        [(event.trace_id, event.span_id) for event in events],
        [(exemplar.trace_id, exemplar.span_id) for exemplar in exemplars if exemplar.value],
    )


def traceparents(agent: ScriptedAgent) -> list[tuple[int, int]]:
    """Trace and span ids of the calls, as the agent was told."""
    parts = [headers["traceparent"].split("-") for headers in agent.headers]
    assert not any(int(flags, 16) & TraceFlags.SAMPLED for _, _, _, flags in parts)
    return [(int(trace_id, 16), int(span_id, 16)) for _, trace_id, span_id, _ in parts]


def answer(method: str, params: dict[str, Any]) -> Any:
    """A task that has ended, and one that goes on."""
    return {"task": task("t-2", "WORKING") if params["message"]["messageId"] == "m3" else task("t-1", "COMPLETED")}


def test_findings_name_the_unsampled_call_that_they_are_about() -> None:
    """The log event and the counter's exemplar have the ids that the agent got with the very call."""
    telemetry = Telemetry(ALWAYS_OFF, AlwaysOnExemplarFilter())
    agent = ScriptedAgent(answer)
    with serve(agent.app) as base, telemetry.instrumented(), httpx.Client(headers=HEADERS) as client:
        for message in (send("go", "m1"), send("again", "m2", task_id="t-1")):
            client.post(f"{base}/rpc", json=envelope("SendMessage", message))
    assert telemetry.spans == []
    _, second = traceparents(agent)
    events, exemplars = findings_of(telemetry, REUSED)
    assert events == exemplars == [second]


def test_a_deadline_names_the_call_that_created_the_task() -> None:
    """Found when nothing is going on, it belongs to the trace in which the task was created."""
    telemetry = Telemetry(ALWAYS_OFF, AlwaysOnExemplarFilter())
    agent = ScriptedAgent(answer)
    with (
        serve(agent.app) as base,
        telemetry.instrumented(task_deadline=0.2),
        httpx.Client(headers=HEADERS) as client,
    ):
        client.post(f"{base}/rpc", json=envelope("SendMessage", send("go", "m3")))
        give_up = time.monotonic() + 20
        while True:
            events, exemplars = findings_of(telemetry, STUCK)
            if exemplars:  # which are collected once
                break
            assert time.monotonic() < give_up, telemetry.findings()
            time.sleep(0.02)
    (created,) = traceparents(agent)
    assert events == exemplars == [created]
