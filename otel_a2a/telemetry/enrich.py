# SPDX-License-Identifier: Apache-2.0
"""What the engine knows, put on the span of the call in which it was learned."""

from __future__ import annotations

from typing import Any

from opentelemetry.trace import Span

from otel_a2a import semconv
from otel_a2a.engine import cards
from otel_a2a.engine.card_records import CardDocument, CardVersion
from otel_a2a.engine.engine import disposition
from otel_a2a.engine.verdict import Verdict
from otel_a2a.observations import (
    CallFailed,
    CallStarted,
    CardFetched,
    CardFetchFailed,
    Form,
    MessageSeen,
    Observation,
    SpanRef,
    TaskSeen,
)
from otel_a2a.telemetry.calls import link
from otel_a2a.telemetry.metrics import A2AMetrics

Attributes = dict[str, Any]


def is_same_call(span: Span, method: str) -> bool:
    """Whether ``span`` is a live A2A span that somebody else made for this very call."""
    if not span.is_recording():
        return False
    attributes = getattr(span, "attributes", None)
    return attributes is not None and attributes.get(semconv.A2A_METHOD_NAME) == method


def describe(
    observation: Observation,
    verdict: Verdict,
    attributes: Attributes,
    span: Span | None,
    metrics: A2AMetrics,
    error: str,
) -> str:
    """Note what an observation adds to its span, and return the call's ``error.type`` so far."""
    if isinstance(observation, TaskSeen):
        _task_seen(observation, verdict, attributes)
    elif isinstance(observation, CallStarted):
        _call_started(observation, verdict, attributes, span)
    elif isinstance(observation, MessageSeen):
        if observation.context_id:
            attributes[semconv.GEN_AI_CONVERSATION_ID] = observation.context_id
    elif isinstance(observation, CallFailed):
        if verdict.task is not None:
            # A task that its agent does not know any more is orphaned, and there will be no other answer to say so.
            attributes[semconv.TASK_DISPOSITION] = disposition(verdict.task)
        return observation.code or observation.error
    elif isinstance(observation, CardFetched):
        _card_fetched(observation, verdict, attributes, metrics)
    elif isinstance(observation, CardFetchFailed):
        if observation.status is not None:
            attributes[semconv.HTTP_RESPONSE_STATUS_CODE] = observation.status
        return observation.reason
    return error


def _task_seen(seen: TaskSeen, verdict: Verdict, attributes: Attributes) -> None:
    if seen.form == Form.LISTED:
        return
    attributes[semconv.A2A_TASK_ID] = seen.task_id
    if seen.context_id:
        attributes[semconv.GEN_AI_CONVERSATION_ID] = seen.context_id
    if seen.state is not None:
        attributes[semconv.A2A_TASK_STATE] = seen.state
        attributes[semconv.TASK_STATE_SOURCE] = seen.channel
    if verdict.transition is not None and verdict.transition.previous:
        attributes[semconv.TASK_PREVIOUS_STATE] = verdict.transition.previous
    task = verdict.task
    if task is not None and (verdict.transition is not None or semconv.TASK_DISPOSITION not in attributes):
        attributes[semconv.TASK_DISPOSITION] = disposition(task)
        if task.card_revision:
            attributes[semconv.TASK_CARD_REVISION_ID] = task.card_revision


def _call_started(call: CallStarted, verdict: Verdict, attributes: Attributes, span: Span | None) -> None:
    document = verdict.document
    if document is not None and verdict.held is not None:
        _card_in_force(document, verdict.held, call, attributes)
    task = verdict.task
    if task is not None and task.card_revision:
        attributes[semconv.TASK_CARD_REVISION_ID] = task.card_revision
    if call.is_send and span is not None and span.is_recording():
        if document is not None and document.span is not None:
            _add_link(span, document.span, semconv.LINK_CARD_FETCH)
        if task is not None and task.origin is not None:
            _add_link(span, task.origin, semconv.LINK_TASK_ORIGIN)


def _add_link(span: Span, ref: SpanRef, kind: str) -> None:
    made = link(ref, kind)
    span.add_link(made.context, made.attributes)


def _card_in_force(document: CardDocument, version: CardVersion, call: CallStarted, attributes: Attributes) -> None:
    attributes[semconv.CARD_REVISION_ID] = version.revision
    if version.card.name:
        attributes[semconv.GEN_AI_AGENT_NAME] = version.card.name
    if version.card.version:
        attributes[semconv.GEN_AI_AGENT_VERSION] = version.card.version
    if call.is_send:
        attributes[semconv.CARD_AGE] = max(0.0, cards.age(document, call.at, call.bound))


def _card_fetched(fetched: CardFetched, verdict: Verdict, attributes: Attributes, metrics: A2AMetrics) -> None:
    attributes[semconv.HTTP_RESPONSE_STATUS_CODE] = fetched.status
    attributes[semconv.CARD_REVISION_CONFIRMED] = fetched.confirmed
    revision = fetched.revision
    change = verdict.card
    if change is not None:
        revision = revision or change.document.current.revision
        attributes[semconv.CARD_REVISION_CHANGED] = change.changed
        if change.previous_revision:
            attributes[semconv.CARD_REVISION_PREVIOUS_ID] = change.previous_revision
        if change.changed:
            metrics.card_change(fetched.request.server_address)
    if revision:
        attributes[semconv.CARD_REVISION_ID] = revision
    if fetched.digest:
        attributes[semconv.CARD_DIGEST] = fetched.digest
    if not fetched.canonical:
        attributes[semconv.CARD_CANONICAL] = False
    card = fetched.card
    if card is not None and card.name:
        attributes[semconv.GEN_AI_AGENT_NAME] = card.name
    if card is not None and card.version:
        attributes[semconv.GEN_AI_AGENT_VERSION] = card.version
