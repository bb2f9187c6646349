# SPDX-License-Identifier: Apache-2.0
"""Which agent did a recorded call go to?

The A2A conventions give a host, and a gateway has many agents behind one. What tells them apart is the URL of the HTTP
span beneath the call's, where an instrumentation of HTTP made one, and the agent's name. Where a host shows one agent
alone, all its calls are that one's. An agent with two interfaces at different URLs counts as two: what is found of one
task through both is missed, and nobody is accused of another agent's tasks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from otel_a2a import semconv
from otel_a2a.replay.spans import RecordedSpan
from otel_a2a.wire import rest, urls

_URLS: Final = (semconv.URL_FULL, "http.url")
_HTTP_METHODS: Final = ("http.request.method", "http.method")

Clue = tuple[str, str]
"""The interface's URL and the agent's name, each empty where it is not known."""


def places(calls: Sequence[RecordedSpan], spans: Iterable[RecordedSpan]) -> list[str]:
    """For each of ``calls`` a name of the agent's place at its host, alike for the calls of one agent.

    ``spans``: all that were recorded, those of HTTP included.
    """
    beneath: dict[str, str] = {}
    for span in spans:
        if span.is_call and span.parent:
            beneath.setdefault(span.parent, _interface(span))
    clues = [(beneath.get(span.span_id, ""), str(span.attributes.get(semconv.GEN_AI_AGENT_NAME, ""))) for span in calls]
    hosts: defaultdict[str, list[int]] = defaultdict(list)
    for index, span in enumerate(calls):
        hosts[_host(span)].append(index)
    found = [""] * len(calls)
    for at_host in hosts.values():
        known = {clues[index] for index in at_host}
        by_task: defaultdict[Any, set[Clue]] = defaultdict(set)
        for index in at_host:
            by_task[calls[index].attributes.get(semconv.A2A_TASK_ID)].add(_completed(clues[index], known))
        for index in at_host:
            clue = _completed(clues[index], known)
            if not all(clue):
                clue = _completed(clue, by_task[calls[index].attributes.get(semconv.A2A_TASK_ID)])
            found[index] = " ".join(clue).strip()
    return found


def _host(span: RecordedSpan) -> str:
    return f"{span.attributes.get(semconv.SERVER_ADDRESS, '')}:{span.attributes.get(semconv.SERVER_PORT)}"


def _completed(clue: Clue, known: Iterable[Clue]) -> Clue:
    """``clue`` with what it lacks, where only one thing that is known fits the rest of it."""
    url, name = clue
    name = name or _only(its for at, its in known if not url or at in ("", url))
    url = url or _only(at for at, its in known if not name or its in ("", name))
    return url, name


def _only(values: Iterable[str]) -> str:
    """The one value among ``values``; empty where there are several or none."""
    found = {value for value in values if value}
    return next(iter(found)) if len(found) == 1 else ""


def _interface(span: RecordedSpan) -> str:
    """The URL of the interface that an HTTP span called: over HTTP+JSON, without the operation's own path."""
    url = next((span.attributes[name] for name in _URLS if span.attributes.get(name)), "")
    method = next((span.attributes[name] for name in _HTTP_METHODS if span.attributes.get(name)), "POST")
    try:
        parts = urlsplit(str(url))
        route = rest.route(str(method), parts.path)
        return urls.endpoint(parts._replace(path=route.base).geturl() if route is not None else str(url))
    except ValueError:
        return ""
