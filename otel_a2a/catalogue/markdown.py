# SPDX-License-Identifier: Apache-2.0
"""The catalogue as Markdown: ``policies/README.md`` is what ``otel-a2a rules --format markdown`` writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from otel_a2a import profiles
from otel_a2a.catalogue.entries import Entry
from otel_a2a.catalogue.guides import definitions
from otel_a2a.engine.rules import RULESET

BOUNDARIES: Final = {
    "admission": "The card governs new work, and only that.",
    "disposition": "Only a task's own events decide what becomes of it.",
    "lifecycle": "A sequence of states that cannot be.",
    "identity": "Whose task is this?",
    "artifacts": "Append-only per task.",
    "delivery": "A webhook is a binding.",
}

HEAD: Final = """\
# The rules

<!-- Written by `make catalogue`, from the rules in otel_a2a_policies and their guides. Change those. -->

In the failures that these rules find every single message is valid; only the sequence is wrong. `otel-a2a rules`
shows this catalogue on the command line, `otel-a2a status` the actions in force, and
[docs/seeds.md](../docs/seeds.md) where the rules come from.

**Level.** A *violation* crosses the boundary, an *improvement* is legal and will hurt, *information* accuses nobody.
The level shown is that of the profile `default`. **Party.** Who did it: the application (*client*) or the remote
*agent*. **Phase.** When it is found: before a *request* leaves, in a *response*, at a *local* decision, or at a
*deadline*.

## Switching a rule off

Everywhere: `OTEL_PYTHON_A2A_RULES="NAME=off"`, or `rules={"NAME": "off"}` in `instrument()`. At one agent, in a policy
file:

```toml
[[agents]]
host = "*.partner.example"
[agents.rules."NAME"]
action = "off"
```

For one call: `with suppress_policy("NAME"):`. NAME may be a glob, and `annotate`, `log` or `raise` may stand in place
of `off`.
"""


def catalogue(entries: Sequence[Entry]) -> str:
    """The whole document: a table, the rules by boundary, the terms, and what the profiles change."""
    groups = {boundary: [each for each in entries if each.rule.boundary == boundary] for boundary in _order(entries)}
    parts = [HEAD, "## All rules\n", _overview(groups)]
    for boundary, members in groups.items():
        parts += [f"## {boundary.capitalize()}\n", *([f"{BOUNDARIES[boundary]}\n"] if boundary in BOUNDARIES else [])]
        parts += [section(each, level=3) for each in members]
    parts += ["## Terms\n", "What the rules mean exactly refers to these. Most false alarms end here.\n", _terms()]
    changes = "What each built-in profile changes in comparison with `default`, and the rules that this bears on.\n"
    parts += ["## Profiles\n", changes, _profiles(entries)]
    return "\n".join(parts)


def section(entry: Entry, *, level: int = 1) -> str:
    """One rule. Its heading is its name, so that ``#name`` leads there."""
    rule, guide = entry.rule, entry.guide
    declared = f", up to {rule.level.value}" if entry.level != rule.level.value else ""
    lines = [
        f"{'#' * level} {rule.name}\n",
        f"{rule.summary}\n",
        f"*{entry.level}{declared} · {rule.party.value} · {rule.phase.value} · {rule.boundary} · "
        f"{rule.exception.__name__} · from {rule.origin}*\n",
    ]
    lines += [f"**{title}.** {text}\n" for title, text in _texts(entry) if text]
    if guide.settings:
        lines.append(f"**Settings.** {', '.join(_setting(name, by) for name, by in entry.settings.items())}.\n")
    if entry.profiles:
        differs = "; ".join(f"`{name}`: {_differs(changes)}" for name, changes in entry.profiles.items())
        lines.append(f"**Profiles.** {differs}.\n")
    more = ", [more ways](#switching-a-rule-off)" if rule.ruleset == RULESET else ""
    lines.append(f'**Off.** `OTEL_PYTHON_A2A_RULES="{rule.name}=off"`, `suppress_policy("{rule.name}")`{more}.\n')
    return "\n".join(lines)


def _order(entries: Iterable[Entry]) -> list[str]:
    return list(dict.fromkeys((*BOUNDARIES, *(each.rule.boundary for each in entries))))


def _texts(entry: Entry) -> Iterator[tuple[str, str]]:
    exactly = " ".join(entry.exactly)
    for term in entry.terms:
        exactly = re.sub(rf"\b{term.name}\b", f"[{term.name}](#{term.name.lower()})", exactly)
    yield "Exactly", exactly
    yield "Why it hurts", entry.guide.why
    yield "Looks like it, and is right", entry.guide.look_alike
    yield "What to do", entry.guide.remedy
    yield "Modes", f"`annotate` and `log` are safe. {entry.safe_in}"


def _setting(name: str, by: str) -> str:
    return f"`{name}` ({by})" if by == "policy file" else f"`{by}`"


def _differs(changes: Iterable[str]) -> str:
    return ", ".join(f"`{change}`" if "=" in change else change for change in changes)


def _overview(groups: dict[str, list[Entry]]) -> str:
    rows = ["| rule | level | party | phase | origin | meaning |", "|---|---|---|---|---|---|"]
    for members in groups.values():
        for each in members:
            rule = each.rule
            cells = (f"[{rule.name}](#{rule.name})", each.level, rule.party.value, rule.phase.value, rule.origin)
            rows.append(f"| {' | '.join((*cells, rule.summary))} |")
    return "\n".join(rows) + "\n"


def _terms() -> str:
    return "\n".join(f"### {term.name}\n\n**{term.title}.** {term.text}\n" for term in definitions().values())


def _profiles(entries: Sequence[Entry]) -> str:
    rows = ["| profile | settings | rules |", "|---|---|---|"]
    for name in profiles.BUILT_IN:
        profile = profiles.load(name)
        settings = ", ".join(f"`{key} = {_value(value)}`" for key, value in profile.settings.items())
        needs = "".join(f", needs `{each}`" for each in profile.requires)
        if profile.only is not None:
            rules = "only " + ", ".join(f"`{glob}`" for glob in profile.only)
        else:
            rules = ", ".join(_changed(each, each.profiles[name]) for each in entries if name in each.profiles)
        rows.append(f"| `{name}` | {(settings + needs).strip(', ') or 'the defaults'} | {rules or 'as shown above'} |")
    return "\n".join(rows) + "\n"


def _changed(entry: Entry, changes: Iterable[str]) -> str:
    levels = [change for change in changes if "=" not in change]
    return f"[{entry.rule.name}](#{entry.rule.name})" + (f": {', '.join(levels)}" if levels else "")


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
