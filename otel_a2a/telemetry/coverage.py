# SPDX-License-Identifier: Apache-2.0
"""Which A2A spans of others are already covered by a call that our own wrapper saw, so that no call is judged twice.

A hand-made ``SendMessage`` span usually has the HTTP call beneath it, perhaps with spans in between. While such spans
are alive, their descendants are tracked here; the wrapper asks with the current span, and the span is marked as
covered.
"""

from __future__ import annotations

MAX_TRACKED = 10_000


class Coverage:
    """Live foreign A2A spans by span id, and the spans beneath them. Single dictionary steps only: no lock is
    needed."""

    def __init__(self) -> None:
        self._root_of: dict[int, int] = {}
        self._covered: set[int] = set()

    def started(self, span_id: int, parent_id: int, *, is_a2a: bool) -> None:
        """A span started somewhere in the process. Costs one test while no foreign A2A span is alive."""
        if is_a2a:
            if len(self._root_of) < MAX_TRACKED:
                self._root_of[span_id] = span_id
        elif self._root_of:
            root = self._root_of.get(parent_id)
            if root is not None and len(self._root_of) < MAX_TRACKED:
                self._root_of[span_id] = root

    def cover(self, span_id: int) -> None:
        """Our wrapper saw a call while ``span_id`` was the current span."""
        if self._root_of:
            root = self._root_of.get(span_id)
            if root is not None:
                self._covered.add(root)

    def ended(self, span_id: int) -> bool:
        """A span ended; returns whether it was covered."""
        if not self._root_of:
            return False
        self._root_of.pop(span_id, None)
        if span_id in self._covered:
            self._covered.discard(span_id)
            return True
        return False


coverage = Coverage()
"""One per process: span ids are unique, whatever provider made them."""
