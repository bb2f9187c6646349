# SPDX-License-Identifier: Apache-2.0
"""``otel-a2a demo``: watch a task come back to life, and watch otel-a2a see it, or stop it."""

from __future__ import annotations

import argparse
import importlib.util
import io
import json
import sys
from typing import TYPE_CHECKING

from otel_a2a.engine.findings import Strictness

if TYPE_CHECKING:
    from otel_a2a.cli.demo.receiver import Receiver

NEEDED = (
    "a2a",
    "httpx",
    "opentelemetry.distro",
    "opentelemetry.exporter.otlp.proto.http",
    "rich",
    "starlette",
    "uvicorn",
)
STRICTNESSES = [level.value for level in (Strictness.ANNOTATE, Strictness.LOG, Strictness.RAISE)]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of ``otel-a2a demo``."""
    parser.description = (
        "Plays an agent's redeploy in the middle of a task, with real programs on this machine, and shows what "
        "otel-a2a makes of it. The task's side effect runs twice, or once with --strictness raise."
    )
    parser.add_argument("--strictness", choices=STRICTNESSES, default="annotate", help="default: %(default)s")
    parser.add_argument("--rules", default="", metavar="GLOB=ACTION,…", help="other strictness for the rules named")
    parser.add_argument("--otlp", type=_base_url, metavar="URL", help="send everything to this OTLP/HTTP endpoint, too")
    parser.add_argument("--format", choices=["text", "json"], default="text", help="default: %(default)s")
    parser.add_argument(
        "--sampler", choices=["always_on", "always_off"], default="always_on", help="default: %(default)s"
    )
    parser.add_argument(
        "--stop-at-first-error", action="store_true", help="the program does not recover from a failed look-up"
    )


def run(args: argparse.Namespace) -> int:
    """Runs the demo.

    Returns:
        0 where it ran, whatever otel-a2a found; 1 where a program of it failed, or ``--otlp`` cannot be reached; 2
        where the extra is not installed.
    """
    missing = [module for module in NEEDED if not _is_installed(module)]
    if missing:
        print(f'otel-a2a demo needs {", ".join(missing)}: pip install "otel-a2a[demo]"', file=sys.stderr)
        return 2
    try:
        return _play(args)
    except KeyboardInterrupt:
        return 130


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _play(args: argparse.Namespace) -> int:
    from rich.console import Console

    from otel_a2a.cli.demo.programs import DemoError
    from otel_a2a.cli.demo.receiver import Receiver
    from otel_a2a.cli.demo.result import result_of
    from otel_a2a.cli.demo.scenario import Options, play
    from otel_a2a.cli.demo.show import show

    options = Options(
        strictness=args.strictness,
        rules=args.rules,
        sampler=args.sampler,
        client_arguments=("--stop-at-first-error",) if args.stop_at_first_error else (),
    )
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    console, errors = Console(highlight=False), Console(stderr=True, highlight=False)
    with Receiver() as receiver:
        try:
            with errors.status("Starting an agent, charging an order, redeploying the agent …"):
                outcome = play(options, receiver)
        except DemoError as error:
            errors.print(str(error), style="red", markup=False)
            return 1
        result = result_of(args.strictness, outcome, receiver)
        if args.format == "json":
            print(*outcome.client_output, sep="\n", file=sys.stderr)
            print(json.dumps(result.document(), indent=2))
        else:
            show(console, result, outcome, receiver.spans, sampled=args.sampler == "always_on")
        return _forward(receiver, args.otlp) if args.otlp else 0


def _forward(receiver: Receiver, url: str) -> int:
    import os

    from opentelemetry.util.re import parse_env_headers

    try:
        not_taken = receiver.forward(
            url, parse_env_headers(os.environ.get("OTEL_EXPORTER_OTLP_HEADERS", ""), liberal=True)
        )
    except OSError as error:
        print(f"--otlp: could not send to {url}: {error}", file=sys.stderr)
        return 1
    less = f", which takes no {' and no '.join(not_taken)}" if not_taken else ""
    print(f"--otlp: sent to {url}{less}", file=sys.stderr)
    return 0


def _base_url(text: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise argparse.ArgumentTypeError(f"{text!r} is no http:// or https:// URL, such as http://localhost:4318")
    return text
