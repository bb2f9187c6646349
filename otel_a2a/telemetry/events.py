# SPDX-License-Identifier: Apache-2.0
"""Log events. The only module that touches ``opentelemetry._logs``, whose interface may still change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from opentelemetry._logs import LoggerProvider, SeverityNumber, get_logger
from opentelemetry.context import Context
from opentelemetry.util.types import AnyValue

from otel_a2a import semconv
from otel_a2a.version import __version__

INFORMATION: Final = SeverityNumber.INFO
IMPROVEMENT: Final = SeverityNumber.WARN
VIOLATION: Final = SeverityNumber.ERROR


class EventLogger:
    """Emits events: log records with a name. They are exported whether or not their trace is sampled."""

    def __init__(self, provider: LoggerProvider | None = None) -> None:
        self._logger = get_logger(semconv.SCOPE, __version__, provider, semconv.SCHEMA_URL)

    def emit(
        self,
        name: str,
        severity: SeverityNumber,
        body: str,
        attributes: Mapping[str, AnyValue],
        *,
        time_ns: int,
        context: Context | None = None,
    ) -> None:
        """Emit one event. ``time_ns``: nanoseconds since the epoch. ``context`` gives it its trace."""
        self._logger.emit(
            event_name=name,
            timestamp=time_ns,
            severity_number=severity,
            body=body,
            attributes=attributes,
            context=context,
        )
