# SPDX-License-Identifier: Apache-2.0
"""What Jaeger is told: the demo, each incident of the seeds as it was and as it should have been, and a few more."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import SpanKind, format_trace_id

from otel_a2a import A2APolicyError
from otel_a2a.cli.demo.programs import clean_environment
from otel_a2a.webhooks import observe_webhook
from tests.backends.documents import SERVICE
from tests.backends.incidents import INCIDENTS
from tests.backends.jaeger import SECONDS, Jaeger
from tests.support.agents import send, task
from tests.support.incidents import PUSH, accepting, lives, running
from tests.support.telemetry import Telemetry

STUCK, TOLD, STOPPED = "t-stuck", "t-told", "t-stopped"
"""Tasks beside the incidents': one without progress, one whose webhook brings a second end, one that has ended."""


class Exporting(Telemetry):
    """Sends the spans of an application to Jaeger, and keeps them."""

    def __init__(self, jaeger: Jaeger) -> None:
        super().__init__()
        session = requests.Session()
        session.trust_env = False
        exporter = OTLPSpanExporter(f"{jaeger.otlp}/v1/traces", session=session)
        self.tracer_provider = TracerProvider(resource=Resource({"service.name": SERVICE}))
        for each in (self._spans, exporter):
            self.tracer_provider.add_span_processor(SimpleSpanProcessor(each))


@dataclass(slots=True)
class Story:
    """What was told. ``demo`` is what ``otel-a2a demo --format json`` said; ``traces`` are by seed, then ids."""

    demo: dict[str, Any]
    traces: dict[str, set[str]] = field(default_factory=dict)


def tell(jaeger: Jaeger) -> Story:
    """Play it all, and wait until Jaeger has every span.

    Raises:
        TimeoutError: it has not, after ``SECONDS``.
    """
    story = Story(_demo(jaeger))
    sent: Counter[str] = Counter()
    for incident in INCIDENTS:
        for right in (False, True):
            telemetry = Exporting(jaeger)
            incident.happen(telemetry, right=right)
            ids = _ids(telemetry)
            sent += ids
            if not right:
                story.traces[incident.seed] = set(ids)
    for play in (_stuck, _told, _stopped):
        telemetry = Exporting(jaeger)
        play(telemetry)
        sent += _ids(telemetry)
    _wait_for(jaeger, sent)
    return story


def _demo(jaeger: Jaeger) -> dict[str, Any]:
    command = [sys.executable, "-m", "otel_a2a.cli", "demo", "--format", "json", "--otlp", jaeger.otlp]
    result = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def _stuck(telemetry: Telemetry) -> None:
    """A task shows no progress; by the time that its deadline has passed all its spans have ended."""
    with running(lives("WORKING", task_id=STUCK), telemetry, task_deadline=0.3) as app:
        with telemetry.tracer_provider.get_tracer("application").start_as_current_span("POST /orders"):
            app.call("SendMessage", send("book", "m1"))
            app.call("GetTask", {"id": STUCK})
        telemetry.wait_for_finding("task-stuck", seconds=SECONDS)


def _told(telemetry: Telemetry) -> None:
    """A webhook brings another end than the one that was read, long after the call has ended."""
    tracer = telemetry.tracer_provider.get_tracer("application")
    with running(accepting(TOLD), telemetry) as app:
        with tracer.start_as_current_span("POST /orders"):
            app.call("SendMessage", send("book", "m1"))
            app.call("CreateTaskPushNotificationConfig", {"taskId": TOLD, **PUSH})
            app.call("GetTask", {"id": TOLD})
        with tracer.start_as_current_span("POST /hook", kind=SpanKind.SERVER):
            body = json.dumps({"task": task(TOLD, "FAILED")}).encode()
            observe_webhook(body, {"X-A2A-Notification-Token": PUSH["token"]})


def _stopped(telemetry: Telemetry) -> None:
    """A message into a task that has ended is stopped before it leaves."""
    answer = lives("COMPLETED", task_id=STOPPED)
    with running(answer, telemetry, strictness="raise") as app, contextlib.suppress(A2APolicyError):
        app.call("SendMessage", send("book", "m1"))
        app.call("SendMessage", send("and another", "m2", task_id=STOPPED))


def _ids(telemetry: Telemetry) -> Counter[str]:
    return Counter(format_trace_id(span.context.trace_id) for span in telemetry.spans)


def _wait_for(jaeger: Jaeger, sent: Counter[str]) -> None:
    give_up = time.monotonic() + SECONDS
    for trace_id, count in sent.items():
        while (found := jaeger.trace(trace_id)) is None or len(found.spans) < count:
            if time.monotonic() > give_up:
                raise TimeoutError(f"Jaeger has {found and len(found.spans)} of {count} spans of trace {trace_id}")
            time.sleep(0.05)
