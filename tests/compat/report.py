# SPDX-License-Identifier: Apache-2.0
"""docs/compatibility.md, from what the runs left in ``.compat/results``: ``python -m tests.compat.report``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.compat.environments import ROOT
from tests.compat.matrix import Row, rows
from tests.compat.run import RESULTS

DOCUMENT = ROOT / "docs" / "compatibility.md"
HEAD = """# Compatibility

Written by `make compat`, which runs each client in an environment of its own, under `opentelemetry-instrument`: a clean
life, on which mode `raise` must find no violation; an agent that gives one id to two tasks, which must be found out;
and a send that mode `raise` refuses, which must not reach the agent. Every row is such a run, on the day that it names.
What a client did is what it offers: where there is no `webhook` or `cancel`, it has none. Notifications arrived at the
program's own web server, and told it of ends that nothing else told of.

| client | version | transports | what it did | calls seen | card revision | improvements on a clean life | day |
|---|---|---|---|---|---|---|---|
"""
REFUSED = """
## What a user sees of a refused send

In mode `raise` a call that crosses a boundary does not leave. Many frameworks catch the exception and turn it into an
answer of their own; the refused call does not reach the agent all the same.

| client | version | what its user gets |
|---|---|---|
"""


def main() -> None:
    """Write the document."""
    results = [_result(row) for row in rows([])]
    known = [result for result in results if result]
    ran = [result for result in known if result["outcomes"]]
    text = HEAD + "".join(map(_line, ran)) + REFUSED + "".join(map(_refused, ran))
    noted = [result for result in ran if result["seen"] or result["gaps"]]
    if noted:
        text += "\n## Notes\n\n" + "".join(map(_note, noted))
    text += _problems(ran)
    left = [result for result in known if not result["outcomes"]]
    if left:
        text += "\n## Not run\n\n" + "".join(map(_left, left))
    DOCUMENT.write_text(text, "utf-8")
    print(f"{DOCUMENT}: {len(ran)} clients ran, {len(left)} cannot, {len(results) - len(known)} have no result")


def _result(row: Row) -> dict[str, Any]:
    """What was run, with the remarks that the matrix has now; empty where nothing was."""
    path: Path = RESULTS / f"{row.key}.json"
    if not path.exists():
        return {}
    return {**json.loads(path.read_text("utf-8")), "seen": row.seen, "gaps": row.gaps, "not_run": row.not_run}


def _line(result: dict[str, Any]) -> str:
    outcomes = result["outcomes"]
    steps = list(dict.fromkeys(step for outcome in outcomes for step in outcome["steps"]))
    methods = sorted({method for outcome in outcomes for method in outcome["methods"]})
    improvements = sorted({rule for outcome in outcomes for rule in outcome["improvements"]})
    problems = [text for outcome in outcomes for text in outcome["problems"]]
    cells = (
        result["name"],
        result["version"],
        ", ".join(result["transports"]),
        ", ".join(steps) + (f"; **problems: {len(problems)}**" if problems else ""),
        ", ".join(methods),
        "on every call" if all(outcome["revisions"] for outcome in outcomes) else "none: it fetches no card",
        ", ".join(f"`{rule}`" for rule in improvements) or "none",
        result["date"],
    )
    return "| " + " | ".join(cells) + " |\n"


def _refused(result: dict[str, Any]) -> str:
    seen = result["outcomes"][0]["refused_user"].replace("|", "\\|").replace("`", "'")
    return f"| {result['name']} | {result['version']} | `{seen[:140]}` |\n"


def _problems(results: list[dict[str, Any]]) -> str:
    lines = [
        f"- **{result['name']} {result['version']}**, {outcome['transport']}: {_code(problem)}\n"
        for result in results
        for outcome in result["outcomes"]
        for problem in outcome["problems"]
    ]
    return "\n## Problems\n\nWhat was not as it must be.\n\n" + "".join(lines) if lines else ""


def _left(result: dict[str, Any]) -> str:
    why = result["not_run"] or f"it could not be installed: {_code(result['cannot_install'])}"
    return f"- **{result['name']} {result['version']}**: {why}\n"


def _code(text: str) -> str:
    return f"`{' '.join(text.split()).replace('`', chr(39))[-300:]}`"


def _note(result: dict[str, Any]) -> str:
    text = " ".join(part for part in (result["seen"], result["gaps"]) if part)
    return f"- **{result['name']} {result['version']}**: {text}\n"


if __name__ == "__main__":
    main()
