# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C must reach the programs that are started here, also where the tests themselves run in the background."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="package")
def interruptible() -> Iterator[None]:
    """A shell starts what runs in its background deaf to Ctrl-C, and children inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
