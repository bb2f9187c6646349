# SPDX-License-Identifier: Apache-2.0
"""Plays exchange scripts (``tests/cases/README.md``) through the real wire and engine on a virtual clock."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from otel_a2a.config import Settings
from otel_a2a.engine.engine import Engine
from otel_a2a.engine.findings import Finding
from otel_a2a.exchange import RecordedExchange
from otel_a2a.observations import CallFailed, CallStarted, CardFetchFailed, CardRequested, Observation, StreamEnded
from otel_a2a.wire import cards, requests, responses
from otel_a2a_policies import RULES


class VirtualClock:
    """Time is what the script says."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return 1_000.0 + self.now

    def time_ns(self) -> int:
        return int((1_700_000_000 + self.now) * 1e9)


@dataclass
class Played:
    """What a script gave: findings with the step at which each was made."""

    findings: list[tuple[Finding, int]] = field(default_factory=list)
    engine: Engine | None = None

    def rules(self, *levels: str) -> list[tuple[str, int]]:
        """Rule and step of the new findings at ``levels``, sorted."""
        return sorted(
            (finding.rule, step)
            for finding, step in self.findings
            if finding.count == 1 and (not levels or finding.level.value in levels)
        )


def play(script: dict[str, Any], settings: Settings | None = None) -> Played:
    """Play all exchanges of ``script`` on one time line, and return what the engine found at which step."""
    clock = VirtualClock()
    engine = Engine(settings or Settings(), RULES, clock=clock)
    played = Played(engine=engine)

    def observe(observation: Observation, step: int) -> None:
        verdict = engine.observe(observation)
        played.findings += [(finding, step) for finding in verdict.findings]

    timeline: list[tuple[float, int, int, Callable[[], None]]] = []
    for exchange in script["exchanges"]:
        for offset, (at, act) in enumerate(_acts(exchange, engine, observe)):
            timeline.append((at, exchange["step"], offset, act))
    for at, _, _, act in sorted(timeline, key=lambda entry: entry[:3]):
        clock.now = at
        act()
    return played


Observe = Callable[[Observation, int], None]


def _acts(exchange: dict[str, Any], engine: Engine, observe: Observe) -> Iterator[tuple[float, Callable[[], None]]]:
    kind, step, at = exchange["type"], exchange["step"], float(exchange["t"])
    if kind not in ("http", "sse"):
        return
    state: dict[str, Any] = {}

    def leave() -> None:
        request = requests.read_request(_exchange(exchange["request"]), knows=engine.knows)
        state["request"] = request
        if isinstance(request, CallStarted) and not request.certain:
            request.seq = engine.tick()
        elif request is not None:
            observe(request, step)

    yield at, leave
    answer = exchange.get("response") or {}
    header = {name.lower(): value for name, value in (answer.get("headers") or {}).items()}.get
    if kind == "http":
        yield at, lambda: _answer(state["request"], answer, header, lambda seen: observe(seen, step))
        return
    last = at
    for event in answer.get("events", []):
        last = float(event["t"])
        yield last, lambda event=event: _event(state["request"], event, lambda seen: observe(seen, step))  # type: ignore[misc]

    def end() -> None:
        if isinstance(state["request"], CallStarted):
            observe(StreamEnded(call=state["request"], reason=answer.get("end", "eof")), step)

    yield float(answer.get("end_t", last)), end


def _exchange(request: dict[str, Any]) -> RecordedExchange:
    headers = {"content-type": "application/json"} if "body" in request else {}
    headers |= {name.lower(): str(value) for name, value in (request.get("headers") or {}).items()}
    body = json.dumps(request["body"]).encode() if "body" in request else b""
    return RecordedExchange(request["method"], request["url"], headers, body)


def _answer(
    request: CallStarted | CardRequested | None,
    answer: dict[str, Any],
    header: Callable[[str], str | None],
    observe: Callable[[Observation], None],
) -> None:
    if request is None:
        return
    body = answer["raw"].encode() if "raw" in answer else json.dumps(answer.get("body")).encode()
    if "body" not in answer and "raw" not in answer:
        body = b""
    if isinstance(request, CardRequested):
        if "error" in answer:
            observe(CardFetchFailed(request=request, reason=str(answer["error"])))
        else:
            observe(cards.read_card(request, answer["status"], header, body))
        return
    if "error" in answer:
        observe(CallFailed(call=request, error=str(answer["error"]), from_agent=False))
        return
    _all(request, responses.read_answer(request, answer["status"], header, body), observe)


def _event(request: Any, event: dict[str, Any], observe: Callable[[Observation], None]) -> None:
    if isinstance(request, CallStarted) and "data" in event:
        _all(request, responses.read_event(request, json.dumps(event["data"]).encode()), observe)


def _all(request: CallStarted, seen: list[Observation], observe: Callable[[Observation], None]) -> None:
    if seen and not request.certain:
        request.certain = True
        observe(request)
    for observation in seen:
        observe(observation)
