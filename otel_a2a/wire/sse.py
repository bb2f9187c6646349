# SPDX-License-Identifier: Apache-2.0
"""Framing of streams: server-sent events and JSON lines, chunk by chunk, on bytes.

A framer never holds back what it could tell: an event is out with the byte that ends it. It remembers where in the
last chunk each of its events ended, so that a stream can be cut exactly there.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BOM: Final = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """One event of a stream, or one whole body."""

    data: bytes
    type: str = ""


class SseFramer:
    """Server-sent events (WHATWG HTML, section 9.2), except that the last event counts without its blank line.

    An event whose data exceed ``limit`` bytes is passed over, and ``complete`` turns False.
    """

    __slots__ = ("_after_cr", "_data", "_partial", "_size", "_started", "_type", "complete", "ends", "limit", "slack")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.complete = True
        self.ends: list[int] = []
        """Where each event of the last chunk ended, in bytes from the chunk's start."""
        self.slack = 0
        """Bytes at the last chunk's start that still belong to the chunk before: the LF of a CRLF cut in two."""
        self._started = False
        self._after_cr = False
        self._partial = bytearray()
        self._data: list[bytes] | None = None
        self._size = 0
        self._type = ""

    def feed(self, chunk: bytes) -> list[Event]:
        """Events that this chunk ends, in order."""
        self.slack = 0
        if self._data is None and not self._partial and not self._after_cr and chunk[:5] == b"data:":
            data = _only_event(chunk)
            if data is not None and len(data) <= self.limit:
                self._started = True
                self.ends = [len(chunk)]
                event_type, self._type = self._type, ""
                return [Event(data, event_type)]
        return self._feed(chunk)

    def finish(self) -> list[Event]:
        """The last event, where the stream ended without its blank line."""
        self.ends = []
        if self._partial:
            self._line(bytes(self._partial))
            self._partial.clear()
        event = self._dispatch()
        return [event] if event else []

    def _feed(self, chunk: bytes) -> list[Event]:
        events: list[Event] = []
        self.ends = ends = []
        position = 0
        if self._after_cr and chunk:
            self._after_cr = False
            if chunk[0] == 0x0A:
                position = 1
                self.slack = 1
        for match in _LINE_END.finditer(chunk, position):
            line = chunk[position : match.start()]
            if self._partial:
                self._partial += line
                line = bytes(self._partial)
                self._partial.clear()
            position = match.end()
            if line:
                self._line(line)
                continue
            self._started = True
            if event := self._dispatch():
                events.append(event)
                ends.append(position)
        if position:
            self._after_cr = position == len(chunk) and chunk[-1] == 0x0D
        if position < len(chunk):
            self._keep(chunk[position:])
        return events

    def _keep(self, rest: bytes) -> None:
        if len(self._partial) + len(rest) > self.limit + 1024:
            # Enough is kept to know the field's name, and so that the line stays longer than the limit.
            rest = rest[: max(0, self.limit + 1024 - len(self._partial))]
        self._partial += rest

    def _line(self, line: bytes) -> None:
        if not self._started:
            self._started = True
            line = line.removeprefix(_BOM)
        name, _, value = line.partition(b":")
        if name == b"data":
            value = value[1:] if value[:1] == b" " else value
            self._data = [] if self._data is None else self._data
            self._size += len(value) + 1
            if self._size <= self.limit + 1:
                self._data.append(value)
        elif name == b"event":
            self._type = value.removeprefix(b" ").decode("utf-8", "replace")

    def _dispatch(self) -> Event | None:
        data, size, event_type = self._data, self._size, self._type
        self._data, self._size, self._type = None, 0, ""
        if data is None:
            return None
        if size > self.limit + 1:
            self.complete = False
            return None
        return Event(data[0] if len(data) == 1 else b"\n".join(data), event_type)


def _only_event(chunk: bytes) -> bytes | None:
    """The data of a chunk that is exactly one event of one ``data`` line, which most chunks are; else None."""
    length = len(chunk)
    if chunk.endswith(b"\r\n\r\n"):
        if chunk.find(b"\r") != length - 4 or chunk.find(b"\n") != length - 3:
            return None
        end = length - 4
    elif chunk.endswith(b"\n\n") and chunk.find(b"\n") == length - 2 and chunk.find(b"\r") < 0:
        end = length - 2
    else:
        return None
    return chunk[6:end] if chunk[5:6] == b" " else chunk[5:end]


class LinesFramer:
    """JSON lines (NDJSON), and JSON text sequences (RFC 7464) of which each text is one line."""

    __slots__ = ("_partial", "_too_long", "complete", "ends", "limit", "slack")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.complete = True
        self.ends: list[int] = []
        self.slack = 0
        self._partial = bytearray()
        self._too_long = False

    def feed(self, chunk: bytes) -> list[Event]:
        """Lines that this chunk ends, in order."""
        events: list[Event] = []
        self.ends = ends = []
        position = 0
        while (end := chunk.find(b"\n", position)) >= 0:
            self._keep(chunk[position:end])
            position = end + 1
            if event := self._take():
                events.append(event)
                ends.append(position)
        if position < len(chunk):
            self._keep(chunk[position:])
        return events

    def finish(self) -> list[Event]:
        """The last line, where the stream ended without a line feed."""
        self.ends = []
        event = self._take()
        return [event] if event else []

    def _keep(self, piece: bytes) -> None:
        if self._too_long or len(self._partial) + len(piece) > self.limit:
            self._too_long = True
            self._partial.clear()
        else:
            self._partial += piece

    def _take(self) -> Event | None:
        line = bytes(self._partial).strip(b"\x1e \t\r\n")
        self._partial.clear()
        if self._too_long:
            self._too_long = self.complete = False
            return None
        return Event(line) if line else None


class WholeFramer:
    """A body that is no stream: kept up to ``limit`` bytes and given out at its end."""

    __slots__ = ("_pieces", "_size", "complete", "ends", "limit", "slack")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.complete = True
        self.ends: list[int] = []
        self.slack = 0
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[Event]:
        """Nothing, ever."""
        self._size += len(chunk)
        if self._size <= self.limit:
            self._pieces.append(chunk)
        elif self.complete:
            self.complete = False
            self._pieces.clear()
        return []

    def finish(self) -> list[Event]:
        """The body; nothing where it was too large."""
        body = b"".join(self._pieces)
        self._pieces.clear()
        return [Event(body)] if self.complete else []
