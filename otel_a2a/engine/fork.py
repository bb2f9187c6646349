# SPDX-License-Identifier: Apache-2.0
"""Locks, queues and threads do not survive a fork; their owners renew them in the child."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable


def renew_after_fork(method: Callable[[], None]) -> None:
    """Call the bound ``method`` in every forked child, as long as its object lives."""
    if not hasattr(os, "register_at_fork"):
        return
    reference = weakref.WeakMethod(method)

    def renew() -> None:
        bound = reference()
        if bound is not None:
            bound()

    os.register_at_fork(after_in_child=renew)
