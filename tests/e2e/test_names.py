# SPDX-License-Identifier: Apache-2.0
"""Every name that leaves the house is declared once, follows OpenTelemetry's naming rules, and is used as declared.

What real runs emit is checked where they run: by the fixture ``telemetry`` of these tests, and for OTLP in
``test_otlp`` and ``test_trace_snapshots``.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from typing import Any

import pytest

from otel_a2a import semconv
from otel_a2a.engine.findings import Finding, Level, Party, Phase, Strictness
from otel_a2a.engine.rules import Rule
from otel_a2a.packs import load_rules
from otel_a2a.telemetry.events import EventLogger
from otel_a2a_exporters import build_exporters
from tests.support.names import (
    ATTRIBUTES,
    EVENTS,
    METRICS,
    NAME,
    Emitted,
    about_value,
    complaints,
    of_telemetry,
)
from tests.support.telemetry import Telemetry

RULES = load_rules()
NAMES = (*ATTRIBUTES, *EVENTS, *METRICS)
PENDING = "a2a."
"""The namespace of the A2A conventions, which are not merged."""
OURS = "otel_a2a."
NEWER = {"gen_ai.agent.version"}
"""Registered after the oldest version that is supported."""


def test_every_name_of_the_code_is_declared() -> None:
    """``semconv`` and the declarations have the same names."""
    no_names = {"SCOPE", "SCHEMA_URL", "POLICY_LOGGER", "SPAN_STATE_PREFIX", "LINK_CARD_FETCH", "LINK_TASK_ORIGIN"}
    constants = {name: value for name, value in vars(semconv).items() if name.isupper() and isinstance(value, str)}
    assert {value for name, value in constants.items() if name not in no_names} == set(NAMES)


def test_names_follow_the_naming_rules() -> None:
    """Lower case, dots between, and nothing that is both a name and a namespace of others."""
    for name in NAMES:
        assert NAME.fullmatch(name), name
        assert not [other for other in NAMES if other.startswith(f"{name}.")], f"{name} is a namespace, too"


def registered() -> set[str]:
    """The attributes that OpenTelemetry's own package has."""
    packages = [
        importlib.import_module(f"opentelemetry.semconv.{name}") for name in ("attributes", "_incubating.attributes")
    ]
    modules = [
        importlib.import_module(f"{package.__name__}.{module.name}")
        for package in packages
        for module in pkgutil.iter_modules(package.__path__)
    ]
    return {value for module in modules for value in vars(module).values() if isinstance(value, str)}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_names_of_others_are_registered_with_them() -> None:
    """What is neither ours nor in the pending A2A conventions is an attribute that OpenTelemetry has."""
    others = {name for name in ATTRIBUTES if not name.startswith((OURS, PENDING))}
    assert others - registered() <= NEWER
    assert all(name.startswith(OURS) for name in (*EVENTS, *METRICS))


def test_metrics_are_named_by_the_rules() -> None:
    """Counted things are plural and carry their unit in braces, gauges of them singular; no unit is in a name."""
    for name, metric in METRICS.items():
        last = name.rpartition(".")[2]
        if metric.kind == "histogram":
            assert (last, metric.unit) == ("duration", "s")
        else:
            unit = re.fullmatch(r"\{(\w+)\}", metric.unit)
            assert unit, metric.unit
            assert (last == f"{unit[1]}s" or f"{unit[1]}es" == last) == (metric.kind == "counter"), name
        assert not re.search(r"total|seconds|count", name)
        assert not any(label.endswith((".id", ".message", ".full")) for label in metric.labels)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_is_told_in_names_that_are_allowed(rule: Rule) -> None:
    """Whatever a rule finds, at any level and in any phase, its span, event and count are as declared."""
    telemetry = Telemetry()
    tracer = telemetry.tracer_provider.get_tracer(semconv.SCOPE)
    exporters = build_exporters(
        ("span", "log", "metric"), tracer, EventLogger(telemetry.logger_provider), telemetry.meter_provider, RULES
    )
    findings = [
        Finding(
            rule=rule.name,
            boundary=rule.boundary,
            level=level,
            action=action,
            phase=phase,
            party=party,
            message=rule.summary,
            server_address="agent.example",
            server_port=443,
            state="TASK_STATE_WORKING",
            task_id="t-1",
            ruleset=rule.ruleset,
            reference=rule.reference,
        )
        for level in Level
        for action in (Strictness.ANNOTATE, Strictness.LOG, Strictness.RAISE)
        for phase in Phase
        for party in Party
    ]
    for finding in findings:
        for exporter in exporters:
            exporter.export(finding, None)
    assert complaints(of_telemetry(telemetry)) == []
    assert telemetry.names().keys() == {f"violation {rule.name}", f"improvement {rule.name}"}
    assert len(telemetry.events()) == len(findings)


