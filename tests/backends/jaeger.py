# SPDX-License-Identifier: Apache-2.0
"""A real Jaeger on loopback ports of its own, started with ``exporters/jaeger/jaeger.yaml``, and what its API finds.

Spans are as the HTTP API gives them, that is as the UI shows them.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
BINARY = ROOT / ".tools" / "jaeger"
CONFIGURATION = ROOT / "exporters" / "jaeger" / "jaeger.yaml"
ADDRESSES: tuple[str, ...] = (
    "JAEGER_OTLP_GRPC",
    "JAEGER_OTLP_HTTP",
    "JAEGER_QUERY_HTTP",
    "JAEGER_QUERY_GRPC",
    "JAEGER_HEALTH",
)
SECONDS = 60.0

_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(slots=True, frozen=True)
class Search:
    """What a person types into the search form. The service is always needed; an empty operation means all."""

    service: str
    operation: str = ""
    tags: str = ""


@dataclass(slots=True, frozen=True)
class Span:
    """A span of a trace that was found. ``start`` is in µs since the epoch, ``duration`` in µs."""

    id: str
    parent: str
    name: str
    service: str
    tags: Mapping[str, Any]
    start: int
    duration: int
    warnings: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    """Trace id and span id of what it follows from: what the UI lists below *References*, after its parent."""


@dataclass(slots=True, frozen=True)
class Trace:
    """A trace that was found."""

    id: str
    spans: tuple[Span, ...]

    def named(self, name: str) -> list[Span]:
        """The spans of this name."""
        return [span for span in self.spans if span.name == name]

    def parent_of(self, span: Span) -> Span:
        """The span that ``span`` is a child of, which must be there."""
        (parent,) = (each for each in self.spans if each.id == span.parent)
        return parent


class Jaeger:
    """A running Jaeger.

    Attributes:
        otlp: base URL of its OTLP/HTTP receiver.
        query: base URL of its HTTP API.
    """

    def __init__(self, addresses: Mapping[str, str]) -> None:
        self.otlp = f"http://{addresses['JAEGER_OTLP_HTTP']}"
        self.query = f"http://{addresses['JAEGER_QUERY_HTTP']}"

    def operations(self, service: str) -> list[str]:
        """What the drop-down list of operations offers."""
        found: list[str] = self._get(f"/api/services/{urllib.parse.quote(service)}/operations")
        return found

    def search(self, search: Search, limit: int = 100) -> list[Trace]:
        """The traces that a search of the last hour brings, as the UI asks for them."""
        now = time.time_ns() // 1000
        asked = {
            "service": search.service,
            "operation": search.operation,
            "tags": json.dumps(tags_of(search.tags)) if search.tags else "",
            "start": str(now - 3_600_000_000),
            "end": str(now),
            "lookback": "1h",
            "limit": str(limit),
        }
        query = urllib.parse.urlencode({name: value for name, value in asked.items() if value})
        return [_trace(found) for found in self._get(f"/api/traces?{query}")]

    def wait_for(self, search: Search, traces: int = 1) -> list[Trace]:
        """The same, once there are at least so many.

        Raises:
            TimeoutError: there are not, after ``SECONDS``.
        """
        give_up = time.monotonic() + SECONDS
        while len(found := self.search(search)) < traces:
            if time.monotonic() > give_up:
                raise TimeoutError(f"{search} brings {len(found)} traces, not {traces}")
            time.sleep(0.1)
        return found

    def trace(self, trace_id: str) -> Trace | None:
        """The trace of this id, or None where Jaeger has nothing of it."""
        try:
            (found,) = self._get(f"/api/traces/{trace_id}")
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
            return None
        return _trace(found)

    def _get(self, path: str) -> Any:
        with _opener.open(self.query + path, timeout=SECONDS) as answer:
            return json.load(answer)["data"]


@contextmanager
def running() -> Iterator[Jaeger]:
    """A Jaeger with nothing in it.

    Raises:
        RuntimeError: it ended before it was up. The message holds what it wrote.
    """
    addresses = dict(zip(ADDRESSES, _free_addresses(len(ADDRESSES)), strict=True))
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [str(BINARY), "--config", str(CONFIGURATION)], env=os.environ | addresses, stdout=log, stderr=log
        )
        try:
            _wait_until_up(process, f"http://{addresses['JAEGER_QUERY_HTTP']}/api/services", log)
            yield Jaeger(addresses)
        finally:
            process.terminate()
            process.wait(timeout=SECONDS)


def _wait_until_up(process: subprocess.Popen[bytes], url: str, log: Any) -> None:
    give_up = time.monotonic() + SECONDS
    while True:
        try:
            _opener.open(url, timeout=SECONDS).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > give_up:
                log.seek(0)
                raise RuntimeError(f"Jaeger is not up. It wrote:\n{log.read()}") from None
            time.sleep(0.1)


def _free_addresses(count: int) -> list[str]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    addresses = [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]
    for each in sockets:
        each.close()
    return addresses


def tags_of(typed: str) -> dict[str, str]:
    """What the UI reads in its box for tags, which is logfmt: every value is text."""
    pairs = (pair.partition("=") for pair in shlex.split(typed))
    return {key: value for key, _, value in pairs}


def _trace(found: Any) -> Trace:
    services = {key: process["serviceName"] for key, process in found["processes"].items()}
    return Trace(found["traceID"], tuple(_span(span, services[span["processID"]]) for span in found["spans"]))


def _span(span: Any, service: str) -> Span:
    parents = [each["spanID"] for each in span["references"] if each["refType"] == "CHILD_OF"]
    return Span(
        id=span["spanID"],
        parent=parents[0] if parents else "",
        name=span["operationName"],
        service=service,
        tags={tag["key"]: tag["value"] for tag in span["tags"]},
        start=span["startTime"],
        duration=span["duration"],
        warnings=tuple(span.get("warnings") or ()),
        links=tuple(
            (each["traceID"], each["spanID"]) for each in span["references"] if each["refType"] == "FOLLOWS_FROM"
        ),
    )
