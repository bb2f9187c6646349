# SPDX-License-Identifier: Apache-2.0
"""An OTLP/HTTP backend inside this process: takes what an instrumented program exports, and keeps it.

    with Receiver() as receiver:
        subprocess.run(["opentelemetry-instrument", "python", "app.py"], env={**os.environ, **receiver.environment})
    print([span.name for span in receiver.spans])

Takes traces, logs and metrics as ``http/protobuf``, plain or gzip, on the loopback interface. Reading is thread-safe.
"""

from __future__ import annotations

import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Collection, Mapping
from types import TracebackType

from otel_a2a.cli.otlp import records
from otel_a2a.cli.otlp.http import HttpEndpoint
from otel_a2a.cli.otlp.requests import SIGNALS, Received, read


class Receiver:
    """The backend. Listens from ``__enter__`` to ``__exit__``; what it has received stays readable.

    Args:
        signals: what it takes; anything else is answered with 404.
    """

    def __init__(self, signals: Collection[str] = SIGNALS) -> None:
        self.requests: list[Received] = []
        self._spans: list[records.Span] = []
        self._logs: list[records.LogEvent] = []
        self._points: list[records.Point] = []
        self._news = threading.Condition()
        self._http = HttpEndpoint(self.take, signals=signals)

    def __enter__(self) -> Receiver:
        self._http.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._http.__exit__(kind, error, traceback)

    @property
    def endpoint(self) -> str:
        """Base URL, as ``OTEL_EXPORTER_OTLP_ENDPOINT`` wants it."""
        return f"http://127.0.0.1:{self._http.port}"

    @property
    def environment(self) -> dict[str, str]:
        """What makes an OpenTelemetry SDK export all three signals to here."""
        exporters = {f"OTEL_{signal.upper()}_EXPORTER": "otlp" for signal in SIGNALS}
        return {
            **exporters,
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_EXPORTER_OTLP_ENDPOINT": self.endpoint,
        }

    @property
    def spans(self) -> list[records.Span]:
        """All spans so far, oldest first."""
        with self._news:
            return sorted(self._spans, key=lambda span: span.start)

    @property
    def logs(self) -> list[records.LogEvent]:
        """All log records so far, in order of arrival."""
        with self._news:
            return list(self._logs)

    def points(self, name: str) -> list[records.Point]:
        """The newest points of the metric ``name``, one per set of attributes."""
        with self._news:
            newest = {repr(sorted(p.attributes.items())): p for p in self._points if p.name == name}
            return list(newest.values())

    def wait_for(self, condition: Callable[[Receiver], bool], timeout: float = 10.0) -> bool:
        """Waits until ``condition(self)`` holds, at most ``timeout`` seconds; tells whether it does."""
        give_up = time.monotonic() + timeout
        with self._news:
            while not condition(self):
                if not self._news.wait(max(0.0, give_up - time.monotonic())):
                    return condition(self)
        return True

    def take(self, request: Received) -> None:
        """Keeps one export request.

        Raises:
            ValueError: the body is not what the signal's protocol says.
        """
        export = read(request)
        with self._news:
            self.requests.append(request)
            self._spans += export.spans
            self._logs += export.logs
            self._points += export.points
            self._news.notify_all()

    def forward(self, url: str, headers: Mapping[str, str] | None = None, timeout: float = 10.0) -> list[str]:
        """Sends everything received on to another backend, byte for byte.

        A backend of traces, such as Jaeger, has no place for logs and metrics, and says so by a 404.

        Args:
            url: base URL of an OTLP/HTTP endpoint, to which ``/v1/traces`` and the like are added.
            headers: sent beside those that describe the body.
            timeout: seconds for each request.

        Returns:
            The signals that the backend has no place for.

        Raises:
            OSError: the backend cannot be reached, or answers with an error (``urllib.error.HTTPError``).
        """
        not_taken: list[str] = []
        is_local = urllib.parse.urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")
        opener = urllib.request.build_opener(*([urllib.request.ProxyHandler({})] if is_local else []))
        for received in list(self.requests):
            if received.signal in not_taken:
                continue
            target = f"{url.rstrip('/')}/v1/{received.signal}"
            sent = {name: value for name, value in received.headers.items() if name.startswith("content-")}
            request = urllib.request.Request(target, received.body, {**sent, **(headers or {})}, method="POST")
            try:
                with opener.open(request, timeout=timeout) as response:
                    response.read()
            except urllib.error.HTTPError as error:
                if error.code != 404 or received.signal == "traces":
                    raise
                error.close()
                not_taken.append(received.signal)
        return not_taken
