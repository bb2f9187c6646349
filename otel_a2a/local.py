# SPDX-License-Identifier: Apache-2.0
"""What an application can say: hints about its calls, and decisions that it takes without the wire.

The wire does not show why a task is canceled, or that a program booked a task as failed. Said here, it can be judged::

    from otel_a2a import local

    with local.hints(skill="charge", side_effect=True, expected_duration=30):
        client.send_message(...)                 # sync or async: hints live in the context

    local.task_state("t-1", "failed", reason="transport")
    local.artifact_dropped("t-1", "a-1", reason="capability")

Nothing here does anything but tell: the application's own record is its own affair. In mode ``raise`` a decision that crosses
the boundary raises, before the application acts on it. Where nothing is instrumented, a call costs a look at one variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Final

from otel_a2a.engine import current
from otel_a2a.engine.findings import Finding
from otel_a2a.observations import (
    Decision,
    Hints,
    LocalDecision,
    Observation,
    Reason,
    StateExpected,
)
from otel_a2a.wire import states, urls

_hints: ContextVar[Hints | None] = ContextVar("otel_a2a_hints", default=None)


# --- hints


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
    given = {
        "skill": skill,
        "expected_duration": expected_duration,
        "retry_of": retry_of,
        "side_effect": side_effect,
        "pinned_card": pinned_card,
        "reason": None if reason is None else reason_of(reason),
    }
    token = _hints.set(replace(_hints.get() or Hints(), **{name: value for name, value in given.items() if value is not None}))
    try:
        yield
    finally:
        _hints.reset(token)


def current_hints() -> Hints | None:
    """The hints in this context, or None."""
    return _hints.get()


# --- decisions


def task_state(task_id: str, state: str, *, reason: str, agent: str = "", tenant: str = "") -> tuple[Finding, ...]:
    """The application records ``state`` for a task by itself.

    Args:
        task_id: the task.
        state: any spelling of an A2A task state.
        reason: why: one of ``Reason``'s, or text that says it.
        agent: URL of the agent's interface, where ids of several agents may be equal.
        tenant: the tenant, where the agent has some.

    Returns:
        What was found, most often nothing.

    Raises:
        A2APolicyError: in mode ``raise``, where the decision crosses the boundary.
    """
    return _tell(
        LocalDecision(
            decision=Decision.STATE,
            task_id=task_id,
            state=states.normalise(state)[0] or "",
            reason=reason_of(reason),
            endpoint=_endpoint(agent),
            tenant=tenant,
        )
    )


def artifact_dropped(
    task_id: str, artifact_id: str, *, reason: str = "", agent: str = "", tenant: str = ""
) -> tuple[Finding, ...]:
    """The application drops an artifact that it received (seed 000: artifact stores are append-only). See ``task_state``."""
    return _tell(
        LocalDecision(
            decision=Decision.ARTIFACT_DROPPED,
            task_id=task_id,
            artifact_id=artifact_id,
            reason=reason_of(reason),
            endpoint=_endpoint(agent),
            tenant=tenant,
        )
    )


def artifact_merged(
    task_id: str, artifact_id: str, *, from_task: str = "", agent: str = "", tenant: str = ""
) -> tuple[Finding, ...]:
    """The application merges an artifact that ``from_task`` sent into its record of ``task_id`` (seed 000). See ``task_state``."""
    return _tell(
        LocalDecision(
            decision=Decision.ARTIFACT_MERGED,
            task_id=task_id,
            artifact_id=artifact_id,
            source_task_id=from_task or task_id,
            endpoint=_endpoint(agent),
            tenant=tenant,
        )
    )


def task_abandoned(task_id: str, *, reason: str = "", agent: str = "", tenant: str = "") -> tuple[Finding, ...]:
    """The application gives a task up (seed 002: an orphan is canceled or abandoned). See ``task_state``."""
    return _tell(
        LocalDecision(
            decision=Decision.ABANDONED,
            task_id=task_id,
            reason=reason_of(reason),
            endpoint=_endpoint(agent),
            tenant=tenant,
        )
    )


def card_rejected(url: str, *, reason: str = "") -> tuple[Finding, ...]:
    """The application refuses the card that it fetched from ``url``: it is no basis for new work. See ``task_state``."""
    return _tell(LocalDecision(decision=Decision.CARD_REJECTED, card_url=urls.fetch_url(url), reason=reason_of(reason)))


def card_from_cache(url: str, *, age: float = 0.0) -> tuple[Finding, ...]:
    """The application uses its copy of the card at ``url``, ``age`` seconds old. That is no fetch. See ``task_state``."""
    return _tell(LocalDecision(decision=Decision.CARD_FROM_CACHE, card_url=urls.fetch_url(url), card_age=age))


def expect_state(task_id: str, state: str, *, within: float, agent: str = "", tenant: str = "") -> tuple[Finding, ...]:
    """The application expects a task to be in ``state`` within so many seconds (seed 001). See ``task_state``."""
    return _tell(
        StateExpected(
            task_id=task_id,
            state=states.normalise(state)[0] or "",
            within=within,
            endpoint=_endpoint(agent),
            tenant=tenant,
        )
    )


def _tell(observation: Observation) -> tuple[Finding, ...]:
    engine = current()
    if engine is None:
        return ()
    verdict = engine.observe(observation)
    if verdict.error is not None:
        raise verdict.error
    return verdict.findings


def _endpoint(agent: str) -> str:
    return urls.endpoint(agent) if agent else ""


# --- words

_WORDS: Final = (
    (Reason.CAPABILITY, ("capab", "advertis", "skill", "agent card", "card changed", "revoked")),
    (Reason.STREAM_END, ("stream ended", "stream end", "stream closed", "stream-end", "end of stream", "eof")),
    (Reason.POLL_EMPTY, ("poll-empty", "poll returned nothing", "poll returned none", "empty poll", "no answer to poll")),
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


__all__ = [
    "artifact_dropped",
    "artifact_merged",
    "card_from_cache",
    "card_rejected",
    "current_hints",
    "expect_state",
    "hints",
    "reason_of",
    "task_abandoned",
    "task_state",
]
