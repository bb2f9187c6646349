# SPDX-License-Identifier: Apache-2.0
"""Task states and timestamps of all dialects."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_a2a.observations import STATES, TaskState
from otel_a2a.wire import states


@pytest.mark.parametrize("state", sorted(STATES))
def test_every_spelling_of_a_state_is_that_state(state: str) -> None:
    """1.0 and 0.x spellings, in any case."""
    short = state.removeprefix("TASK_STATE_").lower()
    for spelling in (state, state.lower(), short, short.replace("_", "-"), short.upper()):
        assert states.normalise(spelling) == (state, "")


def test_double_l_is_canceled() -> None:
    """0.3 over HTTP+JSON writes ``CANCELLED``."""
    assert states.normalise("TASK_STATE_CANCELLED") == (TaskState.CANCELED, "")
    assert states.normalise("cancelled") == (TaskState.CANCELED, "")


def test_enum_numbers_are_states() -> None:
    """ProtoJSON parsers accept the numbers of the enum; 0 is *unspecified*, which is no state."""
    numbered = [states.normalise(number)[0] for number in range(1, 9)]
    assert set(numbered) == STATES
    assert numbered[2] == TaskState.COMPLETED
    assert numbered[7] == TaskState.AUTH_REQUIRED
    assert states.normalise(3.0) == (TaskState.COMPLETED, "")
    assert states.normalise(0) == (None, "0")
    assert states.normalise(9) == (None, "9")


@pytest.mark.parametrize("value", ["unknown", "TASK_STATE_UNSPECIFIED", "RUNNING", "", "TASK_STATE_"])
def test_states_without_meaning_are_none_and_keep_their_text(value: str) -> None:
    """What A2A does not know is no state, but it is told what was said."""
    assert states.normalise(value) == (None, value)


@pytest.mark.parametrize("value", [None, True, [], {"state": "working"}])
def test_other_types_are_no_state(value: Any) -> None:
    """Anything but text and numbers reads as absent."""
    assert states.normalise(value) == (None, "")


def test_invented_text_is_cut() -> None:
    """Nobody can put a novel on a span by way of a state."""
    assert states.normalise("x" * 1000) == (None, "x" * 64)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-11-30T01:14:44.774347Z", 1796001284.774347),
        ("2026-11-30T01:14:44Z", 1796001284.0),
        ("2026-11-30T01:14:44.7Z", 1796001284.7),
        ("2026-11-30T01:14:44.774347123Z", 1796001284.774347),
        ("2026-11-30T02:14:44.774347+01:00", 1796001284.774347),
        ("2026-11-30T01:14:44.774347", None),
        ("2026-11-30", None),
        ("yesterday at noon", None),
        ("0001-01-01T00:00:00Z", None),
        ("1970-01-01T00:00:00Z", None),
        (1796001284, None),
        (None, None),
    ],
)
def test_timestamps_count_only_with_a_time_zone(value: Any, expected: float | None) -> None:
    """0.1 writes naive local times, which say nothing."""
    found = states.timestamp(value)
    assert found == (expected if expected is None else pytest.approx(expected))


@given(st.one_of(st.text(), st.integers(), st.floats(), st.binary()))
def test_nothing_makes_reading_raise(value: Any) -> None:
    """Any value is a state of A2A or none, and a moment or none."""
    state, raw = states.normalise(value)
    assert state in STATES or state is None
    assert len(raw) <= 64
    states.timestamp(value)


def test_the_reading_for_python_3_10_gives_the_same_moments() -> None:
    """Fractions of any length, ``Z``, and no fraction at all."""
    for value in ("2026-11-30T01:14:44.7Z", "2026-11-30T01:14:44.774347123+00:00", "2026-11-30T01:14:44Z"):
        rewritten = states._for_python_3_10(value)
        assert len(rewritten) in (25, 32)
        assert states.timestamp(rewritten) == states.timestamp(value)
