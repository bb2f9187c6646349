# SPDX-License-Identifier: Apache-2.0
"""Seed 002 over real sockets: a task comes back as submitted after a redeploy, and its message is sent again."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import StatusCode

from otel_a2a import TaskResurrectionError, semconv
from otel_a2a.engine.findings import Phase
from tests.support.agents import CARD_PATH, HEADERS, ScriptedAgent, card, envelope, send, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry


class Redeployed(ScriptedAgent):
    """Charges at each send; after ``redeploy()`` it knows the task as freshly submitted, under a narrower card."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.charges = 0
        self.redeployed = False

    def redeploy(self, base: str) -> None:
        self.redeployed = True
        self.card = card(f"{base}/rpc", streaming=False, skills=())

    def _answer(self, method: str, params: dict[str, Any]) -> Any:
        if method in ("SendMessage", "SendStreamingMessage"):
            self.charges += 1
            state = "SUBMITTED" if self.redeployed else "WORKING"
            told = {"task": task("t-7f3a", state)}
            return [told] if method == "SendStreamingMessage" else told
        return task("t-7f3a", "SUBMITTED" if self.redeployed else "WORKING")


def call(client: httpx.Client, base: str, method: str, params: dict[str, Any]) -> Any:
    return client.post(f"{base}/rpc", json=envelope(method, params), headers=HEADERS).json()["result"]


def live_through_a_redeploy(agent: Redeployed, client: httpx.Client, base: str) -> None:
    """Up to the moment at which the application knows nothing of what happened."""
    client.get(base + CARD_PATH)
    with client.stream(
        "POST", f"{base}/rpc", json=envelope("SendStreamingMessage", send("charge 10", "m1")), headers=HEADERS
    ) as response:
        response.read()
    agent.redeploy(base)
    client.get(base + CARD_PATH)


RESENT = send("charge 10", "m2", task_id="t-7f3a")


def test_annotate_finds_all_and_stops_nothing(telemetry: Telemetry) -> None:
    """The charge runs twice, and three findings say why."""
    agent = Redeployed()
    with serve(agent.app) as base, telemetry.instrumented(), httpx.Client() as client:
        live_through_a_redeploy(agent, client, base)
        assert call(client, base, "GetTask", {"id": "t-7f3a"})["status"]["state"] == "TASK_STATE_SUBMITTED"
        call(client, base, "SendMessage", RESENT)
    assert agent.charges == 2
    assert sorted(telemetry.findings()) == [
        ("backward-transition", "violation"),
        ("continued-across-revisions", "violation"),
        ("message-resent-after-regression", "violation"),
    ]


def test_raise_stops_the_second_charge(telemetry: Telemetry) -> None:
    """The read raises after delivery; the message sent again is stopped before a byte leaves."""
    agent = Redeployed()
    with serve(agent.app) as base, telemetry.instrumented(strictness="raise"), httpx.Client() as client:
        live_through_a_redeploy(agent, client, base)
        with pytest.raises(TaskResurrectionError) as read:
            call(client, base, "GetTask", {"id": "t-7f3a"})
        with pytest.raises(TaskResurrectionError) as resent:
            call(client, base, "SendMessage", RESENT)
    assert agent.charges == 1
    assert (read.value.phase, read.value.request_sent) == (Phase.RESPONSE, True)
    assert (resent.value.phase, resent.value.request_sent) == (Phase.REQUEST, False)
    first, second = resent.value.findings
    assert {first.rule, second.rule} == {"continued-across-revisions", "message-resent-after-regression"}
    text = str(resent.value)
    assert first.card_revision != first.task_card_revision
    assert all(part in text for part in ("t-7f3a", first.card_revision[:19], first.task_card_revision[:19], "GetTask"))


