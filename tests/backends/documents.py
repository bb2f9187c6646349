# SPDX-License-Identifier: Apache-2.0
"""The searches that the documentation tells people to type, read from its tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.backends.jaeger import ROOT, Search

SERVICE = "checkout"
"""Stands in the documentation for the reader's own application, and is what the demo calls itself."""
JAEGER_README = ROOT / "exporters" / "jaeger" / "README.md"
README = ROOT / "README.md"


@dataclass(slots=True, frozen=True)
class Row:
    """A line of a table of searches: what it is for, how it is typed in Jaeger, and the TraceQL for Tempo."""

    title: str
    search: Search
    traceql: str


def rows(file: Path, heading: str) -> list[Row]:
    """The table below ``heading``. Its last three columns are Operation, Tags and TraceQL.

    Raises:
        ValueError: there is no such heading, or no such table below it.
    """
    text = file.read_text("utf-8")
    below = text[text.index(f"{heading}\n") :].splitlines()
    table = [line for line in _until_next_heading(below[1:]) if line.startswith("|")]
    cells = [[_plain(cell) for cell in line.replace("\\|", "\0").strip("|").split("|")] for line in table]
    if len(cells) < 3 or cells[0][-3:] != ["Operation", "Tags", "TraceQL"]:
        raise ValueError(f"no table of searches below {heading!r} in {file.name}")
    return [Row(row[0], Search(SERVICE, row[-3], row[-2]), row[-1]) for row in cells[2:]]


def _until_next_heading(lines: list[str]) -> list[str]:
    end = next((number for number, line in enumerate(lines) if line.startswith("#")), len(lines))
    return lines[:end]


def _plain(cell: str) -> str:
    return cell.replace("\0", "|").strip().strip("`").strip()
