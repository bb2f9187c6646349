# SPDX-License-Identifier: Apache-2.0
"""``otel-a2a replay``: plays exchange scripts and recorded traces, and shows what is found (``docs/replay.md``)."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from otel_a2a.engine.rules import Rule
    from otel_a2a.replay.compare import Check
    from otel_a2a.replay.player import Found
    from otel_a2a.replay.script import Script, ScriptError
    from otel_a2a.replay.traces import Recording

DONE, DIFFERS, BROKEN = 0, 1, 2
DEFAULT: Final = "default"
STYLES: Final = {"violation": "bold red", "improvement": "bold yellow", "information": "blue"}

Line = list[tuple[str, str]]
"""Pieces of text, each with a style."""


@dataclass(slots=True)
class Report:
    """What was found in a script or in recorded spans, or how a script compares."""

    path: Path
    script: Script | Recording
    found: list[Found] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    """Settings that could not be used, and faults of our own."""
    spans: list[str] = field(default_factory=list)
    """Of recorded spans: the ids of the calls, by ``Found.step``."""
    reported: dict[str, int] = field(default_factory=dict)
    """What the application that was recorded had found itself."""
    undecided: dict[str, list[str]] = field(default_factory=dict)
    """Rules that spans cannot decide, by what is missing in them."""

    @property
    def as_expected(self) -> bool:
        return not any(check.differences for check in self.checks)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``otel-a2a replay``."""
    parser.description = (
        "Plays exchange scripts on a clock of their own and shows what is found in them, when and why; of recorded "
        "spans (OTLP as JSON, or the JSON of Jaeger's API), what they carry is judged. Nothing is sent. The formats "
        "are described in docs/replay.md."
    )
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="a script, a file of spans, or a folder (*.json, *.jsonl)"
    )
    parser.add_argument(
        "--profile",
        metavar="NAME|PATH",
        help="judge by this profile; default: default, and with --check every one named",
    )
    parser.add_argument("--format", choices=["text", "json"], default="text", help="default: %(default)s")
    parser.add_argument("--check", action="store_true", help="compare with what the scripts expect")


def run(args: argparse.Namespace) -> int:
    """Play what ``args`` name.

    Returns:
        0 where all was played, and with ``--check`` all is as expected; 1 where something differs; 2 where a file is
        broken, whatever the others gave, or the profile cannot be used.
    """
    from otel_a2a.packs import load_rules
    from otel_a2a.replay.profiles import check_name
    from otel_a2a.replay.script import ScriptError

    try:
        check_name(args.profile or DEFAULT)
    except ValueError as error:
        print(f"otel-a2a replay: --profile {args.profile}: {error}", file=sys.stderr)
        return BROKEN
    rules = load_rules()
    reports: list[Report] = []
    errors: list[ScriptError] = []
    for path in _files(args.paths):
        try:
            reports.append(_report(path, args.check, args.profile, rules))
        except ScriptError as error:
            errors.append(error)
        except ValueError as error:
            errors.append(ScriptError(path, f"settings: {error}"))
    complaints = [f"{report.path}: {complaint}" for report in reports for complaint in report.complaints]
    for complaint in (*map(str, errors), *dict.fromkeys(complaints)):
        print(complaint, file=sys.stderr)
    if args.format == "json":
        print(json.dumps(document(reports, errors, args.check), indent=2))
    else:
        write(_compared(reports) if args.check else _told(reports))
    if errors:
        return BROKEN
    return DONE if all(report.as_expected for report in reports) else DIFFERS


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        # A folder without a script goes on as it is, and cannot be read.
        yield from sorted([*path.glob("*.json"), *path.glob("*.jsonl")]) or [path]


def _report(path: Path, checking: bool, profile: str | None, rules: Sequence[Rule]) -> Report:
    from otel_a2a.replay import script, spans, traces

    content = script.content_of(path)
    recorded = spans.read(path, content)
    if recorded is None:
        return (_compare if checking else _play)(path, script.parse(path, content), profile, rules)
    recording = traces.Recording(path.stem, recorded)
    recording.title = f"{len(recorded)} spans, {len(recording.calls())} of them A2A calls"
    # Nothing is expected of a trace, so there is nothing to compare it with.
    return Report(path, recording) if checking else _play(path, recording, profile, rules)


def _play(path: Path, script: Script | Recording, profile: str | None, rules: Sequence[Rule]) -> Report:
    from otel_a2a.replay import player, traces
    from otel_a2a.replay.profiles import settings_for

    chosen = settings_for(script, profile or DEFAULT, rules)
    if isinstance(script, traces.Recording):
        played = traces.play(script, chosen.settings, rules)
    else:
        played = player.play(script, chosen.settings, rules)
    faults = [f"internal error in {fault}" for fault in played.faults]
    report = Report(path, script, found=played.found, complaints=[*chosen.problems, *faults])
    if isinstance(script, traces.Recording):
        report.spans = [span.span_id for span in script.calls()]
        report.reported = script.reported()
        report.undecided = traces.undecided(rules)
    return report


