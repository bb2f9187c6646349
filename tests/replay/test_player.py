# SPDX-License-Identifier: Apache-2.0
"""Playing: what of a script reaches the engine, in which form, at what time, and what is noted of it."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_a2a import engine
from otel_a2a.config import Settings
from otel_a2a.engine.engine import Engine
from otel_a2a.observations import (
    CallAnswered,
    CallFailed,
    CallStarted,
    CardFetched,
    CardFetchFailed,
    Decision,
    LocalDecision,
    Observation,
    Reason,
    StateExpected,
    StreamEnded,
    TaskSeen,
    TaskState,
)
from otel_a2a.replay.player import BEGINNING, UPTIME, play
from otel_a2a.replay.script import Script
from otel_a2a_policies import RULES
from tests.replay.scripts import (
    CARD_URL,
    URL,
    Witness,
    faulty,
    get,
    message,
    request,
    result,
    script,
    send,
    stream,
    task,
    update,
)

FETCH = {"method": "GET", "url": CARD_URL}


def seen(read: Script, *kinds: type[Observation]) -> list[Any]:
    """What the engine was shown of these kinds."""
    witness = Witness(*kinds)
    played = play(read, Settings(), witness.rules)
    assert played.found == [] and played.faults == []
    return witness.seen


def test_findings_have_their_step_and_time() -> None:
    """A finding is told at the moment of the script at which it is made."""
    played = play(script(send(), get("SUBMITTED", t=30.5)), Settings(), RULES)
    assert [(each.t, each.step, each.finding.rule) for each in played.found] == [(30.5, 1, "backward-transition")]
    (found,) = played.found
    assert found.finding.time_unix_nano == int((BEGINNING.timestamp() + 30.5) * 1e9)


def test_a_repeat_is_no_finding() -> None:
    """The same incident seen again is not told again."""
    played = play(script(send(), get("SUBMITTED"), get("SUBMITTED")), Settings(), RULES)
    assert [each.step for each in played.found] == [1]


def test_the_clock_is_the_script_s() -> None:
    """Observations are stamped with the script's time, whatever time it is."""
    (call, read) = seen(script(send(), get("WORKING", t=7200)), CallStarted)
    assert (call.at, read.at) == (UPTIME, UPTIME + 7200)


def test_an_answer_is_read_as_in_an_application() -> None:
    """A call is recognised, its answer judged and its end told."""
    call, task_seen, _ = seen(script(send("COMPLETED")), CallStarted, TaskSeen, CallAnswered)
    assert (call.method, call.endpoint, call.protocol_version) == ("SendMessage", URL, "1.0")
    assert (task_seen.task_id, task_seen.state) == ("t-1", TaskState.COMPLETED)


def test_what_is_not_a2a_is_not_looked_at() -> None:
    """Other traffic in a script is passed over, its streams as well."""
    other = {"method": "POST", "url": "https://other.example/log", "body": {"a": 1}}
    assert not seen(
        script(
            {"type": "http", "request": other, "response": {"status": 200, "body": task("WORKING")}},
            {"type": "sse", "request": other, "response": {"events": [{"t": 2, "data": update("WORKING")}]}},
        ),
        CallStarted,
        TaskSeen,
        StreamEnded,
    )


def test_a_call_of_two_protocols_is_decided_by_its_answer() -> None:
    """``tasks/get`` without any sign of A2A counts once the answer shows a task of A2A."""
    asked = {
        "method": "POST",
        "url": URL,
        "body": {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"id": "t-1"}},
    }
    answers = [result(task("WORKING")), result({"taskId": "t-1", "status": "working"})]
    calls = [{"type": "http", "request": asked, "response": {"status": 200, "body": answer}} for answer in answers]
    assert len(seen(script(calls[0]), CallStarted)) == 1
    assert not seen(script(calls[1]), CallStarted)


@pytest.mark.parametrize("error", ["ConnectError", "timeout"])
def test_a_transport_s_error_is_not_the_agent_s(error: str) -> None:
    """A call without an answer failed by that name, whole answer or stream."""
    failed = {"response": {"error": error}}
    for call in ({**send(), **failed}, {**stream(), **failed}):
        (failure,) = seen(script(call), CallFailed, StreamEnded)
        assert (failure.error, failure.from_agent) == (error, False)


def test_a_call_without_an_answer_stays_open() -> None:
    """A request whose answer never comes has left, and nothing more is known of it."""
    (call,) = seen(script(send(response=None)), CallStarted, CallFailed, CallAnswered, StreamEnded)
    assert call.method == "SendMessage"


