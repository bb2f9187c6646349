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
    try:
        return moment(ns).replace(tzinfo=None).isoformat(timespec=timespec) + "Z"
    except (OverflowError, OSError, ValueError):
        return f"{ns // 1_000_000_000} s"


def moment(ns: int) -> datetime.datetime:
    """Nanoseconds since the epoch as a time in UTC, to the microsecond.

    Raises:
        OverflowError, OSError, ValueError: no calendar has it.
    """
    seconds, nanoseconds = divmod(ns, 1_000_000_000)
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).replace(microsecond=nanoseconds // 1000)
