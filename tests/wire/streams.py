# SPDX-License-Identifier: Apache-2.0
"""Streams for tests: a simple reference parser, and ways to cut and encode bytes."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Sequence
from itertools import pairwise

from hypothesis import strategies as st

from otel_a2a.wire.sse import Event


def reference_events(stream: bytes, *, flush: bool = True) -> list[Event]:
    """All events of a stream, parsed at once, by the letter of WHATWG HTML section 9.2.

    ``flush`` also counts a last event that the end of the stream cut before its blank line.
    """
    text = stream.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    lines = text.split(b"\n")
    # What follows the last line end is a line only where a stream's end counts as one.
    last = lines.pop()
    if flush:
        lines += [last, b""] if last else [b""]
    events: list[Event] = []
    data: list[bytes] = []
    kind = b""
    for line in lines:
        if not line:
            if data:
                events.append(Event(b"\n".join(data), kind.decode("utf-8", "replace")))
            data, kind = [], b""
            continue
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            data.append(value)
        elif name == b"event":
            kind = value
    return events


def cut_at(stream: bytes, places: Iterable[int]) -> list[bytes]:
    """The stream in pieces, cut at these offsets."""
    bounds = [0, *sorted({place % (len(stream) + 1) for place in places}), len(stream)]
    return [stream[start:end] for start, end in pairwise(bounds) if end > start]


def gzipped(chunks: Sequence[bytes], *, flush: bool = True) -> list[bytes]:
    """Chunks as a server compresses a stream: flushed after each, or when the compressor likes."""
    return _compressed(zlib.compressobj(wbits=31), chunks, flush)


def deflated(chunks: Sequence[bytes], *, raw: bool = False, flush: bool = True) -> list[bytes]:
    """The same in ``deflate``, with zlib's header or raw."""
    return _compressed(zlib.compressobj(wbits=-15 if raw else 15), chunks, flush)


def _compressed(compressor: zlib._Compress, chunks: Sequence[bytes], flush: bool) -> list[bytes]:
    found = []
    for chunk in chunks:
        found.append(compressor.compress(chunk) + (compressor.flush(zlib.Z_SYNC_FLUSH) if flush else b""))
    found.append(compressor.flush())
    return [chunk for chunk in found if chunk]


def members(parts: Sequence[bytes]) -> bytes:
    """A gzip file of several members."""
    return b"".join(gzip.compress(part) for part in parts)


_FIELDS = st.sampled_from(
    [
        b"data: ",
        b"data:",
        b"data",
        b"event: ",
        b"event:error",
        b": comment",
        b":",
        b"id: 7",
        b"retry: 1",
        b"other: x",
        b"\xef\xbb\xbfdata: x",
    ]
)
_VALUES = st.binary(max_size=6).map(lambda value: value.translate(None, b"\r\n"))
LINES = st.one_of(st.just(b""), st.builds(lambda name, value: name + value, _FIELDS, _VALUES))
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
_SCATTERED = st.builds(
    lambda bom, lines, tail: bom + b"".join(line + end for line, end in lines) + tail,
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(st.tuples(LINES, ENDS), max_size=12),
    LINES,
)
_BLOCKS = st.builds(
    lambda before, data, end: b"".join(line + end for line in [*before, b"data: " + data, b""]),
    st.lists(LINES, max_size=2),
    _VALUES,
    ENDS,
)
"""Mostly one event each, because a blank line may be among the lines before."""
STREAMS = _SCATTERED | st.builds(lambda blocks, tail: b"".join(blocks) + tail, st.lists(_BLOCKS, max_size=6), LINES)
"""Streams in any mix of line ends, whole or cut off."""

EVENTS = st.builds(lambda value, end: b"data: " + value + end + end, _VALUES, st.sampled_from([b"\n", b"\r\n"]))
"""Single events."""

PLACES = st.lists(st.integers(0, 400), max_size=6)