def test_cards_are_fetched_and_fail() -> None:
    """A card's document, its confirmation, its refusal and its absence reach the engine as such."""
    card = {"name": "Pay", "url": URL, "capabilities": {}, "skills": []}
    answers = [
        {"status": 200, "body": card, "headers": {"Cache-Control": "max-age=60", "Age": "5"}},
        {"status": 304},
        {"status": 503},
        {"error": "ConnectError"},
        {"status": 200, "raw": "<html>"},
    ]
    fetched = seen(
        script(*({"type": "http", "request": FETCH, "response": answer} for answer in answers)),
        CardFetched,
        CardFetchFailed,
    )
    assert [type(each) for each in fetched] == [CardFetched] * 2 + [CardFetchFailed] * 3
    assert (fetched[0].max_age, fetched[0].age, fetched[1].confirmed) == (60.0, 5.0, True)
    assert [each.reason for each in fetched[2:]] == ["503", "ConnectError", "invalid_agent_card"]


def test_a_stream_is_framed_from_its_bytes() -> None:
    """Data become server-sent events; raw text is taken as it was sent, in any pieces, with comments between."""
    working = json.dumps(update("WORKING"))
    events = [
        {"t": 1, "data": update("SUBMITTED")},
        {"t": 2, "raw": ": keep-alive\n\n"},
        {"t": 3, "raw": f"id: 7\r\ndata: {working[:20]}"},
        {"t": 4, "raw": f"{working[20:]}\r\n\r\n"},
        {"t": 5, "raw": "data: " + json.dumps(update("COMPLETED"), indent=1).replace("\n", "\ndata: ") + "\n\n"},
    ]
    shown = seen(script(stream(*events)), TaskSeen)
    assert [(each.state, each.at - UPTIME, each.channel) for each in shown] == [
        (TaskState.SUBMITTED, 1, "stream"),
        (TaskState.WORKING, 4, "stream"),
        (TaskState.COMPLETED, 5, "stream"),
    ]


def test_a_stream_of_lines() -> None:
    """Data become lines where the stream says that it is one of lines."""
    lines = {"headers": {"content-type": "application/x-ndjson"}}
    shown = seen(
        script(stream({"t": 1, "data": update("WORKING")}, {"t": 2, "data": update("COMPLETED")}, **lines)), TaskSeen
    )
    assert [each.state for each in shown] == [TaskState.WORKING, TaskState.COMPLETED]


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        ("server_closed", "eof"),
        ("server_close", "eof"),
        ("client_closed", "closed-early"),
        ("client_close", "closed-early"),
        ("reset", "reset"),
    ],
)
def test_a_stream_ends_as_the_script_says(end: str, reason: str) -> None:
    """The server's end, the client's and a broken connection are told apart."""
    (ended,) = seen(script(stream({"t": 1, "data": update("WORKING")}, end=end)), StreamEnded)
    assert ended.reason == reason


def test_an_open_stream_does_not_end() -> None:
    """Neither the end of the script nor the collector ends what is open."""
    assert not seen(
        script(stream({"t": 1, "data": update("WORKING")}, end="open"), {"type": "clock", "t": 99}), StreamEnded
    )


def test_decisions_are_as_the_application_would_tell_them() -> None:
    """Local steps become what ``otel_a2a.local`` makes of them: states normalised, reasons understood."""
    about = {"type": "local", "task_id": "t-1"}
    state, dropped, merged, abandoned, rejected, cached, expected = seen(
        script(
            {
                **about,
                "action": "set_task_state",
                "state": "failed",
                "reason": "skill no longer advertised",
                "agent": URL + "/",
            },
            {**about, "action": "drop_artifact", "artifact_id": "a-1", "reason": "timed out", "tenant": "acme"},
            {**about, "action": "merge_artifact", "artifact_id": "a-1", "from_task_id": "t-2"},
            {**about, "action": "abandon_task", "reason": "user"},
            {
                "type": "local",
                "action": "card_rejected",
                "card_url": CARD_URL + "?x=1",
                "reason": "rpc url must be https",
            },
            {"type": "local", "action": "card_cache_hit", "card_url": CARD_URL, "age_s": 200},
            {**about, "action": "expect_state", "state": "working", "within_s": 5},
        ),
        LocalDecision,
        StateExpected,
    )
    assert (state.decision, state.state, state.reason, state.endpoint, state.declared) == (
        Decision.STATE,
        TaskState.FAILED,
        Reason.CAPABILITY,
        URL,
        True,
    )
    assert (dropped.decision, dropped.artifact_id, dropped.reason, dropped.tenant) == (
        Decision.ARTIFACT_DROPPED,
        "a-1",
        Reason.TRANSPORT,
        "acme",
    )
    assert (merged.decision, merged.source_task_id) == (Decision.ARTIFACT_MERGED, "t-2")
    assert (abandoned.decision, abandoned.reason) == (Decision.ABANDONED, Reason.USER)
    assert (rejected.decision, rejected.card_url, rejected.reason) == (Decision.CARD_REJECTED, CARD_URL, "")
    assert (cached.decision, cached.card_age) == (Decision.CARD_FROM_CACHE, 200.0)
    assert (expected.task_id, expected.state, expected.within) == ("t-1", TaskState.WORKING, 5.0)


