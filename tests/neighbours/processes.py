# SPDX-License-Identifier: Apache-2.0
"""Programs in a process of their own, and how their spans come back."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan

ROOT = Path(__file__).parents[2]
TIMEOUT = 120
"""Seconds after which a program that hangs fails its test."""


def run(module: str, *arguments: str) -> Any:
    """What ``tests.neighbours.programs.<module>`` prints: the last line of its standard output, as JSON."""
    command = [sys.executable, "-m", f"tests.neighbours.programs.{module}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "internal error" not in done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def described(spans: Iterable[ReadableSpan]) -> list[dict[str, Any]]:
    """What the tests ask of spans, as JSON has it. Ids are numbers; ``parent`` is None for a root."""
    return [
        {
            "name": span.name,
            "scope": span.instrumentation_scope.name if span.instrumentation_scope else "",
            "id": span.context.span_id,
            "parent": span.parent and span.parent.span_id,
            "trace": span.context.trace_id,
            "kind": span.kind.name,
            "status": span.status.status_code.name,
        }
        for span in spans
    ]
