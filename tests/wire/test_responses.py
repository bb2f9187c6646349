# SPDX-License-Identifier: Apache-2.0
"""Answers, whole and by events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_a2a.observations import CallAnswered, CallFailed, CardFetched, Channel, Method, Observation, TaskSeen
from otel_a2a.wire import responses
from tests.wire.recorded import summary
from tests.wire.support import answer, event, no_headers, started

TASK = {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}


def kinds(seen: list[Observation]) -> list[str]:
    return [type(observation).__name__ for observation in seen]


@pytest.mark.parametrize("rest", [False, True])
def test_a_success_ends_with_call_answered(rest: bool) -> None:
    """After all that it tells; what it tells belongs to the call."""
    call = started(rest=rest)
    seen = answer(call, {"task": TASK})
    assert kinds(seen) == ["TaskSeen", "CallAnswered"]
    assert isinstance(seen[0], TaskSeen) and seen[0].channel == Channel.RESPONSE and seen[0].call is call
    assert isinstance(seen[1], CallAnswered) and seen[1].call is call
    assert kinds(answer(started(Method.LIST_TASKS, rest=rest), {"tasks": [TASK, TASK]})) == ["TaskSeen"] * 2 + [
        "CallAnswered"
    ]


@pytest.mark.parametrize("result", [None, {}, {"configs": []}, [{"taskId": "t"}], TASK])
def test_answers_to_push_calls_tell_nothing_of_tasks(result: Any) -> None:
    """Their objects have ids and urls that are not the task's."""
    for method in (
        Method.CREATE_PUSH_CONFIG,
        Method.GET_PUSH_CONFIG,
        Method.LIST_PUSH_CONFIGS,
        Method.DELETE_PUSH_CONFIG,
    ):
        assert kinds(answer(started(method, task_id="t"), result)) == ["CallAnswered"]


def test_an_answer_without_content_is_an_answer() -> None:
    """204, and the 0.3 delete that has neither result nor error."""
    delete = started(Method.DELETE_PUSH_CONFIG, rest=True, task_id="t")
    assert kinds(responses.read_answer(delete, 204, no_headers, b"")) == ["CallAnswered"]
    body = b'{"id": "r", "jsonrpc": "2.0"}'
    assert kinds(responses.read_answer(started(Method.DELETE_PUSH_CONFIG), 200, no_headers, body)) == ["CallAnswered"]


@pytest.mark.parametrize("body", [b"", b"<html>Sign in</html>", b"{", b"\xff"])
def test_a_success_that_is_no_json_is_a_failure(body: bytes) -> None:
    """A proxy's page is no answer of the agent's."""
    (seen,) = responses.read_answer(started(), 200, no_headers, body)
    assert isinstance(seen, CallFailed)
    assert (seen.error, seen.from_agent, seen.status) == ("JSONDecodeError", False, 200)


@pytest.mark.parametrize(("status", "from_agent"), [(302, False), (401, False), (404, False), (503, False)])
def test_other_statuses_are_failures(status: int, from_agent: bool) -> None:
    """Also redirects that the client did not follow."""
    (seen,) = responses.read_answer(started(rest=True), status, no_headers, b"whatever")
    assert isinstance(seen, CallFailed)
    assert (seen.error, seen.from_agent, seen.status) == (str(status), from_agent, status)


def test_a_json_rpc_error_is_a_failure_with_any_status() -> None:
    """200 is the usual one; a null result beside it does not count."""
    for status in (200, 400):
        (seen,) = answer(started(), {"error": {"code": -32001, "message": "x"}, "result": None}, status)
        assert isinstance(seen, CallFailed) and seen.error == "TASK_NOT_FOUND" and seen.from_agent


def test_an_error_answered_to_a_streaming_call_is_a_failure() -> None:
    """Plain JSON in place of a stream."""
    assert (
        summary(answer(started(Method.SUBSCRIBE_TO_TASK, task_id="t"), {"error": {"code": -32004}}))
        == "!UNSUPPORTED_OPERATION"
    )


def test_the_extended_card_arrives_inside_a_call() -> None:
    """It is a card of its own kind, under the endpoint's URL and the call's credential."""
    card = {"name": "A", "supportedInterfaces": [{"url": "https://agent.example", "protocolBinding": "JSONRPC"}]}
    fetched, answered = answer(started(Method.GET_EXTENDED_CARD, credential="k"), card)
    assert isinstance(fetched, CardFetched) and isinstance(answered, CallAnswered)
    assert fetched.card is not None and fetched.revision and fetched.canonical
    request = fetched.request
    assert (request.url, request.extended, request.credential) == ("https://agent.example", True, "k")


