# SPDX-License-Identifier: Apache-2.0
"""Task states and timestamps in every dialect."""

from __future__ import annotations

import sys
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from otel_a2a.observations import STATES, TaskState

_NUMBERS: Final = {
    1: TaskState.SUBMITTED,
    2: TaskState.WORKING,
    3: TaskState.COMPLETED,
    4: TaskState.FAILED,
    5: TaskState.CANCELED,
    6: TaskState.INPUT_REQUIRED,
    7: TaskState.REJECTED,
    8: TaskState.AUTH_REQUIRED,
}
"""Enum numbers of the 1.0 proto, which ProtoJSON parsers accept."""
_LONGEST: Final = 64
_READS_ISO_8601: Final = sys.version_info >= (3, 11)


def normalise(value: Any) -> tuple[str | None, str]:
    """``(state, "")`` for a state that A2A knows, ``(None, text as it came)`` for any other, ``(None, "")`` for none.

    ``unknown`` (0.x) and ``TASK_STATE_UNSPECIFIED`` carry no information and so are no state. The text is cut to
    64 characters.
    """
    if isinstance(value, str):
        state = _by_name(value[:_LONGEST])
        return (state, "") if state else (None, value[:_LONGEST])
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        state = _NUMBERS.get(value)  # type: ignore[arg-type]  # 3.0 == 3
        return (state, "") if state else (None, str(value)[:_LONGEST])
    return None, ""


@lru_cache(maxsize=128)
def _by_name(name: str) -> str | None:
    canonical = name.strip().upper().replace("-", "_")
    if not canonical.startswith("TASK_STATE_"):
        canonical = f"TASK_STATE_{canonical}"
    if canonical == "TASK_STATE_CANCELLED":
        canonical = TaskState.CANCELED
    return canonical if canonical in STATES else None


def timestamp(value: Any) -> float | None:
    """ISO 8601 with a time zone as seconds since the epoch; None for anything else.

    Naive local times say nothing, and neither do the zero times of Go, .NET and protobuf, at or before the epoch.
    """
    if not isinstance(value, str) or not 16 <= len(value) <= 40:
        return None
    try:
        moment = datetime.fromisoformat(value if _READS_ISO_8601 else _for_python_3_10(value))
        seconds = 0.0 if moment.tzinfo is None else moment.timestamp()
    except (ValueError, OverflowError):
        return None
    return seconds if seconds > 0.0 else None


def _for_python_3_10(value: str) -> str:
    """``fromisoformat`` of Python 3.10 knows neither ``Z`` nor other than 3 or 6 digits of a fraction."""
    if value[-1] == "Z":
        value = f"{value[:-1]}+00:00"
    whole, point, rest = value.partition(".")
    if not point:
        return value
    digits = len(rest) - len(rest.lstrip("0123456789"))
    return f"{whole}.{rest[:digits][:6].ljust(6, '0')}{rest[digits:]}"
