# SPDX-License-Identifier: Apache-2.0
"""Run the clients of ``matrix.toml`` and check what arrived: ``python -m tests.compat.run [NAME …]``.

Each client lives three times: cleanly, where it must not be accused; at an agent that gives one id to two tasks, where
it must be found out; and with a send that mode raise refuses, which must not reach the agent. Exits 1 where anything
was otherwise. What was seen is kept as JSON in ``.compat/results``, from which the table is made.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from otel_a2a import semconv
from otel_a2a.cli.demo.programs import clean_environment
from otel_a2a.cli.demo.receiver import Receiver
from otel_a2a.observations import Channel
from tests.compat.agents import Agent, CleanHandler, FaultyHandler
from tests.compat.environments import PLACE, ROOT, CannotInstall, python_of
from tests.compat.matrix import Row, rows
from tests.support.sdk_grpc import serve_grpc
from tests.support.servers import serve

RUN_TIMEOUT = 300
FINDING = "otel_a2a.policy.finding"
RESULTS = PLACE / "results"
REFUSED = "skill-not-advertised"
UNVERIFIED = "unverified-notification"
SENDS = {"SendMessage", "SendStreamingMessage"}


@dataclass(slots=True)
class Outcome:
    """What one run showed."""

    transport: str
    steps: list[str] = field(default_factory=list)
    methods: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    notifications: int = 0
    """How many arrived at the program's webhook, with its token."""
    revisions: int = 0
    """Different card revisions on the spans of calls."""
    improvements: list[str] = field(default_factory=list)
    faulty: list[str] = field(default_factory=list)
    faulty_user: list[str] = field(default_factory=list)
    refused_user: str = ""
    """What a program sees of a send that mode raise refuses."""
    problems: list[str] = field(default_factory=list)


def main() -> None:
    """Run what is named on the command line, or everything."""
    failed = False
    for row in rows(sys.argv[1:]):
        result = _row(row)
        problems = [f"{each['transport']}: {text}" for each in result["outcomes"] for text in each["problems"]]
        problems += [result["cannot_install"]] if result["cannot_install"] else []
        failed = failed or bool(problems)
        print(f"{'FAIL' if problems else 'skip' if row.not_run else 'ok  '} {row.name} {row.version}", flush=True)
        for text in problems:
            print(f"       {text}", flush=True)
    sys.exit(failed)


def _row(row: Row) -> dict[str, Any]:
    result: dict[str, Any] = {**asdict(row), "outcomes": [], "cannot_install": ""}
    result["date"] = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    if not row.not_run:
        try:
            python = python_of(row)
            result["outcomes"] = [asdict(run(row, python, transport)) for transport in row.transports]
        except CannotInstall as error:
            result["cannot_install"] = str(error)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{row.key}.json").write_text(json.dumps(result, indent=2) + "\n", "utf-8")
    return result


def run(row: Row, python: Path, transport: str) -> Outcome:
    """Live the three lives, all at once, with the client that is installed for ``python``."""
    outcome = Outcome(transport)
    with ThreadPoolExecutor() as pool:
        for phase in (_clean, _faulty, _refused):
            pool.submit(_phase, phase, row, python, outcome)
    outcome.problems.sort()
    return outcome


def _phase(phase: Callable[[Row, Path, Outcome], None], row: Row, python: Path, outcome: Outcome) -> None:
    try:
        phase(row, python, outcome)
    except Exception as error:
        outcome.problems.append(f"{phase.__name__[1:]}: {type(error).__name__}: {error}")


