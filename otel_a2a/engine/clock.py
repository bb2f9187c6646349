# SPDX-License-Identifier: Apache-2.0
"""The engine's only source of time, so that a replay can bring its own."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """``monotonic()`` in seconds, for durations; ``time_ns()`` in nanoseconds since the epoch, for telemetry."""

    def monotonic(self) -> float: ...
    def time_ns(self) -> int: ...


class SystemClock:
    """The machine's clocks."""

    monotonic = staticmethod(time.monotonic)
    time_ns = staticmethod(time.time_ns)
