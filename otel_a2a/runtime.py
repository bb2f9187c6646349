# SPDX-License-Identifier: Apache-2.0
"""What runs while the process is instrumented: the settings, the engine, and the telemetry, put together once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from opentelemetry._logs import LoggerProvider
from opentelemetry.context import Context
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import Tracer, TracerProvider, get_tracer
from opentelemetry.util.http import ExcludeList

from otel_a2a import semconv
from otel_a2a.config import Settings
from otel_a2a.engine import current, set_current
from otel_a2a.engine.engine import Engine
from otel_a2a.engine.rules import Rule
from otel_a2a.engine.verdict import Verdict
from otel_a2a.engine.worker import Worker
from otel_a2a.observations import Observation
from otel_a2a.packs import load_rules
from otel_a2a.telemetry.events import EventLogger
from otel_a2a.telemetry.metrics import A2AMetrics
from otel_a2a.telemetry.propagation import Propagation
from otel_a2a.telemetry.states import StateTelemetry
from otel_a2a.version import __version__
from otel_a2a.wire import urls

if TYPE_CHECKING:
    from otel_a2a.exchange import Exchange
    from otel_a2a_exporters.jsonl import FileExporter

_logger = logging.getLogger("otel_a2a")


@dataclass(slots=True)
class Runtime:
    """The parts that an operation works with. Made by ``build``."""

    settings: Settings
    engine: Engine
    tracer: Tracer
    states: StateTelemetry
    metrics: A2AMetrics
    worker: Worker
    excluded: ExcludeList | None
    card_urls: frozenset[str]
    card_paths: frozenset[str]
    propagation: Propagation = field(default_factory=Propagation)
    on_operation: Callable[[], None] | None = None
    """Called at each A2A operation: attaches the processor to a provider that was set late."""
    file: FileExporter | None = None
    _reported: set[tuple[str, str]] = field(default_factory=set)

    def stop(self) -> None:
        """Do what is waiting, and end the threads."""
        self.worker.stop()
        if self.file is not None:
            self.file.close()

    def observe(self, observation: Observation, context: Context | None, *, enforce: bool = True) -> Verdict:
        """Have the engine judge an observation, and write down what a task's state did.

        ``context``: where its findings belong. ``enforce=False``: the application cannot be stopped here.
        """
        verdict = self.engine.observe(observation, context, enforce=enforce)
        if verdict.transition is not None:
            self.states.record(verdict.transition)
        return verdict

    def correlation_key(self, exchange: Exchange) -> str:
        """The correlation key in force where ``exchange`` goes."""
        if not self.settings.agents:
            return self.settings.correlation_key
        address, port = urls.server(exchange.url())
        return self.engine.places.at(address, f"{address}:{port}").correlation_key

    def internal_error(self, where: str, error: Exception) -> None:
        """A fault of ours: counted, logged once per place and kind, and never seen by the application."""
        report_once(self._reported, self.metrics, where, error)


_report_lock = threading.Lock()


def report_once(reported: set[tuple[str, str]], metrics: A2AMetrics, where: str, error: Exception) -> None:
    """Count a fault, and log it if this place has not had its kind before."""
    try:
        metrics.internal_error(where.split(" ", 1)[0])
        key = (where, type(error).__name__)
        with _report_lock:
            if key in reported or len(reported) > 1000:
                return
            reported.add(key)
        _logger.warning("otel-a2a: internal error in %s; the application is not affected", where, exc_info=error)
    except Exception:
        _logger.debug("reporting an internal error failed", exc_info=True)


def build(
    settings: Settings,
    *,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    logger_provider: LoggerProvider | None = None,
    engine: Engine | None = None,
    rules: Sequence[Rule] | None = None,
) -> Runtime:
    """Put the parts together. Providers that are None are the global ones, also where those are set later.

    ``engine``: one made elsewhere is used as it is, with its own settings, rules and exporters.
    """
    from otel_a2a_exporters import build_exporters

    tracer = get_tracer(semconv.SCOPE, __version__, tracer_provider, semconv.SCHEMA_URL)
    events = EventLogger(logger_provider)
    held: list[Engine] = []
    metrics = A2AMetrics(meter_provider, lambda: held[0].live_states())
    reported: set[tuple[str, str]] = set()
    file: FileExporter | None = None
    if engine is None:
        engine = Engine(
            settings,
            load_rules() if rules is None else rules,
            on_internal_error=lambda where, error: report_once(reported, metrics, where, error),
        )
        engine.exporters = build_exporters(settings.exporters, tracer, events, meter_provider, engine.rules)
        if settings.violations_file:
            from otel_a2a_exporters.jsonl import FileExporter

            file = FileExporter(settings.violations_file, lambda: metrics.internal_error("violations_file"))
            engine.exporters += (file,)
    held.append(engine)
    excluded = ExcludeList(settings.excluded_urls) if settings.excluded_urls else None
    card_urls = frozenset(urls.fetch_url(url) for url in settings.card_urls)
    states = StateTelemetry(
        tracer, metrics, events, spans=settings.state_spans, transition_events=settings.transition_events
    )
    worker = Worker(lambda: engine.next_due, engine.pass_time)
    engine.on_schedule = worker.wake
    set_current(engine)
    return Runtime(
        settings=settings,
        engine=engine,
        tracer=tracer,
        states=states,
        metrics=metrics,
        worker=worker,
        excluded=excluded,
        card_urls=card_urls,
        card_paths=frozenset(urlsplit(url).path for url in card_urls),
        file=file,
        _reported=reported,
    )


__all__ = ["Runtime", "build", "current"]
