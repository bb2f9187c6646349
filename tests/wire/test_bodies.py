# SPDX-License-Identifier: Apache-2.0
"""Bodies read beside the application, and cut where an event must not pass."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from otel_a2a.wire import encodings
from otel_a2a.wire.bodies import BodyReader, Event, is_stream
from tests.wire.streams import EVENTS, PLACES, STREAMS, cut_at, deflated, gzipped, reference_events

LIMIT = 10_000
SSE = "text/event-stream; charset=utf-8"


def read(reader: BodyReader, chunks: list[bytes]) -> list[Event]:
    return [event for chunk in chunks for event in reader.feed(chunk)] + reader.finish()


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        (SSE, True),
        ("Text/Event-Stream", True),
        ("application/x-ndjson", True),
        ("application/jsonl; charset=utf-8", True),
        ("application/json-seq", True),
        ("application/json", False),
        ("application/a2a+json", False),
        ("", False),
        (None, False),
    ],
)
def test_the_content_type_tells_streams(content_type: str | None, expected: bool) -> None:
    """Events and JSON lines are streams, all else is one body."""
    assert is_stream(content_type) == BodyReader(content_type, None, LIMIT).is_stream == expected


def test_a_body_is_one_event_at_its_end() -> None:
    """Decoded."""
    body = json.dumps({"x": 1}).encode()
    for encoding, encoded in ((None, body), ("gzip", gzip.compress(body)), ("deflate", zlib.compress(body))):
        reader = BodyReader("application/json", encoding, LIMIT)
        assert read(reader, [encoded[i : i + 3] for i in range(0, len(encoded), 3)]) == [Event(body)]
        assert reader.judged


def test_a_body_over_the_limit_is_not_judged() -> None:
    """Measured after decoding."""
    for encoding, encoded in ((None, b"x" * 101), ("gzip", gzip.compress(b"x" * 101))):
        reader = BodyReader("application/json", encoding, 100)
        assert read(reader, [encoded]) == []
        assert not reader.judged
    reader = BodyReader("application/json", "gzip", 100)
    assert read(reader, [gzip.compress(b"x" * 100)]) == [Event(b"x" * 100)]


@pytest.mark.parametrize("content_type", [SSE, "application/x-ndjson", "application/json"])
@pytest.mark.parametrize(
    ("encoding", "chunk"),
    [
        ("snappy", b"x"),
        ("gzip", b"not gzip at all"),
        ("deflate", b"\x07\x07\x07"),
        ("gzip", gzip.compress(b"\0" * 1_000_000)),
    ],
)
def test_what_cannot_be_decoded_is_not_judged(content_type: str, encoding: str, chunk: bytes) -> None:
    """Unknown, broken or a bomb: no event, no exception, then and later."""
    reader = BodyReader(content_type, encoding, 1000)
    assert read(reader, [chunk, b"data: x\n\n", chunk]) == []
    assert not reader.judged
    assert reader.cut(0) == 0


def encoded(kind: str, chunks: list[bytes]) -> tuple[str | None, list[bytes]]:
    """Chunks in a content coding, flushed after each or not."""
    if kind.startswith("gzip"):
        return "gzip", gzipped(chunks, flush=kind == "gzip")
    if kind.startswith("deflate"):
        return "deflate", deflated(chunks, raw="raw" in kind, flush="flushed" in kind)
    return None, chunks


KINDS = ["identity", "gzip", "gzip, not flushed", "deflate, flushed", "deflate", "deflate, raw"]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=100)
@given(stream=STREAMS, places=PLACES, network=PLACES)
def test_a_stream_reads_the_same_in_any_coding_and_chunking(
    kind: str, stream: bytes, places: list[int], network: list[int]
) -> None:
    """The server cuts, the coding cuts, the network cuts: the events stay."""
    encoding, chunks = encoded(kind, cut_at(stream, places))
    reader = BodyReader(SSE, encoding, LIMIT)
    assert read(reader, cut_at(b"".join(chunks), network)) == reference_events(stream)
    assert reader.judged


def handed_on(encoding: str | None, chunks: list[bytes], refused: int) -> tuple[bytes, bytes]:
    """What an application has received when event ``refused`` is stopped: before that event's chunk, and in all."""
    reader = BodyReader(SSE, encoding, LIMIT)
    passed, seen = b"", 0
    for chunk in chunks:
        events = reader.feed(chunk)
        if seen + len(events) > refused:
            cut = reader.cut(refused - seen)
            assert 0 <= cut <= len(chunk)
            return passed, passed + chunk[:cut]
        seen += len(events)
        passed += chunk
    raise AssertionError("there is no such event")


