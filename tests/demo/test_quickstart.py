# SPDX-License-Identifier: Apache-2.0
"""The example that the documentation starts with."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_a2a.cli.demo.programs import clean_environment
from otel_a2a.cli.demo.receiver import Receiver
from otel_a2a.cli.demo.scenario import LAUNCHER
from otel_a2a.cli.demo.server import listen

QUICKSTART = Path(__file__).parents[2] / "examples" / "quickstart"


@pytest.fixture
def agent() -> Iterator[str]:
    with listen(0) as free:
        port = free.getsockname()[1]
    command = [sys.executable, str(QUICKSTART / "agent.py"), str(port)]
    process = subprocess.Popen(command, env=clean_environment(), stdin=subprocess.DEVNULL)
    try:
        give_up = time.monotonic() + 30
        while time.monotonic() < give_up and process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def run(url: str, environment: dict[str, str], cwd: Path) -> list[str]:
    command = [sys.executable, "-c", LAUNCHER, sys.executable, str(QUICKSTART / "app.py"), url]
    done = subprocess.run(
        command,
        env=clean_environment() | environment,
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_quickstart_prints_what_its_readme_promises(agent: str, tmp_path: Path) -> None:
    """The application says what the page says, and the spans that it lists are exported: no violation."""
    promised = [line.strip() for line in (QUICKSTART / "README.md").read_text().splitlines() if line.startswith("    ")]
    with Receiver() as receiver:
        output = run(agent, receiver.environment, tmp_path)
    assert [line.rstrip() for line in output] == promised[3:]
    assert {span.name for span in receiver.spans if span.scope == "otel_a2a"} == {
        "GetAgentCard",
        "SendStreamingMessage",
        "task TASK_STATE_SUBMITTED",
        "task TASK_STATE_WORKING",
    }


def test_the_console_exporter_shows_the_call(agent: str, tmp_path: Path) -> None:
    """The command of the page works with nothing but a terminal."""
    console = {"OTEL_TRACES_EXPORTER": "console", "OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none"}
    output = os.linesep.join(run(agent, console, tmp_path))
    assert '"name": "SendStreamingMessage"' in output and "otel_a2a.card.revision.id" in output
