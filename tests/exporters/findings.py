# SPDX-License-Identifier: Apache-2.0
"""Findings for tests of exporters, and the lines that become of them."""

from __future__ import annotations

import json
from pathlib import Path
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


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The lines, each of which has to be whole."""
    text = path.read_text("utf-8")
    assert not text or text.endswith("\n")
    return [json.loads(line) for line in text.split("\n")[:-1]]
