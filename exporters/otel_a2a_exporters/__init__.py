# SPDX-License-Identifier: Apache-2.0
"""Where findings go: a span, a log event, a counter.

Built-in exporters are named ``span``, ``log`` and ``metric``; others come from the entry-point group
``otel_a2a_finding_exporters`` (a callable without arguments that returns an object with ``export(finding, context)``),
and only those that the setting EXPORTERS names are loaded.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import Tracer

from otel_a2a.engine.engine import FindingExporter
from otel_a2a.engine.rules import Rule
from otel_a2a.telemetry.events import EventLogger
from otel_a2a_exporters.logs import LogExporter
from otel_a2a_exporters.metrics import MetricExporter
from otel_a2a_exporters.spans import SpanExporter

__all__ = ["LogExporter", "MetricExporter", "SpanExporter", "build_exporters"]

BUILT_IN = ("span", "log", "metric")
ENTRY_POINT_GROUP = "otel_a2a_finding_exporters"

_logger = logging.getLogger("otel_a2a")


def build_exporters(
    names: Sequence[str],
    tracer: Tracer,
    events: EventLogger,
    meter_provider: MeterProvider | None,
    rules: Sequence[Rule],
) -> tuple[FindingExporter, ...]:
    """The exporters that ``names`` lists. An unknown or broken one is logged by name, and the others still work."""
    made: list[FindingExporter] = []
    for name in names:
        if name == "span":
            made.append(SpanExporter(tracer))
        elif name == "log":
            made.append(LogExporter(events))
        elif name == "metric":
            made.append(MetricExporter(meter_provider, rules))
        else:
            third_party = _load(name)
            if third_party is not None:
                made.append(third_party)
    return tuple(made)


def _load(name: str) -> FindingExporter | None:
    from opentelemetry.util._importlib_metadata import entry_points

    found: Any = next(iter(entry_points(group=ENTRY_POINT_GROUP, name=name)), None)
    if found is None:
        _logger.warning("exporter %r is unknown and left out; built-in ones: %s", name, ", ".join(BUILT_IN))
        return None
    try:
        factory: Callable[[], FindingExporter] = found.load()
        return factory()
    except Exception as error:
        _logger.warning("exporter %r could not be loaded and is left out: %r", name, error)
        return None
