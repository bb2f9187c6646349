# SPDX-License-Identifier: Apache-2.0
"""Push notifications that this process receives."""

from __future__ import annotations

from typing import Final

from otel_a2a.observations import ArtifactSeen, Channel, Observation, TaskSeen
from otel_a2a.wire import credentials, updates
from otel_a2a.wire.reading import Headers, load, media_type

TOKEN_HEADER: Final = "x-a2a-notification-token"


def read_delivery(headers: Headers, body: bytes) -> list[Observation]:
    """Observations of one delivery; empty where the body is none. Never raises.

    0.1 posts a bare Task, 0.2 and 0.3 a Task with its kind, 1.0 a StreamResponse; a server may post the last one to
    a receiver that was registered in 0.3.

    Args:
        headers: the request's headers.
        body: decoded body.
    """
    try:
        content_type = media_type(headers("content-type"))
        if content_type and "json" not in content_type:
            return []
        document = load(body)
        if not isinstance(document, dict):
            return []
        if "jsonrpc" in document:
            document = document.get("result")
        return [seen for seen in updates.read(document, None, Channel.WEBHOOK) if _is_identified(seen)]
    except Exception:
        # A webhook's receiver takes bytes from anybody.
        return []


def read_told(headers: Headers, body: bytes) -> list[TaskSeen | ArtifactSeen]:
    """What ``read_delivery`` finds of tasks and artifacts. Never raises."""
    return [seen for seen in read_delivery(headers, body) if isinstance(seen, TaskSeen | ArtifactSeen)]


def token(headers: Headers) -> str:
    """Keyed digest of the delivery's token, to be compared with ``PushBinding.token``; empty where there is none."""
    return credentials.digest(headers(TOKEN_HEADER) or "")


def _is_identified(seen: Observation) -> bool:
    """Other services' webhooks have tasks and messages too, but not with these ids."""
    return bool(getattr(seen, "task_id", "") or getattr(seen, "message_id", ""))
