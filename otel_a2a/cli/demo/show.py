# SPDX-License-Identifier: Apache-2.0
"""The demo for the eye: what the application said, what otel-a2a made of it, what happened, what to try next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text
from rich.tree import Tree

from otel_a2a import semconv
from otel_a2a.cli.demo.result import FindingSeen, Result
from otel_a2a.cli.demo.scenario import Outcome
from otel_a2a.cli.demo.tree import Node, forest
from otel_a2a.cli.otlp.records import Span
from otel_a2a.engine.findings import Level, Strictness

STORY = (
    "A checkout program asks a payment agent to charge an order. Right after the charge the agent is redeployed and "
    "forgets its tasks. The program looks its task up, reads [b]submitted[/b], takes that for [i]not started[/i], and "
    "sends the order again. [b]Every single message is valid; only the sequence is wrong.[/b]"
)
FRAMES = r"Traceback \(most recent call last\):\n(?: .*\n)*"
CHAINED = r"(?:(?!Traceback).*\n)+?(?:During handling of the above|The above exception was).*\n\n"
TRACEBACKS = re.compile(rf"(?:{FRAMES}{CHAINED})*{FRAMES}")
EXCEPTION = re.compile(r"(?:\w+\.)*(\w+(?:Error|Exception))\b")
LOGGED = re.compile(r"(?:violation|improvement|information) [\w-]+ at \S+:")
"""A line of the logger ``otel_a2a.policy``; the finding's message follows, which the trace shows as well."""
NAME_WIDTH = 22
COLOURS = {Level.VIOLATION.value: "red", Level.IMPROVEMENT.value: "yellow"}


def show(console: Console, result: Result, outcome: Outcome, spans: Iterable[Span], sampled: bool) -> None:
    """Writes the whole demo to ``console``."""
    console.print()
    console.rule(f"[b]otel-a2a demo[/b]   strictness [b]{result.strictness}[/b]", align="left")
    console.print(Padding(STORY, (1, 2)))
    own = Group(*application_output(outcome, console))
    _section(console, "The program's own output", "it knows nothing of otel-a2a", own)
    trees = forest(spans)
    if trees:
        _section(console, "The trace", "each A2A call is a span; violations are spans in it", trace(trees))
    else:
        why = "not sampled, so there is none; findings travel as log events" if not sampled else "none arrived"
        _section(console, "The trace", why, Group(*(finding_line(finding) for finding in result.findings)))
    console.print(Padding(verdict(result, outcome), (1, 2, 0, 2)))
    console.print(Padding(advice(result), (1, 2)))


def _section(console: Console, title: str, remark: str, content: RenderableType) -> None:
    console.print(Text.assemble((title, "bold"), (f"   {remark}", "dim")))
    console.print(Padding(content, (0, 2, 1, 2)))


# --- the application's output -----------------------------------------------------------------------------------------


def application_output(outcome: Outcome, console: Console) -> Iterator[Text]:
    """What the application wrote, tracebacks cut down to what was raised."""
    for line in without_tracebacks(outcome.client_output):
        logged = LOGGED.match(line)
        line = f"{logged[0]} …" if logged else line
        style = "magenta" if logged else "red" if line.startswith("!") or EXCEPTION.match(line) else ""
        for piece in Text(shortened(line), style=style).wrap(console, console.width - 8):
            yield Text.assemble(("│ ", "dim"), piece)


def without_tracebacks(lines: Iterable[str]) -> list[str]:
    """The lines without the frames of tracebacks; of chained exceptions only the last stays."""
    return TRACEBACKS.sub("", "\n".join(lines)).split("\n")


def shortened(text: str) -> str:
    """Revision ids as people can compare them: twelve digits are enough."""
    return re.sub(r"(sha256:[0-9a-f]{12})[0-9a-f]{52}", r"\1", text)


# --- the trace --------------------------------------------------------------------------------------------------------


def trace(trees: Iterable[Node]) -> Tree:
    """All traces of the application under one root."""
    root = Tree(Text("checkout", style="bold"), guide_style="dim")
    for node in trees:
        _grow(root, node)
    return root


def _grow(branch: Tree, node: Node) -> None:
    below = branch.add(_label(node))
    for child in node.children:
        _grow(below, child)


