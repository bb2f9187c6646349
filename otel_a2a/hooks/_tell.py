# SPDX-License-Identifier: Apache-2.0
"""How a hook tells the engine what it noticed: after the fact, and without ever raising."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from opentelemetry import trace
from opentelemetry.context import get_current
from opentelemetry.instrumentation.utils import is_instrumentation_enabled

from otel_a2a import operation
from otel_a2a.engine import current
from otel_a2a.observations import CallStarted, Decision, LocalDecision
from otel_a2a.telemetry.references import reference
from otel_a2a.wire import states

_logger = logging.getLogger(__name__)


def state_of(status: Any) -> str:
    """The state in a status of theirs, be it text, a number or an enum; the empty string where A2A knows no such."""
    return states.normalise(getattr(status.state, "value", status.state))[0] or ""


def last_call_about(task_id: str) -> CallStarted | None:
    """The last call of this execution context, if it is about ``task_id``.

    Not one of which nobody can say that it reached an agent: python-a2a tries several URLs, until one answers.
    """
    call = operation.last_call()
    if call is None or not (call.certain or call.answered_task):
        return None
    return call if task_id in (call.task_id, call.answered_task) else None


def tell(
    decision: str, *, task_id: str = "", state: str = "", reason: str = "", artifact_id: str = "", card_url: str = ""
) -> None:
    """Something was decided about a task or a card by a library. Which agent's task it is, the last call shows, if
    anything does."""
    engine = current()
    if engine is None or not is_instrumentation_enabled():
        return
    call = last_call_about(task_id)
    span = trace.get_current_span()
    told = LocalDecision(
        decision=decision,
        reason=reason,
        task_id=task_id,
        endpoint=call.endpoint if call is not None else "",
        tenant=call.tenant if call is not None else "",
        state=state,
        artifact_id=artifact_id,
        card_url=card_url,
        declared=False,
        span=reference(span),
        is_traced=span.get_span_context().is_valid,
    )
    engine.observe(told, get_current())


def tell_state(task_id: str, state: str, *, reason: str = "") -> None:
    """A library recorded ``state`` for a task."""
    tell(Decision.STATE, task_id=task_id, state=state, reason=reason)


def tell_rejected(card_url: str) -> None:
    """A library refused the card document that it had fetched from ``card_url``."""
    tell(Decision.CARD_REJECTED, card_url=card_url)


def notice(look: Callable[..., None], *arguments: Any) -> None:
    """Call ``look``, which reads objects of others: whatever it raises is reported, and never reaches their caller."""
    try:
        look(*arguments)
    except Exception as error:
        runtime = operation.running()
        if runtime is not None:
            runtime.internal_error("hook", error)
        else:
            _logger.debug("a hook failed", exc_info=True)
