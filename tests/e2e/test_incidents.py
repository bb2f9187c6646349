# SPDX-License-Identifier: Apache-2.0
"""The incidents of the seeds, each with a real server and a real client: found, prevented where it can be, and silent
where the client does what the seed prescribes; in the profile ``default`` where a test names no other. Seed 002's is in
``test_resurrection``.
"""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a import (
    AgentCardStalenessError,
    CardTaskBoundaryError,
    TaskContinuationBlockedError,
    TaskResurrectionError,
    local,
    semconv,
)
from tests.support.agents import send, task
from tests.support.incidents import PUSH, accepting, lives, running
from tests.support.telemetry import Telemetry

# --- seed 000, 1: a skill leaves the card, and the client books the task as failed
# -------------------------------------


def test_two_ends_of_one_task(telemetry: Telemetry) -> None:
    """As it happened, in ``default``: a refused call, a failure booked for the card, a part taken for the whole, and
    the agent's own end after that."""
    part = [{"artifactId": "a-1", "parts": [{"text": "half"}]}]

    def answer(method: str, params: dict[str, Any]) -> Any:
        if method == "SubscribeToTask":
            return {"error": {"code": -32601, "message": "Method not found"}}
        if method == "SendMessage":
            return {"task": task("t-1", "WORKING", artifacts=part)}
        return task("t-1", "COMPLETED", artifacts=part)

    with running(answer, telemetry) as app:
        app.call("SendMessage", send("export", "m1"))
        app.redeploy(skills=())
        app.fetch_card()
        app.call("SubscribeToTask", {"id": "t-1"})
        local.task_state("t-1", "failed", reason="skill artifact.export is no longer advertised")
        app.call("GetTask", {"id": "t-1"})
    assert {rule for rule, _ in telemetry.findings()} == {"card-decided-task-fate", "phantom-terminal-state"}
    told = {event.attributes[semconv.SECURITY_RULE_NAME] for event in telemetry.events()}
    assert {"card-revision-changed", "live-operation-refused", "artifacts-partial-unverified"} <= told


def test_a_task_is_not_failed_because_its_skill_left_the_card(telemetry: Telemetry) -> None:
    """The local failure is stopped before it is booked, and the agent's own end is the only one."""
    with running(lives("WORKING", "COMPLETED"), telemetry, strictness="raise") as app:
        app.call("SendMessage", send("export", "m1"))
        app.redeploy(skills=())
        app.fetch_card()
        with pytest.raises(CardTaskBoundaryError):
            local.task_state("t-1", "failed", reason="skill artifact.export is no longer advertised")
        assert app.call("GetTask", {"id": "t-1"})["status"]["state"] == "TASK_STATE_COMPLETED"
        local.task_state("t-1", "completed", reason="server")
    assert {rule for rule, _ in telemetry.findings()} == {"card-decided-task-fate", "phantom-terminal-state"}


def test_waiting_for_the_agents_own_end_is_silent(telemetry: Telemetry) -> None:
    """What seed 000 prescribes: poll on, whatever the card says, until the agent ends the task."""
    with running(lives("WORKING", "WORKING", "COMPLETED"), telemetry, strictness="raise") as app:
        app.call("SendMessage", send("export", "m1"))
        app.redeploy(skills=())
        app.fetch_card()
        for _ in range(2):
            app.call("GetTask", {"id": "t-1"})
        local.task_state("t-1", "completed", reason="server")
    assert telemetry.findings() == []


# --- seed 000, 2: an artifact is pruned because its skill left the card
# ------------------------------------------------


def test_an_artifact_outlives_its_skill(telemetry: Telemetry) -> None:
    """Dropping the artifact of an ended task is stopped, although it has no part at all."""
    ended = task("t-1", "COMPLETED", artifacts=[{"artifactId": "a-1", "parts": []}])
    with running(lambda method, params: {"task": ended}, telemetry, strictness="raise") as app:
        app.call("SendMessage", send("export", "m1"))
        app.redeploy(skills=())
        app.fetch_card()
        with pytest.raises(CardTaskBoundaryError):
            local.artifact_dropped("t-1", "a-1", reason="the producing skill is not advertised")
    assert {rule for rule, _ in telemetry.findings()} == {"card-decided-task-fate", "artifact-truncated"}


