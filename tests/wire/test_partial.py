# SPDX-License-Identifier: Apache-2.0
"""The beginning of documents that are too large."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from otel_a2a.wire import partial

OBJECTS = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=10,
    ),
    max_size=5,
)


def is_beginning(part: Any, whole: Any) -> bool:
    """Whether all that is in ``part`` is in ``whole``, at the same place."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and is_beginning(value, whole[key]) for key, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(is_beginning(a, b) for a, b in zip(part, whole, strict=False))
    return bool(part == whole)


@given(OBJECTS, st.integers(0, 200))
def test_whatever_is_in_a_beginning_is_in_the_document(document: dict[str, Any], window: int) -> None:
    """No member is invented, cut short or moved, wherever the window ends."""
    body = json.dumps(document).encode()
    assert is_beginning(partial.head(body, window), document)
    assert partial.head(body, len(body)) == document


def test_members_before_a_huge_text_are_found() -> None:
    """Which is what it is for."""
    body = json.dumps({"a": {"id": 'x"\\', "list": [1, {"b": 2}]}, "text": "y" * 1000, "c": 3}).encode()
    assert partial.head(body, 500) == {"a": {"id": 'x"\\', "list": [1, {"b": 2}]}}


@given(st.binary(max_size=200))
def test_no_bytes_make_it_raise(body: bytes) -> None:
    """What is no JSON object has no members."""
    assert isinstance(partial.head(body, 100), dict)
