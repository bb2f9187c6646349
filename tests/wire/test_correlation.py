# SPDX-License-Identifier: Apache-2.0
"""What a gateway says of what belongs together: found in headers and metadata, and only where it is asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_a2a.exchange import RecordedExchange
from otel_a2a.observations import CallStarted, TaskSeen
from otel_a2a.wire import correlation, requests, responses

KEY = "X-Conversation"
URL = "https://gateway.example/a2a"


def read(
    *, headers: dict[str, str] | None = None, key: str = KEY, max_body: int = 10_000, **metadata: Any
) -> CallStarted:
    """A send whose message, or whose parameters, have metadata."""
    message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "x"}], "taskId": "t-1"}
    params = {"message": message | {"metadata": metadata.get("message")}, "metadata": metadata.get("params")}
    body = json.dumps({"jsonrpc": "2.0", "id": "1", "method": "SendMessage", "params": params}).encode()
    exchange = RecordedExchange("POST", URL, {"content-type": "application/json", **(headers or {})}, body)
    found = requests.read_request(exchange, knows=lambda _: True, correlation_key=key, max_body=max_body)
    assert isinstance(found, CallStarted)
    return found


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ({"headers": {"x-conversation": "c-1"}}, "c-1"),
        ({"message": {KEY: "c-2"}}, "c-2"),
        ({"params": {KEY: "c-3"}}, "c-3"),
        ({"headers": {"x-conversation": "c-1"}, "message": {KEY: "c-2"}}, "c-1"),
        ({"message": {KEY: "c-2"}, "params": {KEY: "c-3"}}, "c-2"),
        ({"message": {"x-conversation": "other spelling"}}, ""),
        ({"message": {KEY: 7}}, ""),
        ({"message": KEY}, ""),
        ({"params": {KEY: "x" * 1000}}, "x" * correlation.LONGEST),
        ({}, ""),
    ],
)
def test_what_a_request_says(said: dict[str, Any], value: str) -> None:
    """The header, else the message's metadata, else the call's; text only, spelt as configured, of bounded length."""
    assert read(**said).correlation == value


def test_nothing_is_looked_for_unasked() -> None:
    """Without a key a call notes nothing, whatever its headers and metadata hold."""
    call = read(headers={"x-conversation": "c-1"}, message={KEY: "c-2"}, key="")
    assert (call.correlation_key, call.correlation) == ("", "")


def test_a_body_over_the_limit_is_not_parsed_for_it() -> None:
    """A large body costs nothing here; the header is still read."""
    assert read(message={KEY: "c-2"}, max_body=50).correlation == ""
    assert read(message={KEY: "c-2"}, max_body=50, headers={"x-conversation": "c-1"}).correlation == "c-1"


def test_a_call_of_the_other_binding_says_it_too() -> None:
    """Over HTTP+JSON the body is the parameters, and a read has none but its headers."""
    message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "x"}], "metadata": {KEY: "c-2"}}
    sent = RecordedExchange(
        "POST",
        f"{URL}/message:send",
        {"content-type": "application/json"},
        json.dumps({"message": message}).encode(),
    )
    asked = RecordedExchange("GET", f"{URL}/tasks/t-1", {"a2a-version": "1.0", "x-conversation": "c-1"})
    for exchange, value in ((sent, "c-2"), (asked, "c-1")):
        found = requests.read_request(exchange, knows=lambda _: True, correlation_key=KEY)
        assert isinstance(found, CallStarted) and found.correlation == value


@pytest.mark.parametrize(
    ("metadata", "header", "value"),
    [({KEY: "c-1"}, None, "c-1"), (None, "c-2", "c-2"), ({KEY: "c-1"}, "c-2", "c-1"), (None, None, "")],
)
def test_what_an_answer_says(metadata: Any, header: str | None, value: str) -> None:
    """The task's own metadata, else the answer's header; in an event as in a document."""
    call = read()
    correlation.mark_answer(call, {"x-conversation": header}.get)
    task = {"id": "t-1", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}, "metadata": metadata}
    event = {"statusUpdate": {"taskId": "t-1", "status": {"state": "TASK_STATE_WORKING"}, "metadata": metadata}}
    whole = responses.read_answer(call, 200, lambda _: None, json.dumps({"result": {"task": task}}).encode())
    streamed = responses.read_event(call, json.dumps({"result": event}).encode())
    for seen in (whole[0], streamed[0]):
        assert isinstance(seen, TaskSeen) and seen.correlation == value


@given(
    st.recursive(st.none() | st.text() | st.integers(), lambda each: st.lists(each) | st.dictionaries(st.text(), each))
)
def test_no_metadata_raises(value: Any) -> None:
    """Whatever stands where metadata is expected reads as none."""
    assert isinstance(correlation.of_metadata(value, KEY), str)
    assert isinstance(correlation.of_metadata({"metadata": value}, KEY), str)
