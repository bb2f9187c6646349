# SPDX-License-Identifier: Apache-2.0
"""Agents on the SDKs of other languages: each a program of its own that prints its base URL when it is up."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

import pytest

JS = Path(__file__).parent / "js"
TOOLS = Path(__file__).parents[2] / ".tools"
GO = TOOLS / "a2a-go-agent"
JAVA = TOOLS / "a2a-java-agents"
SECONDS = 10
UP = 120
"""A program that says nothing for so many seconds will not come up."""
CARDS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
"""Where an agent may serve its card; the SDK for Java does so at the first alone."""


@contextmanager
def running(*command: str) -> Iterator[str]:
    """Run a program as long as the block does; its base URL."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        too_late = Timer(UP, program.kill)
        too_late.start()
        try:
            assert program.stdout is not None
            base = program.stdout.readline().strip()  # an end of file where it could not start
            too_late.cancel()
            assert base.startswith("http://127.0.0.1:"), f"{command} ended with {program.wait(SECONDS)}"
            yield base
        finally:
            too_late.cancel()
            program.kill()


@dataclass(frozen=True)
class Agent:
    """An agent that is up: the language of its SDK, its base URL, what it speaks, and where its card is."""

    language: str
    base: str
    version: str
    bindings: tuple[str, ...]
    cards: tuple[str, ...]


def _js(version: str) -> tuple[str, ...]:
    if shutil.which("node") is None:
        pytest.skip("needs Node")
    if not (JS / "node_modules").is_dir():
        pytest.fail("needs the packages of tests/servers/js: make test-servers")
    return "node", str(JS / "agent.mjs"), version


def _go(_: str) -> tuple[str, ...]:
    if not GO.is_file():
        if shutil.which("go") is None:
            pytest.skip("needs Go")
        pytest.fail("needs the agent of tests/servers/go: make test-servers")
    return (str(GO),)


def _java(version: str) -> tuple[str, ...]:
    if shutil.which("java") is None:
        pytest.skip("needs Java")
    agent = f"agent-{version}"
    jar = JAVA / agent / f"{agent}.jar"
    if not jar.is_file():
        if shutil.which("mvn") is None:
            pytest.skip("needs Maven")
        pytest.fail("needs the agents of tests/servers/java: make test-servers")
    return "java", "-XX:TieredStopAtLevel=1", "-jar", str(jar)


@pytest.fixture(scope="session", params=["js-1.0", "js-0.3", "go-0.3", "java-1.0", "java-0.3"])
def agent(request: pytest.FixtureRequest) -> Iterator[Agent]:
    """An agent of each SDK and version; the test is skipped where there is no such language."""
    language, version = request.param.split("-")
    command = {"js": _js, "go": _go, "java": _java}[language](version)
    bindings = ("JSONRPC",) if language == "go" else ("JSONRPC", "HTTP+JSON")
    with running(*command) as base:
        yield Agent(language, base, version, bindings, CARDS[:1] if language == "java" else CARDS)