# --- seed 000, 3: a canceled task is retried, and the new task's artifacts land in its record


def test_a_retry_has_a_record_of_its_own(telemetry: Telemetry) -> None:
    """Merging into the canceled record is stopped; a record of its own for the retry is silent."""
    ids = iter(["t-1", "t-2"])

    def answer(method: str, params: dict[str, Any]) -> Any:
        if method == "SendMessage":
            new = next(ids)
            return {"task": task(new, "WORKING" if new == "t-1" else "COMPLETED", artifacts=ARTIFACTS.get(new, []))}
        return task("t-1", "CANCELED")

    with running(answer, telemetry, strictness="raise") as app:
        app.call("SendMessage", send("export", "m1"))
        with local.hints(reason="user"):
            app.call("CancelTask", {"id": "t-1"})
        with local.hints(retry_of="t-1"):
            app.call("SendMessage", send("export", "m2"))
        local.artifact_merged("t-2", "a-2")
        assert telemetry.findings() == []
        with pytest.raises(CardTaskBoundaryError):
            local.artifact_merged("t-1", "a-2", from_task="t-2")
    assert telemetry.findings() == [("artifact-merged-into-other-task", "violation")]


ARTIFACTS = {"t-2": [{"artifactId": "a-2", "parts": [{"text": "the export"}]}]}


def test_a_retry_under_the_old_id_never_leaves(telemetry: Telemetry) -> None:
    """A canceled task's id takes no message; seed 000 asks for a fresh one."""
    with running(lives("WORKING", "CANCELED"), telemetry, strictness="raise") as app:
        app.call("SendMessage", send("export", "m1"))
        app.call("CancelTask", {"id": "t-1"})
        with pytest.raises(TaskResurrectionError):
            app.call("SendMessage", send("export", "m2", task_id="t-1"))
    assert app.agent.methods() == ["SendMessage", "CancelTask"]


# --- seed 001: a continuation is answered with another task, and the first one works for ever
# --------------------------


def test_a_continuation_that_is_answered_with_another_task(telemetry: Telemetry) -> None:
    """The divergence is found at once, and the task that nobody works on when its deadline has passed."""

    def answer(method: str, params: dict[str, Any]) -> Any:
        continued = "taskId" in params.get("message", {})
        shown = task("t-2" if continued else "t-1", "WORKING")
        return {"task": shown} if method == "SendMessage" else shown

    with running(answer, telemetry, profile="declared-history", task_deadline=0.3) as app:
        app.call("SendMessage", send("book", "m1"))
        app.call("SendMessage", send("tenant 7", "m2", task_id="t-1"))
        assert telemetry.findings() == [("continuation-diverged", "violation")]
        app.call("GetTask", {"id": "t-1"})
        telemetry.wait_for_finding("task-stuck", seconds=10)


def test_an_agent_that_keeps_the_task_is_silent(telemetry: Telemetry) -> None:
    """What the coordinator expected: working, a question, our answer, done, all under one id."""
    answer = lives("WORKING", "INPUT_REQUIRED", "WORKING", "COMPLETED")
    with running(answer, telemetry, profile="declared-history", task_deadline=60, strictness="raise") as app:
        app.call("SendMessage", send("book", "m1"))
        local.expect_state("t-1", "input-required", within=30)
        app.call("GetTask", {"id": "t-1"})
        app.call("SendMessage", send("tenant 7", "m2", task_id="t-1"))
        app.call("GetTask", {"id": "t-1"})
    assert telemetry.findings() == []


# --- seed 004, 1: a webhook is bound to a promise that is gone
# ----------------------------------------------------------


def test_a_webhook_on_a_card_that_was_fetched_long_ago(telemetry: Telemetry) -> None:
    """Under ``version-fenced`` the registration on the memoized card never leaves."""
    settings = {"strictness": "raise", "profile": "version-fenced", "webhook_card_window": 0.0}
    with running(accepting(), telemetry, **settings) as app:
        app.call("SendMessage", send("long", "m1"))
        with pytest.raises(AgentCardStalenessError) as stopped:
            app.call("CreateTaskPushNotificationConfig", {"taskId": "t-1", **PUSH})
    assert [each.rule for each in stopped.value.findings] == ["webhook-from-stale-card"]
    assert app.agent.methods() == ["SendMessage"]


