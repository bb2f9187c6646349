# SPDX-License-Identifier: Apache-2.0
"""Seed 002, played with real programs: an agent is redeployed, without its task store, in the middle of a task."""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from otel_a2a.cli.demo.programs import Program, clean_environment
from otel_a2a.cli.demo.receiver import Receiver

HERE = Path(__file__).parent
LAUNCHER = "from opentelemetry.instrumentation.auto_instrumentation import run; run()"
"""What the script ``opentelemetry-instrument`` runs; it need not be on the path."""
MID_TASK = "card charged, writing the receipt"


@dataclass(slots=True, frozen=True, kw_only=True)
class Options:
    """How to play it. ``client`` is the application's program; it gets the agent's URL and ``client_arguments``."""

    strictness: str = "annotate"
    rules: str = ""
    sampler: str = "always_on"
    instrumented: bool = True
    client: Path = HERE / "client.py"
    client_arguments: tuple[str, ...] = ()


@dataclass(slots=True, frozen=True)
class Outcome:
    """What can be seen without any telemetry: the agent's ledger, and the application's own output."""

    charges: tuple[str, ...]
    client_output: tuple[str, ...]
    client_exit_code: int


def play(options: Options, receiver: Receiver) -> Outcome:
    """Plays the scenario; ``receiver`` gets what the application exports.

    Raises:
        DemoError: a program ended or stayed silent where it should not have.
    """
    with tempfile.TemporaryDirectory(prefix="otel-a2a-demo-") as folder, ExitStack() as running:
        ledger = Path(folder) / "ledger"
        ledger.touch()
        with _agent("A", ledger) as first:
            port = first.wait_for("listening on ").rpartition(" ")[2]
            application = running.enter_context(
                _application(options, f"http://127.0.0.1:{port}", receiver, Path(folder))
            )
            application.wait_for(MID_TASK)
            first.kill()
        with _agent("B", ledger, port) as second:
            second.wait_for("listening on ")
            exit_code = application.wait()
        charges = tuple(ledger.read_text(encoding="utf-8").splitlines())
        return Outcome(charges, tuple(application.lines), exit_code)


def _agent(revision: str, ledger: Path, port: str = "0") -> Program:
    command = [sys.executable, str(HERE / "server.py"), revision, "--ledger", str(ledger), "--port", port]
    return Program(
        f"Revision {revision} of the agent", [*command, "--end-with-input"], clean_environment(), ledger.parent
    )


def _application(options: Options, url: str, receiver: Receiver, folder: Path) -> Program:
    command = [sys.executable, str(options.client), url, *options.client_arguments]
    environment = clean_environment()
    if options.instrumented:
        command = [sys.executable, "-c", LAUNCHER, *command]
        environment |= receiver.environment | {
            "OTEL_SERVICE_NAME": "checkout",
            "OTEL_TRACES_SAMPLER": options.sampler,
            "OTEL_PYTHON_A2A_STRICTNESS": options.strictness,
        }
        if options.rules:
            environment["OTEL_PYTHON_A2A_RULES"] = options.rules
    return Program("The application", command, environment, folder)
