# SPDX-License-Identifier: Apache-2.0
"""Metrics of calls, cards and tasks. No id is ever a label, and host names are bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation, get_meter
from opentelemetry.util.types import Attributes

from otel_a2a import semconv
from otel_a2a.telemetry.addresses import Addresses
from otel_a2a.version import __version__

DURATION_BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
"""Seconds; those of the MCP conventions, the nearest protocol."""
TASK_BUCKETS = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 1800, 3600, 7200, 21600, 86400]
"""Seconds; tasks live from milliseconds to hours (seed 004: median 40 minutes, tail 6 hours)."""


class A2AMetrics:
    """The instruments. ``active_tasks`` is asked at each collection: how many tasks are in each state."""

    def __init__(self, provider: MeterProvider | None, active_tasks: Callable[[], Mapping[str, int]]) -> None:
        meter = get_meter(semconv.SCOPE, __version__, provider, semconv.SCHEMA_URL)
        self._addresses = Addresses()
        self._with_changes: set[str] = set()
        self._operations = meter.create_histogram(
            semconv.METRIC_OPERATION_DURATION,
            unit="s",
            description="Duration of A2A calls, whole stream included",
            explicit_bucket_boundaries_advisory=DURATION_BUCKETS,
        )
        self._tasks = meter.create_histogram(
            semconv.METRIC_TASK_DURATION,
            unit="s",
            description="From a task's first sight to its terminal state",
            explicit_bucket_boundaries_advisory=TASK_BUCKETS,
        )
        self._fetches = meter.create_counter(
            semconv.METRIC_CARD_FETCHES, unit="{fetch}", description="Fetches of Agent Cards"
        )
        self._changes = meter.create_counter(
            semconv.METRIC_CARD_CHANGES, unit="{change}", description="Changes of an Agent Card's revision"
        )
        self._errors = meter.create_counter(
            semconv.METRIC_INTERNAL_ERRORS, unit="{error}", description="Faults of the instrumentation itself"
        )

        def observe(options: CallbackOptions) -> Iterable[Observation]:
            for state, number in active_tasks().items():
                yield Observation(number, {semconv.A2A_TASK_STATE: state})

        meter.create_observable_up_down_counter(
            semconv.METRIC_TASK_ACTIVE, [observe], unit="{task}", description="Tasks not known to have ended"
        )

    def operation(self, method: str, address: str, seconds: float, error: str) -> None:
        """A call ended; ``error`` is its ``error.type``, empty where it had none."""
        attributes = {semconv.A2A_METHOD_NAME: method, semconv.SERVER_ADDRESS: self._addresses.label(address)}
        if error:
            attributes[semconv.ERROR_TYPE] = error
        self._operations.record(seconds, attributes)

    def task(self, state: str, address: str, seconds: float) -> None:
        """A task reached a terminal state."""
        label = self._addresses.label(address)
        self._tasks.record(seconds, {semconv.A2A_TASK_STATE: state, semconv.SERVER_ADDRESS: label})

    def card_fetch(self, address: str, error: str) -> None:
        """A card's fetch ended.

        The agent's series of changes begins with its first fetch: an increase is only seen of a series that is there.
        """
        label = self._addresses.label(address)
        if label not in self._with_changes:
            self._with_changes.add(label)
            self._changes.add(0, {semconv.SERVER_ADDRESS: label})
        attributes: dict[str, str] = {semconv.SERVER_ADDRESS: label}
        if error:
            attributes[semconv.ERROR_TYPE] = error
        self._fetches.add(1, attributes)

    def card_change(self, address: str) -> None:
        """A card's revision changed."""
        self._changes.add(1, {semconv.SERVER_ADDRESS: self._addresses.label(address)})

    def internal_error(self, where: str) -> None:
        """Something of ours failed, and the application went on."""
        attributes: Attributes = {semconv.ERROR_TYPE: where}
        self._errors.add(1, attributes)
