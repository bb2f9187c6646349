# SPDX-License-Identifier: Apache-2.0
"""Framing of streams on bytes."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from otel_a2a.wire.sse import Event, LinesFramer, SseFramer, WholeFramer
from tests.wire.streams import PLACES, STREAMS, cut_at, reference_events

LIMIT = 10_000


def events(chunks: list[bytes], limit: int = LIMIT) -> list[Event]:
    framer = SseFramer(limit)
    found = [event for chunk in chunks for event in framer.feed(chunk)]
    return found + framer.finish()


@settings(max_examples=250)
@given(STREAMS, PLACES)
@example(b"data: a\r\rdata: b\n\n", [8])
@example(b"event: x\r\n\r\ndata: a\r\n\r\n", [9, 10])
@example(b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n", [1, 2])
@example(b"\n\xef\xbb\xbfdata: a\n\n", [])
def test_any_chunking_and_line_end_gives_the_events_of_the_standard(stream: bytes, places: list[int]) -> None:
    """As a simple parser of the whole stream gives them."""
    assert events(cut_at(stream, places)) == reference_events(stream)


@settings(max_examples=250)
@given(STREAMS, PLACES)
def test_an_event_is_out_with_the_byte_that_ends_it(stream: bytes, places: list[int]) -> None:
    """Nothing is held back until the next chunk."""
    framer = SseFramer(LIMIT)
    so_far = b""
    found: list[Event] = []
    for chunk in cut_at(stream, places):
        so_far += chunk
        found += framer.feed(chunk)
        assert found == reference_events(so_far, flush=False)


@settings(max_examples=250)
@given(STREAMS, PLACES)
def test_the_ends_of_events_are_where_a_stream_can_be_cut(stream: bytes, places: list[int]) -> None:
    """What was handed on up to the end of an event is that event and the ones before it, and no more."""
    framer = SseFramer(LIMIT)
    before, told = b"", 0
    for chunk in cut_at(stream, places):
        found = framer.feed(chunk)
        assert len(framer.ends) == len(found)
        for end in framer.ends:
            told += 1
            assert len(reference_events(before + chunk[:end])) == told
        handed_on = before + chunk[: framer.slack]
        assert reference_events(handed_on) == reference_events(before)
        before += chunk


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("space", [b"", b" "])
def test_one_chunk_that_is_one_event(end: bytes, space: bytes) -> None:
    """The usual case, on its short way."""
    framer = SseFramer(LIMIT)
    chunk = b"data:" + space + b' {"x": 1}' + end * 2
    assert framer.feed(chunk) == [Event(b' {"x": 1}' if space else b'{"x": 1}')]
    assert (framer.ends, framer.slack) == ([len(chunk)], 0)
    assert framer.feed(b"event: error" + end) == []
    assert framer.feed(chunk)[0].type == "error"
    assert framer.feed(chunk)[0].type == ""


def test_pretty_printed_events_are_joined() -> None:
    """0.3 over HTTP+JSON writes each event over many lines."""
    assert events([b'data: {\r\ndata:   "x": 1\r\ndata: }\r\n\r\n']) == [Event(b'{\n  "x": 1\n}')]


def test_keep_alives_are_no_events() -> None:
    """Comments come every fifteen seconds."""
    assert events([b": ping - 2026\r\n\r\n", b":\n\n", b"data: x\n\n"]) == [Event(b"x")]


@pytest.mark.parametrize("cut", [1, 7, 64, 10_000])
def test_an_event_over_the_limit_is_passed_over(cut: int) -> None:
    """It is not kept, the ones around it are, and the reader says that something is missing."""
    stream = (
        b"data: a\n\n"
        + b"data: "
        + b"x" * 300
        + b"\n\ndata: b\n\n"
        + (b"data: " + b"y" * 60 + b"\n") * 3
        + b"\ndata: c\n\n"
    )
    framer = SseFramer(100)
    found = [event for i in range(0, len(stream), cut) for event in framer.feed(stream[i : i + cut])]
    assert found == [Event(b"a"), Event(b"b"), Event(b"c")]
    assert not framer.complete


def test_a_line_without_an_end_is_not_kept_beyond_the_limit() -> None:
    """However long a server goes on."""
    framer = SseFramer(100)
    for _ in range(1000):
        framer.feed(b"data: " + b"x" * 1000)
    assert len(framer._partial) <= 100 + 1024
    assert framer.feed(b"\n\ndata: b\n\n") == [Event(b"b")]


@given(st.lists(st.binary(max_size=8).map(lambda line: line.replace(b"\n", b"")), max_size=8), PLACES)
def test_json_lines_in_any_chunking(lines: list[bytes], places: list[int]) -> None:
    """Each line is an event, blank ones are none; a last one needs no end."""
    stream = b"\n".join(lines)
    framer = LinesFramer(LIMIT)
    found: list[Event] = []
    for chunk in cut_at(stream, places):
        told = framer.feed(chunk)
        assert [stream[: stream.index(chunk)] is not None for _ in told] == [True] * len(framer.ends)
        found += told
    found += framer.finish()
    stripped = [line.strip(b"\x1e \t\r\n") for line in lines]
    assert found == [Event(line) for line in stripped if line]


def test_json_text_sequences_are_lines_with_a_separator() -> None:
    """RFC 7464 begins each text with RS."""
    framer = LinesFramer(LIMIT)
    assert framer.feed(b'\x1e{"a": 1}\n\x1e{"b": 2}\n') == [Event(b'{"a": 1}'), Event(b'{"b": 2}')]
    assert framer.ends == [10, 20]


def test_a_line_over_the_limit_is_passed_over() -> None:
    """The same as for events."""
    framer = LinesFramer(10)
    assert framer.feed(b"a\n" + b"x" * 20) == [Event(b"a")]
    assert framer.feed(b"x" * 20 + b"\nb\n") == [Event(b"b")]
    assert not framer.complete


def test_a_whole_body_comes_at_its_end() -> None:
    """Also an empty one; one over the limit does not come, and is not kept."""
    framer = WholeFramer(10)
    assert framer.feed(b"abc") + framer.feed(b"def") == []
    assert framer.finish() == [Event(b"abcdef")]
    assert WholeFramer(10).finish() == [Event(b"")]
    framer = WholeFramer(10)
    for _ in range(5):
        framer.feed(b"abc")
    assert framer.finish() == [] and not framer.complete and not framer._pieces
