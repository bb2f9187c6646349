# SPDX-License-Identifier: Apache-2.0
"""Requests of the JSON-RPC binding."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from otel_a2a.exchange import Exchange
from otel_a2a.observations import CallStarted, Method
from otel_a2a.wire import credentials, messages, partial, urls
from otel_a2a.wire.methods import JSONRPC, SPELLINGS, Spelling, says_a2a, stated_version
from otel_a2a.wire.reading import UNREADABLE, field, load, mapping, text

# Decides before any parsing: MCP, LSP, Ethereum and others call their methods otherwise, and they are the traffic.
_LIKELY: Final = re.compile(rb'"method"\s*:\s*"(?:message\\?/|tasks\\?/|agent\\?/|[SGLCD][a-z])')
_METHOD: Final = re.compile(rb'"method"\s*:\s*"([A-Za-z/]{7,40})"')
_WINDOW: Final = 65_536
_PUSH_READS: Final = frozenset((Method.GET_PUSH_CONFIG, Method.LIST_PUSH_CONFIGS, Method.DELETE_PUSH_CONFIG))


def is_likely(body: bytes) -> bool:
    """Whether the bytes are worth parsing."""
    return b'"jsonrpc"' in body and _LIKELY.search(body) is not None


def read(exchange: Exchange, body: bytes, knows: Callable[[str], bool]) -> CallStarted | None:
    """The call in a body, or None. A batch is none: every server refuses it."""
    document = load(body) if is_likely(body) else UNREADABLE
    return _read(exchange, document, knows) if isinstance(document, dict) else None


def read_oversized(exchange: Exchange, body: bytes, knows: Callable[[str], bool]) -> CallStarted | None:
    """The call in a body that is too large to be parsed, from its first and last 64 KiB; ids may be missing."""
    ends = body[:_WINDOW], body[-_WINDOW:]
    if not any(b'"jsonrpc"' in end for end in ends) or not any(_LIKELY.search(end) for end in ends):
        return None
    document = partial.head(body, _WINDOW)
    if "method" not in document:
        # The last one, because a message may contain such a key but cannot come after its own envelope's members.
        methods = _METHOD.findall(ends[1])
        document["method"] = methods[-1].decode("ascii") if methods else ""
    return _read(exchange, {**document, "jsonrpc": "2.0"}, knows)


def _read(exchange: Exchange, document: Mapping[str, Any], knows: Callable[[str], bool]) -> CallStarted | None:
    name = document.get("method")
    spelling = SPELLINGS.get(name) if isinstance(name, str) else None
    if spelling is None or document.get("jsonrpc") != "2.0":
        return None
    params = mapping(document, "params")
    if not spelling.strong and spelling.method != Method.LIST_TASKS and not text(params, "id"):
        return None
    endpoint = _endpoint(exchange.url(), str(name), knows)
    address, port = urls.server(endpoint)
    call = CallStarted(
        method=spelling.method,
        binding=JSONRPC,
        protocol_version=_version(exchange, spelling),
        endpoint=endpoint,
        server_address=address,
        server_port=port,
        tenant=text(params, "tenant"),
        credential=credentials.of_request(exchange.header),
        certain=spelling.strong or knows(endpoint) or says_a2a(exchange.header),
    )
    apply_params(call, params, flat_push=spelling.version == "1.0")
    return call


def _endpoint(url: str, name: str, knows: Callable[[str], bool]) -> str:
    """The interface that is called. python-a2a adds the method's name to it, so that every method has a URL of its own
    (``/tasks/get``); the agent is the one before that, unless its card says otherwise."""
    endpoint = urls.endpoint(url)
    if not name.startswith("tasks/") or not endpoint.endswith(f"/{name}") or knows(endpoint):
        return endpoint
    return endpoint.removesuffix(f"/{name}")


def _version(exchange: Exchange, spelling: Spelling) -> str:
    """The header's version, unless it contradicts the spelling: then a client erred, and what is written counts.

    ``tasks/get`` and ``tasks/cancel`` are the same in 0.1; nothing in the request tells them apart.
    """
    stated = stated_version(exchange.header)
    fits = spelling.version != "0.1" and stated.startswith(spelling.version[:2])
    return stated if fits else spelling.version


def apply_params(call: CallStarted, params: Mapping[str, Any], *, flat_push: bool) -> None:
    """Put what the parameters say into the call. ``flat_push``: ``id`` of a push call names the config, as in 1.0."""
    if call.is_send:
        messages.apply_send(call, params)
    elif call.method == Method.LIST_TASKS:
        call.context_id = text(params, "contextId")
        call.trimmed = field(params, "includeArtifacts") is not True
    elif call.method == Method.CREATE_PUSH_CONFIG:
        call.task_id = text(params, "taskId") or ("" if flat_push else text(params, "id"))
        call.push = messages.push_config(params)
    elif call.method in _PUSH_READS:
        call.task_id = text(params, "taskId") or ("" if flat_push else text(params, "id"))
    elif call.method != Method.GET_EXTENDED_CARD:
        call.task_id = text(params, "id")
        call.limits_history = field(params, "historyLength") is not None