def _clean(row: Row, python: Path, outcome: Outcome) -> None:
    agent = Agent(CleanHandler)
    receiver, printed = _run(row, python, "clean", outcome.transport, agent, strictness="raise")
    calls = [span for span in receiver.spans if semconv.A2A_METHOD_NAME in span.attributes and _is_ours(span)]
    outcome.steps = printed["steps"]
    outcome.methods = sorted({span.name for span in calls})
    outcome.states = sorted({str(span.attributes.get(semconv.A2A_TASK_STATE, "")) for span in calls} - {""})
    outcome.revisions = len({span.attributes.get(semconv.CARD_REVISION_ID) for span in calls} - {None})
    found = _findings(receiver)
    outcome.improvements = sorted({rule for rule, level in found if level == "improvement"})
    for rule in sorted({rule for rule, level in found if level == "violation"}):
        outcome.problems.append(f"clean: {rule} was found on a clean life")
    if row.card and "GetAgentCard" not in outcome.methods:
        outcome.problems.append("clean: no card's fetch was seen")
    if row.card and outcome.revisions != 1:
        outcome.problems.append(f"clean: {outcome.revisions} card revisions on the calls")
    if not SENDS & set(outcome.methods):
        outcome.problems.append("clean: no send was seen")
    if "TASK_STATE_COMPLETED" not in outcome.states:
        outcome.problems.append("clean: no completed task was seen")
    # A program may have a server of its own besides.
    at_agent = [span for span in calls if span.attributes.get(semconv.SERVER_ADDRESS) == "127.0.0.1"]
    sends = [span for span in at_agent if span.name in SENDS]
    outcome.notifications = printed["notifications"]
    if "webhook" in outcome.steps:
        outcome.problems += [f"clean: {text}" for text in _webhook_problems(receiver, printed["ends"])]
    if len(sends) != len(agent.texts):
        outcome.problems.append(f"clean: {len(agent.texts)} sends arrived, {len(sends)} were seen")


def _webhook_problems(receiver: Receiver, ends: int) -> Iterator[str]:
    """What is wrong with the lives of which a webhook alone told the end: ``ends`` of them."""
    if not ends:
        yield "no notification told of an end"
    told = [span for span in receiver.spans if span.attributes.get(semconv.TASK_STATE_SOURCE) == Channel.WEBHOOK]
    tasks = {span.attributes[semconv.A2A_TASK_ID] for span in told if span.name.startswith(semconv.SPAN_STATE_PREFIX)}
    if len(tasks) < ends:
        yield f"notifications told of {ends} ends, and {len(tasks)} tasks were seen to change by them"
    if any(rule == UNVERIFIED for rule, _ in _findings(receiver)):
        yield f"{UNVERIFIED} was found, though the token was the registered one"


def _faulty(row: Row, python: Path, outcome: Outcome) -> None:
    agent = Agent(FaultyHandler)
    receiver, printed = _run(row, python, "faulty", outcome.transport, agent, strictness="annotate")
    outcome.faulty_user = printed["user"]
    outcome.faulty = sorted({rule for rule, level in _findings(receiver) if level == "violation"})
    if outcome.faulty != sorted(row.faulty):
        outcome.problems.append(f"faulty: found {outcome.faulty}, expected {sorted(row.faulty)}")


def _refused(row: Row, python: Path, outcome: Outcome) -> None:
    agent = Agent(CleanHandler)
    receiver, printed = _run(row, python, "refused", outcome.transport, agent, strictness="raise")
    outcome.refused_user = printed["user"][0]
    if agent.texts:
        outcome.problems.append(f"refused: {len(agent.texts)} sends reached the agent")
    if (REFUSED, "violation") not in _findings(receiver):
        outcome.problems.append(f"refused: {REFUSED} was not found")


def _run(
    row: Row, python: Path, phase: str, transport: str, agent: Agent, *, strictness: str
) -> tuple[Receiver, dict[str, Any]]:
    """Run the row's program against ``agent``.

    Raises:
        RuntimeError: it failed; the message is the end of its output.
    """
    launcher = python.with_name("opentelemetry-instrument")
    module = f"tests.compat.programs.{row.program}"
    over_grpc = serve_grpc(agent.over_grpc) if transport == "GRPC" else contextlib.nullcontext()
    with over_grpc, serve(agent) as base, Receiver() as receiver, tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "told.json")
        environment = (
            clean_environment()
            | receiver.environment
            | {
                "OTEL_PYTHON_A2A_STRICTNESS": strictness,
                "OTEL_SERVICE_NAME": row.key,
                "PYTHONPATH": str(ROOT),
                **dict(line.split("=", 1) for line in row.environment),
            }
        )
        result = subprocess.run(
            [launcher, python, "-m", module, phase, base, transport, told],
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=RUN_TIMEOUT,
        )
        if result.returncode or not told.exists():
            raise RuntimeError(f"exit code {result.returncode}: …{result.stderr.strip()[-1500:]}")
        return receiver, json.loads(told.read_text("utf-8"))


def _findings(receiver: Receiver) -> list[tuple[str, str]]:
    events = [event for event in receiver.logs if event.name == FINDING]
    return [
        (str(event.attributes[semconv.SECURITY_RULE_NAME]), str(event.attributes[semconv.FINDING_LEVEL]))
        for event in events
    ]


def _is_ours(span: Any) -> bool:
    return str(span.scope).startswith("otel_a2a")


if __name__ == "__main__":
    main()
