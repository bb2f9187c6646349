# SPDX-License-Identifier: Apache-2.0
"""Admission: what is asked for must be on offer.

None of these rules applies to an agent whose card is pinned (rules.md, G11), nor before a card of the agent is known.
"""

from __future__ import annotations

from collections.abc import Iterator

from otel_a2a.config import Settings
from otel_a2a.engine import cards
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.rules import Hit, Rule, View, rule, short
from otel_a2a.errors import AgentCardStalenessError, CardTaskBoundaryError
from otel_a2a.observations import CallStarted, CardRequested, Method
from otel_a2a_policies.admission import admits_by_card, is_new_work

_ANYTHING = ("*", "*/*", "file", "data")


@rule(
    name="skill-not-advertised",
    boundary="admission",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=CardTaskBoundaryError,
    on=(CallStarted,),
    origin="seeds 000 and 004",
    summary="New work was sent for a skill that the agent does not offer.",
)
def skill_not_advertised(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """The hinted skill is in none of the accepted documents.

    An improvement where the newest of them is stale, or announces an extended card that was not fetched here: that one
    may well offer the skill.
    """
    skill = call.hints.skill if call.hints is not None else ""
    if not skill or not admits_by_card(call, view, settings):
        return
    accepted = [
        document for document in cards.covering(view.agent, call.endpoint, call.tenant) if not document.rejected
    ]
    if not accepted or any(skill in document.current.card.skills for document in accepted):
        return
    newest = max(accepted, key=lambda document: document.fetched_seq)
    stale = cards.is_stale(newest, view.now, settings, call.hints, call.bound)
    extended = newest.current.card.extended_card and not any(document.key[1] for document in accepted)
    yield Hit(
        f"new work was sent for skill {skill!r}, which card revision {short(newest.current.revision)} does not offer",
        discriminator=f"{skill}@{newest.current.revision}",
        card_revision=newest.current.revision,
        level=Level.IMPROVEMENT if stale or extended else None,
        per_agent=True,
    )


@rule(
    name="operation-not-advertised",
    boundary="admission",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=AgentCardStalenessError,
    on=(CallStarted, CardRequested),
    origin="A2A 1.0 §3.3.4; field reports",
    summary="A new streaming send, or a request for the extended card, that the agent's card denies.",
)
def operation_not_advertised(asked: CallStarted | CardRequested, view: View, settings: Settings) -> Iterator[Hit]:
    """Absent is denied where ``capabilities`` is an object; on a card without that key it is an improvement.

    The extended card is a call over JSON-RPC, and a card's fetch over HTTP+JSON.
    """
    method = asked.method if isinstance(asked, CallStarted) else Method.GET_EXTENDED_CARD
    streams = isinstance(asked, CallStarted) and method == Method.SEND_STREAMING_MESSAGE and is_new_work(asked, view)
    if (not streams and method != Method.GET_EXTENDED_CARD) or cards.is_pinned(asked, settings):
        return
    held = cards.relied_on(view.agent, asked)
    if held is None:
        return
    card = held.card
    offered = card.streaming if streams else card.extended_card
    if offered:
        return
    what = "streaming" if streams else "an extended card"
    yield Hit(
        f"{method} was called although card revision {short(held.revision)} does not offer {what}",
        discriminator=f"{method}@{held.revision}",
        card_revision=held.revision,
        level=None if offered is False or card.has_capabilities else Level.IMPROVEMENT,
        per_agent=True,
    )


@rule(
    name="input-mode-not-advertised",
    boundary="admission",
    level=Level.IMPROVEMENT,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=AgentCardStalenessError,
    on=(CallStarted,),
    origin="seeds 001 and 004",
    summary="A part was sent in a media type that neither the agent nor any of its skills takes.",
)
def input_mode_not_advertised(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """Parts that state no type, and cards that state no mode, are silent. ``text`` stands for any ``text/…``.

    Some cards name kinds of parts in place of media types: ``file`` and ``data`` take whatever is sent so.
    """
    if call.message is None or not call.message.media_types or not admits_by_card(call, view, settings):
        return
    accepted = [
        document for document in cards.covering(view.agent, call.endpoint, call.tenant) if not document.rejected
    ]
    modes = {mode for document in accepted for mode in document.current.card.input_modes}
    if not modes:
        return
    for media_type in call.message.media_types:
        if not any(_takes(mode, media_type) for mode in modes):
            yield Hit(
                f"a part of type {media_type} was sent, which no input mode of the agent's card covers",
                discriminator=media_type,
                card_revision=accepted[0].current.revision,
                per_agent=True,
            )


def _takes(mode: str, media_type: str) -> bool:
    mode = mode.split(";", 1)[0].strip().lower()
    kind = media_type.split(";", 1)[0].strip().lower()
    return mode in (kind, *_ANYTHING) or mode.removesuffix("/*") == kind.split("/", 1)[0]


RULES: tuple[Rule, ...] = (
    skill_not_advertised,
    operation_not_advertised,
    input_mode_not_advertised,
)