def test_a_webhook_that_nobody_calls(telemetry: Telemetry) -> None:
    """As it happened, in ``default``: the registration on the memoized card is told when it is made, the failure that
    was inferred from the silence when it is booked, and that it was none when a read shows the agent's own end."""
    with running(accepting(), telemetry, webhook_card_window=0.0) as app:
        app.call("SendMessage", send("long", "m1"))
        app.redeploy(push=False)
        assert "id" in app.call("CreateTaskPushNotificationConfig", {"taskId": "t-1", **PUSH})
        assert telemetry.findings() == [("webhook-from-stale-card", "improvement")]
        local.task_state("t-1", "failed", reason="transport timeout")
        assert app.call("GetTask", {"id": "t-1"})["status"]["state"] == "TASK_STATE_COMPLETED"
    assert telemetry.findings()[1:] == [
        ("phantom-terminal-state", "improvement"),
        ("phantom-terminal-state", "violation"),
    ]


def test_a_webhook_that_the_fresh_card_denies(telemetry: Telemetry) -> None:
    """In any profile: the agent's 200 would be no consent, so the registration never leaves."""
    with running(accepting(), telemetry, strictness="raise") as app:
        app.call("SendMessage", send("long", "m1"))
        app.redeploy(push=False)
        app.fetch_card()
        with pytest.raises(AgentCardStalenessError) as stopped:
            app.call("CreateTaskPushNotificationConfig", {"taskId": "t-1", **PUSH})
    assert stopped.value.findings[0].rule == "webhook-denied-by-card"


def test_looking_at_the_card_and_polling_instead_is_silent(telemetry: Telemetry) -> None:
    """What seed 004 prescribes: fetch the card right before, see that push is gone, poll."""
    with running(accepting(), telemetry, strictness="raise", profile="version-fenced") as app:
        app.call("SendMessage", send("long", "m1"))
        app.redeploy(push=False)
        app.fetch_card()
        app.call("GetTask", {"id": "t-1"})
    assert telemetry.findings() == []


# --- seed 004, 2: a failed card fetch becomes a cancel
# -------------------------------------------------------------------


def test_a_task_that_was_nearly_done(telemetry: Telemetry) -> None:
    """As it happened, in ``default``: the card is fetched at each poll, gets 503 once, and the cancel is honored."""
    with running(lives("WORKING", "WORKING", "CANCELED"), telemetry) as app:
        app.call("SendMessage", send("long", "m1"))
        app.fetch_card()
        app.call("GetTask", {"id": "t-1"})
        app.agent.card = 503
        app.fetch_card()
        assert app.call("CancelTask", {"id": "t-1"})["status"]["state"] == "TASK_STATE_CANCELED"
    assert "cancel-after-card-failure" in {rule for rule, _ in telemetry.findings()}
    assert "discovery-unavailable" in {event.attributes[semconv.SECURITY_RULE_NAME] for event in telemetry.events()}


def test_a_failed_card_fetch_is_no_reason_to_cancel(telemetry: Telemetry) -> None:
    """The spurious cancel never leaves, and the task reaches its own end."""
    with running(lives("WORKING", "WORKING", "COMPLETED"), telemetry, strictness="raise") as app:
        app.call("SendMessage", send("long", "m1"))
        app.call("GetTask", {"id": "t-1"})
        app.agent.card = 503
        assert app.fetch_card() == 503
        with pytest.raises(TaskContinuationBlockedError):
            app.call("CancelTask", {"id": "t-1"})
        assert app.call("GetTask", {"id": "t-1"})["status"]["state"] == "TASK_STATE_COMPLETED"
    assert "CancelTask" not in app.agent.methods()


def test_polling_on_while_the_card_is_away_is_silent(telemetry: Telemetry) -> None:
    """What seed 004 prescribes: a failed discovery is no failed task."""
    with running(lives("WORKING", "WORKING", "COMPLETED"), telemetry, strictness="raise") as app:
        app.call("SendMessage", send("long", "m1"))
        app.agent.card = 503
        for _ in range(2):
            app.fetch_card()
            app.call("GetTask", {"id": "t-1"})
    assert telemetry.findings() == []