def _label(node: Node) -> RenderableType:
    span = node.span
    if span.name.startswith(semconv.SPAN_FINDING_PREFIXES):
        level = str(span.attributes.get(semconv.FINDING_LEVEL, Level.VIOLATION.value))
        return _finding(span.name, level, str(span.attributes.get(semconv.FINDING_MESSAGE, "")))
    milliseconds = f"{(span.end - span.start) / 1e6:7.0f} ms  "
    if span.name.startswith(semconv.SPAN_STATE_PREFIX):
        return Text(f"{span.name:<{NAME_WIDTH + 3}}{milliseconds}", style="dim")
    name = span.name + (f" \N{MULTIPLICATION SIGN}{node.times}" if node.times > 1 else "")
    return Text.assemble((f"{name:<{NAME_WIDTH}}", "bold cyan"), (milliseconds, "dim"), *_facts(span))


def _facts(span: Span) -> Iterator[str | tuple[str, str]]:
    """What is worth knowing of a call: task, state, card revision, error."""
    attributes = span.attributes
    task_id, state = attributes.get(semconv.A2A_TASK_ID), attributes.get(semconv.A2A_TASK_STATE)
    if task_id:
        yield f"{task_id} "
    if state:
        yield str(state).removeprefix("TASK_STATE_").lower() + " "
    revision = attributes.get(semconv.CARD_REVISION_ID)
    if revision and span.name == "GetAgentCard":
        changed = bool(attributes.get(semconv.CARD_REVISION_CHANGED))
        yield f"{shortened(str(revision))} ", "yellow" if changed else ""
        if changed:
            yield f"was {shortened(str(attributes.get(semconv.CARD_REVISION_PREVIOUS_ID, 'another')))} ", "dim"
    error = attributes.get(semconv.ERROR_TYPE)
    if error or span.is_error:
        yield f"✗ {error or span.status}", "yellow"


def finding_line(finding: FindingSeen) -> RenderableType:
    """A finding without a span."""
    return _finding(f"{finding.level} {finding.rule}", finding.level, finding.message)


def _finding(title: str, level: str, message: str) -> RenderableType:
    colour = COLOURS.get(level, "blue")
    first_sentence = shortened(message).partition(". ")[0]
    details = Padding(Text(first_sentence, style=colour), (0, 0, 0, 2))
    return Group(Text(f"✖ {title}", style=f"bold {colour}"), details)


# --- what happened ----------------------------------------------------------------------------------------------------


def times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def verdict(result: Result, outcome: Outcome) -> Panel:
    """What happened, in plain words."""
    charged = times(result.side_effects)
    good = result.side_effects == 1
    violations = sum(finding.level == Level.VIOLATION.value for finding in result.findings)
    seen = f"otel-a2a found {violations} violation{'' if violations == 1 else 's'}"
    if not result.findings:
        text = "otel-a2a said nothing: was it loaded into the program? Ask [b]otel-a2a status[/b]."
    elif result.blocked:
        text = (
            f"{seen} and stopped the second order [b]before a byte left[/b]. "
            f"The program got a [b]{raised(outcome)}[/b]."
        )
    elif good:
        text = f"{seen}. The program got a [b]{raised(outcome)}[/b] from its look-up, and that ended it."
    else:
        where = " to the logger otel_a2a.policy, too" if result.strictness == Strictness.LOG.value else ""
        text = f"Nobody got an error. {seen}, reported them{where}, and left the traffic alone."
    colour = "green" if good else "red"
    return Panel(text, title=f"[b]The order was charged {charged}[/b]", title_align="left", border_style=colour)


def raised(outcome: Outcome) -> str:
    """The class of the exception that ended the application."""
    for line in reversed(outcome.client_output):
        match = EXCEPTION.match(line)
        if match:
            return match[1]
    return "error"


def advice(result: Result) -> Text:
    """What to try next."""
    stops = result.strictness == Strictness.RAISE.value
    tries = [
        ("otel-a2a demo", "the same, only watched")
        if stops
        else ("otel-a2a demo --strictness raise", "no second charge"),
        ("otel-a2a demo --otlp http://localhost:4318", "see it in Jaeger or Grafana"),
        ("opentelemetry-instrument python app.py", "your own program"),
    ]
    width = max(len(command) for command, _ in tries)
    text = Text("Try next\n", style="bold")
    for command, what in tries:
        text.append(f"  {command:<{width}}", style="not bold cyan").append(f"   {what}\n", style="not bold dim")
    text.rstrip()
    return text
