# SPDX-License-Identifier: Apache-2.0
"""Several users of one agent, whose credentials show them different cards: what one is shown is no word to another."""

from __future__ import annotations

import pytest

from otel_a2a.observations import Method
from tests.support.marks import fires, legal
from tests.support.whole import Whole
from tests.support.world import WORKING

STREAM = "operation-not-advertised"
WEBHOOK = "webhook-denied-by-card"


def two_users(*, extended: bool) -> Whole:
    """Ann may stream and have webhooks, Ben may not; his card is fetched last."""
    world = Whole()
    if extended:
        world.card(extended_card=True, streaming=False, push=False)
    world.card(extended=extended, credential="ann")
    world.card(extended=extended, credential="ben", streaming=False, push=False)
    return world


@legal(STREAM)
@legal(WEBHOOK)
@pytest.mark.parametrize("credential", ["ann", "renewed"])
@pytest.mark.parametrize("extended", [True, False])
def test_what_the_others_are_denied(extended: bool, credential: str) -> None:
    """What her own card offers is offered, also where a renewed token brings a newer one."""
    world = two_users(extended=extended)
    if credential == "renewed":
        world.card(extended=extended, credential=credential)
    world.leaves(Method.SEND_STREAMING_MESSAGE, credential=credential)
    world.send(WORKING, task="t2", credential=credential, push=True)
    assert not world.rules()


@fires(STREAM)
@fires(WEBHOOK)
@pytest.mark.parametrize("extended", [True, False])
def test_what_the_others_are_offered(extended: bool) -> None:
    """It is not offered to him, whichever card was fetched last."""
    world = two_users(extended=extended)
    world.card(extended=extended, credential="ann")
    world.leaves(Method.SEND_STREAMING_MESSAGE, credential="ben")
    world.send(WORKING, task="t2", credential="ben", push=True)
    assert world.rules() == [STREAM, WEBHOOK]


@fires(WEBHOOK)
def test_a_newer_card_that_everybody_is_shown() -> None:
    """A card fetched without a credential speaks for all."""
    world = Whole()
    world.card(credential="ann")
    world.card(push=False)
    world.send(WORKING, credential="ann", push=True)
    assert world.rules() == [WEBHOOK]


@legal(WEBHOOK)
def test_a_token_that_is_not_known_yet() -> None:
    """It may be a renewed one: the newest card counts."""
    world = Whole()
    world.card(push=False, credential="ben")
    world.card(credential="ann")
    world.send(WORKING, credential="renewed", push=True)
    assert not world.rules()
