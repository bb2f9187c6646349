# SPDX-License-Identifier: Apache-2.0
"""The compatibility runs themselves, with the clients of this environment in place of environments of their own."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

from tests.compat import run
from tests.compat.matrix import Row, rows

HERE = Path(sys.executable)


def row_of(name: str) -> Row:
    """The first row of a client, which is its newest version."""
    return next(row for row in rows([]) if row.name == name)


@pytest.mark.parametrize(
    ("name", "transport"),
    [
        ("a2a-sdk", "JSONRPC"),
        ("a2a-sdk", "GRPC"),
        ("raw httpx2", "JSONRPC"),
        ("raw requests", "JSONRPC"),
        ("raw aiohttp", "JSONRPC"),
    ],
)
def test_a_client_passes(name: str, transport: str) -> None:
    """Clean life, faulty agent and refused send: as the table says, with every step that the client can do."""
    outcome = run.run(row_of(name), HERE, transport)
    assert not outcome.problems
    assert outcome.steps == ["send", "stream", "ask", "poll", "webhook", "cancel"]
    assert outcome.notifications
    assert outcome.revisions == 1
    assert outcome.refused_user.startswith("CardTaskBoundaryError")


def test_a_program_that_fails_is_a_problem() -> None:
    """Each life tells of it, and the others go on."""
    row = dataclasses.replace(row_of("raw requests"), program="nobody")
    problems = run.run(row, HERE, "JSONRPC").problems
    assert [text.split(":")[0] for text in problems] == ["clean", "faulty", "refused"]
    assert all("nobody" in text for text in problems)


def test_a_client_that_is_not_watched_is_a_problem() -> None:
    """Nothing of its life is seen, no fault is found, and what should be refused arrives."""
    row = dataclasses.replace(row_of("raw requests"), environment=("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS=otel_a2a",))
    problems = run.run(row, HERE, "JSONRPC").problems
    assert "clean: no send was seen" in problems
    assert "clean: notifications told of 2 ends, and 0 tasks were seen to change by them" in problems
    assert f"faulty: found [], expected {sorted(row.faulty)}" in problems
    assert "refused: 1 sends reached the agent" in problems
    assert f"refused: {run.REFUSED} was not found" in problems
