# SPDX-License-Identifier: Apache-2.0
"""A rule pack: rules of one's own, found, counted, switched off and raised as the built-in ones are."""

from __future__ import annotations

from collections.abc import Iterator

from otel_a2a.config import Settings
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.rules import Guide, Hit, Rule, View, rule
from otel_a2a.errors import CardTaskBoundaryError
from otel_a2a.observations import CallStarted

CHARGING = frozenset(("charge", "refund"))
"""Skills of our agents that move money."""


@rule(
    name="charge-without-side-effect-hint",
    boundary="admission",
    level=Level.VIOLATION,
    party=Party.CLIENT,
    phase=Phase.REQUEST,
    exception=CardTaskBoundaryError,
    on=(CallStarted,),
    origin="our incident of last March",
    summary="Work that moves money was sent without the hint that it must not run twice.",
    ruleset="house-rules",
    guide=Guide(
        why="Without the hint a repeated send is information, and our accountant finds it first.",
        look_alike="A send for another skill, and one with the hint.",
        remedy="`with hints(skill=…, side_effect=True):` around the send.",
    ),
)
def charge_without_side_effect_hint(call: CallStarted, view: View, settings: Settings) -> Iterator[Hit]:
    """A message that creates a task, hinted to be for a skill that moves money, without ``side_effect``."""
    if not call.creates or call.hints is None:
        return
    if call.hints.skill in CHARGING and not call.hints.side_effect:
        yield Hit(
            f"a send for skill {call.hints.skill!r} does not say that it must not run twice: add side_effect=True",
            discriminator=call.hints.skill,
            per_agent=True,
        )


RULES: tuple[Rule, ...] = (charge_without_side_effect_hint,)
"""What otel-a2a looks for in the module that the entry point names."""
