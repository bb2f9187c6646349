# SPDX-License-Identifier: Apache-2.0
"""The sampler ``a2a_policy``: violations are seen in unsampled traces, and all else as the wrapped sampler says."""

from __future__ import annotations

import logging
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    DEFAULT_ON,
    Decision,
    ParentBased,
    Sampler,
    TraceIdRatioBased,
)
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

from otel_a2a import semconv
from otel_a2a.sampler import PolicySampler, policy_sampler
from tests.support.agents import HEADERS, ScriptedAgent, envelope, send, task
from tests.support.otlp import Application, Backend
from tests.support.servers import serve
from tests.support.telemetry import Telemetry

VIOLATION = "violation terminal-task-reused"
LEVEL = {semconv.FINDING_LEVEL: "violation"}


def use_an_ended_task(telemetry: Telemetry) -> None:
    """A message, and another into the task that the first one ended."""

    def answer(method: str, params: dict[str, Any]) -> Any:
        return {"task": task("t-1", "COMPLETED")}

    with serve(ScriptedAgent(answer).app) as base, telemetry.instrumented(), httpx.Client(headers=HEADERS) as client:
        for message in (send("go", "m1"), send("again", "m2", task_id="t-1")):
            client.post(f"{base}/rpc", json=envelope("SendMessage", message))


def test_violations_are_sampled_where_nothing_else_is() -> None:
    """Of an unsampled trace the violation's span arrives, with its attributes and in its trace; the calls do not."""
    telemetry = Telemetry(PolicySampler(ALWAYS_OFF))
    use_an_ended_task(telemetry)
    (violation,) = telemetry.spans
    assert violation.name == VIOLATION and violation.attributes is not None
    assert violation.attributes[semconv.A2A_TASK_ID] == "t-1"
    assert violation.context.trace_flags.sampled
    event = next(event for event in telemetry.events() if event.attributes[semconv.FINDING_LEVEL] == "violation")
    assert violation.parent is not None
    assert (event.trace_id, event.span_id) == (violation.context.trace_id, violation.parent.span_id)


def test_where_all_is_sampled_nothing_changes() -> None:
    """With a wrapped sampler that samples everything the spans are those of that sampler."""
    told, wrapped = Telemetry(ALWAYS_ON), Telemetry(PolicySampler(ALWAYS_ON))
    for telemetry in (told, wrapped):
        use_an_ended_task(telemetry)
    assert wrapped.names() == told.names() and wrapped.names()[VIOLATION] == 1


@pytest.mark.parametrize("sampler", [ALWAYS_ON, ALWAYS_OFF, TraceIdRatioBased(0.3), DEFAULT_ON], ids=str)
@pytest.mark.parametrize("attributes", [None, {}, {semconv.FINDING_LEVEL: "improvement"}, {"x": 1}], ids=str)
def test_other_spans_are_sampled_as_the_wrapped_sampler_says(sampler: Sampler, attributes: Any) -> None:
    """The decision, the attributes and the trace state are those of the wrapped sampler, improvements included."""
    for trace_id in (1, 2**63 - 1):
        ours = PolicySampler(sampler).should_sample(None, trace_id, "violation x", None, attributes)
        theirs = sampler.should_sample(None, trace_id, "violation x", None, attributes)
        assert ours.decision is theirs.decision
        assert (dict(ours.attributes), ours.trace_state) == (dict(theirs.attributes), theirs.trace_state)


def test_an_unsampled_remote_parent_hides_no_violation() -> None:
    """The default sampler follows a caller that does not sample; a violation is sampled all the same."""
    parent = set_span_in_context(NonRecordingSpan(SpanContext(1, 2, is_remote=True, trace_flags=TraceFlags(0))))
    assert DEFAULT_ON.should_sample(parent, 1, "x").decision is Decision.DROP
    assert PolicySampler().should_sample(parent, 1, "x", attributes=LEVEL).decision is Decision.RECORD_AND_SAMPLE


@pytest.mark.parametrize(
    ("argument", "wrapped"),
    [
        (None, DEFAULT_ON),
        ("", DEFAULT_ON),
        ("always_off", ALWAYS_OFF),
        ("Always_On", ALWAYS_ON),
        ("traceidratio,0.25", TraceIdRatioBased(0.25)),
        (" parentbased_traceidratio , 0.1 ", ParentBased(TraceIdRatioBased(0.1))),
    ],
)
def test_the_argument_names_the_wrapped_sampler(
    argument: str | None, wrapped: Sampler, caplog: pytest.LogCaptureFixture
) -> None:
    """A name, and after a comma the argument of its own; nothing means OpenTelemetry's default."""
    assert policy_sampler(argument).wrapped.get_description() == wrapped.get_description()
    assert not caplog.records


@pytest.mark.parametrize(
    ("argument", "wrapped", "told"),
    [
        ("sometimes", DEFAULT_ON, "'sometimes'"),
        ("a2a_policy", DEFAULT_ON, "'a2a_policy'"),
        (0.5, DEFAULT_ON, "'0.5'"),
        ("traceidratio", TraceIdRatioBased(1.0), "''"),
        ("parentbased_traceidratio,often", ParentBased(TraceIdRatioBased(1.0)), "'often'"),
        ("traceidratio,2", TraceIdRatioBased(1.0), "'2'"),
        ("traceidratio,nan", TraceIdRatioBased(1.0), "'nan'"),
    ],
)
def test_a_bad_argument_warns_and_falls_back(
    argument: str | float, wrapped: Sampler, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    """One warning names it and the choices; an unknown sampler is the default one, a bad ratio is 1."""
    assert policy_sampler(argument).wrapped.get_description() == wrapped.get_description()
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("otel_a2a", logging.WARNING)
    assert told in record.getMessage() and "OTEL_TRACES_SAMPLER_ARG" in record.getMessage()
    assert "between 0 and 1" in record.getMessage() or "always_off, always_on, parentbased_" in record.getMessage()


@pytest.mark.parametrize(
    ("argument", "calls"), [("always_off", 0), ("traceidratio,0.0", 0), ("parentbased_always_on", 4), ("nonsense", 4)]
)
def test_the_launcher_knows_it_by_its_name(argument: str, calls: int) -> None:
    """``OTEL_TRACES_SAMPLER=a2a_policy`` under the launcher: both violations reach the backend, calls as told."""
    with Backend() as backend:
        settings = {"OTEL_TRACES_SAMPLER": "a2a_policy", "OTEL_TRACES_SAMPLER_ARG": argument}
        with Application(backend.environment | settings) as application:
            application.call(4)
            application.finish()
    names = [span.name for span in backend.spans if span.scope == semconv.SCOPE]
    assert names.count(VIOLATION) == 2
    assert names.count("SendMessage") == calls
    assert (application.log.count("'nonsense'") == 1) == (argument == "nonsense")
