# SPDX-License-Identifier: Apache-2.0
"""The one daemon thread, and the queue in front of it.

A finaliser may run anywhere: inside the engine's lock, inside an exporter's. It may therefore do nothing but put a
piece of work here (``SimpleQueue.put`` is reentrant); the thread, or the next call on its own thread, does the work.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

from otel_a2a.engine.fork import renew_after_fork

_logger = logging.getLogger("otel_a2a")

LONGEST_WAIT = 3_600.0
"""Seconds after which the thread looks again at what is due, whatever it was told."""


class Worker:
    """Runs deferred work soon, and what is due when it is due.

    The thread starts with ``start()`` or ``wake()`` and ends with the process, or with ``stop()``.

    Args:
        next_due: seconds until something is due by itself; None where nothing is.
        on_due: called when that time has come.
    """

    def __init__(
        self, next_due: Callable[[], float | None] = lambda: None, on_due: Callable[[], object] = lambda: None
    ) -> None:
        self._next_due = next_due
        self._on_due = on_due
        self._reset()
        renew_after_fork(self._reset)

    def _reset(self) -> None:
        # A forked child has neither the thread nor a usable queue: another thread may have held its lock.
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Make sure that the thread runs. Not to be called from a finaliser."""
        if self._thread is not None or not self._lock.acquire(blocking=False):
            # Whoever holds the lock is just starting the thread: perhaps this very one, interrupted by a finaliser.
            return
        try:
            if self._thread is None:
                thread = threading.Thread(target=self._run, args=(self._queue,), name="otel-a2a", daemon=True)
                thread.start()
                self._thread = thread
        except RuntimeError:
            # The interpreter is shutting down (Python 3.12 refuses new threads then); drain() still works.
            return
        finally:
            self._lock.release()

    def defer(self, work: Callable[[], None]) -> None:
        """Have ``work`` done soon, elsewhere. Safe in finalisers."""
        self._queue.put(work)

    def wake(self) -> None:
        """Something may be due earlier than the thread knows."""
        self.start()
        self._queue.put(_nothing)

    @property
    def waiting(self) -> int:
        """How many pieces of work are not begun."""
        return self._queue.qsize()

    def flush(self, seconds: float) -> bool:
        """Wait until what is waiting now is done, ``seconds`` at most; where no thread runs, do it here."""
        if self._thread is None:
            self.drain()
            return True
        done = threading.Event()
        self.defer(done.set)
        return done.wait(seconds)

    def drain(self) -> None:
        """Do what is waiting, now and here."""
        while not self._queue.empty():
            try:
                work = self._queue.get_nowait()
            except Empty:
                return
            if work is None:
                # The word for the thread to end.
                self._queue.put(None)
                return
            _perform(work)

    def stop(self) -> None:
        """Do what is waiting and end the thread."""
        self.drain()
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            if thread is not threading.current_thread():
                thread.join(timeout=1.0)

    def _run(self, queue: SimpleQueue[Callable[[], None] | None]) -> None:
        while True:
            try:
                work = queue.get(timeout=self._wait())
            except Empty:
                _perform(self._on_due)
                continue
            if work is None:
                return
            _perform(work)

    def _wait(self) -> float | None:
        """Seconds to wait for work, within what a platform's clocks can take."""
        try:
            due = self._next_due()
            return None if due is None else min(max(due, 0.0), LONGEST_WAIT)
        except Exception:
            _logger.debug("what is due next is not known", exc_info=True)
            return LONGEST_WAIT


def _nothing() -> None: ...


def _perform(work: Callable[[], object]) -> None:
    try:
        work()
    except Exception:
        _logger.debug("deferred work failed", exc_info=True)
