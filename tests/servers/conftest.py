# SPDX-License-Identifier: Apache-2.0
"""Agents on the SDKs of other languages: each a program of its own that prints its base URL when it is up."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

JS = Path(__file__).parent / "js"
GO = Path(__file__).parents[2] / ".tools" / "a2a-go-agent"
SECONDS = 10


@contextmanager
def running(*command: str) -> Iterator[str]:
    """Run a program as long as the block does; its base URL."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        try:
            assert program.stdout is not None
            base = program.stdout.readline().strip()  # an end of file where it could not start
            assert base.startswith("http://127.0.0.1:"), f"{command} ended with {program.wait(SECONDS)}"
            yield base
        finally:
            program.kill()


@dataclass(frozen=True)
class Agent:
    """An agent that is up: its base URL, and what it speaks."""

    base: str
    version: str
    bindings: tuple[str, ...]


def _js(version: str) -> tuple[str, ...]:
    if shutil.which("node") is None:
        pytest.skip("needs Node")
    if not (JS / "node_modules").is_dir():
        pytest.fail("needs the packages of tests/servers/js: make test-servers")
    return "node", str(JS / "agent.mjs"), version


def _go() -> tuple[str, ...]:
    if not GO.is_file():
        if shutil.which("go") is None:
            pytest.skip("needs Go")
        pytest.fail("needs the agent of tests/servers/go: make test-servers")
    return (str(GO),)


@pytest.fixture(scope="session", params=["js-1.0", "js-0.3", "go-0.3"])
def agent(request: pytest.FixtureRequest) -> Iterator[Agent]:
    """An agent of each SDK and version; the test is skipped where there is no such language."""
    language, version = request.param.split("-")
    command, bindings = (_js(version), ("JSONRPC", "HTTP+JSON")) if language == "js" else (_go(), ("JSONRPC",))
    with running(*command) as base:
        yield Agent(base, version, bindings)
