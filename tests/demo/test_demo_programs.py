# SPDX-License-Identifier: Apache-2.0
"""The programs that the demo starts, and how it notices that one of them is in trouble."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from otel_a2a.cli.demo import programs, scenario
from otel_a2a.cli.demo.programs import DemoError, Program
from otel_a2a.cli.demo.receiver import Receiver

PRINT_AND_WAIT = "import sys; print('ready'); print('to err', file=sys.stderr); sys.stdin.read()"


def python(code: str) -> Program:
    return Program("The test program", [sys.executable, "-c", code], programs.clean_environment(), Path.cwd())


def test_lines_of_both_streams_are_read_while_it_runs() -> None:
    """Standard output and error are one sequence of lines, available at once."""
    with python(PRINT_AND_WAIT) as program:
        assert program.wait_for("to err") == "to err"
        assert program.lines == ["ready", "to err"]


def test_a_program_that_ends_too_early_is_an_error_with_its_output() -> None:
    """Nobody waits for the line of a program that is gone, and its last words are told."""
    with python("print('hello'); raise SystemExit(3)") as program, pytest.raises(DemoError) as caught:
        program.wait_for("ready")
    assert "The test program ended before it wrote 'ready'" in str(caught.value) and "hello" in str(caught.value)


def test_a_silent_program_is_an_error_after_a_while() -> None:
    """Waiting has an end."""
    with python(PRINT_AND_WAIT) as program:
        program.wait_for("ready")
        with pytest.raises(DemoError, match="did not write 'nothing' within 0 s"):
            program.wait_for("nothing", seconds=0.05)
        with pytest.raises(DemoError, match="did not end within 0 s"):
            program.wait(seconds=0.05)


def test_the_exit_code_comes_with_all_output() -> None:
    """``wait`` returns when the last line is read."""
    with python("print('a\\nb'); raise SystemExit(3)") as program:
        assert program.wait() == 3
        assert program.lines == ["a", "b"]


def test_leaving_ends_the_program() -> None:
    """No program outlives its block."""
    with python(PRINT_AND_WAIT) as program:
        program.wait_for("ready")
    assert program.wait() != 0


def test_the_agent_ends_when_whoever_started_it_is_gone(tmp_path: Path) -> None:
    """An agent whose standard input ends does not stay behind."""
    command = [
        sys.executable,
        str(scenario.HERE / "server.py"),
        "A",
        "--ledger",
        str(tmp_path / "l"),
        "--end-with-input",
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr


def test_the_environment_is_free_of_other_instrumentation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of OpenTelemetry around the demo do not reach its programs; everything else does."""
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["/x/auto_instrumentation", "y"]))
    monkeypatch.setenv("SOMETHING", "else")
    clean = programs.clean_environment()
    assert not [name for name in clean if name.startswith("OTEL_")]
    assert clean["PYTHONPATH"] == str(Path("y").absolute()) and clean["SOMETHING"] == "else"


def test_without_instrumentation_the_charge_runs_twice() -> None:
    """The incident needs nothing of ours: same id, submitted again, sent again, charged again, no error anywhere."""
    with Receiver() as receiver:
        outcome = scenario.play(scenario.Options(instrumented=False), receiver)
    assert outcome.client_exit_code == 0, outcome.client_output
    assert len(outcome.charges) == 2 and len(set(outcome.charges)) == 1
    assert receiver.requests == []


def test_a_broken_application_is_an_error_that_shows_why(tmp_path: Path) -> None:
    """What the application wrote before it died is in the message."""
    client = tmp_path / "client.py"
    client.write_text("raise SystemExit('no such module')")
    with Receiver() as receiver, pytest.raises(DemoError, match="The application ended before") as caught:
        scenario.play(scenario.Options(instrumented=False, client=client), receiver)
    assert "no such module" in str(caught.value)


def test_the_agents_port_is_free_again_after_the_demo(tmp_path: Path) -> None:
    """Nothing is left listening."""
    client = tmp_path / "client.py"
    client.write_text(f"import sys; print(sys.argv[1].rpartition(':')[2]); print({scenario.MID_TASK!r})")
    with Receiver() as receiver:
        outcome = scenario.play(scenario.Options(instrumented=False, client=client), receiver)
    with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
        probe.connect(("127.0.0.1", int(outcome.client_output[0])))


def test_modules_in_the_current_folder_are_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo can be started anywhere: a file that is called like a module of Python's does not break it."""
    (tmp_path / "select.py").write_text("raise ImportError('the wrong select')")
    monkeypatch.chdir(tmp_path)
    client = tmp_path / "elsewhere" / "client.py"
    client.parent.mkdir()
    client.write_text(f"import asyncio; print({scenario.MID_TASK!r})")
    with Receiver() as receiver:
        outcome = scenario.play(scenario.Options(client=client), receiver)
    assert outcome.client_output == (scenario.MID_TASK,)
