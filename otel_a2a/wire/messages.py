# SPDX-License-Identifier: Apache-2.0
"""What a request says of its message and its webhook, over the parameter shapes of all versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_a2a.observations import CallStarted, PushBinding, SentMessage
from otel_a2a.wire import credentials, parts
from otel_a2a.wire.reading import field, items, mapping, text


def apply_send(call: CallStarted, params: Mapping[str, Any]) -> None:
    """Put what a send's parameters say into the call. 0.1 names the task outside the message, and always."""
    message = mapping(params, "message") or mapping(params, "request")
    call.message = _sent(message) if message else None
    if call.protocol_version == "0.1":
        call.task_id = text(params, "id")
        call.context_id = text(params, "sessionId")
    else:
        call.task_id = text(message, "taskId")
        call.context_id = text(message, "contextId")
    call.push = _inline_push(params)
    call.limits_history = field(mapping(params, "configuration") or params, "historyLength") is not None


def _inline_push(params: Mapping[str, Any]) -> PushBinding | None:
    """1.0, 0.2 and 0.3 over JSON-RPC, 0.3 over HTTP+JSON; 0.1 has it beside the message."""
    configuration = mapping(params, "configuration") or params
    for name in ("taskPushNotificationConfig", "pushNotificationConfig", "pushNotification"):
        if config := mapping(configuration, name):
            return push_binding(config)
    return None


def push_config(params: Mapping[str, Any]) -> PushBinding | None:
    """The webhook that a call creates: flat in 1.0, one level down in 0.x, two in 0.3 HTTP+JSON."""
    return (
        push_binding(mapping(params, "pushNotificationConfig"))
        or push_binding(mapping(mapping(params, "config"), "pushNotificationConfig"))
        or push_binding(params)
    )


def push_binding(config: Mapping[str, Any]) -> PushBinding | None:
    """A webhook registration as keyed digests; None where there is no URL."""
    url = text(config, "url")
    if not url:
        return None
    return PushBinding(url=credentials.digest(url), token=credentials.digest(text(config, "token")))


def _sent(message: Mapping[str, Any]) -> SentMessage:
    content = parts.held_by(message)
    return SentMessage(
        message_id=text(message, "messageId"),
        parts=parts.digest(content),
        reference_task_ids=tuple(i for i in items(message, "referenceTaskIds") if isinstance(i, str)),
        media_types=parts.media_types(content),
    )
