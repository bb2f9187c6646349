# SPDX-License-Identifier: Apache-2.0
"""``otel-a2a watch``: tasks, cards and findings as they come, fed by any program that exports over OTLP."""

from __future__ import annotations

import argparse
import importlib.util
import io
import math
import signal
import sys
from types import FrameType

NEEDED = ("opentelemetry.proto", "rich")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of ``otel-a2a watch``."""
    parser.description = (
        "Listens for OpenTelemetry's OTLP, over HTTP and over gRPC, and shows the tasks, states, card revisions and "
        "findings that programs on this machine tell of. Where the output is no terminal, it is one line for each "
        "change. Ends by Ctrl-C."
    )
    parser.add_argument("--host", default="127.0.0.1", help="where to listen; default: %(default)s")
    parser.add_argument("--port", type=_port, default=4318, help="for OTLP over HTTP; default: %(default)s; 0: any")
    parser.add_argument(
        "--grpc-port", type=_port, default=4317, help="for OTLP over gRPC; default: %(default)s; 0: any"
    )
    parser.add_argument("--for", type=_seconds, dest="seconds", metavar="SECONDS", help="end after so many seconds")
    parser.add_argument("--once", action="store_true", help="show nothing but the whole, once, at the end")


def run(args: argparse.Namespace) -> int:
    """Watches until it is told to end.

    Returns:
        0 where it was told so, by Ctrl-C, SIGTERM or ``--for``; 2 where a port cannot be listened at, or the extra is
        not installed.
    """
    missing = [module for module in NEEDED if not _is_installed(module)]
    if missing:
        print(f'otel-a2a watch needs {" and ".join(missing)}: pip install "otel-a2a[cli]"', file=sys.stderr)
        return 2
    from otel_a2a.cli.watch.endpoints import PortError
    from otel_a2a.cli.watch.watching import watch

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        watch(args.host, args.port, args.grpc_port, seconds=args.seconds, once=args.once)
    except PortError as error:
        print(f"otel-a2a watch: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: a number from 0 to 65535")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return seconds
