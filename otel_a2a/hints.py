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
        "skill": None if skill is None else str(skill),
        "expected_duration": expected_duration,
        "retry_of": None if retry_of is None else str(retry_of),
        "side_effect": side_effect,
        "pinned_card": pinned_card,
        "reason": None if reason is None else reason_of(reason) or str(reason).strip(),
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
                r"advertis(ed|es)\b|advertising (the |this |its )?skill",
                r"^(?!.*\b(access|certificate|consent|credential|grant|key|licen[cs]e|permission|session|token)s?\b).*revoked",
                "discovery",
                "agent[- ]?card",
                "well-known",
                r"\bcard[- ](fetch|refresh|chang|drop|lost|lacks|unavailable|unreachable|not found|no longer)",
                r"\bcard[- ](re-?fetch|version|revision|hash|digest|mismatch|differs|(returned |answered )?[45]\d\d\b)",
                r"\bskills?\b.*[- ](gone|missing|removed|withdrawn|dropped|disappeared|deprecated|retired|no longer)",
                r"\bskills?\b.* not (offered|listed|found|available|supported|in)\b",
                r"\b(no|without|lost|missing|removed|dropped|withdrew|retired) (the |this |such )?skill",
                r"\b(agent|streaming|push ?notifications?)\b.* no longer (support|offer)",
                r"\b(streaming|push ?notifications?) (was |were |is |are )?(withdrawn|disabled|switched off)",
                r"\b(dropped|withdrew|disabled) (streaming|push ?notifications?)\b",
                r"\b(gone|missing|removed|withdrawn) from (the )?(registry|catalog)",
                r"\bskills?\b.* any (longer|more)\b",
                r"\b(not|no longer) in the card\b",
                r"\bagent no longer (has|lists)\b",
                r"\b(streaming|push ?notifications?) (is |are )?(not|no longer) (supported|offered|listed|available)\b",
            ),
        ),
        (
            Reason.STREAM_END,
            (
                r"\bstream[-_ ]?(ended|end|closed)\b",
                r"\b(stream(ing)?|sse)( \w+){0,2} (end(s|ed)|closed|finished|terminated|exhausted|completed)\b",
                r"\b(stream|sse)( \w+){0,2} (disconnected|cut|broken?|dropped|lost|reset|interrupted|aborted)\b",
                "end of stream",
                r"\beof\b",
                "no more events",
                r"\bstop(async)?iteration\b|\b(iterator|generator) (was )?(exhausted|finished)",
            ),
        ),
        (
            Reason.POLL_EMPTY,
            (
                r"\b(empty|missing|missed)[- ]poll",
                r"\bpoll(s|ing)?[- ](was |were |came back )?(empty|missing|missed)",
                r"\b(poll\w*|get[_ ]?task|tasks/get) (returned|brought|gave|had) (an )?(nothing|none|null|empty|no )",
                r"\bno (answer|result|response|status|task|update) (to|from|of|in) (a |the )?poll",
                r"\b(nothing|no \w+) (returned|brought|given) by (a |the )?poll",
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
                r"\b(returned|answered|status) 5\d\d\b",
                "no response",
                "not respond",
                r"\boffline\b",
                r"\b(retries|attempts|polls) (reached|exceeded|exhausted|used up)",
                r"\bgave up (waiting|polling)",
                r"\bno (webhook|notification)|\b(webhook|notification) never",
            ),
        ),
        (Reason.USER, (r"(?<![a-z])users?(?![a-z])",)),
        (
            Reason.SERVER,
            (
                r"^(the )?server$",
                r"(?<![a-z])server[- ](said|says|told|reported|reports|confirmed|sent|state|status)",
                r"\b(by|from|according to) (the |our )?server(?![a-z])",
            ),
        ),
    )
)
"""What a text has to contain to give a reason; the first one counts. A skill's or a card's name alone gives none."""


def reason_of(text: object) -> str:
    """The ``Reason`` that a text gives, or the empty string where it gives none that rules know.

    An exception is as good as its text: what an application has at hand where it gives something up.
    """
    lowered = str(text).strip().lower()
    return next((reason for reason, words in _WORDS if words.search(lowered)), "")
