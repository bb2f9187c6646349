# SPDX-License-Identifier: Apache-2.0
"""One program over requests, and the comparison of what it sees with and without us.

A program is a function that takes a ``RequestsSide`` and writes what it sees to ``side.log``.
"""

from __future__ import annotations

import datetime
import gc
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
import requests
import urllib3
from opentelemetry import trace

from tests.clients.loopback import PATIENCE, Server, chunked
from tests.clients.recording import Recorder
from tests.clients.sides import CALL, Side, compare_runs, watching, without_addresses
from tests.clients.situations import EVENTS, SSE, Situations

Program = Callable[["RequestsSide"], None]


class RequestsSide(Side):
    """requests, with the log of what its program sees."""

    def __init__(self, server: Server) -> None:
        super().__init__(requests, False, server)

    def session(self, kind: type[requests.Session] = requests.Session) -> requests.Session:
        session = kind()
        session.trust_env = False
        return session

    def call(self, session: requests.Session, path: str = "/", **options: Any) -> requests.Response:
        return session.post(self.url(path), **{"json": CALL, "timeout": PATIENCE, **options})

    def stream(self, session: requests.Session, path: str = "/", **options: Any) -> requests.Response:
        return self.call(session, path, stream=True, **options)

    def look(self, response: requests.Response) -> None:
        """Write down everything a program can see of a response without reading it."""
        self.log += [
            (response.status_code, response.reason, response.url, response.encoding, response.ok),
            [(name, value) for name, value in response.headers.items() if name.lower() != "date"],
            [(past.status_code, past.url, past.raw is not None) for past in response.history],
            (response.is_redirect, response.next is not None, dict(response.cookies), response.links),
            isinstance(response.elapsed, datetime.timedelta),
        ]
        self.look_at_raw(response.raw)

    def look_at_raw(self, raw: Any) -> None:
        self.log += [isinstance(raw, urllib3.HTTPResponse), without_addresses(repr(raw))]
        if isinstance(raw, urllib3.HTTPResponse):
            self.log += [
                (raw.status, raw.reason, raw.version, sorted(name for name in raw.headers if name.lower() != "date")),
                (raw.closed, raw.isclosed(), raw.tell(), raw.length_remaining, raw.chunked, raw.decode_content),
                [name for name in ("read", "read1", "json", "peek", "no_such_name") if hasattr(raw, name)],
                sorted(vars(raw)),
            ]


class Each:
    """An iterator of an application, between whose items it runs. No generator, which would keep another alive."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = iter(items)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        item = next(self._items)
        assert trace.get_current_span() is trace.INVALID_SPAN
        return item


def run(program: Program, side: RequestsSide) -> list[object]:
    """Run ``program`` to its end, and let what it left behind be finalised."""
    program(side)
    collect()
    return side.log


def collect() -> None:
    """Let what was forgotten be finalised."""
    with warnings.catch_warnings():
        # The collector may reach a socket before the response that would close it.
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def compare(program: Program, server: Server, caplog: pytest.LogCaptureFixture) -> Recorder:
    """Run ``program`` without us, with a recorder and with the real operation, and require that nothing differs."""
    return compare_runs(lambda: run(program, RequestsSide(server)), server, caplog)


def compare_situation(situations: Situations, name: str, server: Server, caplog: pytest.LogCaptureFixture) -> Recorder:
    """``compare`` for a situation, against a server that streams three events."""
    server.scripts["/"] = chunked(EVENTS, SSE)
    seen = compare(situations[name], server, caplog)
    if situations.endings[name]:
        situations.check(name, seen)
    return seen


def record(side: RequestsSide, program: Callable[[requests.Session], object], **options: Any) -> Recorder:
    """Run ``program``, which takes a session, with a recorder made with ``options``, and return it."""
    with watching(Recorder(**options)) as recorder, side.session() as session:
        program(session)
    collect()
    return recorder
