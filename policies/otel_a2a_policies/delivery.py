# SPDX-License-Identifier: Apache-2.0
"""Delivery: a webhook is a binding, negotiated against the card of the moment in which it is made (seed 004)."""

from __future__ import annotations

from collections.abc import Iterator

from otel_a2a.config import Settings
from otel_a2a.engine import cards
from otel_a2a.engine.card_records import CardDocument
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.rules import Hit, Rule, View, rule, short
from otel_a2a.errors import AgentCardStalenessError, CardTaskBoundaryError
from otel_a2a.observations import CallStarted, DeadlineReached

FLAPPING = 60.0
"""Seconds within which a card that changes its mind about push is being deployed, not deciding."""


@rule(
    name="webhook-denied-by-card",
    boundary="delivery",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=AgentCardStalenessError,
    on=(CallStarted,),
    origin="seed 004; A2A 1.0 §3.3.4",
    summary="A webhook was registered with an agent whose card denies push notifications.",
)
def webhook_denied_by_card(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """Created, or given inline, against the card in force. The agent's 200 is no consent.

    Absent is denied where ``capabilities`` is an object; an improvement where the card has no such key, or changed its
    mind within the last minute.
    """
    if call.push is None or cards.is_pinned(call, settings):
        return
    document = cards.governing(view.agent, call.endpoint, call.tenant, call.credential)
    if document is None or document.current.card.push_notifications:
        return
    card = document.current.card
    denied = card.push_notifications is False or card.has_capabilities
    flapping = _is_flapping(document, view.now - FLAPPING)
    yield Hit(
        f"a webhook was registered{_for(call)} although card revision {short(document.current.revision)} does not "
        f"offer push "
        "notifications: deliveries may be dropped without a word. Poll instead",
        task=view.task,
        discriminator=document.current.revision,
        card_revision=document.current.revision,
        level=Level.IMPROVEMENT if flapping or not denied else None,
    )


def _is_flapping(document: CardDocument, since: float) -> bool:
    """Whether the document changed its mind about push more than once after ``since``: several revisions answer by
    turns. Once is a decision."""
    changes = 0
    for before, after in zip(document.history, document.history[1:], strict=False):
        if after.at > since and bool(before.card.push_notifications) != bool(after.card.push_notifications):
            changes += 1
    return changes > 1


def _for(call: CallStarted) -> str:
    return f" for task {call.task_id}" if call.task_id else ""


@rule(
    name="webhook-from-stale-card",
    boundary="delivery",
    level=Level.IMPROVEMENT,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=AgentCardStalenessError,
    on=(CallStarted,),
    origin="seed 004",
    summary="A webhook was registered without a fetch of the agent's card right before.",
)
def webhook_from_stale_card(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """No fetch or confirmation (a cache hit is none) within the window, or the newest document was refused.

    The same configuration again is no registration. Silent where no card of the agent is known. Once per agent and
    revision.
    """
    if call.push is None or cards.is_pinned(call, settings):
        return
    if view.task is not None and call.push.url in view.task.webhooks:
        return
    documents = cards.covering(view.agent, call.endpoint, call.tenant)
    if not documents:
        return
    newest = max(documents, key=lambda document: document.fetched_seq)
    since = view.now - newest.fetched_at
    if since <= settings.webhook_card_window and not newest.rejected:
        return
    why = "the application had refused it" if newest.rejected else f"that was {since:.0f} s ago"
    yield Hit(
        f"a webhook was registered{_for(call)} on card revision {short(newest.current.revision)}, but {why}: fetch the "
        f"card "
        "right before, since its promise of deliveries is what the task will wait for",
        task=view.task,
        discriminator=newest.current.revision,
        card_revision=newest.current.revision,
        per_agent=True,
    )


@rule(
    name="webhook-for-terminal-task",
    boundary="delivery",
    level=Level.IMPROVEMENT,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=CardTaskBoundaryError,
    on=(CallStarted,),
    origin="field reports",
    summary="A webhook was registered for a task that had already ended.",
)
def webhook_for_terminal_task(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """The terminal state was received before the request left."""
    task = view.task
    if call.push is None or task is None or not 0 < task.terminal_seq < call.seq or call.protocol_version == "0.1":
        return
    yield Hit(
        f"a webhook was registered for task {task.task_id}, which had ended as {task.terminal}: nothing will be "
        f"delivered",
        task=task,
        previous_state=task.terminal,
    )


@rule(
    name="waiting-on-withdrawn-webhook",
    boundary="delivery",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.DEADLINE,
    exception=AgentCardStalenessError,
    on=(DeadlineReached,),
    origin="seed 004",
    summary="A task waits for a webhook although the agent's card has withdrawn push notifications.",
)
def waiting_on_withdrawn_webhook(reached: DeadlineReached, view: View, settings: Settings) -> Iterator[Hit]:
    """Dropped for more than a minute, and no delivery, read or stream of the task here since."""
    task = view.task
    if reached.kind != "waiting-on-withdrawn-webhook" or task is None or settings.watched_elsewhere:
        return
    if cards.is_agent_pinned(task.agent, settings):
        return
    yield Hit(
        f"task {task.task_id} waits for a webhook, and its agent's card has withdrawn push notifications: go back to "
        f"polling",
        task=task,
        previous_state=task.state,
    )


@rule(
    name="task-unwatched",
    boundary="delivery",
    level=Level.IMPROVEMENT,
    party=Party.CLIENT,
    phase=Phase.DEADLINE,
    exception=AgentCardStalenessError,
    on=(DeadlineReached,),
    origin="seed 004; field reports",
    summary="A task with a webhook is past its time, and nobody has looked at it.",
)
def task_unwatched(reached: DeadlineReached, view: View, settings: Settings) -> Iterator[Hit]:
    """Past the expected duration, or ``webhook_silence``, without a delivery and without a read."""
    task = view.task
    if reached.kind != "task-unwatched" or task is None or settings.watched_elsewhere:
        return
    yield Hit(
        f"task {task.task_id} has a webhook, and nothing was delivered or read in the time that it was expected to "
        f"take: read it",
        task=task,
        previous_state=task.state,
    )


RULES: tuple[Rule, ...] = (
    webhook_denied_by_card,
    webhook_from_stale_card,
    webhook_for_terminal_task,
    waiting_on_withdrawn_webhook,
    task_unwatched,
)
