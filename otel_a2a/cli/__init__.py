# SPDX-License-Identifier: Apache-2.0
"""The command ``otel-a2a``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from otel_a2a.cli import demo, replay, rules, status, watch
from otel_a2a.version import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns the exit code: 0 done, 1 failed, 2 wrongly called or an extra is missing."""
    parser = argparse.ArgumentParser(prog="otel-a2a", description="OpenTelemetry for agent-to-agent (A2A) traffic.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, command, summary in (
        ("demo", demo, "show what otel-a2a sees when an agent is redeployed in the middle of a task"),
        ("replay", replay, "play exchange scripts and show what is found in them"),
        ("rules", rules, "show what is judged: all rules, or everything about one"),
        ("status", status, "show the settings in force, and what is seen through"),
        ("watch", watch, "show tasks, cards and findings as programs export them over OTLP"),
    ):
        subparser = commands.add_parser(name, help=summary)
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run)
    chosen = parser.parse_args(arguments)
    try:
        code: int = chosen.run(chosen)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has enough of it, and Python would try again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code
