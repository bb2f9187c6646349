# SPDX-License-Identifier: Apache-2.0
"""Trace context in the headers of A2A calls: exactly once, and never over the application's own."""

from __future__ import annotations

from collections import deque

from opentelemetry import propagate
from opentelemetry.context import Context

REMEMBERED = 512
"""Headers of ours that are remembered, to tell them from the application's when a request is sent again."""
TRACEPARENT = "traceparent"


class Propagation:
    """Makes propagation headers by the global propagator."""

    def __init__(self) -> None:
        self._ours: deque[str] = deque(maxlen=REMEMBERED)

    def headers(self, context: Context, present: str | None) -> dict[str, str]:
        """The headers to set for a call made in ``context``.

        ``present`` is the request's ``traceparent``: one that is not ours is the application's, and nothing is set.
        """
        if present is not None and present not in self._ours:
            return {}
        carrier: dict[str, str] = {}
        propagate.inject(carrier, context)
        if TRACEPARENT in carrier:
            self._ours.append(carrier[TRACEPARENT])
        return carrier
