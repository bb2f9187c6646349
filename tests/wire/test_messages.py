# SPDX-License-Identifier: Apache-2.0
"""The same message and webhook, written in every version."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import CallStarted
from otel_a2a.wire import credentials, messages, parts


def call(version: str) -> CallStarted:
    return CallStarted(
        method="SendMessage",
        binding="JSONRPC",
        protocol_version=version,
        endpoint="https://agent.example",
        server_address="agent.example",
        server_port=443,
    )


SAME = [
    ("0.1", {"id": "t", "message": {"role": "user", "parts": [{"type": "text", "text": "hi", "metadata": None}]}}),
    (
        "0.2",
        {"message": {"kind": "message", "messageId": "m", "taskId": "t", "parts": [{"kind": "text", "text": "hi"}]}},
    ),
    ("0.3", {"message": {"messageId": "m", "taskId": "t", "role": "ROLE_USER", "content": [{"text": "hi"}]}}),
    ("0.3", {"request": {"message_id": "m", "task_id": "t", "role": "ROLE_USER", "content": [{"text": "hi"}]}}),
    ("1.0", {"message": {"messageId": "m", "taskId": "t", "role": "ROLE_USER", "parts": [{"text": "hi"}]}}),
]


@pytest.mark.parametrize(("version", "params"), SAME)
def test_a_message_reads_the_same_in_every_version(version: str, params: dict[str, Any]) -> None:
    """Same task, same digest of the parts; a message of 0.1 has no id."""
    found = call(version)
    messages.apply_send(found, params)
    assert found.task_id == "t"
    assert found.message is not None
    assert found.message.parts == parts.digest([{"text": "hi"}])
    assert found.message.message_id == ("" if version == "0.1" else "m")


def test_media_types_are_those_that_the_parts_state() -> None:
    """A text without a type states none."""
    found = call("1.0")
    written = [{"text": "x"}, {"raw": "AA==", "mediaType": "image/png"}]
    messages.apply_send(found, {"message": {"messageId": "m", "parts": written}})
    assert found.message is not None and found.message.media_types == ("image/png",)


def test_no_message_is_none() -> None:
    """Parameters without a message leave the call without one."""
    found = call("1.0")
    messages.apply_send(found, {})
    assert found.message is None and found.push is None


def test_a_webhook_is_kept_as_digests() -> None:
    """They equal the digests of what arrives later, and show nothing."""
    binding = messages.push_binding({"url": "https://hook.example/x", "token": "tok", "id": "c"})
    assert binding is not None
    assert binding.url == credentials.digest("https://hook.example/x")
    assert binding.token == credentials.digest("tok")
    assert messages.push_binding({"token": "tok"}) is None
    assert messages.push_config({"url": "u"}) == messages.push_config({"pushNotificationConfig": {"url": "u"}})
