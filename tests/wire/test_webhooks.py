# SPDX-License-Identifier: Apache-2.0
"""Push notifications of all versions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_a2a.observations import ArtifactSeen, Channel, Form, MessageSeen, TaskSeen
from otel_a2a.wire import credentials, webhooks
from tests.wire.recorded import summary
from tests.wire.support import no_headers

HEADERS = {"content-type": "application/json", "x-a2a-notification-token": "TOP-SECRET", "authorization": "TOP-SECRET"}


def deliver(body: Any, **headers: str) -> Any:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    seen = webhooks.read_delivery({**HEADERS, **{k.replace("_", "-"): v for k, v in headers.items()}}.get, content)
    assert "TOP-SECRET" not in repr(seen)
    return seen


STATUS = {"state": "TASK_STATE_WORKING"}


@pytest.mark.parametrize(
    "body",
    [
        {"id": "t", "sessionId": "c", "status": {"state": "working"}, "history": []},
        {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "working"}},
        {"task": {"id": "t", "contextId": "c", "status": STATUS}},
        {"jsonrpc": "2.0", "result": {"task": {"id": "t", "contextId": "c", "status": STATUS}}},
    ],
)
def test_a_task_is_delivered_by_every_version(body: Any) -> None:
    """0.1 bare, 0.2 and 0.3 with its kind, 1.0 wrapped; a webhook answers no call."""
    (seen,) = deliver(body)
    assert isinstance(seen, TaskSeen)
    assert (seen.task_id, seen.context_id, seen.channel, seen.form, seen.call) == (
        "t",
        "c",
        Channel.WEBHOOK,
        Form.SNAPSHOT,
        None,
    )


def test_1_0_delivers_events() -> None:
    """With its own media type, or with none."""
    (seen,) = deliver(
        {"statusUpdate": {"taskId": "t", "status": STATUS}}, content_type="application/a2a+json; charset=utf-8"
    )
    assert isinstance(seen, TaskSeen) and seen.form == Form.UPDATE
    (seen,) = deliver({"artifactUpdate": {"taskId": "t", "artifact": {"artifactId": "a"}}}, content_type="")
    assert isinstance(seen, ArtifactSeen) and seen.channel == Channel.WEBHOOK
    (seen,) = deliver({"message": {"messageId": "m", "role": "ROLE_AGENT"}})
    assert isinstance(seen, MessageSeen)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        {},
        {"message": {"text": "hi"}},
        {"task": {"title": "x"}},
        {"status": {"state": "working"}},
        {"action": "opened"},
    ],
)
def test_other_services_webhooks_are_not_deliveries(body: Any) -> None:
    """No id of A2A, no observation."""
    assert deliver(body) == []


def test_a_form_is_no_delivery() -> None:
    """Nor is anything else that does not say it is JSON."""
    assert deliver({"task": {"id": "t", "status": STATUS}}, content_type="text/html") == []


def test_the_token_is_a_digest_that_matches_the_registration() -> None:
    """So that the ledger moves only for deliveries that the registered agent may have sent."""
    assert webhooks.token(HEADERS.get) == credentials.digest("TOP-SECRET")
    assert webhooks.token(no_headers) == ""


def test_states_are_told() -> None:
    """The state is where the version has it."""
    assert summary(deliver({"task": {"id": "t", "status": {"state": "TASK_STATE_FAILED"}}})) == "failed"
