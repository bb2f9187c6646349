# SPDX-License-Identifier: Apache-2.0
"""The way in: what ``opentelemetry-instrument`` loads, and what a program calls itself.

    from otel_a2a import A2AInstrumentor
    A2AInstrumentor().instrument(strictness="log")

Whatever is wrong with the environment or a file is logged and passed over: an exception from here would end all
auto-instrumentation of the process. Only a bad keyword argument, which its own program gave, raises.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final
from weakref import WeakKeyDictionary

from opentelemetry import trace

# Its module switches type checking off for itself, so that it has no types and, to mypy, no such name.
from opentelemetry.instrumentation.instrumentor import BaseInstrumentor  # type: ignore[attr-defined]

from otel_a2a import sources

if TYPE_CHECKING:
    from otel_a2a.processor import PolicySpanProcessor
    from otel_a2a.runtime import Runtime
    from otel_a2a.sources import Effective

_logger = logging.getLogger("otel_a2a")

SDK_SPANS: Final = "OTEL_INSTRUMENTATION_A2A_SDK_ENABLED"
"""The switch of a2a-sdk's own spans. It is read when ``a2a.utils.telemetry`` is imported."""
SDK_TELEMETRY: Final = "a2a.utils.telemetry"

PARTS: Final = ("tracer_provider", "meter_provider", "logger_provider", "engine")


@dataclass
class A2AConfiguration:
    """The options of ``instrumentation/development: python: otel_a2a:`` in an ``OTEL_CONFIG_FILE``.

    They arrive as keyword arguments, and so win over the environment. Types are wide on purpose: OpenTelemetry's reader
    then hands the values over as they are, and a wrong one is refused here, with its choices.
    """

    strictness: str | bool | None = None
    raise_on: str | bool | None = None
    rules: dict[str, Any] | str | None = None
    agents: dict[str, Any] | str | None = None
    profile: str | None = None
    exporters: list[str] | str | None = None
    violations_file: str | None = None
    disabled_clients: list[str] | str | None = None
    excluded_urls: list[str] | str | None = None
    card_urls: list[str] | str | None = None
    pinned_cards: list[str] | str | None = None
    max_tasks: int | str | None = None
    max_agents: int | str | None = None
    max_body: int | str | None = None
    task_deadline: float | str | None = None
    max_card_age: float | str | None = None
    webhook_card_window: float | str | None = None
    card_failure_window: float | str | None = None
    clock_skew: float | str | None = None
    gateway_rewrites_ids: bool | str | None = None
    correlation_key: str | None = None
    raise_in_stream: bool | str | None = None
    state_spans: bool | str | None = None
    transition_events: bool | str | None = None
    propagate: bool | list[str] | str | None = None
    suppress_sdk_spans: bool | str | None = None


