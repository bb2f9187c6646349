# SPDX-License-Identifier: Apache-2.0
"""OpenTelemetry's instrumentation of an HTTP library beside ours, with the same providers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan

from tests.neighbours.libraries import Library
from tests.support.telemetry import Telemetry


@contextmanager
def contrib(library: Library, telemetry: Telemetry) -> Iterator[None]:
    """The library instrumented by OpenTelemetry for as long as the block runs."""
    instrumentor = library.instrumentor()
    instrumentor.instrument(tracer_provider=telemetry.tracer_provider, meter_provider=telemetry.meter_provider)
    try:
        yield
    finally:
        instrumentor.uninstrument()


def both(first: str, library: Library, telemetry: Telemetry) -> dict[str, AbstractContextManager[Any]]:
    """``ours`` and ``theirs``, in the order in which they come."""
    ours, theirs = telemetry.instrumented(state_spans=False), contrib(library, telemetry)
    return {"ours": ours, "theirs": theirs} if first == "ours" else {"theirs": theirs, "ours": ours}


def inner_span(telemetry: Telemetry) -> ReadableSpan:
    """Their span of the one call, whose parent is ours; there are no others."""
    (theirs,) = (span for span in telemetry.spans if span.name == "POST")
    (ours,) = telemetry.ours()
    assert theirs.parent is not None and theirs.parent.span_id == ours.context.span_id
    assert ours.parent is None
    assert len(telemetry.spans) == 2
    return theirs


def sender(traceparent: str) -> int:
    """The id of the span that a ``traceparent`` names."""
    return int(traceparent.split("-")[2], 16)