# --- calls that may be another protocol's


def weak(method: str = Method.GET_TASK, *, rest: bool = False, task_id: str = "t") -> Any:
    return started(method, rest=rest, task_id=task_id, certain=False)


@pytest.mark.parametrize("rest", [False, True])
def test_a_task_confirms_a_weak_call(rest: bool) -> None:
    """The task that was asked for, in a state that A2A knows."""
    assert kinds(answer(weak(rest=rest), TASK)) == ["TaskSeen", "CallAnswered"]
    listed = {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}
    assert kinds(answer(weak(Method.LIST_TASKS, rest=rest, task_id=""), listed)) == ["CallAnswered"]


@pytest.mark.parametrize(
    "body",
    [
        {"id": "u", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}},
        {"id": "t", "title": "buy milk", "status": "completed"},
        {"id": "t", "status": {"state": "on fire"}},
        {"taskId": "t", "status": "working", "ttl": 60},
        {"tasks": [{"id": "t"}]},
        None,
        [],
    ],
)
def test_other_answers_do_not_confirm_a_weak_call(body: Any) -> None:
    """MCP's tasks, to-do lists and whatever else is read this way."""
    for rest in (False, True):
        assert answer(weak(rest=rest), body) == []
        assert answer(weak(Method.LIST_TASKS, rest=rest, task_id=""), body) == []


def test_over_http_json_a_weak_call_needs_a_mark_of_a2a() -> None:
    """``{"id", "status": {"state"}}`` alone is many an API's."""
    assert answer(weak(rest=True), {"id": "t", "status": {"state": "completed"}}) == []
    assert answer(weak(rest=True), {"id": "t", "status": {"state": "completed"}, "kind": "task"})
    assert answer(weak(rest=True), {"id": "t", "status": {"state": "TASK_STATE_COMPLETED"}})


def test_an_error_confirms_a_weak_call_only_by_its_domain() -> None:
    """-32001 is everybody's, and so is a 404."""
    assert answer(weak(), {"error": {"code": -32001, "message": "Session not found"}}) == []
    assert answer(weak(rest=True), {"error": {"code": 404, "message": "x"}}, 404) == []
    assert answer(weak(rest=True), {"message": "Task not found"}, 404) == []
    data = [{"reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org"}]
    assert summary(answer(weak(), {"error": {"code": -32001, "data": data}})) == "!TASK_NOT_FOUND"
    assert summary(answer(weak(rest=True), {"error": {"code": 404, "details": data}}, 404)) == "!TASK_NOT_FOUND"


# --- streams


@pytest.mark.parametrize("rest", [False, True])
def test_an_event_is_seen_on_the_stream(rest: bool) -> None:
    """In a JSON-RPC envelope or bare."""
    call = started(Method.SEND_STREAMING_MESSAGE, rest=rest)
    (seen,) = event(call, {"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_WORKING"}}})
    assert isinstance(seen, TaskSeen) and seen.channel == Channel.STREAM and seen.call is call


def test_an_error_event_is_a_failure() -> None:
    """In the envelope, bare, or by the event's type alone."""
    call = started(Method.SEND_STREAMING_MESSAGE)
    body = json.dumps({"jsonrpc": "2.0", "id": "r", "error": {"code": -32603, "message": "boom"}}).encode()
    assert summary(responses.read_event(call, body, "error")) == "!-32603"
    assert summary(responses.read_event(call, body)) == "!-32603"
    rest = started(Method.SEND_STREAMING_MESSAGE, rest=True)
    assert summary(responses.read_event(rest, b'{"error": {"code": 500}}', "error")) == "!500"
    assert summary(responses.read_event(rest, b'{"message": "boom"}', "error")) == "!error"


@pytest.mark.parametrize("data", [b"", b"[DONE]", b"{", b"null", b"[]", b'{"result": 7, "jsonrpc": "2.0"}'])
def test_events_that_say_nothing_give_nothing(data: bytes) -> None:
    """And an application that reads them decides for itself."""
    assert responses.read_event(started(Method.SEND_STREAMING_MESSAGE), data) == []


def test_no_answer_shows_a_credential() -> None:
    """A push configuration comes back with its token."""
    config = {"taskId": "t", "url": "https://hook.example/TOP-SECRET", "token": "TOP-SECRET"}
    assert "TOP-SECRET" not in repr(answer(started(Method.GET_PUSH_CONFIG), config))
    told = {"task": {**TASK, "metadata": {"k": "TOP-SECRET"}, "artifacts": [{"parts": [{"text": "TOP-SECRET"}]}]}}
    assert "TOP-SECRET" not in repr(answer(started(), told))
