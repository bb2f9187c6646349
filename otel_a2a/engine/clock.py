# SPDX-License-Identifier: Apache-2.0
"""The engine's only source of time, so that a replay can bring its own."""

from __future__ import annotations

import datetime
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


def utc(ns: int, timespec: str = "seconds") -> str:
    """Nanoseconds since the epoch as people and RFC 3339 write a time, in UTC; ``timespec`` as ``isoformat`` has it.

    A recorded trace may hold a time that no calendar has: it is left to the reader as it is.
    """
    seconds, nanoseconds = divmod(ns, 1_000_000_000)
    try:
        moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    except (OverflowError, OSError, ValueError):
        return f"{seconds} s"
    return moment.replace(tzinfo=None, microsecond=nanoseconds // 1000).isoformat(timespec=timespec) + "Z"
