# SPDX-License-Identifier: Apache-2.0
"""Waiting for something that another thread does."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(is_so: Callable[[], bool], seconds: float = 20) -> None:
    """Wait until ``is_so()``.

    Raises:
        TimeoutError: it did not come to be.
    """
    give_up = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > give_up:
            raise TimeoutError(f"not within {seconds} s")
        time.sleep(0.01)
