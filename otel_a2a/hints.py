# SPDX-License-Identifier: Apache-2.0
"""Hints: what an application says about the calls that it makes in a context. Public through ``otel_a2a.local``."""

from __future__ import annotations

import re
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
        "reason": None if reason is None else reason_of(reason) or reason.strip(),
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


_WORDS: Final = tuple(
    (reason, re.compile("|".join(words)))
    for reason, words in (
        (
            Reason.CAPABILITY,
            (
                "capab",
                "advertis",
                "revoked",
                "discovery",
                "agent ?card",
                r"\bcard[- ](fetch|refresh|chang|drop|lost|lacks|unavailable|unreachable|not found|no longer)",
                r"\bskills?\b.*[- ](gone|missing|removed|withdrawn|dropped|disappeared|deprecated|no longer)",
                r"\bskills?\b.* not (offered|listed|found|available|supported|in)\b",
                r"\b(no|without|lost|missing|removed|dropped|withdrew) (the |this |such )?skill",
            ),
        ),
        (Reason.STREAM_END, ("stream[- ]?(ended|end|closed)", "end of stream", r"\beof\b")),
        (
            Reason.POLL_EMPTY,
            (
                r"\b(empty|missing|missed)[- ]poll",
                r"\bpoll(ing)?[- ](was |came back )?(empty|missing)",
                r"\bpoll(ing)? (returned|brought|gave|had) (nothing|none|no )",
                r"\bno (answer|result|response) (to|from|of) (a |the )?poll",
            ),
        ),
        (Reason.DEADLINE, ("deadline",)),
        (
            Reason.TRANSPORT,
            (
                "transport",
                "time ?out",
                "timed out",
                "network",
                "connect",
                "unreachable",
                "unavailable",
                r"\bhttp\b",
                "server error",
                "no response",
                "not respond",
            ),
        ),
        (Reason.USER, (r"(?<![a-z])users?(?![a-z])",)),
        (Reason.SERVER, (r"(?<![a-z])server(?![a-z])",)),
    )
)
"""What a text has to contain to give a reason; the first one counts. A skill's or a card's name alone gives none."""


def reason_of(text: str) -> str:
    """The ``Reason`` that a text gives, or the empty string where it gives none that rules know."""
    lowered = text.lower()
    return next((reason for reason, words in _WORDS if words.search(lowered)), "")
