# SPDX-License-Identifier: Apache-2.0
"""``otel-a2a demo`` from end to end: real programs, a real agent, a real OTLP backend."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from otel_a2a import semconv
from otel_a2a.cli.demo.receiver import Receiver
from otel_a2a.cli.demo.result import result_of
from otel_a2a.cli.demo.scenario import Options, play

RESENT = "message-resent-after-regression"
SEED_002 = {
    ("backward-transition", "response"),
    ("continued-across-revisions", "request"),
    (RESENT, "request"),
}
ONLY_REQUESTS = ("--strictness", "raise", "--rules", "backward-transition=annotate")


@dataclass(slots=True)
class Run:
    """One run of the command."""

    exit_code: int
    stdout: str
    stderr: str

    def document(self) -> dict[str, Any]:
        assert self.exit_code == 0, self.stderr
        document = json.loads(self.stdout)
        assert isinstance(document, dict)
        return document


@functools.cache
def demo(*options: str) -> Run:
    """Runs the demo, once per set of options."""
    return run_demo(*options, encoding="utf-8")


def run_demo(*options: str, encoding: str) -> Run:
    command = [sys.executable, "-m", "otel_a2a.cli", "demo", *options]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(command, env=environment, capture_output=True, encoding=encoding, timeout=120, check=False)
    return Run(done.returncode, done.stdout, done.stderr)


def demo_json(*options: str) -> dict[str, Any]:
    return demo("--format", "json", *options).document()


def violations(document: dict[str, Any]) -> set[tuple[str, str]]:
    return {(f["rule"], f["phase"]) for f in document["findings"] if f["level"] == "violation"}


def test_the_document_has_exactly_the_promised_fields() -> None:
    """Programs that read the document can rely on its shape."""
    document = demo_json()
    assert list(document) == ["strictness", "side_effects", "blocked", "findings", "spans"]
    assert {tuple(finding) for finding in document["findings"]} == {("rule", "level", "action", "phase", "task_id")}


@pytest.mark.parametrize("strictness", ["annotate", "log"])
def test_watching_finds_seed_002_and_changes_nothing(strictness: str) -> None:
    """The charge runs twice, as without us, and all three crossings are reported, each once, in the trace too."""
    document = demo_json("--strictness", strictness)
    assert document["strictness"] == strictness
    assert (document["side_effects"], document["blocked"]) == (2, 0)
    assert violations(document) >= SEED_002
    assert {finding["action"] for finding in document["findings"]} == {strictness}
    assert len({finding["task_id"] for finding in document["findings"]}) == 1
    assert {document["spans"][f"violation {rule}"] for rule, _ in SEED_002} == {1}


def test_log_also_writes_to_the_logger() -> None:
    """With ``log`` the findings are lines that the application's own logging sees; with ``annotate`` they are not."""
    assert RESENT in demo("--format", "json", "--strictness", "log").stderr
    assert RESENT not in demo("--format", "json", "--strictness", "annotate").stderr


@pytest.mark.parametrize("options", [("--strictness", "raise"), ONLY_REQUESTS], ids=["raise", "only-requests-raise"])
def test_raise_stops_the_second_charge(options: tuple[str, ...]) -> None:
    """The charge runs once: the second order is refused before it leaves, also where only the request phase raises."""
    document = demo_json(*options)
    assert (document["side_effects"], document["blocked"]) == (1, 1)
    assert violations(document) >= SEED_002
    refused = {f["rule"] for f in document["findings"] if (f["phase"], f["action"]) == ("request", "raise")}
    assert refused >= {"continued-across-revisions", RESENT}


@pytest.mark.parametrize("options", [("--strictness", "raise"), ONLY_REQUESTS], ids=["raise", "only-requests-raise"])
def test_the_exception_names_the_task_both_revisions_and_the_way_out(options: tuple[str, ...]) -> None:
    """Whoever reads the application's output learns what happened and what to do."""
    document = demo_json(*options)
    [task_id] = {finding["task_id"] for finding in document["findings"]}
    output = demo("--format", "json", *options).stderr.splitlines()
    last = [line for line in output if "TaskResurrectionError" in line][-1]
    assert task_id in last
    assert len(set(re.findall(r"sha256:[0-9a-f]{8,64}", last))) == 2
    assert "GetTask" in last or "read" in last


def test_an_application_without_a_handler_ends_at_its_look_up() -> None:
    """The refused answer is the first exception, it is not caught, and so nothing is sent a second time."""
    document = demo_json("--strictness", "raise", "--stop-at-first-error")
    assert (document["side_effects"], document["blocked"]) == (1, 0)
    assert ("backward-transition", "response") in violations(document)
    assert "TaskResurrectionError" in demo("--format", "json", "--strictness", "raise", "--stop-at-first-error").stderr


def test_an_application_without_a_handler_is_stopped_in_the_request_phase_too() -> None:
    """Where the look-up is let through, the second order is the first exception."""
    document = demo_json(*ONLY_REQUESTS, "--stop-at-first-error")
    assert (document["side_effects"], document["blocked"]) == (1, 1)


