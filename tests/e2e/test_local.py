# SPDX-License-Identifier: Apache-2.0
"""What an application says of itself: hints around real calls, and decisions judged before they are acted on."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx
import pytest

from otel_a2a import (
    AgentCardStalenessError,
    CardTaskBoundaryError,
    TaskContinuationBlockedError,
    local,
    semconv,
)
from tests.support.agents import CARD_PATH, HEADERS, ScriptedAgent, card, envelope, send, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry


def answers(method: str, params: dict[str, Any]) -> Any:
    if method == "SendMessage":
        return {"task": task("t-1", "WORKING")}
    return task("t-1", "CANCELED" if method == "CancelTask" else "WORKING")


def call(client: httpx.Client, base: str, method: str, params: dict[str, Any]) -> Any:
    return client.post(f"{base}/rpc", json=envelope(method, params), headers=HEADERS).json()["result"]


def test_a_decision_that_the_card_made_is_stopped_before_it_is_taken(telemetry: Telemetry) -> None:
    """In raise mode the application cannot book a task as failed because a skill is gone (seed 000)."""
    agent = ScriptedAgent(answers)
    with serve(agent.app) as base, telemetry.instrumented(strictness="raise"), httpx.Client() as client:
        client.get(base + CARD_PATH)
        call(client, base, "SendMessage", send("x", "m1"))
        agent.card = card(f"{base}/rpc", skills=())
        client.get(base + CARD_PATH)
        with pytest.raises(CardTaskBoundaryError) as stopped:
            local.task_state("t-1", "failed", reason="the skill is no longer advertised")
    assert {finding.rule for finding in stopped.value.findings} == {"card-decided-task-fate", "phantom-terminal-state"}
    assert not stopped.value.request_sent


def test_a_cancel_because_of_a_failed_card_fetch_never_leaves(telemetry: Telemetry) -> None:
    """A card fetch that gets 503 is no reason to cancel; the same cancel, asked for by the user, goes through (seed
    004)."""
    agent = ScriptedAgent(answers)
    with serve(agent.app) as base, telemetry.instrumented(strictness="raise"), httpx.Client() as client:
        client.get(base + CARD_PATH)
        call(client, base, "SendMessage", send("x", "m1"))
        agent.card = 503
        client.get(base + CARD_PATH)
        with pytest.raises(TaskContinuationBlockedError):
            call(client, base, "CancelTask", {"id": "t-1"})
        assert "CancelTask" not in agent.methods()
        with local.hints(reason="user"):
            call(client, base, "CancelTask", {"id": "t-1"})
    assert agent.methods().count("CancelTask") == 1


def test_new_work_without_a_card_never_leaves(telemetry: Telemetry) -> None:
    """Where the card cannot be had, nothing is started; with a card that is pinned on purpose, it is (seeds 000 and
    004)."""
    agent = ScriptedAgent(answers)
    agent.card = 503
    with serve(agent.app) as base, telemetry.instrumented(strictness="raise"), httpx.Client() as client:
        client.get(base + CARD_PATH)
        with pytest.raises(AgentCardStalenessError):
            call(client, base, "SendMessage", send("x", "m1"))
        with local.hints(pinned_card=True):
            call(client, base, "SendMessage", send("x", "m1"))
    assert agent.methods() == ["SendMessage"]


def test_check_asks_without_acting(telemetry: Telemetry) -> None:
    """``check`` says what would be found, and leaves no finding, count or record behind."""
    agent = ScriptedAgent(answers)
    with serve(agent.app) as base, telemetry.instrumented(strictness="raise"), httpx.Client() as client:
        client.get(base + CARD_PATH)
        call(client, base, "SendMessage", send("x", "m1"))
        assert local.check("record", task_id="t-1", state="completed", reason="stream ended") != ()
        assert local.check("read", task_id="t-1") == ()
        with local.hints(skill="translate"):
            (found,) = local.check("create", agent=f"{base}/rpc")
        assert found.rule == "skill-not-advertised"
        with pytest.raises(ValueError, match="create, send, read"):
            local.check("explode")
    assert telemetry.findings() == []


def test_what_an_application_has_at_hand_is_taken(telemetry: Telemetry) -> None:
    """Ids and URLs may be objects, and a reason the exception that was caught: judged as their texts are."""
    agent = ScriptedAgent(lambda method, params: {"task": task(str(TASK), "WORKING")})
    with serve(agent.app) as base, telemetry.instrumented(), httpx.Client() as client:
        call(client, base, "SendMessage", send("x", "m1"))
        at_hand: dict[str, Any] = {"reason": TimeoutError("timed out"), "agent": httpx.URL(f"{base}/rpc")}
        found = local.task_state(TASK, "failed", **at_hand)
    assert [(each.rule, each.level.value, each.task_id) for each in found] == [
        ("phantom-terminal-state", "improvement", str(TASK)),
    ]


TASK: Any = UUID("6f0d3c2e-8a53-4b0b-9d6b-6f1f5d1c7a10")


@pytest.mark.parametrize("odd", [None, 5, [], {}, object(), b"x", "\ud800", float("nan")], ids=repr)
def test_nothing_that_an_application_says_raises(odd: Any, telemetry: Telemetry) -> None:
    """What cannot be meant is passed over: an error here would hit the application where it handles its own."""
    with telemetry.instrumented(strictness="raise"), local.hints(skill=odd, retry_of=odd, reason=odd):
        local.task_state(odd, odd, reason=odd, agent=odd, tenant=odd)
        local.artifact_dropped(odd, odd, reason=odd)
        local.artifact_merged(odd, odd, from_task=odd)
        local.task_abandoned(odd)
        local.card_rejected(odd)
        local.card_from_cache(odd)
        local.expect_state(odd, odd, within=1.0)
        for action in ("create", "send", "read", "cancel", "record", "drop", "merge"):
            local.check(action, task_id=odd, agent=odd, state=odd, reason=odd, artifact_id=odd)
    assert not telemetry.metric("otel_a2a.internal.errors")


async def test_hints_reach_asynchronous_calls(telemetry: Telemetry) -> None:
    """A hint around an awaited call counts for it."""
    agent = ScriptedAgent(answers)
    with serve(agent.app) as base, telemetry.instrumented():
        async with httpx.AsyncClient() as client:
            await client.get(base + CARD_PATH)
            with local.hints(skill="translate"):
                await client.post(f"{base}/rpc", json=envelope("SendMessage", send("x", "m1")), headers=HEADERS)
    assert telemetry.findings() == [("skill-not-advertised", "violation")]


def test_nothing_is_judged_where_nothing_is_instrumented() -> None:
    """Without instrumentation every function is there and says nothing."""
    assert local.task_state("t-1", "failed", reason="capability") == ()
    assert local.expect_state("t-1", "completed", within=1) == ()
    assert local.check("create", agent="http://agent.example/rpc") == ()


def test_a_deadline_fires_without_traffic(telemetry: Telemetry, monkeypatch: pytest.MonkeyPatch) -> None:
    """The timer finds a task that shows no progress although nobody calls any more, under the span that created it."""
    agent = ScriptedAgent(answers)
    with serve(agent.app) as base, telemetry.instrumented(), httpx.Client() as client:
        with local.hints(expected_duration=0.2):
            call(client, base, "SendMessage", send("x", "m1"))
        telemetry.wait_for_finding("task-stuck", seconds=10)
    created = telemetry.span("SendMessage")
    violation = telemetry.span("violation task-stuck")
    assert violation.parent is not None and violation.parent.span_id == created.context.span_id
    assert violation.attributes is not None and violation.attributes[semconv.FINDING_PHASE] == "deadline"
    assert {rule for rule, _ in telemetry.findings()} == {"task-stuck", "unprobed-wait"}
