# SPDX-License-Identifier: Apache-2.0
"""``otel-a2a rules``: the rules that are loaded, and all that there is to know of one."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from otel_a2a.cli.replay import STYLES, Line, write

if TYPE_CHECKING:
    from otel_a2a.catalogue.entries import Entry
    from otel_a2a.engine.rules import Rule

DONE, UNKNOWN = 0, 2
WIDTH: Final = 100
COLUMNS: Final = ("name", "level", "party", "phase", "boundary", "origin", "summary")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``otel-a2a rules``."""
    parser.description = (
        "Lists the rules that are loaded, those of other packs included. With a name: what the rule means, why it "
        "hurts, what looks like it and is right, what to do, how to switch it off."
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="one rule")
    parser.add_argument("--format", choices=["text", "json", "markdown"], default="text", help="default: %(default)s")


def run(args: argparse.Namespace) -> int:
    """Show the rules. Returns 0, or 2 where there is no rule of that name."""
    from otel_a2a.catalogue import markdown
    from otel_a2a.catalogue.entries import entries, plain
    from otel_a2a.packs import load_rules

    rules = load_rules()
    chosen = [rule for rule in rules if args.name in (None, rule.name)]
    if args.name is not None and not chosen:
        print(f"otel-a2a rules: {_no_such_rule(args.name, rules)}", file=sys.stderr)
        return UNKNOWN
    found = entries(chosen)
    if args.format == "json":
        data = [plain(entry) for entry in found]
        print(json.dumps(data if args.name is None else data[0], indent=2, ensure_ascii=False))
    elif args.format == "markdown":
        print(markdown.catalogue(found) if args.name is None else markdown.section(found[0]), end="")
    elif args.name is None:
        _table(found)
    else:
        write(_told(found[0]))
    return DONE


def _no_such_rule(name: str, rules: Iterable[Rule]) -> str:
    names = [rule.name for rule in rules]
    near = get_close_matches(name, names, n=3) or [each for each in names if name.lower() in each]
    hint = f"is it {' or '.join(near[:3])}?" if near else "without a name all rules are listed"
    return f"there is no rule {name!r}; {hint}"


# --- all of them


def _table(found: Sequence[Entry]) -> None:
    """One line a rule for other programs; where somebody watches, what does not fit into a window comes below it."""
    rows = [_row(entry) for entry in found]
    widths = [max(map(len, column)) for column in zip(COLUMNS, *rows, strict=True)]
    lines = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in (COLUMNS, *rows)]
    if sys.stdout.isatty():
        write(piece for entry, line in zip(found, lines[1:], strict=True) for piece in _stacked(entry, line))
        return
    for line in lines:
        print("  ".join(line).rstrip())


def _stacked(entry: Entry, line: Sequence[str]) -> Iterator[Line]:
    name, level, *others = line[:5]
    yield [(f"{name}  ", "bold"), (f"{level}  ", STYLES.get(entry.level, "dim")), ("  ".join(others).rstrip(), "")]
    yield [(f"    {entry.rule.summary} ", ""), (f"({entry.rule.origin})", "dim")]


def _row(entry: Entry) -> tuple[str, ...]:
    rule = entry.rule
    return (
        rule.name,
        entry.level,
        rule.party.value,
        rule.phase.value,
        rule.boundary,
        rule.origin,
        rule.summary,
    )


# --- one of them


def _told(entry: Entry) -> Iterator[Line]:
    rule, guide = entry.rule, entry.guide
    declared = f", up to {rule.level.value}" if entry.level != rule.level.value else ""
    yield [(rule.name, "bold"), (f"  {entry.level}{declared}", STYLES.get(entry.level, "dim"))]
    yield from _paragraph(rule.summary)
    yield []
    for title, text in (
        ("party", rule.party.value),
        ("phase", rule.phase.value),
        ("boundary", rule.boundary),
        ("exception", rule.exception.__name__),
        ("origin", rule.origin),
        ("ruleset", rule.ruleset),
        ("reference", rule.reference),
    ):
        if text:
            yield [(f"  {title:<11}", "dim"), (text, "")]
    yield from _part("Exactly", *entry.exactly, *(f"{term.name}: {term.text}" for term in entry.terms))
    yield from _part("Why it hurts", guide.why)
    yield from _part("Looks like it, and is right", guide.look_alike)
    yield from _part("What to do", guide.remedy)
    yield from _part("Modes", f"`annotate` and `log` are safe. {entry.safe_in}")
    yield from _part("Settings", *(f"{name} ({by})" for name, by in entry.settings.items()))
    yield from _part("Profiles", *(f"{name}: {', '.join(differs)}" for name, differs in entry.profiles.items()))
    yield from _part(
        "Off",
        f'everywhere: OTEL_PYTHON_A2A_RULES="{rule.name}=off"',
        f'for one call: with suppress_policy("{rule.name}"):',
        "in a policy file:",
        f'  [rules."{rule.name}"]',
        '  action = "off"',
        "at one agent, in a policy file:",
        "  [[agents]]",
        '  host = "*.partner.example"',
        f'  [agents.rules."{rule.name}"]',
        '  action = "off"',
    )


def _part(title: str, *paragraphs: str) -> Iterator[Line]:
    if any(paragraphs):
        yield []
        yield [(title, "bold")]
        for paragraph in paragraphs:
            yield from _paragraph(paragraph)


def _paragraph(text: str) -> Iterator[Line]:
    for line in textwrap.wrap(text, WIDTH - 2, break_long_words=False, break_on_hyphens=False):
        yield [(f"  {line}", "")]