class A2AInstrumentor(BaseInstrumentor):  # type: ignore[misc]  # see the import
    """Makes A2A traffic of this process visible, and judges it. One per process, as all instrumentors are."""

    configuration: ClassVar = A2AConfiguration
    effective: ClassVar[Effective | None] = None
    """The settings in force, and where each comes from; None while nothing is instrumented."""

    # On the class, because the singleton's __init__ runs at every A2AInstrumentor().
    _processors: ClassVar[WeakKeyDictionary[Any, PolicySpanProcessor]] = WeakKeyDictionary()
    """By provider, which keeps what it was given for ever."""
    _switched_sdk_spans_off: ClassVar[bool] = False

    def instrumentation_dependencies(self) -> Collection[str]:
        """None: the launcher asks the distribution's extras, and a program that calls us wants us in any case."""
        return ()

    def _instrument(self, **kwargs: Any) -> None:
        """Begin. Called by ``instrument()``.

        Keyword arguments:
            tracer_provider, meter_provider, logger_provider: default: the global ones, also where they are set later.
            engine: an ``otel_a2a.engine.engine.Engine`` to use as it is, with its own settings and rules.
            strictness, rules, agents, profile, excluded_urls, …: any setting; see ``A2AConfiguration`` and
                ``otel_a2a.environment_variables``.

        Raises:
            ValueError: a keyword argument cannot be used. Nothing has been patched by then.
        """
        parts = {name: kwargs.pop(name, None) for name in PARTS}
        chosen = sources.effective(os.environ, **kwargs)
        try:
            self._begin(chosen, **parts)
        except Exception:
            _logger.exception("otel-a2a could not start; the application goes on without it")

    def _begin(self, chosen: Effective, *, engine: Any, **providers: Any) -> None:
        if engine is None and sources.sdk_is_disabled(os.environ) and not chosen.is_enforcing:
            type(self).effective = chosen
            _report(chosen)
            _logger.info("OpenTelemetry is switched off by %s, and so is otel-a2a", sources.SDK_DISABLED)
            return

        from otel_a2a import clients, hooks, operation, runtime
        from otel_a2a.packs import load_rules

        rules = load_rules() if engine is None else engine.rules
        chosen = sources.for_rules(chosen, [rule.name for rule in rules])
        chosen = sources.with_problems(chosen, sources.unknown_names(chosen, "disabled_clients", clients.CLIENTS))
        type(self).effective = chosen
        _report(chosen)
        if chosen.settings.suppress_sdk_spans:
            self._switch_sdk_spans_off()
        built = runtime.build(chosen.settings, engine=engine, rules=rules, **providers)
        self._attach(built, providers["tracer_provider"])
        operation.start(built)
        clients.install(chosen.settings.disabled_clients)
        hooks.install()

    def _uninstrument(self, **kwargs: Any) -> None:
        from otel_a2a import clients, engine, hooks, operation

        hooks.uninstall()
        clients.uninstall()
        operation.stop()
        for processor in self._processors.values():
            processor.enabled = False
        engine.set_current(None)
        if self._switched_sdk_spans_off:
            os.environ.pop(SDK_SPANS, None)
        type(self)._switched_sdk_spans_off = False
        type(self).effective = None

    def _attach(self, built: Runtime, provider: Any) -> None:
        """Put the second feed on ``provider``, else on the global provider, now or when A2A traffic first appears."""
        if self._attach_to(trace.get_tracer_provider() if provider is None else provider):
            return

        def late() -> None:
            if self._attach_to(trace.get_tracer_provider() if provider is None else provider):
                built.on_operation = None

        built.on_operation = late

    def _attach_to(self, provider: Any) -> bool:
        """Whether ``provider`` is done with. One that is no SDK provider, or not yet, takes no processor."""
        if not hasattr(provider, "add_span_processor"):
            return False
        try:
            processor = self._processors.get(provider)
            if processor is None:
                from otel_a2a.processor import PolicySpanProcessor

                processor = self._processors[provider] = PolicySpanProcessor(provider)
                provider.add_span_processor(processor)
            processor.enabled = True
        except Exception:
            _logger.warning("spans of %s are not judged, A2A calls are", type(provider).__name__, exc_info=True)
        return True

    def _switch_sdk_spans_off(self) -> None:
        if SDK_TELEMETRY in sys.modules:
            _logger.warning("a2a-sdk was imported before otel-a2a was started, so that its own spans stay on")
        elif SDK_SPANS not in os.environ:
            os.environ[SDK_SPANS] = "false"
            type(self)._switched_sdk_spans_off = True


def _report(chosen: Effective) -> None:
    for problem in chosen.problems:
        _logger.warning("%s", problem)
    if _logger.isEnabledFor(logging.INFO):
        _logger.info("settings other than the defaults: %s", ", ".join(_changes(chosen)) or "none")


def _changes(chosen: Effective) -> list[str]:
    changes = [
        f"{name}={sources.as_text(getattr(chosen.settings, name))} ({origin})"
        for name, origin in chosen.origins.items()
        if origin != sources.DEFAULT and name not in ("policy", "agents")
    ]
    for entry in chosen.settings.agents:
        set_there = ", ".join(f"{name}={sources.as_text(value)}" for name, value in entry.changes)
        changes.append(f"at {entry.host}: {set_there} ({chosen.origins['agents']})")
    for line, origin in zip(chosen.settings.policy, chosen.line_origins, strict=True):
        done = ", ".join(what.value for what in (line.level, line.action) if what is not None)
        changes.append(f"{line.rule} at {line.agent}: {done} ({origin})")
    return changes
