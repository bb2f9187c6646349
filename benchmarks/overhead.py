# SPDX-License-Identifier: Apache-2.0
"""What otel-a2a adds to a call, as a multiple of what opentelemetry-instrumentation-httpx adds to it.

Thread CPU time, the variants interleaved in one run, medians; the network is replaced below httpx's transport, so that
both instrumentations do all their work. Absolute times depend on the machine and on its neighbours; the ratios hardly
do.

    python benchmarks/overhead.py [--rounds 20] [--calls 100]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import httpcore
import httpx
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from otel_a2a import A2AInstrumentor

URL = "http://agent.example/rpc"
HEADERS = {"A2A-Version": "1.0"}


class Nowhere(SpanExporter):
    """Takes spans and drops them."""

    def export(self, spans: Any) -> SpanExportResult:
        return SpanExportResult.SUCCESS


class Canned:
    """Stands in for the connection pool: answers at once."""

    def __init__(self, content: bytes, content_type: str) -> None:
        self._content = content
        self._headers = [(b"content-type", content_type.encode()), (b"content-length", str(len(content)).encode())]

    def handle_request(self, request: httpcore.Request) -> httpcore.Response:
        return httpcore.Response(200, headers=self._headers, content=[self._content])

    def __exit__(self, *args: object) -> None: ...

    def close(self) -> None: ...


def client(content: bytes, content_type: str = "application/json") -> httpx.Client:
    transport = httpx.HTTPTransport()
    transport._pool = Canned(content, content_type)  # type: ignore[assignment]
    return httpx.Client(transport=transport)


def rpc(method: str, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": "1", "method": method, "params": params}).encode()


def result(value: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": "1", "result": value}).encode()


TASK = {
    "id": "t-1",
    "contextId": "c-1",
    "status": {"state": "TASK_STATE_WORKING"},
    "artifacts": [{"artifactId": "a", "parts": [{"text": "some text " * 20}]}],
}
UPDATE = {"statusUpdate": {"taskId": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_WORKING"}}}
EVENTS = 200
STREAM = b"".join(b"data: " + result(UPDATE) + b"\n\n" for _ in range(EVENTS))
MESSAGE = {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hello " * 30}]}}


def get_task() -> Callable[[], Any]:
    http, body = client(result(TASK)), rpc("GetTask", {"id": "t-1"})
    headers = {**HEADERS, "content-type": "application/json"}
    return lambda: http.post(URL, content=body, headers=headers)


def send_message() -> Callable[[], Any]:
    http, body = client(result({"task": TASK})), rpc("SendMessage", MESSAGE)
    headers = {**HEADERS, "content-type": "application/json"}
    return lambda: http.post(URL, content=body, headers=headers)


def stream() -> Callable[[], Any]:
    http, body = client(STREAM, "text/event-stream"), rpc("SendStreamingMessage", MESSAGE)
    headers = {**HEADERS, "content-type": "application/json"}

    def run() -> None:
        with http.stream("POST", URL, content=body, headers=headers) as response:
            for _ in response.iter_lines():
                pass

    return run


def other_json() -> Callable[[], Any]:
    http, body = client(b'{"ok": true}'), json.dumps({"query": "x" * 1500}).encode()
    headers = {"content-type": "application/json"}
    return lambda: http.post("http://api.example/search", content=body, headers=headers)


def plain_get() -> Callable[[], Any]:
    http = client(b"hello", "text/plain")
    return lambda: http.get("http://api.example/page")


CASES: dict[str, Callable[[], Callable[[], Any]]] = {
    "GetTask": get_task,
    "SendMessage": send_message,
    f"stream of {EVENTS} events": stream,
    "other JSON POST": other_json,
    "plain GET": plain_get,
}


@contextmanager
def instrumented(instrumentor: Any) -> Iterator[None]:
    """Instruments while it lasts. The providers go with it: their threads would be in the way of all later rounds."""
    traces, metrics = TracerProvider(), MeterProvider([InMemoryMetricReader()])
    traces.add_span_processor(BatchSpanProcessor(Nowhere()))
    instrumentor.instrument(tracer_provider=traces, meter_provider=metrics)
    try:
        yield
    finally:
        instrumentor.uninstrument()
        traces.shutdown()
        metrics.shutdown()


VARIANTS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "bare": nullcontext,
    "contrib httpx": lambda: instrumented(HTTPXClientInstrumentor()),
    "otel-a2a": lambda: instrumented(A2AInstrumentor()),
}


def measure(build: Callable[[], Callable[[], Any]], rounds: int, calls: int) -> dict[str, float]:
    """Median microseconds of thread CPU per call, by variant."""
    times: dict[str, list[float]] = {name: [] for name in VARIANTS}
    for _ in range(rounds):
        for name, variant in VARIANTS.items():
            with variant():
                call = build()
                call()
                began = time.thread_time()
                for _ in range(calls):
                    call()
                times[name].append((time.thread_time() - began) / calls * 1e6)
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--calls", type=int, default=100)
    arguments = parser.parse_args()
    print(f"{'':24}{'bare µs':>10}{'contrib +µs':>13}{'ours +µs':>11}{'ours / contrib':>16}")
    base = 0.0
    for name, build in CASES.items():
        calls = max(2, arguments.calls // (20 if "stream" in name else 1))
        medians = measure(build, arguments.rounds, calls)
        contrib = medians["contrib httpx"] - medians["bare"]
        ours = medians["otel-a2a"] - medians["bare"]
        base = base or contrib
        per = contrib if "stream" not in name else base
        note = f"   {ours / EVENTS:.1f} µs an event" if "stream" in name else ""
        print(f"{name:24}{medians['bare']:10.0f}{contrib:13.0f}{ours:11.1f}{ours / per:16.3f}{note}")


if __name__ == "__main__":
    main()
