# SPDX-License-Identifier: Apache-2.0
"""The file of findings as an application has it: what its log events say, and no disk that it could feel."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from otel_a2a import semconv
from tests.exporters.findings import lines_of
from tests.support.agents import CARD_PATH, HEADERS, ScriptedAgent, card, envelope, send, task
from tests.support.otlp import Application, Backend
from tests.support.servers import serve
from tests.support.telemetry import Telemetry
from tests.support.threads import threads_of_ours


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "findings.jsonl"


def test_an_application_writes_what_its_log_events_say(path: Path) -> None:
    """Under the launcher: each log event has its line, with the same rule, level, task and trace."""
    with (
        Backend() as backend,
        Application(backend.environment | {"OTEL_PYTHON_A2A_VIOLATIONS_FILE": str(path)}) as application,
    ):
        application.call(6)
        application.finish()
    told = [event for event in backend.logs if event.name == semconv.EVENT_FINDING]
    names = (semconv.SECURITY_RULE_NAME, semconv.FINDING_LEVEL, semconv.FINDING_MESSAGE, semconv.A2A_TASK_ID)
    expected = [(*(event.attributes.get(name) for name in names), event.trace_id, event.span_id) for event in told]
    fields = ("rule", "level", "message", "task_id", "trace_id", "span_id")
    assert [tuple(line.get(field) for field in fields) for line in lines_of(path)] == expected
    assert len(expected) >= 3


def test_the_file_is_written_whatever_the_exporters_are(path: Path) -> None:
    """Naming the file is enough; ``uninstrument()`` waits until all of it is there, and ends the threads of ours."""

    def answer(method: str, params: dict[str, Any]) -> Any:
        return {"task": task("t-1", "COMPLETED")}

    telemetry, agent = Telemetry(), ScriptedAgent(answer)
    before = threads_of_ours()
    with (
        serve(agent.app) as base,
        telemetry.instrumented(exporters="log", violations_file=str(path)),
        httpx.Client(headers=HEADERS) as client,
    ):
        for message in (send("go", "m1"), send("again", "m2", task_id="t-1")):
            client.post(f"{base}/rpc", json=envelope("SendMessage", message))
        client.get(base + CARD_PATH)
        agent.card = card(f"{base}/rpc", skills=("report",))
        client.get(base + CARD_PATH)
    assert [line["rule"] for line in lines_of(path)] == [
        str(event.attributes[semconv.SECURITY_RULE_NAME]) for event in telemetry.events()
    ]
    assert {line["level"] for line in lines_of(path)} >= {"violation", "information"}
    assert threads_of_ours() <= before


def test_without_a_file_nothing_is_loaded_for_it() -> None:
    """Whoever names no file does not pay for it at start-up."""
    program = """
import sys
from otel_a2a import A2AInstrumentor
A2AInstrumentor().instrument()
sys.exit("otel_a2a_exporters.record" in sys.modules or "pydantic" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60, check=False).returncode == 0


def test_two_applications_share_a_file(path: Path) -> None:
    """Two programs under the launcher, at the same time, with one file: all findings of both."""
    settings = {f"OTEL_{signal}_EXPORTER": "none" for signal in ("TRACES", "LOGS", "METRICS")}
    settings["OTEL_PYTHON_A2A_VIOLATIONS_FILE"] = str(path)
    with Application(settings) as one, Application(settings) as other:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda application: application.call(40), (one, other)))
        one.finish()
        other.finish()
    counts = Counter(line["process_id"] for line in lines_of(path) if line["level"] == "violation")
    assert sorted(counts.values()) == [20, 20]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_an_application_does_not_feel_a_full_disk() -> None:
    """All calls are answered, the warning is the only one, and what is lost is counted beside our own faults."""
    with (
        Backend() as backend,
        Application(backend.environment | {"OTEL_PYTHON_A2A_VIOLATIONS_FILE": "/dev/full"}) as application,
    ):
        assert len(application.call(20)) == 20
        log = application.finish()
    assert [line.split("|")[1] for line in log.splitlines() if line.startswith("otel_a2a")].count("WARNING") == 1
    (lost,) = backend.points(semconv.METRIC_INTERNAL_ERRORS)
    assert lost.attributes == {semconv.ERROR_TYPE: "violations_file"}
    assert lost.value == len([event for event in backend.logs if event.name == semconv.EVENT_FINDING]) >= 10
