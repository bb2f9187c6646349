# SPDX-License-Identifier: Apache-2.0
"""The one daemon thread: what it does, when, and that nothing keeps it from it."""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator

import pytest

from otel_a2a.engine.worker import Worker
from tests.support.threads import threads_of_ours

PATIENCE = 20.0
"""Seconds that nothing here takes, unless it hangs."""


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.stop()


def test_deferred_work_is_done_by_the_thread(worker: Worker) -> None:
    """What is put away is done soon, elsewhere, in order."""
    done: list[tuple[int, str]] = []
    finished = threading.Event()
    worker.start()
    for number in range(3):
        worker.defer(lambda number=number: done.append((number, threading.current_thread().name)))  # type: ignore[misc]
    worker.defer(finished.set)
    assert finished.wait(PATIENCE)
    assert done == [(number, "otel-a2a") for number in range(3)]


def test_deferred_work_waits_for_a_thread_or_a_drain(worker: Worker) -> None:
    """Without a thread nothing is lost: the next one who drains does the work, here and now."""
    done: list[str] = []
    worker.defer(lambda: done.append(threading.current_thread().name))
    assert not done
    worker.drain()
    assert done == [threading.current_thread().name]
    worker.drain()
    assert len(done) == 1


def test_a_finaliser_may_defer(worker: Worker) -> None:
    """An object in a cycle, found by the collector, puts its end away."""
    done: list[str] = []

    class Forgotten:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            worker.defer(lambda: done.append("ended"))

    Forgotten()
    gc.collect()
    assert not done
    worker.drain()
    assert done == ["ended"]


def test_work_that_fails_does_not_end_the_thread(worker: Worker) -> None:
    """The next piece of work is done all the same."""
    finished = threading.Event()
    worker.start()
    worker.defer(lambda: next(iter(())))
    worker.defer(finished.set)
    assert finished.wait(PATIENCE)


def test_started_twice_it_is_one_thread(worker: Worker) -> None:
    """However many start it, at once or one after the other, one thread runs."""
    before = threads_of_ours()
    starters = [threading.Thread(target=worker.start) for _ in range(16)]
    for each in starters:
        each.start()
    for each in starters:
        each.join(PATIENCE)
    worker.start()
    assert len(threads_of_ours() - before) == 1


def test_a_finaliser_that_starts_it_while_it_is_started(worker: Worker) -> None:
    """Starting a thread makes objects, the collector runs, a finaliser wants the same: it does not wait for itself."""
    started = threading.Event()

    def start_within_the_lock() -> None:
        assert worker._lock.acquire(timeout=PATIENCE)
        try:
            worker.wake()
        finally:
            worker._lock.release()
        started.set()

    threading.Thread(target=start_within_the_lock, daemon=True).start()
    assert started.wait(PATIENCE)


def test_stopped_it_has_done_what_was_waiting(worker: Worker) -> None:
    """Nothing that was put away before the end is lost, and the thread is gone."""
    done: list[int] = []
    before = threads_of_ours()
    worker.start()
    for number in range(100):
        worker.defer(lambda number=number: done.append(number))  # type: ignore[misc]
    worker.stop()
    assert sorted(done) == list(range(100)) and threads_of_ours() <= before


def test_stopped_and_started_again(worker: Worker) -> None:
    """Instrumented again, the thread runs again."""
    finished = threading.Event()
    worker.start()
    worker.stop()
    worker.stop()
    worker.start()
    worker.defer(finished.set)
    assert finished.wait(PATIENCE)


def test_a_drain_leaves_the_thread_its_word_to_end(worker: Worker) -> None:
    """A call that drains while the thread is asked to end does not take that word away."""
    busy, free = threading.Event(), threading.Event()
    worker.start()
    (thread,) = [each for each in threads_of_ours() if each is worker._thread]

    def work() -> None:
        busy.set()
        free.wait(PATIENCE)

    worker.defer(work)
    assert busy.wait(PATIENCE)
    worker._queue.put(None)
    worker.drain()
    free.set()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_it_may_stop_itself(worker: Worker) -> None:
    """An application that uninstruments in deferred work does not make the thread wait for itself."""
    finished = threading.Event()
    worker.start()

    def stop() -> None:
        worker.stop()
        finished.set()

    worker.defer(stop)
    assert finished.wait(PATIENCE)


def test_what_is_due_is_called() -> None:
    """When the time has come that ``next_due`` told, ``on_due`` is called, and then the next time is asked for."""
    called = threading.Event()
    times = iter([0.0])
    worker = Worker(next_due=lambda: next(times, None), on_due=called.set)
    worker.start()
    assert called.wait(PATIENCE)
    worker.stop()


def test_something_is_due_earlier() -> None:
    """``wake`` makes the thread ask again."""
    called = threading.Event()
    due: list[float | None] = [None]

    def happens() -> None:
        due[0] = None
        called.set()

    worker = Worker(next_due=lambda: due[0], on_due=happens)
    worker.start()
    due[0] = 0.0
    worker.wake()
    assert called.wait(PATIENCE)
    worker.stop()


@pytest.mark.parametrize("due", [1e12, math.inf, -1.0, "fails"])
def test_no_time_ends_the_thread(due: float | str) -> None:
    """Times that no clock can wait for, times that are past, and a fault: the thread goes on to do its work."""

    def next_due() -> float:
        return due / 1 if isinstance(due, float) else float(due)

    finished = threading.Event()
    worker = Worker(next_due=next_due)
    worker.start()
    worker.defer(finished.set)
    assert finished.wait(PATIENCE)
    second = threading.Event()
    worker.defer(second.set)
    assert second.wait(PATIENCE)
    worker.stop()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_after_a_fork_the_child_starts_its_own() -> None:
    """A child has neither the thread nor the work that waits in its parent, and can start its own."""
    program = textwrap.dedent(
        """
        import os, threading, warnings
        from otel_a2a.engine.worker import Worker

        warnings.simplefilter("ignore")
        worker = Worker()
        worker.start()
        gate = threading.Event()
        worker.defer(gate.wait)
        worker.defer(lambda: print("parent's work"))
        child = os.fork()
        if child == 0:
            done = threading.Event()
            worker.drain()
            worker.start()
            worker.defer(done.set)
            os._exit(0 if done.wait(10) else 1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        gate.set()
        worker.stop()
        print("child ended with", status)
        """
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.stdout.splitlines() == ["parent's work", "child ended with 0"], ended.stderr
