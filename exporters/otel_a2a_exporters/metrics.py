# SPDX-License-Identifier: Apache-2.0
"""A counter of findings, with no id as a label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opentelemetry.metrics import MeterProvider, get_meter

from otel_a2a import semconv
from otel_a2a.engine.findings import Finding, Strictness
from otel_a2a.engine.rules import Rule
from otel_a2a.telemetry.addresses import Addresses
from otel_a2a.version import __version__
from otel_a2a_exporters.place import context_of


class MetricExporter:
    """Counts findings by rule, level, action and agent.

    A series of every rule, without an agent, exists from the start: what was never found reads 0. The first finding at
    an agent is born at 1 all the same; the alerts of ``exporters/prometheus`` are written so that they see it.
    """

    def __init__(self, provider: MeterProvider | None, rules: Sequence[Rule]) -> None:
        meter = get_meter(semconv.SCOPE, __version__, provider, semconv.SCHEMA_URL)
        self._counter = meter.create_counter(
            semconv.METRIC_FINDINGS, unit="{finding}", description="Boundary violations and lesser findings"
        )
        self._addresses = Addresses()
        for rule in rules:
            self._counter.add(0, _labels(rule.name, rule.level.value, Strictness.ANNOTATE.value))

    def export(self, finding: Finding, context: Any) -> None:
        """Count the finding. Exemplars name the trace it belongs to, which is not always the current one."""
        labels = _labels(finding.rule, finding.level.value, finding.action.value)
        if finding.server_address:
            labels[semconv.SERVER_ADDRESS] = self._addresses.label(finding.server_address)
        self._counter.add(1, labels, context_of(finding, context))


def _labels(rule: str, level: str, action: str) -> dict[str, str]:
    return {semconv.SECURITY_RULE_NAME: rule, semconv.FINDING_LEVEL: level, semconv.FINDING_ACTION: action}
