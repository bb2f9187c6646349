# SPDX-License-Identifier: Apache-2.0
"""From requests to the screen: what comes in goes into what is known, and is shown as often as an eye can follow."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Final

from rich.console import Console, RenderableType
from rich.live import Live

from otel_a2a.cli.otlp.requests import Received, read
from otel_a2a.cli.watch.endpoints import Endpoints
from otel_a2a.cli.watch.facts import facts
from otel_a2a.cli.watch.known import Known, News
from otel_a2a.cli.watch.lines import line
from otel_a2a.cli.watch.view import view

WAITING: Final = 10_000
"""News that may wait for a reader of the lines."""
PAUSE: Final = 0.5
"""Seconds between two looks at what has come."""
WIDTH, HEIGHT = 120, 60
"""Of the view, where the output is no terminal."""


class Watched:
    """What is known, shared by the threads of the endpoints and the one that shows it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known = Known()
        self._news: deque[News] = deque()
        self._left_out = 0

    def take(self, request: Received) -> None:
        """Called by the endpoints. Raises ``ValueError`` where the body is no OTLP."""
        export = read(request)
        with self._lock:
            self._news += self._known.learn(facts(export))
            while len(self._news) > WAITING:
                self._news.popleft()
                self._left_out += 1

    def lines(self) -> Iterator[str]:
        """The news since the last call."""
        with self._lock:
            news, left_out = list(self._news), self._left_out
            self._news.clear()
            self._left_out = 0
        if left_out:
            yield f"({left_out} lines left out, because they were read too slowly)"
        yield from map(line, news)

    def view(self, height: int) -> RenderableType:
        """All that is known, for a terminal of so many lines."""
        with self._lock:
            return view(self._known, height)


def watch(host: str, port: int, grpc_port: int, *, seconds: float | None, once: bool) -> None:
    """Listens, and shows what comes, for so many ``seconds``, or until ``KeyboardInterrupt``.

    Raises:
        PortError: a port cannot be listened at.
        BrokenPipeError: nobody reads the output any more.
    """
    watched = Watched()
    console = Console(highlight=False)
    with Endpoints(watched.take, host, port, grpc_port) as endpoints:
        print(endpoints.instructions(), file=sys.stderr, flush=True)
        try:
            if once:
                _sleep(seconds)
            elif console.is_terminal:
                _show_live(watched, console, seconds)
            else:
                _write_lines(watched, seconds)
        except KeyboardInterrupt:
            pass
    if once:
        terminal = console.is_terminal
        whole = Console(highlight=False, width=None if terminal else WIDTH)
        whole.print(watched.view(whole.height if terminal else HEIGHT))
    elif not console.is_terminal:
        _print(watched)


def _show_live(watched: Watched, console: Console, seconds: float | None) -> None:
    with Live(console=console, auto_refresh=False) as live:
        try:
            for _ in _looks(seconds):
                live.update(watched.view(console.height), refresh=True)
        finally:
            live.update(watched.view(console.height), refresh=True)


def _write_lines(watched: Watched, seconds: float | None) -> None:
    for _ in _looks(seconds):
        _print(watched)


def _print(watched: Watched) -> None:
    for each in watched.lines():
        print(each, flush=True)


def _sleep(seconds: float | None) -> None:
    for _ in _looks(seconds):
        pass


def _looks(seconds: float | None) -> Iterator[None]:
    """Comes back every ``PAUSE``, until the time is over."""
    end = None if seconds is None else time.monotonic() + seconds
    while end is None or time.monotonic() < end:
        yield
        time.sleep(PAUSE if end is None else max(0.0, min(PAUSE, end - time.monotonic())))
