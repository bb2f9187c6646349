# SPDX-License-Identifier: Apache-2.0
"""What third parties add: rule packs and exporters, found by their entry points as they would be when installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

MODULE = """
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.rules import Hit, rule
from otel_a2a.errors import A2APolicyError
from otel_a2a.observations import CallStarted

FOUND = []

@rule(name=NAME, boundary="house", level=Level.VIOLATION, party=Party.CLIENT, phase=Phase.REQUEST,
      exception=A2APolicyError, on=(CallStarted,), origin="ours", summary="No calls today.", ruleset="theirs")
def no_calls(call, view, settings):
    yield Hit("a call was made")

RULES = (no_calls,)

class Exporter:
    def export(self, finding, context):
        FOUND.append([finding.rule, finding.ruleset, finding.action.value])
"""

PROGRAM = """
import json, logging, sys, httpx
from otel_a2a import A2AInstrumentor, A2APolicyError
from otel_a2a.packs import load_rules
import third

A2AInstrumentor().instrument(rules={"house-*": "raise"}, exporters=["span", "theirs"])
raised = None
try:
    request = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "t-1"}}
    httpx.post("http://127.0.0.1:9/", json=request, headers={"A2A-Version": "1.0"})
except (A2APolicyError, httpx.ConnectError) as error:
    raised = type(error).__name__
print(json.dumps({"rules": [rule.name for rule in load_rules()], "found": third.FOUND, "raised": raised}))
"""


def _run(folder: Path, name: str, entry_points: str) -> tuple[dict[str, Any], str]:
    (folder / "third.py").write_text(f"NAME = {name!r}\n{MODULE}", "utf-8")
    installed = folder / "third-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: third\nVersion: 1.0\n", "utf-8")
    (installed / "entry_points.txt").write_text(entry_points, "utf-8")
    environ = {key: value for key, value in os.environ.items() if not key.startswith("OTEL_")}
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    reported: dict[str, Any] = json.loads(process.stdout)
    return reported, process.stderr


def test_a_pack_and_an_exporter_of_somebody_else(tmp_path: Path) -> None:
    """An installed pack judges, its rule is named in settings, and an exporter that is named gets the findings."""
    reported, warnings = _run(
        tmp_path,
        "house-rule",
        "[otel_a2a_rules]\nhouse = third\n[otel_a2a_finding_exporters]\ntheirs = third:Exporter\n",
    )
    assert "house-rule" in reported["rules"]
    assert "task-lost" in reported["rules"]
    assert reported["found"] == [["house-rule", "theirs", "raise"]]
    assert reported["raised"] == "A2APolicyError"
    assert warnings == ""


def test_a_rule_may_not_take_a_name_that_is_taken(tmp_path: Path) -> None:
    """The built-in rule stays, and the other is told."""
    reported, warnings = _run(tmp_path, "task-lost", "[otel_a2a_rules]\nhouse = third\n")
    assert reported["rules"].count("task-lost") == 1
    assert reported["raised"] == "ConnectError"
    assert "rule 'task-lost' of pack 'house' is left out" in warnings


@pytest.mark.parametrize("broken", ["third_that_is_not_there", "third:NAME"])
def test_a_broken_pack_is_told_and_the_others_judge(tmp_path: Path, broken: str) -> None:
    """A pack that cannot be loaded, or is none, costs nothing but itself."""
    reported, warnings = _run(tmp_path, "house-rule", f"[otel_a2a_rules]\nhouse = {broken}\n")
    assert "task-lost" in reported["rules"]
    assert "rule pack 'house' could not be loaded" in warnings


def test_an_exporter_that_is_not_there_is_told(tmp_path: Path) -> None:
    """A name that no package offers is a warning that names those that exist."""
    _, warnings = _run(tmp_path, "house-rule", "[otel_a2a_rules]\nhouse = third\n")
    assert "'theirs' is unknown" in warnings
    assert "span, log, metric" in warnings
