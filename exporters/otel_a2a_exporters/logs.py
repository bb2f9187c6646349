# SPDX-License-Identifier: Apache-2.0
"""One log event per finding, exported whether or not its trace is sampled; and, in mode ``log``, a line for people."""

from __future__ import annotations

import logging
from typing import Any

from otel_a2a import semconv
from otel_a2a.engine.findings import Finding, Level, Strictness
from otel_a2a.telemetry import events
from otel_a2a.telemetry.events import EventLogger
from otel_a2a_exporters.attributes import finding_attributes
from otel_a2a_exporters.place import context_of

_policy_logger = logging.getLogger(semconv.POLICY_LOGGER)

_SEVERITIES = {
    Level.VIOLATION: events.VIOLATION,
    Level.IMPROVEMENT: events.IMPROVEMENT,
    Level.INFORMATION: events.INFORMATION,
}
_LOG_LEVELS = {Level.VIOLATION: logging.ERROR, Level.IMPROVEMENT: logging.WARNING, Level.INFORMATION: logging.INFO}


class LogExporter:
    """Emits ``otel_a2a.policy.finding`` events, at all levels."""

    def __init__(self, logger: EventLogger) -> None:
        self._events = logger

    def export(self, finding: Finding, context: Any) -> None:
        """Emit the event; with action ``log`` or ``raise`` also write to the stdlib logger ``otel_a2a.policy``."""
        self._events.emit(
            semconv.EVENT_FINDING,
            _SEVERITIES[finding.level],
            finding.message,
            finding_attributes(finding),
            time_ns=finding.time_unix_nano,
            context=context_of(finding, context),
        )
        if finding.action in (Strictness.LOG, Strictness.RAISE):
            _policy_logger.log(
                _LOG_LEVELS[finding.level],
                "%s %s at %s: %s",
                finding.level.value,
                finding.rule,
                finding.agent,
                finding.message,
            )
