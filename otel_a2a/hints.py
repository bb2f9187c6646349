# SPDX-License-Identifier: Apache-2.0
"""Hints: what an application says about the calls that it makes in a context. Public through ``otel_a2a.local``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Final

from otel_a2a.observations import Hints, Reason

_hints: ContextVar[Hints | None] = ContextVar("otel_a2a_hints", default=None)


@contextmanager
def hints(
    *,
    skill: str | None = None,
    expected_duration: float | None = None,
    retry_of: str | None = None,
    side_effect: bool | None = None,
    pinned_card: bool | None = None,
    reason: str | None = None,
) -> Iterator[None]:
    """Say something about the A2A calls made in this context; inner hints add to outer ones and win over them.

    Args:
        skill: the skill that a send is for (seeds 000, 002, 004).
        expected_duration: seconds that the task is expected to take at most (seeds 001, 004).
        retry_of: id of the task that a send deliberately retries (seed 000).
        side_effect: running the request twice does harm.
        pinned_card: the application relies on a card that it holds, on purpose.
        reason: why a task is canceled: ``user``, ``deadline``, ``capability``, or text.
    """
    given: dict[str, Any] = {
        "skill": skill,
        "expected_duration": expected_duration,
        "retry_of": retry_of,
        "side_effect": side_effect,
        "pinned_card": pinned_card,
        "reason": None if reason is None else reason_of(reason),
    }
    token = _hints.set(
        replace(_hints.get() or Hints(), **{name: value for name, value in given.items() if value is not None})
    )
    try:
        yield
    finally:
        _hints.reset(token)


def current_hints() -> Hints | None:
    """The hints in this context, or None."""
    return _hints.get()


_WORDS: Final = (
    (Reason.CAPABILITY, ("capab", "advertis", "skill", "agent card", "card changed", "revoked")),
    (Reason.STREAM_END, ("stream ended", "stream end", "stream closed", "stream-end", "end of stream", "eof")),
    (
        Reason.POLL_EMPTY,
        ("poll-empty", "poll returned nothing", "poll returned none", "empty poll", "no answer to poll"),
    ),
    (Reason.DEADLINE, ("deadline",)),
    (Reason.TRANSPORT, ("transport", "timeout", "timed out", "network", "connection", "unreachable")),
    (Reason.USER, ("user",)),
    (Reason.SERVER, ("server",)),
)


def reason_of(text: str) -> str:
    """The ``Reason`` that a text gives, or the empty string where it gives none that rules know."""
    lowered = text.lower()
    for reason, words in _WORDS:
        if lowered == reason or any(word in lowered for word in words):
            return reason
    return ""
