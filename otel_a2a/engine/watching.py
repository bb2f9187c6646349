# SPDX-License-Identifier: Apache-2.0
"""Watching an engine from inside the process: what it finds while a block of code runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from otel_a2a.engine.engine import Engine
from otel_a2a.engine.findings import Finding

_lock = threading.Lock()


@contextmanager
def watched(engine: Engine) -> Iterator[list[Finding]]:
    """A list that grows by all that ``engine`` finds while the block runs, on whatever thread; repeats have a ``count``
    above 1. What ``local.check`` asks is not found."""
    found: list[Finding] = []
    with _lock:
        engine.watchers = (*engine.watchers, found)
    try:
        yield found
    finally:
        with _lock:
            engine.watchers = tuple(each for each in engine.watchers if each is not found)
