# SPDX-License-Identifier: Apache-2.0
"""Calls whose answers are still coming, so that none goes unwritten when the process ends.

A stream that was broken off is closed by a finaliser, and at the end of a process many never run.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Protocol
from weakref import WeakSet


class OpenCall(Protocol):
    """What ends once."""

    def end(self, reason: str) -> None:
        """It is over. Only the first call counts."""


_open: WeakSet[OpenCall] = WeakSet()


def add(call: OpenCall) -> None:
    """A part of its answer has come. It leaves by itself when nobody holds it any more."""
    _open.add(call)


def discard(call: OpenCall) -> None:
    """It has ended."""
    _open.discard(call)


def end_all(reason: str) -> None:
    """The process ends: whatever is still coming will not be read. Never raises."""
    for call in list(_open):
        with suppress(Exception):
            call.end(reason)


if hasattr(os, "register_at_fork"):
    # The streams are the parent's, and so are their spans.
    os.register_at_fork(after_in_child=_open.clear)
