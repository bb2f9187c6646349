# SPDX-License-Identifier: Apache-2.0
"""Admission: the card governs new work, and only that.

None of these rules applies to an agent whose card is pinned (rules.md, G11), nor before a card of the agent is known or
was asked for in vain.
"""

from __future__ import annotations

from collections.abc import Iterator

from otel_a2a.config import Settings
from otel_a2a.engine import cards, revisions
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.records import Task
from otel_a2a.engine.rules import Hit, Rule, View, rule, short
from otel_a2a.errors import (
    AgentCardDivergenceError,
    AgentCardStalenessError,
    CardTaskBoundaryError,
    TaskResurrectionError,
)
from otel_a2a.observations import CallStarted, CardFetched

REPEAT_WINDOW = 600.0
"""Seconds within which a repeated send duplicates the one before."""


@rule(
    name="created-without-card",
    boundary="admission",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=AgentCardStalenessError,
    on=(CallStarted,),
    origin="seeds 000 and 004",
    summary="New work was sent to an agent whose card could not be fetched.",
)
def created_without_card(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """The newest discovery failed (G8) and no accepted, unexpired document covers the interface.

    With an unexpired copy it is an improvement, unless the profile takes seeds 000 and 004 to the letter. So it is
    where the client had called the agent before its card was first asked for here: it may hold a copy that was not
    seen.
    """
    if not admits_by_card(call, view, settings):
        return
    discovery = cards.newest_discovery(view.ledger, view.agent, call.endpoint, call.tenant)
    if discovery is None or not discovery.has_failed:
        return
    copies = [
        document
        for document in cards.covering(view.agent, call.endpoint, call.tenant)
        if not document.rejected and not cards.is_stale(document, view.now, settings, call.hints, call.bound)
    ]
    agent = view.agent
    held = bool(copies) or (
        agent is not None and not agent.documents and 0 < agent.first_call_seq < discovery.failure_seq
    )
    yield Hit(
        f"new work was sent while the agent's card could not be fetched ({discovery.reason}): what it offers now is "
        f"unknown. "
        "Fetch the card first, and send when that succeeds",
        discriminator=f"{discovery.base}@{discovery.success_seq}",
        card_revision=copies[0].current.revision if copies else "",
        level=Level.IMPROVEMENT if held and not settings.stale_is_violation else None,
        per_agent=True,
    )


@rule(
    name="created-from-stale-card",
    boundary="admission",
    level=Level.IMPROVEMENT,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=AgentCardStalenessError,
    on=(CallStarted,),
    origin="seed 004; field reports",
    summary="New work was sent on a card that was too old, or that the application had refused.",
)
def created_from_stale_card(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """Older than the card's own ``max-age``, else than ``max_card_age`` or the hinted duration; older than
    ``card_age_limit`` in any case; or every document refused.

    Silent where nothing says how old a card may be. A ``max-age`` of 0 allows for the time of the clock skew: the card
    was fetched for this very call. Once per agent, revision and stale period.
    """
    if not admits_by_card(call, view, settings):
        return
    discovery = cards.newest_discovery(view.ledger, view.agent, call.endpoint, call.tenant)
    documents = cards.covering(view.agent, call.endpoint, call.tenant)
    if not documents or (discovery is not None and discovery.has_failed):
        return
    accepted = [document for document in documents if not document.rejected]
    if not accepted:
        newest = max(documents, key=lambda document: document.fetched_seq)
        why = "the application itself had refused it"
    else:
        newest = max(accepted, key=lambda document: document.fetched_seq)
        if not cards.is_stale(newest, view.now, settings, call.hints, call.bound):
            return
        why = f"it was {cards.age(newest, view.now, call.bound):.0f} s old"
    yield Hit(
        f"new work was sent on card revision {short(newest.current.revision)}, but {why}: fetch the card again before "
        f"new work",
        discriminator=f"{newest.current.revision}@{newest.fetched_seq}",
        card_revision=newest.current.revision,
        per_agent=True,
    )


@rule(
    name="stale-after-rejection",
    boundary="admission",
    level=Level.IMPROVEMENT,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=AgentCardStalenessError,
    on=(CallStarted,),
    origin="seeds 000 and 002",
    summary="The agent's endpoint turned a call away, and new work was sent there without looking at the card again.",
)
def stale_after_rejection(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """401, 403, 404 or 410 with a body that is no A2A error, no success since, and no card fetch finished since.

    A router that does not know the path of a task (``{"detail": "Not Found"}``) has turned the call away: that there is
    no such task is said by A2A's *not found*, or by a sentence about the task (``wire.failures``).

    Whatever is sent with another credential than the one that was turned away is the answer to that: several messages
    may have been turned away at once when a token ran out. So is what is sent to another interface of the card. Over
    HTTP+JSON a 404 or 410 to an operation that agents may lack (subscriptions, lists, webhooks) is about that alone.
    A fetch that failed has finished too; what follows then is ``created-without-card``'s. Silent where no card of the
    agent was seen: there is none to fetch again.
    """
    agent = view.agent
    if agent is None or not admits_by_card(call, view, settings) or not 0 < agent.refused_seq < call.seq:
        return
    if not agent.documents or (call.endpoint, call.credential) != (agent.refused_endpoint, agent.refused_credential):
        return
    discovery = cards.newest_discovery(view.ledger, agent, call.endpoint, call.tenant)
    fetched = max((document.fetched_seq for document in agent.documents.values()), default=0)
    looked = max(discovery.success_seq, discovery.failure_seq) if discovery is not None else 0
    if max(fetched, looked) > agent.refused_seq:
        return
    yield Hit(
        "the agent's endpoint turned a call away, and new work was sent there without fetching the card again: the "
        "interface "
        "may have moved, or be closed to this client",
        discriminator=str(agent.refused_seq),
        per_agent=True,
    )


@rule(
    name="retry-of-live-task",
    boundary="admission",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=CardTaskBoundaryError,
    on=(CallStarted,),
    origin="seed 000",
    summary="A task was retried that had not ended, or under its own id.",
)
def retry_of_live_task(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """Declared by ``hints(retry_of=…)``, at the same agent or at another one, where both would run.

    A task that is lost, poisoned, diverged or abandoned may be retried, and under ``fenced`` one that a change of the
    card has orphaned. In 0.1 a message under the id of an ended task is how one is begun anew.
    """
    if not call.is_send or call.hints is None or not call.hints.retry_of:
        return
    retried = call.hints.retry_of
    old = view.ledger.task(view.agent, call.tenant, retried) or view.ledger.find(retried)
    if old is None or (old.terminal and call.protocol_version == "0.1"):
        return
    if call.task_id == old.task_id:
        yield Hit(
            f"task {old.task_id} was retried under its own id: a retry takes a new task, in the same context",
            task=old,
            discriminator="own id",
            previous_state=old.state,
        )
    elif old.is_live and not _is_given_up(old, settings):
        yield Hit(
            f"task {old.task_id} was retried while it was still {old.state}: both may run. Wait for its end, or cancel "
            f"it first",
            task=old,
            discriminator="live",
            previous_state=old.state,
        )


def _is_given_up(task: Task, settings: Settings) -> bool:
    return task.is_given_up or (
        settings.fenced and revisions.drift(task, narrowing_only=False, fenced=True) is not None
    )


@rule(
    name="duplicate-send",
    boundary="admission",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=TaskResurrectionError,
    on=(CallStarted,),
    origin="field reports",
    summary="A message was sent again after its first send had ended without an answer: the agent may have both.",
)
def duplicate_send(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """The same message id, or the same parts in the same context, within ten minutes of a send without an answer.

    Declared retries are none, nor is anything after a send that certainly did not arrive (no connection), nor after a
    repetition that was answered. A violation only with the hint ``side_effect``; otherwise information, because a retry
    is what most programs want.
    """
    if not call.is_send or call.message is None or view.agent is None or (call.hints and call.hints.retry_of):
        return
    for sent in view.agent.sends.values():
        if not 0 < sent.unanswered_seq < call.seq or view.now - sent.at > REPEAT_WINDOW:
            continue
        if sent.is_repeated(call):
            yield Hit(
                "a message was sent again whose first send had ended without an answer: no agent promises to notice, "
                "so its "
                "side effect may run twice. Look for its task (ListTasks) first",
                discriminator=call.message.message_id or call.message.parts,
                level=None if call.hints and call.hints.side_effect else Level.INFORMATION,
            )
            return


@rule(
    name="card-changed-under-same-version",
    boundary="admission",
    level=Level.VIOLATION,
    party=Party.AGENT,
    phase=Phase.RESPONSE,
    exception=AgentCardDivergenceError,
    on=(CardFetched,),
    origin="seed 004",
    summary="The agent's card changed in what a task depends on, but kept its version.",
)
def card_changed_under_same_version(fetched: CardFetched, view: View, settings: Settings) -> Iterator[Hit]:
    """Two answers of one document (G6) with the same version and different revisions; once per version and pair.

    Information, since A2A promises nothing of a version and most operators never change it; a violation where the
    operator declares cards immutable.
    """
    held = cards.said_before(view.document, fetched)
    if held is None or fetched.card is None or not fetched.card.version:
        return
    if view.agent is not None and cards.is_agent_pinned(view.agent, settings):
        return
    if held.card.version != fetched.card.version or held.revision == fetched.revision:
        return
    pair = "|".join(sorted((held.revision, fetched.revision)))
    yield Hit(
        f"the card at version {fetched.card.version} went from revision {short(held.revision)} to "
        f"{short(fetched.revision)}: "
        "a client that trusts the version keeps the old one",
        discriminator=f"{fetched.card.version}@{pair}",
        card_revision=fetched.revision,
        task_card_revision=held.revision,
        level=None if settings.immutable_per_version else Level.INFORMATION,
        per_agent=True,
    )


def is_new_work(call: CallStarted, view: View) -> bool:
    """A send that names no task; in 0.1, where the client names every task, one that names an unknown one.

    A message that only names a context in which a task is live may be a word to that one.
    """
    if call.creates and call.context_id and view.agent is not None:
        tasks = view.agent.contexts.get(call.context_id, {}).values()
        return not any(task.is_live and task.tenant == call.tenant for task in tasks)
    return call.creates or (call.is_send and call.protocol_version == "0.1" and view.task is None)


def admits_by_card(call: CallStarted, view: View, settings: Settings) -> bool:
    """Whether the agent's card says if this may be started."""
    only_messages = view.agent is not None and view.agent.only_messages
    return is_new_work(call, view) and not only_messages and not cards.is_pinned(call, settings)


RULES: tuple[Rule, ...] = (
    created_without_card,
    created_from_stale_card,
    stale_after_rejection,
    retry_of_live_task,
    duplicate_send,
    card_changed_under_same_version,
)
