# SPDX-License-Identifier: Apache-2.0
"""Grafana's own grammar of TraceQL, run by Node; and the TraceQL that there is in the documentation."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "traceql"
DOCUMENTS = ("README.md", "docs/runbook.md", "exporters/jaeger/README.md", "exporters/prometheus/alerts.yaml")


def faults(queries: list[str]) -> list[list[int]]:
    """For each query the positions at which it is wrong; none for one that is right.

    The test is skipped where there is no Node, save where all must run.
    """
    node = shutil.which("node")
    if node is None or not (TOOL / "node_modules").is_dir():
        reason = "needs Node and Grafana's grammar of TraceQL: make traceql"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    done = subprocess.run(
        [node, "check.mjs"], cwd=TOOL, input=json.dumps(queries), capture_output=True, text=True, check=True
    )
    found: list[list[int]] = json.loads(done.stdout)
    return found


def documented() -> list[str]:
    """The TraceQL that people are told to type: in back-ticks in the documents, in the text of the alerts."""
    found: list[str] = []
    for name in DOCUMENTS:
        text = (ROOT / name).read_text("utf-8")
        if name.endswith(".yaml"):
            found += [query.replace("{{ $labels.security_rule_name }}", "x") for query in _IN_ALERTS.findall(text)]
        else:
            found += [query.replace("\\|", "|") for query in _IN_BACK_TICKS.findall(text)]
    return found


_IN_BACK_TICKS = re.compile(r"`(\{ (?:span|name|kind|resource|status)\b[^`]*)`")
_IN_ALERTS = re.compile(r'(\{ (?:span|name)[^{}]*= "\{\{ [^}]* \}\}" \})')
