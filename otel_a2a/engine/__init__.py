# SPDX-License-Identifier: Apache-2.0
"""The policy engine: ledger, rules, findings. Knows neither HTTP nor OpenTelemetry."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otel_a2a.engine.engine import Engine

_current: Engine | None = None


def current() -> Engine | None:
    """The engine of this process, or None where nothing is instrumented. Read anew each time: it may be replaced."""
    return _current


def set_current(engine: Engine | None) -> None:
    """Make ``engine`` the engine of this process."""
    global _current
    _current = engine
