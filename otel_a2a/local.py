# SPDX-License-Identifier: Apache-2.0
"""What an application can say: hints about its calls, and decisions that it takes without the wire.

The wire does not show why a task is canceled, or that a program booked a task as failed. Said here, it can be judged::

    from otel_a2a import local

    with local.hints(skill="charge", side_effect=True, expected_duration=30):
        client.send_message(...)                 # sync or async: hints live in the context

    local.task_state("t-1", "failed", reason="transport")
    local.artifact_dropped("t-1", "a-1", reason="capability")

Nothing here does anything but tell: the application's own record is its own affair. In mode ``raise`` a decision that
crosses the boundary raises, before the application acts on it. Where nothing is instrumented, a call costs a look at
one variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.context import get_current

from otel_a2a.engine import current
from otel_a2a.engine.engine import Engine
from otel_a2a.engine.findings import Finding
from otel_a2a.engine.watching import watched
from otel_a2a.hints import current_hints, hints, reason_of
from otel_a2a.observations import (
    CallStarted,
    Decision,
    Hints,
    LocalDecision,
    Method,
    Observation,
    StateExpected,
)
from otel_a2a.telemetry.references import reference
from otel_a2a.wire import states, urls

# --- decisions


def task_state(task_id: str, state: str, *, reason: str, agent: str = "", tenant: str = "") -> tuple[Finding, ...]:
    """The application records ``state`` for a task by itself.

    Args:
        task_id: the task.
        state: any spelling of an A2A task state.
        reason: why: ``server transport poll-empty capability stream-end user deadline``, or text that says it.
        agent: URL of the agent's interface, where ids of several agents may be equal.
        tenant: the tenant, where the agent has some.

    Returns:
        What was found, most often nothing.

    Raises:
        A2APolicyError: in mode ``raise``, where the decision crosses the boundary. Nothing has happened by then.
    """
    return _decide(Decision.STATE, task_id=task_id, state=state, reason=reason, agent=agent, tenant=tenant)


def artifact_dropped(
    task_id: str, artifact_id: str, *, reason: str = "", agent: str = "", tenant: str = ""
) -> tuple[Finding, ...]:
    """The application drops an artifact that it received (seed 000: artifact stores are append-only). See
    ``task_state``."""
    return _decide(
        Decision.ARTIFACT_DROPPED, task_id=task_id, artifact_id=artifact_id, reason=reason, agent=agent, tenant=tenant
    )


def artifact_merged(
    task_id: str, artifact_id: str, *, from_task: str = "", agent: str = "", tenant: str = ""
) -> tuple[Finding, ...]:
    """The application merges an artifact that ``from_task`` sent into its record of ``task_id`` (seed 000). See
    ``task_state``."""
    return _decide(
        Decision.ARTIFACT_MERGED,
        task_id=task_id,
        artifact_id=artifact_id,
        source_task_id=from_task or task_id,
        agent=agent,
        tenant=tenant,
    )


def task_abandoned(task_id: str, *, reason: str = "", agent: str = "", tenant: str = "") -> tuple[Finding, ...]:
    """The application gives a task up (seed 002: an orphan is canceled or abandoned). See ``task_state``."""
    return _decide(Decision.ABANDONED, task_id=task_id, reason=reason, agent=agent, tenant=tenant)


def card_rejected(url: str, *, reason: str = "") -> tuple[Finding, ...]:
    """The application refuses the card that it fetched from ``url``: it is no basis for new work. See
    ``task_state``."""
    return _decide(Decision.CARD_REJECTED, card_url=url, reason=reason)


def card_from_cache(url: str, *, age: float = 0.0) -> tuple[Finding, ...]:
    """The application uses its copy of the card at ``url``, ``age`` seconds old. That is no fetch. See
    ``task_state``."""
    return _decide(Decision.CARD_FROM_CACHE, card_url=url, card_age=age)


def expect_state(task_id: str, state: str, *, within: float, agent: str = "", tenant: str = "") -> tuple[Finding, ...]:
    """The application expects a task to be in ``state`` within so many seconds (seed 001). See ``task_state``."""
    engine = current()
    if engine is None:
        return ()
    expected = StateExpected(
        task_id=_text(task_id), state=_state(state), within=within, endpoint=_endpoint(agent), tenant=_text(tenant)
    )
    return _told(engine, expected)


def check(
    action: str,
    *,
    task_id: str = "",
    agent: str = "",
    tenant: str = "",
    context_id: str = "",
    state: str = "",
    reason: str = "",
    artifact_id: str = "",
    from_task: str = "",
) -> tuple[Finding, ...]:
    """What would be found if the application did something now. Nothing is done, remembered, exported or raised.

    Args:
        action: ``create`` (new work), ``send`` (a message into ``task_id``), ``read``, ``cancel``, ``record``
            (``state`` for ``task_id``), ``drop`` or ``merge`` (``artifact_id``; a merge is from ``from_task``).
        agent: URL of the agent's interface; needed for ``create``, elsewhere only where ids of several agents may be
            equal.
        task_id, tenant, context_id, state, reason, artifact_id, from_task: as in the functions above.

    Hints count as they do for calls: ``with hints(skill=…): check("create", agent=…)``.

    Raises:
        ValueError: there is no such action; the text names the choices.
    """
    if action not in (*_REQUESTS, *_DECISIONS):
        raise ValueError(f"action {action!r} is not one of {', '.join((*_REQUESTS, *_DECISIONS))}")
    engine = current()
    if engine is None:
        return ()
    if action in _DECISIONS:
        return engine.ask(
            _decision(
                _DECISIONS[action],
                task_id=task_id,
                state=state,
                reason=reason,
                artifact_id=artifact_id,
                source_task_id=from_task,
                agent=agent,
                tenant=tenant,
            )
        )
    task_id = _text(task_id)
    endpoint = _endpoint(agent) or engine.endpoint_of(task_id)
    address, port = urls.server(endpoint)
    hinted = current_hints()
    if reason:
        hinted = replace(hinted or Hints(), reason=reason_of(reason) or str(reason).strip())
    return engine.ask(
        CallStarted(
            method=_REQUESTS[action],
            binding="",
            protocol_version="",
            endpoint=endpoint,
            server_address=address,
            server_port=port,
            tenant=_text(tenant),
            task_id="" if action == "create" else task_id,
            context_id=_text(context_id),
            hints=hinted,
        )
    )


@contextmanager
def findings() -> Iterator[list[Finding]]:
    """What is found in this process while the block runs, on whatever thread, for programs that act on it::

        with local.findings() as found:
            client.send_message(...)
        if any(finding.rule == "continuation-diverged" for finding in found):
            ...

    The list grows as findings come; repeats of an incident have a ``count`` above 1. It stays empty where nothing is
    instrumented.
    """
    engine = current()
    if engine is None:
        yield []
        return
    with watched(engine) as found:
        yield found


_REQUESTS: Final = {
    "create": Method.SEND_MESSAGE,
    "send": Method.SEND_MESSAGE,
    "read": Method.GET_TASK,
    "cancel": Method.CANCEL_TASK,
}
_DECISIONS: Final = {
    "record": Decision.STATE,
    "drop": Decision.ARTIFACT_DROPPED,
    "merge": Decision.ARTIFACT_MERGED,
}


def _decide(decision: str, **told: Any) -> tuple[Finding, ...]:
    engine = current()
    return () if engine is None else _told(engine, _decision(decision, **told))


def _decision(
    decision: str,
    *,
    agent: str = "",
    state: str = "",
    reason: str = "",
    card_url: str = "",
    card_age: float = 0.0,
    **told: str,
) -> LocalDecision:
    span = trace.get_current_span()
    texts: dict[str, Any] = {name: _text(value) for name, value in told.items()}
    return LocalDecision(
        decision=decision,
        endpoint=_endpoint(agent),
        state=_state(state),
        reason=reason_of(reason),
        card_url=urls.fetch_url(str(card_url)) if card_url else "",
        card_age=card_age,
        span=reference(span),
        is_traced=span.get_span_context().is_valid,
        **texts,
    )


def _told(engine: Engine, observation: Observation) -> tuple[Finding, ...]:
    verdict = engine.observe(observation, get_current())
    if verdict.error is not None:
        raise verdict.error
    return verdict.findings


def _state(state: str) -> str:
    return states.normalise(state)[0] or ""


def _endpoint(agent: object) -> str:
    return urls.endpoint(str(agent)) if agent else ""


def _text(value: object) -> str:
    """Ids and URLs often come as objects of their own: a ``UUID``, an ``httpx.URL``."""
    return "" if value is None else str(value)


__all__ = [
    "artifact_dropped",
    "artifact_merged",
    "card_from_cache",
    "card_rejected",
    "check",
    "current_hints",
    "expect_state",
    "findings",
    "hints",
    "task_abandoned",
    "task_state",
]
