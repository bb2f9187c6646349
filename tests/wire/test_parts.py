# SPDX-License-Identifier: Apache-2.0
"""Parts reduced to what is the same in every dialect."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_a2a.wire import parts

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)

TEXT: tuple[list[Any], ...] = (
    [{"type": "text", "text": "hello"}],
    [{"kind": "text", "text": "hello"}],
    [{"text": "hello", "mediaType": "text/plain"}],
)
URL: tuple[list[Any], ...] = (
    [{"type": "file", "file": {"name": "f.png", "mimeType": "image/png", "uri": "https://x.example/f.png"}}],
    [{"kind": "file", "file": {"name": "f.png", "mimeType": "image/png", "uri": "https://x.example/f.png"}}],
    [{"file": {"fileWithUri": "https://x.example/f.png", "mimeType": "image/png"}}],
    [{"file": {"file_with_uri": "https://x.example/f.png", "mime_type": "image/png"}}],
    [{"url": "https://x.example/f.png", "filename": "f.png", "mediaType": "image/png", "metadata": {}}],
)
RAW: tuple[list[Any], ...] = (
    [{"kind": "file", "file": {"bytes": "+/8="}}],
    [{"file": {"fileWithBytes": "+/8"}}],
    [{"raw": "-_8=", "mediaType": "application/octet-stream"}],
)
DATA: tuple[list[Any], ...] = (
    [{"kind": "data", "data": {"n": 1, "list": [1.5, "x"]}}],
    [{"data": {"data": {"list": [1.5, "x"], "n": 1.0}}}],
    [{"data": {"n": 1.0, "list": [1.5, "x"]}, "metadata": {"a": 1}}],
)


def length(content: list[Any]) -> int:
    return parts.artifact_facts({"parts": content}).length


@pytest.mark.parametrize("dialects", [TEXT, URL, RAW, DATA], ids=["text", "url", "raw", "data"])
def test_a_part_has_one_digest_and_length_in_all_dialects(dialects: tuple[list[Any], ...]) -> None:
    """0.1, 0.2, 0.3 over both bindings, and 1.0 write the same content in different words."""
    assert len({parts.digest(written) for written in dialects}) == 1
    assert len({length(written) for written in dialects}) == 1
    assert parts.digest(dialects[0])


def test_different_content_has_different_digests() -> None:
    """Kinds, values and order count."""
    contents = [TEXT[0], URL[0], RAW[0], DATA[0], [*TEXT[0], *URL[0]], [*URL[0], *TEXT[0]], [{"text": "HELLO"}]]
    contents.append([{"data": "hello"}])
    contents.append([{"url": "hello"}])
    assert len({parts.digest(content) for content in contents}) == len(contents)


def test_how_text_is_cut_does_not_count() -> None:
    """Chunks of an answer put together by the agent are the same text as the chunks."""
    whole, chunks = [{"text": "one two three"}], [{"text": "one "}, {"text": "two "}, {"text": "three"}]
    assert parts.digest(whole) == parts.digest(chunks)
    assert length(whole) == length(chunks)
    assert parts.digest([{"text": "one "}, {"url": "u"}, {"text": "two"}]) != parts.digest(
        [{"text": "one two"}, {"url": "u"}]
    )


def test_no_content_has_no_digest() -> None:
    """Empty lists, empty texts and parts of no known kind say nothing."""
    nothing: list[list[Any]] = [[], [{}], [{"text": ""}], [{"kind": "text"}], [{"file": {}}]]
    for empty in nothing:
        assert (parts.digest(empty), length(empty)) == ("", 0)


def test_media_types_are_those_that_are_stated() -> None:
    """A part without a type adds none; a type counts once and without parameters."""
    stated = [*TEXT[2], *URL[1], *URL[4], {"data": {}}, {"raw": "x", "mediaType": "Text/CSV; header=present"}]
    assert parts.media_types(stated) == ("text/plain", "image/png", "text/csv")
    assert parts.media_types([*TEXT[0], "x", None]) == ()


def test_an_artifact_is_its_id_or_in_0_1_its_index() -> None:
    """0.1 has no artifact ids, and leaves out index 0 at will."""
    assert parts.artifact_facts({"artifactId": "a", "parts": TEXT[1]}).artifact_id == "a"
    assert parts.artifact_facts({"artifact_id": "a"}).artifact_id == "a"
    assert parts.artifact_facts({"index": 2, "parts": TEXT[0]}).artifact_id == "2"
    assert parts.artifact_facts({"parts": TEXT[0]}, "0.1").artifact_id == "0"
    assert parts.artifact_facts({"parts": TEXT[0]}).artifact_id == ""
    assert parts.artifact_facts({"artifactId": "a"}) == parts.artifact_facts({"artifactId": "a", "parts": []})


@given(st.lists(JSON, max_size=5))
def test_any_json_can_be_measured(written: list[Any]) -> None:
    """Whatever is in a list of parts, it has a digest exactly where it has a length."""
    assert bool(parts.digest(written)) == bool(length(written))
    parts.media_types(written)


def test_bottomless_data_can_be_measured() -> None:
    """Nesting beyond any use is cut, not followed."""
    deep: Any = {}
    for _ in range(5_000):
        deep = {"x": deep}
    assert parts.digest([{"data": deep}])


def test_data_that_is_put_together_loses_no_length() -> None:
    """Objects that become one lose their braces, and nothing else."""
    pieces = [{"data": {f"row{number}": [number]}} for number in range(20)]
    whole = {"data": {f"row{number}": [number] for number in range(20)}}
    assert length([whole]) == length(pieces)
    assert length([{"data": {}}]) == 1


@pytest.mark.parametrize(
    ("part", "elsewhere"),
    [
        ({"url": "https://h/f"}, True),
        ({"file": {"uri": "https://h/f"}}, True),
        ({"raw": "QUJD"}, False),
        ({"text": "x"}, False),
    ],
)
def test_an_artifact_whose_content_is_elsewhere(part: dict[str, Any], elsewhere: bool) -> None:
    """A URL stands for content whose length nobody sees."""
    assert parts.artifact_facts({"artifactId": "a", "parts": [part]}).is_elsewhere is elsewhere
