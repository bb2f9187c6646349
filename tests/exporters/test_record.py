# SPDX-License-Identifier: Apache-2.0
"""A line of the findings file: what it holds, and the schema that is published of it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from otel_a2a.engine.findings import Finding, Level, Party, Phase, Strictness
from otel_a2a_exporters.record import as_line, schema
from tests.exporters.findings import finding

PUBLISHED = Path(__file__).parents[2] / "docs" / "finding.schema.json"
ALL_KNOWN = Finding(
    rule="backward-transition",
    boundary="lifecycle",
    level=Level.IMPROVEMENT,
    action=Strictness.RAISE,
    phase=Phase.DEADLINE,
    party=Party.CLIENT,
    message="a task came back",
    agent="agent.example:443",
    server_address="agent.example",
    server_port=443,
    task_id="t-1",
    context_id="c-1",
    message_id="m-1",
    state="TASK_STATE_SUBMITTED",
    previous_state="TASK_STATE_WORKING",
    card_revision="sha256:b",
    task_card_revision="sha256:a",
    card_since_ns=1_764_470_460_000_000_000,
    would_raise=True,
    trace_id=0xA1,
    span_id=0xB2,
    time_unix_nano=1_764_470_467_512_904_321,
    ruleset="house",
    reference="https://example.org/rules#backward-transition",
)


def line_of(found: Finding) -> dict[str, Any]:
    line = as_line(found)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    document = json.loads(line)
    Draft202012Validator(json.loads(schema())).validate(document)
    assert isinstance(document, dict)
    assert document.keys() <= json.loads(schema())["properties"].keys()
    return document


def test_all_that_is_known_is_there() -> None:
    """Every member, with ids as OpenTelemetry writes them and the time in UTC."""
    assert line_of(ALL_KNOWN) == {
        "time": "2025-11-30T02:41:07.512904Z",
        "level": "improvement",
        "rule": "backward-transition",
        "boundary": "lifecycle",
        "ruleset": "house",
        "reference": "https://example.org/rules#backward-transition",
        "message": "a task came back",
        "action": "raise",
        "would_raise": True,
        "party": "client",
        "phase": "deadline",
        "agent": "agent.example:443",
        "server_address": "agent.example",
        "server_port": 443,
        "task_id": "t-1",
        "context_id": "c-1",
        "message_id": "m-1",
        "state": "TASK_STATE_SUBMITTED",
        "previous_state": "TASK_STATE_WORKING",
        "card_revision": "sha256:b",
        "task_card_revision": "sha256:a",
        "card_since": "2025-11-30T02:41:00Z",
        "trace_id": f"{0xA1:032x}",
        "span_id": f"{0xB2:016x}",
        "process_id": os.getpid(),
    }


def test_what_is_not_known_is_left_out() -> None:
    """A finding without a task, an agent or a span has no empty members."""
    assert line_of(finding()).keys() == {
        *("time", "level", "rule", "boundary", "ruleset", "message", "action", "would_raise", "party", "phase"),
        "process_id",
    }


@pytest.mark.parametrize("text", ["zwei\nZeilen", "\u2028", "\ud800", "\x00", "ä" * 5000, '"}'], ids=ascii)
def test_whatever_an_agent_says_is_one_line(text: str) -> None:
    """Ids and messages hold anything, half characters included, and the line is still one line of valid JSON."""
    line = line_of(finding(task_id=text, message=text))
    assert line["task_id"] == line["message"] == text.replace("\ud800", "?")


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("phase", Phase)
def test_every_level_and_phase_has_its_line(level: Level, phase: Phase) -> None:
    """All values that a finding can have are among those that the schema allows."""
    for action in Strictness:
        for party in Party:
            line_of(finding(level=level, phase=phase, action=action, party=party))


def test_the_schema_refuses_what_is_no_finding() -> None:
    """The schema is no rubber stamp."""
    validator = Draft202012Validator(json.loads(schema()))
    good = line_of(ALL_KNOWN)
    assert validator.is_valid(good)
    for bad in ({"level": "bad"}, {"rule": ""}, {"trace_id": "A1"}, {"time": 1}, {"server_port": "443"}):
        assert not validator.is_valid(good | bad), bad
    assert not validator.is_valid({name: value for name, value in good.items() if name != "rule"})


@pytest.mark.skipif(not PUBLISHED.is_file(), reason="needs the sources")
def test_the_published_schema_is_current() -> None:
    """``docs/finding.schema.json`` is what ``make schema`` writes."""
    assert PUBLISHED.read_text("utf-8") == schema()