def decoded(encoding: str | None, passed: bytes) -> bytes:
    if encoding is None:
        return passed
    if encoding == "gzip":
        return zlib.decompressobj(31).decompress(passed)
    try:
        return zlib.decompressobj().decompress(passed)
    except zlib.error:
        return zlib.decompressobj(-15).decompress(passed)


@settings(max_examples=200)
@given(stream=STREAMS, places=PLACES, which=st.integers(0, 100))
def test_a_cut_hands_on_exactly_the_events_before_it(stream: bytes, places: list[int], which: int) -> None:
    """All events before the refused one are whole, and that one cannot be completed by what was handed on."""
    events = reference_events(stream, flush=False)
    assume(events)
    refused = which % len(events)
    before, passed = handed_on(None, cut_at(stream, places), refused)
    assert stream.startswith(passed)
    assert reference_events(passed, flush=False) == events[:refused]
    if len(reference_events(before, flush=False)) < refused:
        # Where the cut is behind an event of the same chunk, nothing at all of the refused one passes.
        assert reference_events(passed) == events[:refused]


@pytest.mark.parametrize("kind", ["gzip", "deflate, flushed"])
@settings(max_examples=100)
@given(events=st.lists(EVENTS, min_size=1, max_size=6), network=PLACES, which=st.integers(0, 100))
def test_a_compressed_stream_is_cut_as_exactly(kind: str, events: list[bytes], network: list[int], which: int) -> None:
    """Where the server flushes after each event, as it must for the client to see it, and the network cuts anywhere."""
    refused = which % len(events)
    encoding, chunks = encoded(kind, events)
    _, passed = handed_on(encoding, cut_at(b"".join(chunks), network), refused)
    received = decoded(encoding, passed)
    assert b"".join(events).startswith(received)
    assert reference_events(received, flush=False) == reference_events(b"".join(events[:refused]))


REPEATS = [b"data: abcdefgh\n\n" * 40, b"data: a\r\n\r\n" * 40, b"".join(b"data: %d\n\n" % i for i in range(40))]


@pytest.mark.parametrize("stream", REPEATS)
@pytest.mark.parametrize("kind", ["gzip, not flushed", "deflate", "deflate, raw"])
def test_a_code_that_covers_many_events_is_never_handed_on(kind: str, stream: bytes) -> None:
    """A compressor that is not flushed writes many events as one: the refused one stays back, maybe with others."""
    encoding, chunks = encoded(kind, [stream])
    for refused in range(40):
        _, passed = handed_on(encoding, [b"".join(chunks)], refused)
        assert len(reference_events(decoded(encoding, passed), flush=False)) <= refused


def test_the_lf_of_a_crlf_cut_in_two_goes_with_its_event() -> None:
    """Else a reader of lines would wait for it, and never give out the good event."""
    reader = BodyReader(SSE, None, LIMIT)
    assert reader.feed(b"data: a\r\n\r") == [Event(b"a")]
    assert reader.feed(b"\ndata: b\r\n\r\n") == [Event(b"b")]
    assert reader.cut(0) == 1


def test_json_lines_are_cut_between_lines() -> None:
    """The same for the other kind of stream."""
    reader = BodyReader("application/x-ndjson", None, LIMIT)
    assert len(reader.feed(b'{"a": 1}\n{"b": 2}\n{"c"')) == 2
    assert [reader.cut(i) for i in range(3)] == [0, 9, 18]


def test_a_decoder_that_cannot_be_copied_is_cut_before_the_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the application misses the good events of that chunk, too."""
    monkeypatch.setitem(encodings._CODINGS, "br", lambda: encodings._Foreign(lambda chunk: chunk))
    reader = BodyReader(SSE, "br", LIMIT)
    assert len(reader.feed(b"data: a\n\ndata: b\n\n")) == 2
    assert reader.cut(1) == 0


@given(
    st.sampled_from([SSE, "application/jsonl", "application/json", None]),
    st.sampled_from([None, "gzip", "deflate", "br", "zstd", "x, y, z", "identity"]),
    st.lists(st.binary(max_size=40), max_size=6),
    st.integers(-1, 5),
)
def test_no_bytes_make_a_reader_raise(content_type: Any, encoding: Any, chunks: list[bytes], index: int) -> None:
    """Whatever comes, in whatever coding it claims to be."""
    reader = BodyReader(content_type, encoding, 50)
    for chunk in chunks:
        reader.feed(chunk)
        assert 0 <= reader.cut(index) <= len(chunk)
    reader.finish()
    assert reader.judged in (True, False)
