# SPDX-License-Identifier: Apache-2.0
"""input-mode-not-advertised: a part was sent in a media type that neither the agent nor any of its skills takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_a2a.observations import SentMessage
from tests.support.marks import fires, late, legal
from tests.support.whole import Whole
from tests.support.world import WORKING, message

RULE = "input-mode-not-advertised"


def of_type(*media_types: str) -> SentMessage:
    """A message whose parts state these media types."""
    return replace(message(), media_types=media_types)


@fires(RULE)
def test_a_media_type_that_no_mode_covers() -> None:
    """A part in a type that neither the agent nor any skill takes."""
    world = Whole()
    world.card(input_modes=("text/plain", "application/json"))
    world.send(WORKING, sent=of_type("text/plain", "application/pdf"))
    assert world.rules() == [RULE] and world.levels(RULE) == ["improvement"]


@legal(RULE)
@pytest.mark.parametrize(
    ("mode", "sent"),
    [
        ("text/plain", "text/plain"),
        ("TEXT/plain", "text/plain; charset=utf-8"),
        ("text/plain; charset=utf-8", "text/plain"),
        ("image/*", "image/png"),
        ("*/*", "application/pdf"),
        ("*", "application/pdf"),
        ("text", "text/markdown"),
        ("file", "application/pdf"),
        ("data", "application/json"),
    ],
)
def test_a_media_type_that_a_mode_covers(mode: str, sent: str) -> None:
    """Parameters, case, wildcards, and the kinds of parts that some cards name in place of types."""
    world = Whole()
    world.card(input_modes=("audio/ogg", mode))
    world.send(WORKING, sent=of_type(sent))
    assert not world.rules()


@legal(RULE)
def test_what_is_not_stated_is_not_judged() -> None:
    """A part without a type, and a card without modes, say nothing."""
    world = Whole()
    world.card(input_modes=("text/plain",))
    world.send(WORKING, sent=of_type())
    silent = Whole()
    silent.card()
    silent.send(WORKING, sent=of_type("application/pdf"))
    assert not world.rules() and not silent.rules()


@legal(RULE)
def test_a_mode_that_another_accepted_document_states() -> None:
    """The union over what was accepted counts."""
    world = Whole()
    world.card(input_modes=("text/plain",))
    world.card(input_modes=("application/pdf",), extended=True, credential="digest(token)")
    world.send(WORKING, sent=of_type("text/plain", "application/pdf"))
    assert not world.rules()


@late(RULE)
def test_modes_of_a_card_that_was_not_seen() -> None:
    """No card, no modes."""
    world = Whole()
    world.send(WORKING, sent=of_type("application/pdf"))
    assert not world.rules()
