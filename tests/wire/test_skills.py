# SPDX-License-Identifier: Apache-2.0
"""What a card says of its skills."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.wire import skills


@pytest.mark.parametrize(
    ("stated", "seconds"),
    [
        (30, 30.0),
        (1.5, 1.5),
        ("30", 30.0),
        ("30s", 30.0),
        ("250 ms", 0.25),
        ("5 m", 300.0),
        ("PT1M30S", 90.0),
        ("P1DT1H", 90000.0),
    ],
)
def test_a_duration_is_read_in_each_of_its_forms(stated: object, seconds: float) -> None:
    """Seed 001's ``estimatedDuration``, which no version specifies, is understood as people write it."""
    assert skills.durations({"skills": [{"id": "a", "estimatedDuration": stated}]}) == (("a", seconds),)


@pytest.mark.parametrize("stated", [True, 0, -1, "", "soon", "PT", None, [], {}, 1e300])
def test_what_is_no_duration_is_passed_over(stated: object) -> None:
    """A value that says nothing gives no deadline."""
    assert skills.durations({"skills": [{"id": "a", "estimatedDuration": stated}]}) == ()


@pytest.mark.parametrize("card", [{}, {"skills": None}, {"skills": [1, None, {}]}, {"defaultInputModes": "text"}])
def test_odd_cards_say_nothing(card: dict[str, Any]) -> None:
    """Wrong types are passed over, not stumbled upon."""
    assert (skills.ids(card), skills.input_modes(card), skills.durations(card)) == (frozenset(), frozenset(), ())


def test_modes_are_of_the_card_and_of_every_skill() -> None:
    """Input modes add up, and the order in which they are listed means nothing."""
    card = {
        "defaultInputModes": ["text/plain", "application/json"],
        "skills": [{"id": "a", "inputModes": ["image/png"], "outputModes": ["text/plain"]}],
    }
    turned = {**card, "defaultInputModes": ["application/json", "text/plain"]}
    assert skills.input_modes(card) == {"text/plain", "application/json", "image/png"}
    assert skills.all_modes(card) == skills.all_modes(turned)
    assert skills.all_modes(card) != skills.all_modes({**card, "defaultOutputModes": ["application/pdf"]})