def test_a_webhook_carries_the_proof_of_its_registration() -> None:
    """A delivery's token and URL are those that the registration named, as far as digests tell; a wrong one is not."""
    hook = "https://hooks.client.example/a2a"
    configuration = {"taskPushNotificationConfig": {"url": hook, "token": "s3cret"}}
    asked = request("SendMessage", {"message": message(), "configuration": configuration})
    created = {"type": "http", "request": asked, "response": {"status": 200, "body": result({"task": task("WORKING")})}}
    body = {"statusUpdate": {"taskId": "t-1", "status": {"state": "TASK_STATE_COMPLETED"}}}

    def push(token: str, **members: Any) -> dict[str, Any]:
        headers = {"X-A2A-Notification-Token": token}
        return {"type": "push", "request": {"method": "POST", "url": hook, "headers": headers, "body": body}, **members}

    call, _, right, wrong = seen(script(created, push("s3cret", verified=True), push("guess")), CallStarted, TaskSeen)
    assert (right.channel, right.call, right.state) == ("webhook", None, TaskState.COMPLETED)
    assert (right.delivery.token, right.delivery.url) == (call.push.token, call.push.url)
    assert (right.delivery.verified, wrong.delivery.verified) == (True, False)
    assert wrong.delivery.token not in ("", call.push.token)


def test_a_rule_that_fails_is_told() -> None:
    """A fault of a rule is no finding, and does not go unseen."""
    played = play(script(send()), Settings(), (faulty(CallStarted),))
    assert played.found == []
    assert played.faults == ["rule faulty: LookupError: nothing here"]


def test_the_process_keeps_its_engine() -> None:
    """A play takes the place of the process's engine for as long as it lasts, and shows it nothing."""
    own = Engine(Settings(), RULES)
    before = engine.current()
    engine.set_current(own)
    try:
        play(script(send(), {"type": "local", "action": "abandon_task", "task_id": "t-1"}), Settings(), RULES)
        assert engine.current() is own
        assert own.live_tasks == 0
    finally:
        engine.set_current(before)


def test_a_play_can_be_repeated() -> None:
    """Nothing of one play is left for the next."""
    read = script(send(), get("SUBMITTED"))
    first, second = (play(read, Settings(), RULES) for _ in range(2))
    assert first.found == second.found != []


def test_hints_reach_the_call() -> None:
    """What the application says about a call is known of that call and of no other."""
    hints = {"skill": "pay", "retry_of": "t-0", "expected_duration": 30, "side_effect": True, "reason": "timed out"}
    hinted, plain = seen(script(send(hints=hints), get("WORKING")), CallStarted)
    assert (hinted.hints.skill, hinted.hints.retry_of, hinted.hints.expected_duration) == ("pay", "t-0", 30.0)
    assert (hinted.hints.side_effect, hinted.hints.reason) == (True, Reason.TRANSPORT)
    assert plain.hints is None


def test_what_falls_due_belongs_to_the_next_step() -> None:
    """A deadline that passes in silence is found at the next moment of the script, whatever happens there."""
    read = script(send(), {"type": "clock", "t": 299}, {"type": "clock", "t": 400}, {"type": "clock", "t": 900})
    played = play(read, Settings(task_deadline=300.0), RULES)
    assert [(each.t, each.step, each.finding.rule) for each in played.found] == [(400.0, 2, "task-stuck")]


_words: Final = st.text(max_size=8) | st.sampled_from(
    ["t-1", "TASK_STATE_WORKING", "submitted", "status-update", "task"]
)
_json: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _words,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["task", "id", "kind", "status", "state", "result", "error", "artifact"]), inner
        )
    ),
    max_leaves=8,
)
_times: Final = st.integers(0, 9)


@st.composite
def _exchanges(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["http", "sse", "push"]))
    asked = request(draw(st.sampled_from(["SendStreamingMessage", "GetTask", "tasks/get", "message/send"])), {})
    asked["body"]["params"] = draw(_json)
    events = st.fixed_dictionaries({"t": _times, "data": _json}) | st.fixed_dictionaries(
        {"t": _times, "raw": st.text()}
    )
    response: dict[str, Any] = {"status": draw(st.sampled_from([200, 204, 304, 404, 503])), "body": draw(_json)}
    if kind == "sse":
        response["events"] = draw(st.lists(events, max_size=3))
        response["end"] = draw(st.sampled_from(["server_closed", "client_closed", "open", "reset"]))
    return {"type": kind, "t": draw(_times), "request": asked, "response": response}


@given(st.lists(_exchanges(), min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_any_script_can_be_played(exchanges: list[dict[str, Any]]) -> None:
    """Whatever an agent says, a script of it is played to its end, without a fault of ours, and always the same."""
    read = script(*exchanges)
    first, second = (play(read, Settings(), RULES) for _ in range(2))
    assert first.faults == []
    assert first.found == second.found
