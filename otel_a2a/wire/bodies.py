# SPDX-License-Identifier: Apache-2.0
"""Reading an answer's body beside the application: the same bytes, never ahead of it, never in its way."""

from __future__ import annotations

from typing import Final

from otel_a2a.wire.encodings import CannotDecode, Decoder, decoder
from otel_a2a.wire.reading import media_type
from otel_a2a.wire.sse import Event, LinesFramer, SseFramer, WholeFramer

__all__ = ["BodyReader", "Event", "is_stream"]

_EVENT_STREAM: Final = "text/event-stream"
_JSON_LINES: Final = frozenset(
    ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-seq", "application/jsonlines")
)
_MOST_INFLATED: Final = 16
"""How many times ``limit`` one chunk of a compressed stream may decode to."""


def is_stream(content_type: str | None) -> bool:
    """Whether a body of this type is a stream of events: ``text/event-stream``, or JSON lines."""
    kind = media_type(content_type)
    return kind == _EVENT_STREAM or kind in _JSON_LINES


class BodyReader:
    """Takes the chunks of a body, gives the events in it, and knows where a stream can be cut.

    Nothing here raises. ``judged`` turns False where something could not be read: an encoding that is unknown or
    broken, an event or body over the limit.

    Args:
        content_type: what is no stream (``is_stream``) is one event, at the end.
        content_encoding: of the bytes that will be fed; None where they come decoded.
        limit: bytes of one event or of a whole body; what is larger is not kept.
    """

    __slots__ = ("_before", "_chunk", "_decoded", "_decoder", "_framer", "_limit", "_readable", "is_stream")

    def __init__(self, content_type: str | None, content_encoding: str | None, limit: int) -> None:
        self.is_stream = is_stream(content_type)
        self._framer: SseFramer | LinesFramer | WholeFramer
        if not self.is_stream:
            self._framer = WholeFramer(limit)
        elif media_type(content_type) == _EVENT_STREAM:
            self._framer = SseFramer(limit)
        else:
            self._framer = LinesFramer(limit)
        self._limit = limit
        self._readable = True
        self._decoder: Decoder | None = None
        self._before: Decoder | None = None
        self._chunk = b""
        self._decoded = 0
        try:
            self._decoder = decoder(content_encoding)
        except CannotDecode:
            self._readable = False

    @property
    def judged(self) -> bool:
        """Whether everything so far could be read."""
        return self._readable and self._framer.complete

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that this chunk completes, in order."""
        if not self._readable:
            return []
        if self._decoder is None:
            return self._framer.feed(chunk)
        if self.is_stream:
            self._before = self._decoder.copy()
            self._chunk = chunk
        most = self._limit * _MOST_INFLATED if self.is_stream else self._limit + 1
        try:
            decoded = self._decoder.feed(chunk, most)
        except CannotDecode:
            self._readable = False
            return []
        self._decoded = len(decoded)
        return self._framer.feed(decoded)

    def finish(self) -> list[Event]:
        """What the end of the body completes: the last event of a stream, or the whole body."""
        return self._framer.finish() if self._readable else []

    def cut(self, index: int) -> int:
        """How much of the last chunk may be handed on when event ``index`` of it must not be.

        The application then has all events before that one, whole, and cannot complete that one. In a compressed
        chunk the bytes of two events can be in one code: then the cut is as far as event ``index`` stays incomplete.
        Where the decoder cannot be copied it is 0.
        """
        ends = self._framer.ends
        index = max(index, 0)
        start = ends[index - 1] if 0 < index <= len(ends) else self._framer.slack
        if self._decoder is None:
            return start
        end = ends[index] if index < len(ends) else self._decoded + 1
        return self._cut_compressed(start, end)

    def _cut_compressed(self, start: int, end: int) -> int:
        """The least number of compressed bytes that decode to ``start`` bytes or more, but to less than ``end``."""
        if self._before is None:
            return 0
        low, high = 0, len(self._chunk)
        while low < high:
            middle = (low + high) // 2
            if self._decoded_length(middle) < start:
                low = middle + 1
            else:
                high = middle
        return low if self._decoded_length(low) < end else max(low - 1, 0)

    def _decoded_length(self, count: int) -> int:
        trial = self._before.copy() if self._before is not None else None
        if trial is None:
            return 0
        try:
            return len(trial.feed(self._chunk[:count], self._limit * _MOST_INFLATED))
        except CannotDecode:
            return 0