BAD: list[tuple[Emitted, str]] = [
    (Emitted("span", "violation nonsense", {}, kind="internal"), "no name of a span"),
    (Emitted("span", "SendMessage t-1", {}, kind="client"), "no name of a span"),
    (Emitted("span", "task busy", {}, kind="internal"), "no name of a span"),
    (Emitted("span", "SendMessage", {}, kind="internal"), "its kind"),
    (Emitted("span", "violation task-lost", {}, kind="client"), "its kind"),
    (Emitted("event", "otel_a2a.policy.other", {}, body=""), "no name of an event"),
    (Emitted("event", semconv.EVENT_FINDING, {}, body={"a": 1}), "not for people"),
    (Emitted("metric", "otel_a2a.other", {}), "no name of a metric"),
    (Emitted("metric", semconv.METRIC_FINDINGS, {}, unit="1", kind="counter"), "not a counter of {finding}"),
    (Emitted("metric", semconv.METRIC_FINDINGS, {}, unit="{finding}", kind="gauge"), "it is a gauge"),
    (
        Emitted("metric", semconv.METRIC_FINDINGS, {semconv.A2A_TASK_ID: "t-1"}, unit="{finding}", kind="counter"),
        "none of its labels",
    ),
    (Emitted("link", "SendMessage", {semconv.LINK_TYPE: "other"}), "none of its values"),
]


@pytest.mark.parametrize(("emitted", "told"), BAD)
def test_what_is_not_declared_is_told(emitted: Emitted, told: str) -> None:
    """The check of what was emitted can fail, in each of its parts."""
    (complaint,) = complaints([emitted])
    assert told in complaint


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("otel_a2a.other", "x", "no attribute of ours"),
        (semconv.FINDING_COUNT, "1", "no int"),
        (semconv.FINDING_COUNT, True, "no int"),
        (semconv.CARD_AGE, 1, "no float"),
        (semconv.FINDING_LEVEL, "severe", "none of its values"),
        (semconv.A2A_TASK_STATE, "working", "none of its values"),
        (semconv.A2A_TASK_ID, ("t-1",), "no str"),
        (semconv.A2A_TASK_ID, '{"id": "t-1"}', "cannot be searched"),
        (semconv.A2A_TASK_ID, "t" * 256, "cannot be searched"),
        (semconv.A2A_TASK_ID, "", "cannot be searched"),
        (semconv.CARD_REVISION_ID, "sha256:a", "not what it should look like"),
        (semconv.URL_FULL, "https://user:pass@h/x", "not what it should look like"),
        (semconv.URL_FULL, "https://h/x?token=1", "not what it should look like"),
        (semconv.ERROR_TYPE, "could not connect to 10.0.0.1", "not what it should look like"),
    ],
)
def test_a_value_that_is_not_as_declared_is_told(name: str, value: Any, told: str) -> None:
    """The check of values can fail, in each of its parts."""
    assert [complaint for complaint in about_value(name, value) if told in complaint], list(about_value(name, value))
