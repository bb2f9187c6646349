# SPDX-License-Identifier: Apache-2.0
"""Threads: many at once, where a deadlock fails instead of hanging, and those that the plugin runs."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

THREADS = 64
PATIENCE = 60.0
"""Seconds that nothing here takes, unless it hangs."""


def together(work: Callable[[int], None], threads: int = THREADS) -> None:
    """Run ``work`` in so many threads at once."""
    start = threading.Barrier(threads)
    failed: list[BaseException] = []

    def run(number: int) -> None:
        try:
            start.wait(PATIENCE)
            work(number)
        except BaseException as error:
            failed.append(error)

    running = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(threads)]
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for each in running:
            each.start()
        for each in running:
            each.join(PATIENCE)
    finally:
        sys.setswitchinterval(usual)
    assert not any(each.is_alive() for each in running), "a deadlock"
    assert not failed, failed


def threads_of_ours() -> set[threading.Thread]:
    """The plugin's threads that are alive. All of a process' threads say nothing: servers and clients end theirs when
    they like."""
    return {each for each in threading.enumerate() if each.name == "otel-a2a"}