def _compare(path: Path, script: Script, profile: str | None, rules: Sequence[Rule]) -> Report:
    from otel_a2a.replay.compare import check, expectations

    wanted = [each for each in expectations(script) if profile in (None, each.profile)]
    checks = [check(script, each, rules) for each in wanted]
    return Report(path, script, checks=checks, complaints=[problem for each in checks for problem in each.problems])


# --- JSON


def document(reports: Sequence[Report], errors: Sequence[ScriptError], checking: bool) -> dict[str, Any]:
    """Everything as plain data."""
    result: dict[str, Any] = {"scripts": [_script(report, checking) for report in reports]}
    if checking:
        counted = [report for report in reports if report.checks]
        result["checked"] = len(counted)
        result["as_expected"] = sum(report.as_expected for report in counted)
    result["errors"] = [{"file": str(error.path), "error": str(error)} for error in errors]
    return result


def _script(report: Report, checking: bool) -> dict[str, Any]:
    plain: dict[str, Any] = {"file": str(report.path), "id": report.script.id, "title": report.script.title}
    if checking:
        plain["checks"] = [
            {"profile": check.profile, "as_expected": not check.differences, "differences": list(check.differences)}
            for check in report.checks
        ]
    else:
        plain["findings"] = [_finding(each) for each in report.found]
    if report.undecided:
        for found in plain["findings"]:
            found["span"] = report.spans[found.pop("step")]
        plain |= {"reported": report.reported, "undecided": report.undecided}
    return plain


def _finding(found: Found) -> dict[str, Any]:
    plain = {name: _plain(value) for name, value in dataclasses.asdict(found.finding).items() if name not in _OF_SPANS}
    return {"t": found.t, "step": found.step, **plain}


_OF_SPANS: Final = ("trace_id", "span_id", "card_span", "task_span", "card_since_ns", "count", "action")
"""What says nothing in a replay: there is no span, a repeat is no finding, and nothing is done about it."""


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


# --- text


def _compared(reports: Sequence[Report]) -> Iterator[Line]:
    counted = [report for report in reports if report.checks]
    for report in counted:
        for check in report.checks:
            for difference in check.differences:
                yield [(str(report.path), "bold"), (f" ({check.profile}): ", "dim"), (difference, "")]
    right = sum(report.as_expected for report in counted)
    yield [(f"{right} of {len(counted)} as expected", "bold green" if right == len(counted) else "bold red")]
    if len(counted) < len(reports):
        yield [(f"{len(reports) - len(counted)} not counted: nothing is expected of them here", "dim")]


def _told(reports: Sequence[Report]) -> Iterator[Line]:
    for index, report in enumerate(reports):
        if index:
            yield []
        yield [(report.script.id, "bold"), (f"  {report.script.title}".rstrip(), "")]
        yield from _findings(report) if report.found else [[("  nothing found", "green")]]
        if report.undecided:
            yield from _recorded(report)


def _findings(report: Report) -> Iterator[Line]:
    width = max(len(f"{each.t:g}") for each in report.found)
    for each in report.found:
        level = each.finding.level.value
        place = f"span {report.spans[each.step]}" if report.spans else f"step {each.step}"
        when = f"  {each.t:>{width}g} s  {place}  "
        yield [(when, "dim"), (f"{level:<11}  ", STYLES[level]), (each.finding.rule, "bold")]
        yield [(f"    {each.finding.message}", "")]


def _recorded(report: Report) -> Iterator[Line]:
    for name, count in sorted(report.reported.items()):
        yield [("  the application itself reported  ", "dim"), (f"{name}, {count} times" if count > 1 else name, "")]
    yield [("  spans do not show, so that these rules were not judged:", "dim")]
    for missing, rules in report.undecided.items():
        yield [(f"    {missing}: ", "dim"), (", ".join(rules), "dim")]


def write(lines: Iterable[Line]) -> None:
    """Print ``lines``: in colour and wrapped where rich is installed and somebody watches, else as they are."""
    try:
        from rich.console import Console
        from rich.padding import Padding
        from rich.text import Text
    except ImportError:
        for line in lines:
            print("".join(text for text, _ in line))
        return
    console = Console(highlight=False)
    for line in lines:
        text = Text.assemble(*line)
        indent = len(text.plain) - len(text.plain.lstrip())
        if console.is_terminal:
            console.print(Padding(text[indent:], (0, 0, 0, indent)))
        else:
            console.print(text, soft_wrap=True)