def test_the_blocked_call_is_in_the_trace(telemetry: Telemetry) -> None:
    """A call that never left is a span with its violations as children, and red."""
    agent = Redeployed()
    with serve(agent.app) as base, telemetry.instrumented(strictness="raise"), httpx.Client() as client:
        live_through_a_redeploy(agent, client, base)
        for method, params in (("GetTask", {"id": "t-7f3a"}), ("SendMessage", RESENT)):
            with pytest.raises(TaskResurrectionError):
                call(client, base, method, params)
    blocked = telemetry.span("SendMessage")
    children = {span.name for span in telemetry.spans if span.parent and span.parent.span_id == blocked.context.span_id}
    assert children == {"violation continued-across-revisions", "violation message-resent-after-regression"}
    assert blocked.status.status_code is StatusCode.ERROR
    assert blocked.attributes is not None
    assert blocked.attributes[semconv.ERROR_TYPE] == "TaskResurrectionError"


def test_the_request_phase_alone_protects(telemetry: Telemetry) -> None:
    """With the response phase only annotated, the message sent again is still stopped."""
    agent = Redeployed()
    settings = {"strictness": "raise", "rules": "backward-transition=annotate"}
    with serve(agent.app) as base, telemetry.instrumented(**settings), httpx.Client() as client:
        live_through_a_redeploy(agent, client, base)
        call(client, base, "GetTask", {"id": "t-7f3a"})
        with pytest.raises(TaskResurrectionError):
            call(client, base, "SendMessage", RESENT)
    assert agent.charges == 1


def test_unsampled_traces_are_protected_too() -> None:
    """With sampling off there is no span, but the findings arrive as events and counts, and raise protects."""
    telemetry = Telemetry(ALWAYS_OFF)
    agent = Redeployed()
    with serve(agent.app) as base, telemetry.instrumented(strictness="raise"), httpx.Client() as client:
        live_through_a_redeploy(agent, client, base)
        for method, params in (("GetTask", {"id": "t-7f3a"}), ("SendMessage", RESENT)):
            with pytest.raises(TaskResurrectionError):
                call(client, base, method, params)
    assert agent.charges == 1
    assert telemetry.spans == []
    assert len(telemetry.findings()) == 3
    counts = {
        point.attributes[semconv.SECURITY_RULE_NAME]: point.value
        for point in telemetry.metric(semconv.METRIC_FINDINGS)
        if point.value and point.attributes[semconv.FINDING_LEVEL] == "violation"
    }
    assert counts == {
        "backward-transition": 1,
        "continued-across-revisions": 1,
        "message-resent-after-regression": 1,
    }


def test_a_new_conversation_with_the_same_words_goes_through(telemetry: Telemetry) -> None:
    """After all that, a new conversation that happens to say the same is not stopped."""
    agent = Redeployed()
    with serve(agent.app) as base, telemetry.instrumented(strictness="raise"), httpx.Client() as client:
        live_through_a_redeploy(agent, client, base)
        with pytest.raises(TaskResurrectionError):
            call(client, base, "GetTask", {"id": "t-7f3a"})
        agent.answer = lambda method, params: {"task": task("t-new", "SUBMITTED", "ctx-2")}
        call(client, base, "SendMessage", send("charge 10", "m9"))
    assert agent.methods()[-1] == "SendMessage"


def test_a_retry_loop_around_a_withheld_answer_runs_the_side_effect_once(telemetry: Telemetry) -> None:
    """An answer of a message into a task is withheld; three retries of an ordinary loop never reach the agent."""
    charges: list[str] = []

    def answer(method: str, params: dict[str, Any]) -> Any:
        message = params["message"]
        if "taskId" not in message:
            return {"task": task("t-1", "WORKING")}
        charges.append(message["messageId"])
        return {"task": task("t-1", "SUBMITTED")}

    agent = ScriptedAgent(answer)
    with serve(agent.app) as base, telemetry.instrumented(strictness="raise"), httpx.Client() as client:
        call(client, base, "SendMessage", send("hello", "m1"))
        for attempt in range(4):
            with pytest.raises(TaskResurrectionError):
                call(client, base, "SendMessage", send("charge 10", f"retry-{attempt}", task_id="t-1"))
    assert charges == ["retry-0"]
