# SPDX-License-Identifier: Apache-2.0
"""A real OTLP backend in this process, over gRPC and HTTP, and a program under ``opentelemetry-instrument``."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from otel_a2a.cli.demo.programs import clean_environment
from otel_a2a.cli.demo.receiver import Receiver
from otel_a2a.cli.demo.scenario import LAUNCHER
from otel_a2a.cli.otlp.grpc import GrpcEndpoint
from tests.support.telemetry import Telemetry

PATIENCE = 240.0
"""Seconds that no program here takes, unless it hangs."""
PROTOCOLS = ("grpc", "http/protobuf")
APPLICATION = Path(__file__).with_name("otlp_application.py")


class Backend(Receiver):
    """Takes OTLP over HTTP and over gRPC, as a collector does."""

    def __enter__(self) -> Backend:
        super().__enter__()
        self._grpc = GrpcEndpoint(self.take)
        self._grpc.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._grpc.__exit__(kind, error, traceback)
        super().__exit__(kind, error, traceback)

    def endpoint_of(self, protocol: str) -> str:
        """What ``OTEL_EXPORTER_OTLP_ENDPOINT`` is for ``protocol``."""
        return self.endpoint if protocol == "http/protobuf" else f"http://127.0.0.1:{self._grpc.port}"

    @property
    def trace_requests(self) -> list[ExportTraceServiceRequest]:
        """The requests as they came, for what the records of ``spans`` leave out."""
        return [ExportTraceServiceRequest.FromString(body) for body in self._bodies("traces")]

    @property
    def log_requests(self) -> list[ExportLogsServiceRequest]:
        """The same of log records."""
        return [ExportLogsServiceRequest.FromString(body) for body in self._bodies("logs")]

    @property
    def metric_requests(self) -> list[ExportMetricsServiceRequest]:
        """The same of metrics."""
        return [ExportMetricsServiceRequest.FromString(body) for body in self._bodies("metrics")]

    def _bodies(self, signal: str) -> Iterator[bytes]:
        for request in list(self.requests):
            if request.signal == signal:
                compressed = request.headers.get("content-encoding") == "gzip"
                yield gzip.decompress(request.body) if compressed else request.body


def export_to(backend: Backend, telemetry: Telemetry) -> None:
    """Have spans and log events of providers in this process sent to the backend as well, each at once."""
    spans = OTLPSpanExporter(f"{backend.endpoint}/v1/traces")
    telemetry.tracer_provider.add_span_processor(SimpleSpanProcessor(spans))
    logs = OTLPLogExporter(f"{backend.endpoint}/v1/logs")
    telemetry.logger_provider.add_log_record_processor(SimpleLogRecordProcessor(logs))


class Application:
    """``otlp_application`` under ``opentelemetry-instrument``, from ``__enter__`` to ``__exit__``.

    Args:
        environment: variables besides those of a clean environment.
        flags: of the launcher.
    """

    def __init__(self, environment: dict[str, str], *flags: str, folder: Path | None = None) -> None:
        self._environment = clean_environment() | environment
        self._command = [sys.executable, "-c", LAUNCHER, *flags, sys.executable, str(APPLICATION)]
        self._folder = folder
        self.log = ""
        """Its standard error, once it has ended."""

    def __enter__(self) -> Application:
        # A file, because a pipe that nobody reads would be full at some time, and stop who writes.
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")
        self._process: subprocess.Popen[str] = subprocess.Popen(
            self._command,
            env=self._environment,
            cwd=self._folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self._limit = threading.Timer(PATIENCE, self._process.kill)
        self._limit.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._limit.cancel()
        self.stop()
        self._errors.close()

    def call(self, times: int) -> list[float]:
        """Have it make so many calls, half of them violations; their durations, in seconds."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{times}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, self.stop()
        durations: list[float] = json.loads(answer)
        return durations

    def stop(self) -> str:
        """End it at once, without its last exports; returns ``log``."""
        self._process.kill()
        return self._ended(None)

    def finish(self, seconds: float = 60.0) -> str:
        """Let it end by itself, which exports what is left; returns ``log``."""
        self._ended(seconds)
        assert self._process.returncode == 0, self.log
        return self.log

    def _ended(self, seconds: float | None) -> str:
        self._process.communicate(timeout=seconds)
        self._errors.seek(0)
        self.log = self._errors.read()
        return self.log
