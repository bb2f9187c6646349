# SPDX-License-Identifier: Apache-2.0
"""Redirects: an agent that has moved is still that agent, and a login page is none (rules.md, G3)."""

from __future__ import annotations

from otel_a2a.observations import ArtifactSeen, CallFailed, CardFetched, MessageSeen, Observation, TaskSeen
from otel_a2a.wire import urls


def moved_to(asked: str, endpoint: str, answered: str) -> str:
    """The interface that an answer comes from; empty where it is the one that was asked, or cannot be told.

    Args:
        asked: URL of the request.
        endpoint: the interface that it belongs to, in comparable form: HTTP+JSON appends a path to it.
        answered: URL of the answer, after redirects.
    """
    if asked == answered:
        return ""
    request, answer = urls.endpoint(asked), urls.endpoint(answered)
    if request == answer or not request.startswith(endpoint):
        return ""
    operation = request[len(endpoint) :]
    return answer.removesuffix(operation) if answer.endswith(operation) else ""


def is_of_agent(seen: Observation) -> bool:
    """Whether only an A2A agent answers so. Any page may be JSON, and any status may be a proxy's."""
    if isinstance(seen, CallFailed):
        return seen.from_agent
    return isinstance(seen, TaskSeen | ArtifactSeen | MessageSeen | CardFetched)