def test_without_sampling_the_findings_still_arrive() -> None:
    """No span is exported, and the log events tell the same."""
    document = demo_json("--sampler", "always_off")
    assert document["spans"] == {}
    assert document["side_effects"] == 2
    assert violations(document) == violations(demo_json()) >= SEED_002


def test_without_sampling_raise_still_protects() -> None:
    """Enforcement does not depend on the trace."""
    document = demo_json("--sampler", "always_off", "--strictness", "raise")
    assert document["spans"] == {}
    assert (document["side_effects"], document["blocked"]) == (1, 1)


@dataclass(slots=True)
class Watched:
    """A run whose telemetry also went to a second backend."""

    run: Run
    backend: Receiver


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    """The text of a run with ``raise``, on a terminal without Unicode, and all that it exported."""
    with Receiver() as receiver:
        run = run_demo("--strictness", "raise", "--otlp", receiver.endpoint, encoding="ascii")
        assert run.exit_code == 0, run.stderr
        yield Watched(run, receiver)


def test_the_blocked_call_is_a_span_with_its_violations_below_it(watched: Watched) -> None:
    """An operator sees the call that did not happen, why, and that nothing was sent."""
    backend = watched.backend
    spans = {span.span_id: span for span in backend.spans}
    [violation] = [span for span in backend.spans if span.name == f"violation {RESENT}"]
    call = spans[violation.parent_id]
    assert call.name == "SendMessage"
    assert call.is_error and call.attributes[semconv.ERROR_TYPE] == "TaskResurrectionError"
    assert violation.is_error
    assert violation.attributes[semconv.FINDING_ACTION] == "raise"
    assert violation.attributes[semconv.A2A_TASK_ID] == call.attributes[semconv.A2A_TASK_ID]
    # The HTTP request would be a child of the call, had there been one.
    below = [span.name for span in backend.spans if span.parent_id == call.span_id]
    assert {name for name in below if not name.startswith(semconv.SPAN_FINDING_PREFIXES)} == set()


def test_otlp_sends_all_three_signals_on(watched: Watched) -> None:
    """A real backend gets spans, log events and metrics, and no fault of ours is counted in them."""
    backend = watched.backend
    assert {request.signal for request in backend.requests} == {"traces", "logs", "metrics"}
    assert RESENT in {event.attributes[semconv.SECURITY_RULE_NAME] for event in backend.logs if event.name}
    points = [point for point in backend.points(semconv.METRIC_FINDINGS) if point.value]
    assert not [point for point in backend.points(semconv.METRIC_INTERNAL_ERRORS) if point.value]
    assert (RESENT, 1) in [(point.attributes[semconv.SECURITY_RULE_NAME], point.value) for point in points]


@pytest.fixture(scope="module")
def unsent() -> Run:
    """The text of a run that could not be sent on; its standard error has the endpoint."""
    with Receiver() as away:
        endpoint = away.endpoint
    run = demo("--otlp", endpoint)
    assert endpoint in run.stderr
    return run


def test_an_otlp_endpoint_that_is_away_is_said_and_fails(unsent: Run) -> None:
    """The result is still printed; the exit code tells that sending it on did not work."""
    assert unsent.exit_code == 1
    assert "could not send" in unsent.stderr
    assert "The order was charged twice" in unsent.stdout


def test_an_otlp_endpoint_that_is_no_url_is_refused_at_once() -> None:
    """Nothing runs, and the message shows what a URL looks like."""
    run = demo("--otlp", "localhost:4318")
    assert run.exit_code == 2
    assert "http://localhost:4318" in run.stderr


def test_the_text_tells_a_newcomer_what_happened(unsent: Run) -> None:
    """The text has the program's output, the violations in the trace, the outcome, and what to try next."""
    text = unsent.stdout
    assert "< task t-" in text
    assert "✖ violation backward-transition" in text
    assert "The order was charged twice" in text
    assert "otel-a2a demo --strictness raise" in text.split("Try next")[1]


def test_the_text_tells_that_the_second_charge_was_stopped(watched: Watched) -> None:
    """With ``raise`` the outcome is one charge, and the exception is named; an ASCII terminal is enough to read it."""
    text = " ".join(watched.run.stdout.replace("|", " ").split())
    assert "The order was charged once" in text
    assert "before a byte left" in text and "TaskResurrectionError" in text


def test_a_new_conversation_with_the_same_words_is_not_stopped() -> None:
    """After a regression of one task the same words in another context, without a task id, reach the agent."""
    options = Options(strictness="raise", client=Path(__file__).with_name("two_conversations.py"))
    with Receiver() as receiver:
        outcome = play(options, receiver)
        result = result_of("raise", outcome, receiver)
    assert outcome.client_exit_code == 0, outcome.client_output
    assert "refused: TaskResurrectionError" in outcome.client_output
    assert outcome.client_output[-1] == "second conversation: completed"
    assert len(outcome.charges) == 2 and outcome.charges[0] != outcome.charges[1]
    assert result.blocked == 1
    assert not [f for f in result.findings if f.level == "violation" and f.task_id == "t-another-conversation"]
