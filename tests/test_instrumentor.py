# SPDX-License-Identifier: Apache-2.0
"""The way in: what ``instrument()`` starts, refuses and takes back."""

from __future__ import annotations

import dataclasses
import logging
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

from otel_a2a import A2AInstrumentor, PolicySpanProcessor
from otel_a2a.engine import current
from otel_a2a.engine.findings import Strictness
from otel_a2a.instrumentor import SDK_SPANS, A2AConfiguration
from otel_a2a.sources import KEYWORDS


class Provider(TracerProvider):
    """An SDK provider that tells which processors were added to it."""

    def __init__(self) -> None:
        super().__init__()
        self.added: list[SpanProcessor] = []

    def add_span_processor(self, span_processor: SpanProcessor) -> None:
        self.added.append(span_processor)
        super().add_span_processor(span_processor)


@pytest.fixture
def instrumentor(monkeypatch: pytest.MonkeyPatch) -> Iterator[A2AInstrumentor]:
    for name in list(os.environ):
        if name.startswith("OTEL_"):
            monkeypatch.delenv(name)
    instrumentor = A2AInstrumentor()
    yield instrumentor
    if instrumentor.is_instrumented_by_opentelemetry:
        instrumentor.uninstrument()


def test_a_configuration_file_knows_every_setting() -> None:
    """The options of ``OTEL_CONFIG_FILE`` are the keyword arguments, all of them and no others."""
    assert {field.name for field in dataclasses.fields(A2AConfiguration)} == set(KEYWORDS)
    assert A2AInstrumentor.configuration is A2AConfiguration


def test_instrumenting_starts_and_uninstrumenting_stops(instrumentor: A2AInstrumentor) -> None:
    """There is an engine in between, with the settings asked for, and none afterwards."""
    instrumentor.instrument(strictness="log", tracer_provider=Provider())
    engine = current()
    assert engine is not None
    assert engine.settings.strictness is Strictness.LOG
    assert A2AInstrumentor.effective is not None
    instrumentor.uninstrument()
    assert current() is None
    assert A2AInstrumentor.effective is None


def test_the_processor_is_added_once_and_switched_off(instrumentor: A2AInstrumentor) -> None:
    """A provider keeps a processor for ever, so it gets one, which sleeps while nothing is instrumented."""
    provider = Provider()
    instrumentor.instrument(tracer_provider=provider)
    [processor] = provider.added
    assert isinstance(processor, PolicySpanProcessor)
    assert processor.enabled
    instrumentor.uninstrument()
    assert not processor.enabled
    instrumentor.instrument(tracer_provider=provider)
    assert provider.added == [processor]
    assert processor.enabled


def test_a_provider_that_takes_no_processor_is_no_error(
    instrumentor: A2AInstrumentor, caplog: pytest.LogCaptureFixture
) -> None:
    """A vendor's provider may refuse; calls are judged all the same."""

    class Refusing(TracerProvider):
        def add_span_processor(self, span_processor: SpanProcessor) -> None:
            raise TypeError("not here")

    instrumentor.instrument(tracer_provider=Refusing())
    assert current() is not None
    assert "spans of Refusing are not judged, A2A calls are" in caplog.text


def test_a_bad_keyword_raises_before_anything_is_patched(instrumentor: A2AInstrumentor) -> None:
    """The program learns at once, and can mend it and try again."""
    with pytest.raises(ValueError, match="strictness='riase' is not one of off, annotate, log, raise"):
        instrumentor.instrument(strictness="riase")
    assert current() is None
    assert not instrumentor.is_instrumented_by_opentelemetry
    instrumentor.instrument(strictness="raise", tracer_provider=Provider())
    assert current() is not None


def test_a_bad_variable_is_logged_once(
    instrumentor: A2AInstrumentor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is raised, since that would end all auto-instrumentation; one warning says it."""
    monkeypatch.setenv("OTEL_PYTHON_A2A_STRICTNESS", "riase")
    instrumentor.instrument(tracer_provider=Provider())
    assert [record.levelname for record in caplog.records if "riase" in record.getMessage()] == ["WARNING"]


def test_misspelt_names_are_logged(
    instrumentor: A2AInstrumentor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Clients, exporters and rules that do not exist are told with those that do."""
    monkeypatch.setenv("OTEL_PYTHON_A2A_DISABLED_CLIENTS", "htpx")
    monkeypatch.setenv("OTEL_PYTHON_A2A_EXPORTERS", "span,sapn")
    instrumentor.instrument(tracer_provider=Provider(), rules="tsak-*=log")
    for name, choice in (("'htpx'", "httpx"), ("'sapn'", "span, log, metric"), ("'tsak-*'", "task-lost")):
        [message] = [record.getMessage() for record in caplog.records if name in record.getMessage()]
        assert choice in message


def test_the_settings_in_force_are_logged(instrumentor: A2AInstrumentor, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever asks for it reads what differs from the defaults, and where it comes from."""
    caplog.set_level(logging.INFO, "otel_a2a")
    instrumentor.instrument(tracer_provider=Provider(), strictness="log", rules="task-lost=off")
    [line] = [record.getMessage() for record in caplog.records if "settings" in record.getMessage()]
    assert "strictness=log (keyword argument)" in line
    assert "task-lost at *: off (keyword argument)" in line


def test_an_engine_that_is_passed_is_used(instrumentor: A2AInstrumentor) -> None:
    """A program may bring an engine of its own."""
    from otel_a2a.config import Settings
    from otel_a2a.engine.engine import Engine

    engine = Engine(Settings(), ())
    instrumentor.instrument(tracer_provider=Provider(), engine=engine)
    assert current() is engine


def test_the_spans_of_the_sdk_can_be_switched_off(
    instrumentor: A2AInstrumentor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The a2a-sdk reads its switch at import; ours sets it, takes it back, and overrules nobody."""
    monkeypatch.delitem(sys.modules, "a2a.utils.telemetry", raising=False)
    instrumentor.instrument(tracer_provider=Provider(), suppress_sdk_spans=True)
    assert os.environ[SDK_SPANS] == "false"
    instrumentor.uninstrument()
    assert SDK_SPANS not in os.environ
    monkeypatch.setenv(SDK_SPANS, "true")
    instrumentor.instrument(tracer_provider=Provider(), suppress_sdk_spans=True)
    assert os.environ[SDK_SPANS] == "true"


LATE = """
import httpx
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from otel_a2a import A2AInstrumentor

added = []
class Provider(TracerProvider):
    def add_span_processor(self, processor):
        added.append(type(processor).__name__)
        super().add_span_processor(processor)

def call():
    request = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "t-1"}}
    try:
        httpx.post("http://127.0.0.1:9/", json=request, headers={"A2A-Version": "1.0"})
    except httpx.ConnectError:
        pass

A2AInstrumentor().instrument()
call()
trace.set_tracer_provider(Provider())
assert added == [], added
call()
call()
assert added == ["PolicySpanProcessor"], added
"""


def test_a_provider_that_is_set_late_gets_the_processor_at_the_first_call() -> None:
    """A program that sets its provider after us is served at its first A2A call, and once."""
    process = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
