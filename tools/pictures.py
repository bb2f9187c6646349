# SPDX-License-Identifier: Apache-2.0
"""The pictures of the README, made by running what they show: ``make pictures``.

The demo is played once. One picture is what ``otel-a2a demo`` prints of it, the other what ``otel-a2a watch`` shows of
what the demo exported.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console, RenderableType

from otel_a2a.cli.demo.receiver import Receiver
from otel_a2a.cli.demo.result import result_of
from otel_a2a.cli.demo.scenario import Options, play
from otel_a2a.cli.demo.show import show
from otel_a2a.cli.otlp.requests import read
from otel_a2a.cli.watch.facts import facts
from otel_a2a.cli.watch.known import Known
from otel_a2a.cli.watch.view import view

FOLDER = Path(__file__).parent.parent / "docs"
WIDTH = 118
HEIGHT = 44


def main(folder: Path) -> None:
    """Writes ``demo.svg`` and ``watch.svg`` into ``folder``."""
    with Receiver() as receiver:
        options = Options()
        outcome = play(options, receiver)
    of_demo = _console()
    show(of_demo, result_of(options.strictness, outcome, receiver), outcome, receiver.spans, sampled=True)
    _write(of_demo, "otel-a2a demo", folder / "demo.svg")
    of_watch = _console()
    of_watch.print(_watched(receiver))
    _write(of_watch, "otel-a2a watch", folder / "watch.svg")


def _watched(receiver: Receiver) -> RenderableType:
    known = Known()
    for request in receiver.requests:
        known.learn(facts(read(request)))
    return view(known, HEIGHT)


def _console() -> Console:
    return Console(record=True, file=io.StringIO(), width=WIDTH, force_terminal=True, highlight=False)


def _write(console: Console, title: str, path: Path) -> None:
    svg = console.export_svg(title=title, unique_id=path.stem)
    # Rich has browsers fetch a font; a picture of ours fetches nothing, and whatever is monospaced will do.
    svg = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code, monospace", "monospace")
    path.write_text("".join(f"{line.rstrip()}\n" for line in svg.splitlines() if line.strip()), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
