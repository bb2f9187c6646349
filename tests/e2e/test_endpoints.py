# SPDX-License-Identifier: Apache-2.0
"""An OTLP endpoint that is away, or takes what it is sent and never answers: no call feels it, and we keep quiet."""

from __future__ import annotations

import contextlib
import re
import socket
import statistics
import threading
from collections.abc import Iterator

import pytest

from tests.support.otlp import PROTOCOLS, Application, Backend

EAGER = {
    "OTEL_BSP_SCHEDULE_DELAY": "20",
    "OTEL_BLRP_SCHEDULE_DELAY": "20",
    "OTEL_METRIC_EXPORT_INTERVAL": "100",
    # Full at once where nothing gets away.
    "OTEL_BSP_MAX_QUEUE_SIZE": "16",
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "8",
    "OTEL_BLRP_MAX_QUEUE_SIZE": "16",
    "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE": "8",
}
ROUNDS, CALLS = 5, 20
FACTOR, GRACE = 5, 0.1
"""How much longer the median call may take; the grace in seconds."""
EXPORT_SECONDS = 10
"""How long an export waits for its answer."""


class Silent:
    """An endpoint that takes connections and what comes over them, and never says a word."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._held: list[socket.socket] = []
        self.has_something = threading.Event()
        """Somebody waits for its answer."""

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    @contextlib.contextmanager
    def running(self) -> Iterator[Silent]:
        threading.Thread(target=self._accept, daemon=True).start()
        try:
            yield self
        finally:
            for each in (self._listening, *self._held):
                each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                self._held.append(connection)
                if connection.recv(1):
                    self.has_something.set()


def nobody() -> str:
    """An endpoint at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_calls_take_no_longer_whatever_becomes_of_the_telemetry(protocol: str) -> None:
    """Three programs call in turns, and the one without an answer from its endpoint is as fast as the one with one."""

    def application(endpoint: str) -> Application:
        settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
        return Application(EAGER | settings, "--traces_exporter", "otlp")

    with (
        Backend() as backend,
        Silent().running() as silent,
        application(backend.endpoint_of(protocol)) as up,
        application(nobody()) as refused,
        application(silent.endpoint) as hanging,
    ):
        applications = {"up": up, "refused": refused, "hanging": hanging}
        for each in applications.values():
            each.call(2)
        assert backend.wait_for(lambda got: bool(got.spans), timeout=30)
        assert silent.has_something.wait(30), "nothing was exported, so that nothing hangs"
        seconds: dict[str, list[float]] = {name: [] for name in applications}
        for _ in range(ROUNDS):
            for name, each in applications.items():
                seconds[name] += each.call(CALLS)
        logs = {name: each.stop() for name, each in applications.items()}
    assert {name: len(each) for name, each in seconds.items()} == dict.fromkeys(applications, ROUNDS * CALLS)
    medians = {name: statistics.median(each) for name, each in seconds.items()}
    for name in ("refused", "hanging"):
        assert medians[name] < FACTOR * medians["up"] + GRACE, medians
        assert max(seconds[name]) < EXPORT_SECONDS - 1, "a call waited for an export"
    assert re.search("(?i)unavailable|refused|transient", logs["refused"]), "the exporter says that it cannot export"
    for name, log in logs.items():
        ours = [line for line in log.splitlines() if line.startswith("otel_a2a") or "otel-a2a" in line]
        assert ours == [], f"{name}: {ours}"
