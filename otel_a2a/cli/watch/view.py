# SPDX-License-Identifier: Apache-2.0
"""What is known, as a picture of the terminal: agents and their cards, tasks, findings; the newest of each first."""

from __future__ import annotations

from collections.abc import Reversible
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeVar

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from otel_a2a.cli.watch.known import Agent, Found, Known, Task
from otel_a2a.cli.watch.lines import clock, revision, shortened, state
from otel_a2a.engine.findings import Level
from otel_a2a.vocabulary import INTERRUPTED, TERMINAL, TaskState

COLOURS = {Level.VIOLATION.value: "red", Level.IMPROVEMENT.value: "yellow"}
LINES_OF_FINDING: Final = 3
FRAME: Final = 11
"""Lines of titles, heads and gaps."""

Item = TypeVar("Item")


@dataclass(slots=True, frozen=True)
class Section:
    """A table: ``rows`` are the newest of ``total``."""

    title: str
    total: int
    columns: tuple[str, ...]
    rows: list[tuple[RenderableType, ...]]

    def table(self, number: int) -> RenderableType:
        """The first ``number`` rows; the title says so where there are more."""
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for column in self.columns:
            table.add_column(column, overflow="fold")
        for row in self.rows[:number]:
            table.add_row(*row)
        less = f"   the newest {number} of {self.total}" if number < self.total else ""
        return Group(Text.assemble("\n", (self.title, "bold"), (less, "dim")), Padding(table, (0, 0, 0, 2)))


@dataclass(slots=True, frozen=True)
class View:
    """Sections below a title, with as many rows as fit into ``height`` lines of whatever width, and one at least.

    How many lines a row takes is known only when it is drawn: a narrow terminal folds it.
    """

    title: RenderableType
    sections: tuple[Section, ...]
    height: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Called by rich: takes rows away from the tallest section until all fit."""

        def lines(section: Section, number: int) -> int:
            return len(console.render_lines(section.table(number), options.update(height=None), pad=False))

        numbers = [len(section.rows) for section in self.sections]
        heights = [lines(*each) for each in zip(self.sections, numbers, strict=True)]
        while sum(heights) + 1 > self.height:
            longer = [index for index, number in enumerate(numbers) if number > 1]
            if not longer:
                break
            tallest = max(longer, key=lambda index: heights[index])
            numbers[tallest] -= 1
            heights[tallest] = lines(self.sections[tallest], numbers[tallest])
        yield self.title
        for section, number in zip(self.sections, numbers, strict=True):
            yield section.table(number)


def view(known: Known, height: int) -> RenderableType:
    """All of it in ``height`` lines, where so many will do."""
    if not (known.agents or known.tasks or known.findings):
        return Group(_title(known), Text("Nothing has come yet.", style="dim"))
    room = max(6, height - FRAME)
    agents = _newest(known.agents.values(), room // 5)
    tasks = _newest(known.tasks.values(), (room - len(agents)) // 2)
    by_time = sorted(known.findings, key=lambda found: found.finding.at)
    findings = _newest(by_time, (room - len(agents) - len(tasks)) // LINES_OF_FINDING)
    sections = (
        Section(
            "Agents", len(known.agents), ("agent", "card", "revision", "changes"), [_agent(each) for each in agents]
        ),
        Section(
            "Tasks",
            len(known.tasks),
            ("task", "agent", "states", "since", "revision", "findings"),
            [_task(known, each) for each in tasks],
        ),
        Section(
            "Findings",
            sum(known.counts.values()),
            ("time", "what", "sentence"),
            [_finding(each) for each in findings],
        ),
    )
    return View(_title(known), sections, height)


def _newest(items: Reversible[Item], number: int) -> list[Item]:
    return list(islice(reversed(items), max(1, number)))


def _title(known: Known) -> RenderableType:
    parts: list[str | tuple[str, str]] = [("otel-a2a watch", "bold")]
    for level in (Level.VIOLATION.value, Level.IMPROVEMENT.value, Level.INFORMATION.value):
        if level in known.counts:
            parts += ["   ", _number(known.counts[level], level)]
    return Rule(Text.assemble(*parts), align="left", style="dim")


def _agent(agent: Agent) -> tuple[RenderableType, ...]:
    card = Text(agent.version)
    if agent.error:
        card.append(f"{'  ' if agent.version else ''}✗ {agent.error}", "yellow")
    name = Text.assemble(agent.name or str(agent.place), ("  " + str(agent.place) if agent.name else "", "dim"))
    changes = Text(str(agent.changes or ""), style="yellow")
    return name, card, _revisions(agent.previous_revision, agent.revision), changes


def _task(known: Known, task: Task) -> tuple[RenderableType, ...]:
    states = Text()
    for each in task.states[:-1]:
        states.append(f"{state(each)} → ", style="dim")
    states.append(state(task.state), style=_colour(task.state))
    if task.disposition not in ("", "active", "terminal", "interrupted"):
        states.append(f"  {task.disposition}", style="magenta")
    numbers = (Text(*_number(task.findings[level], level)) for level in COLOURS if level in task.findings)
    return (
        Text(task.task_id),
        Text(known.name_of(task.place)),
        states,
        Text(clock(task.since) if task.since else "", style="dim"),
        _revisions(task.revision, task.newest_revision),
        Text("  ").join(numbers),
    )


def _finding(found: Found) -> tuple[RenderableType, ...]:
    finding = found.finding
    colour = COLOURS.get(finding.level, "blue")
    sentence = Text(shortened(finding.message).partition(". ")[0])
    return Text(clock(finding.at), style="dim"), Text(f"{finding.level} {finding.rule}", style=colour), sentence


def _revisions(before: str, now: str) -> Text:
    if not before or not now or before == now:
        return Text(revision(now or before))
    return Text.assemble((revision(before), "dim"), " → ", (revision(now), "yellow"))


def _colour(name: str) -> str:
    if name == TaskState.COMPLETED:
        return "green"
    if name in TERMINAL:
        return "red"
    return "yellow" if name in INTERRUPTED else "cyan"


def _number(number: int, level: str) -> tuple[str, str]:
    plural = "s" if number != 1 and level != Level.INFORMATION.value else ""
    return f"{number} {level}{plural}", f"bold {COLOURS.get(level, 'blue')}"
