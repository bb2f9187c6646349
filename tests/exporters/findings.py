# SPDX-License-Identifier: Apache-2.0
"""Findings for tests of exporters."""

from __future__ import annotations

from typing import Any

from otel_a2a.engine.findings import Finding, Level, Party, Phase, Strictness


def finding(**more: Any) -> Finding:
    """A violation, with ``more`` known or other than usual."""
    usual: dict[str, Any] = {
        "rule": "task-lost",
        "boundary": "disposition",
        "level": Level.VIOLATION,
        "action": Strictness.ANNOTATE,
        "phase": Phase.RESPONSE,
        "party": Party.AGENT,
        "message": "the task is gone",
        "time_unix_nano": 1_764_470_467_512_904_321,
    }
    return Finding(**(usual | more))
