# SPDX-License-Identifier: Apache-2.0
"""Requests of the HTTP+JSON binding, told by their path."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from otel_a2a.exchange import Exchange
from otel_a2a.observations import CallStarted, Method
from otel_a2a.wire import credentials, messages, urls
from otel_a2a.wire.methods import HTTP_JSON, says_a2a, stated_version
from otel_a2a.wire.reading import mapping, text

_ROUTE: Final = re.compile(
    r"(?P<base>.*)/(?:message:(?P<send>send|stream)"
    r"|tasks(?:/(?P<task>[^/]+?)(?::(?P<verb>cancel|subscribe)"
    r"|/(?P<push>pushNotificationConfigs|pushNotifications)(?:/(?P<config>[^/]+))?)?)?)/?\Z",
    re.DOTALL,
)
_STRONG: Final = {
    ("POST", "send"): Method.SEND_MESSAGE,
    ("POST", "stream"): Method.SEND_STREAMING_MESSAGE,
    ("POST", "cancel"): Method.CANCEL_TASK,
    ("POST", "subscribe"): Method.SUBSCRIBE_TO_TASK,
    ("GET", "subscribe"): Method.SUBSCRIBE_TO_TASK,
    ("POST", "push"): Method.CREATE_PUSH_CONFIG,
    ("GET", "push"): Method.LIST_PUSH_CONFIGS,
    ("GET", "config"): Method.GET_PUSH_CONFIG,
    ("DELETE", "config"): Method.DELETE_PUSH_CONFIG,
}


class Route(NamedTuple):
    """What the path of a request says."""

    method: str
    base: str
    """The path before the operation's own segments."""
    task_id: str
    strong: bool
    """The path alone is proof enough."""


def may_match(path: str) -> bool:
    """A look at a path that almost every foreign request fails."""
    return "/tasks" in path or ("/message" in path and path.endswith(("send", "stream", "send/", "stream/")))


def route(method: str, path: str) -> Route | None:
    """The operation that a method and the end of a path stand for, or None."""
    if not may_match(path):
        return None
    match = _ROUTE.match(path.replace("%3A", ":").replace("%3a", ":") if "%3" in path else path)
    if match is None:
        return None
    strong = True
    if match["send"] or match["verb"]:
        operation = _STRONG.get((method, match["send"] or match["verb"]))
    elif match["push"]:
        operation = _STRONG.get((method, "config" if match["config"] else "push"))
    else:
        strong = False
        operation = None if method != "GET" else Method.GET_TASK if match["task"] else Method.LIST_TASKS
    return Route(operation, match["base"], unquote(match["task"] or ""), strong) if operation else None


def read(exchange: Exchange, found: Route, knows: Callable[[str], bool], document: Any) -> CallStarted:
    """The call that a route stands for.

    ``document`` is the parsed body (an empty object where there is none), or None where it could not be read; the
    call is then marked as not judged.
    """
    url = exchange.url()
    body: Mapping[str, Any] = document if isinstance(document, dict) else {}
    query = parse_qs(urlsplit(url).query) if "?" in url else {}
    endpoint, tenant, version = _place(_base(url, found.base), knows, stated_version(exchange.header), body)
    address, port = urls.server(endpoint)
    call = CallStarted(
        method=found.method,
        binding=HTTP_JSON,
        protocol_version=version,
        endpoint=endpoint,
        server_address=address,
        server_port=port,
        tenant=tenant or text(body, "tenant") or query.get("tenant", [""])[0],
        task_id=found.task_id,
        credential=credentials.of_request(exchange.header),
        certain=found.strong or knows(endpoint) or says_a2a(exchange.header) or "A2A-Version" in query,
        judged=document is not None,
    )
    _apply(call, body, query)
    return call


def _base(url: str, path: str) -> str:
    try:
        return urls.endpoint(urlsplit(url)._replace(path=path, query="", fragment="").geturl())
    except ValueError:
        return urls.endpoint(url)


def _place(base: str, knows: Callable[[str], bool], stated: str, body: Mapping[str, Any]) -> tuple[str, str, str]:
    """Interface URL, tenant and version out of what stands before the operation's own segments.

    ``/v1`` is the path of 0.3, unless the header says 1.x: then it is a tenant like any other segment, and a segment is
    a tenant only where the URL without it is known.
    """
    parent, _, segment = base.rpartition("/")
    has_parent = "://" in parent and not parent.endswith(":/")
    if segment == "v1" and has_parent and not stated.startswith("1"):
        return (base if knows(base) and not knows(parent) else parent), "", stated or "0.3"
    version = stated or _version_of(body)
    if has_parent and not knows(base) and knows(parent):
        return parent, unquote(segment), version
    return base, "", version


def _version_of(body: Mapping[str, Any]) -> str:
    """0.3 has ``content`` (or, from one SDK, ``request``) where 1.0 has ``parts``; without ``/v1`` all else is 1.0."""
    message = mapping(body, "message")
    return "0.3" if "request" in body or ("content" in message and "parts" not in message) else "1.0"


def _apply(call: CallStarted, body: Mapping[str, Any], query: Mapping[str, list[str]]) -> None:
    if call.is_send:
        messages.apply_send(call, body)
    elif call.method == Method.LIST_TASKS:
        call.context_id = query.get("contextId", [""])[0]
        call.trimmed = query.get("includeArtifacts", [""])[0].lower() != "true"
    elif call.method == Method.CREATE_PUSH_CONFIG:
        call.push = messages.push_config(body)
    else:
        call.limits_history = "historyLength" in query
