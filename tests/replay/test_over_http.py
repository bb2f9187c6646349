# SPDX-License-Identifier: Apache-2.0
"""Scripts over real sockets and the instrumented client: the engine is shown the same, and says the same."""

from __future__ import annotations

import json
import logging
from typing import Any, Final

import pytest
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, Sampler

from otel_a2a.config import Settings
from otel_a2a.observations import (
    ArtifactSeen,
    CallAnswered,
    CallFailed,
    CallStarted,
    CardFetched,
    CardFetchFailed,
    CardRequested,
    LocalDecision,
    MessageSeen,
    StreamEnded,
    TaskSeen,
)
from otel_a2a.replay.compare import differences
from otel_a2a.replay.player import Observer, Played, play
from otel_a2a.replay.profiles import settings_for
from otel_a2a.replay.script import Script
from otel_a2a_policies import RULES
from tests.replay import cases, loopback
from tests.replay.cases import Judged
from tests.replay.scripts import CARD_URL, URL, Witness, get, script, send, stream, update
from tests.support.telemetry import Telemetry

KINDS: Final = (
    ArtifactSeen,
    CallAnswered,
    CallFailed,
    CallStarted,
    CardFetched,
    CardFetchFailed,
    CardRequested,
    LocalDecision,
    MessageSeen,
    StreamEnded,
    TaskSeen,
)
WAYS: Final = [
    pytest.param(loopback.AsyncApplication, True, ALWAYS_ON, id="async"),
    pytest.param(loopback.SyncApplication, False, ALWAYS_OFF, id="sync-streamed-unsampled"),
]
FETCH: Final = {"method": "GET", "url": CARD_URL}
CARD: Final = {"name": "Pay", "url": URL, "capabilities": {"streaming": True}, "skills": []}


def verdicts(played: Played) -> list[tuple[int, str, str, str]]:
    return sorted(
        (each.step, each.finding.rule, each.finding.level.value, each.finding.task_id) for each in played.found
    )


def shown(witness: Witness) -> list[tuple[str, float, str, str]]:
    """What the engine was shown, in order. How a transport's error is called is the transport's affair."""
    return [
        (
            type(each).__name__,
            each.at,
            getattr(each, "state", "") or "",
            getattr(each, "task_id", "") or getattr(each, "revision", ""),
        )
        for each in witness.seen
    ]


async def over_http(
    read: Script, settings: Settings, application: type[loopback.Application], whole: bool, sampler: Sampler
) -> Played:
    """Let ``read`` happen over sockets, and make sure that the engine is shown what a replay shows it."""
    real, replayed = Witness(*KINDS), Witness(*KINDS)
    observer = Observer(settings, (*RULES, *real.rules))
    played = play(read, settings, (*RULES, *replayed.rules))
    with Telemetry(sampler).instrumented(engine=observer.engine):
        async with loopback.happened(read, observer, application(), whole=whole):
            assert shown(real) == shown(replayed)
            assert verdicts(observer.played) == verdicts(played)
            found = list(observer.played.found)
    assert observer.played.faults == []
    return Played(found)


@pytest.mark.parametrize(("application", "whole", "sampler"), WAYS)
@pytest.mark.parametrize("case", cases.judged(), ids=str)
async def test_a_case_over_http_gives_what_its_replay_gives(
    case: Judged,
    application: type[loopback.Application],
    whole: bool,
    sampler: Sampler,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """An agent's bytes on a socket, read by an instrumented httpx, give the findings of the replay at its steps."""
    caplog.set_level(logging.WARNING, "otel_a2a")
    settings = settings_for(case.script, case.expectation.profile, RULES).settings
    played = await over_http(case.script, settings, application, whole, sampler)
    assert list(differences(case.expectation, played)) == []
    assert not caplog.records


def event(t: float, state: str) -> dict[str, Any]:
    return {"t": t, "data": update(state)}


PUSH: Final = {
    "type": "push",
    "request": {"url": "https://hooks.example", "body": {"id": "t-1", "status": {"state": "TASK_STATE_COMPLETED"}}},
    "verified": True,
}
ODD: Final = {
    "nobody-is-there": [{"type": "http", "request": FETCH, "response": {"error": "ConnectError"}}, send()],
    "an-answer-that-never-comes-in-time": [send(response={"error": "timeout"}), send()],
    "a-connection-that-breaks": [send(response={"error": "ReadError"}), get("WORKING")],
    "a-proxy-s-error": [send(response={"status": 502, "raw": "<html>bad gateway</html>"}), get("WORKING")],
    "a-slow-answer": [send(response={**send()["response"], "t": 9}), get("WORKING", t=10)],
    "a-call-under-way": [send(), get("COMPLETED", response=None), get("COMPLETED")],
    "a-confirmed-card": [
        {"type": "http", "request": FETCH, "response": {"status": 200, "body": CARD}},
        {"type": "http", "request": FETCH, "response": {"status": 304}},
    ],
    "an-open-stream": [stream(event(1, "WORKING"), end="open"), get("WORKING", t=5)],
    "two-streams": [
        stream(event(1, "SUBMITTED"), event(3, "WORKING"), event(6, "COMPLETED")),
        stream(event(2, "WORKING"), event(5, "COMPLETED"), end="reset", end_t=7),
    ],
    "a-stream-that-fails": [{**stream(), "response": {"error": "ReadError"}}, get("WORKING")],
    "a-stream-of-lines": [
        stream(event(1, "WORKING"), event(2, "COMPLETED"), headers={"content-type": "application/x-ndjson"})
    ],
    "an-event-in-two-pieces": [
        stream(
            {"t": 1, "raw": f"data: {json.dumps(update('WORKING'))[:30]}"}, {"t": 2, "raw": "\n\n"}, event(3, "WORKING")
        )
    ],
    "a-webhook": [send(), PUSH, get("WORKING")],
    "hints": [send(hints={"side_effect": True}, response={"error": "ReadError"}), send(hints={"retry_of": "t-0"})],
}


@pytest.mark.parametrize(("application", "whole", "sampler"), WAYS)
@pytest.mark.parametrize("exchanges", ODD.values(), ids=ODD)
async def test_an_odd_script_over_http(
    exchanges: list[dict[str, Any]], application: type[loopback.Application], whole: bool, sampler: Sampler
) -> None:
    """Broken, slow, endless and overlapping exchanges are the same on a socket as in a replay."""
    await over_http(script(*exchanges), Settings(task_deadline=2.0), application, whole, sampler)
