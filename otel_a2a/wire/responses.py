# SPDX-License-Identifier: Apache-2.0
"""Answers to a call, whole or event by event, as observations."""

from __future__ import annotations

from typing import Any, Final

from otel_a2a.observations import (
    CallAnswered,
    CallFailed,
    CallStarted,
    CardFetched,
    CardRequested,
    Channel,
    Method,
    Observation,
)
from otel_a2a.wire import cards, failures, updates
from otel_a2a.wire.methods import JSONRPC
from otel_a2a.wire.reading import UNREADABLE, Headers, load, text

_TELL_TASKS: Final = frozenset(
    (
        Method.SEND_MESSAGE,
        Method.SEND_STREAMING_MESSAGE,
        Method.GET_TASK,
        Method.CANCEL_TASK,
        Method.SUBSCRIBE_TO_TASK,
    )
)
_LIST_MEMBERS: Final = ("nextPageToken", "pageSize", "totalSize")


def read_answer(call: CallStarted, status: int, headers: Headers, body: bytes) -> list[Observation]:
    """Observations of a whole answer that is no stream, in order. Never raises.

    A success ends with ``CallAnswered``, a failure is one ``CallFailed``. For a call that is not ``certain`` the list
    is empty unless the answer itself is A2A's: a list with anything in it is the confirmation.

    Args:
        call: the call that this answers.
        status: HTTP status; JSON-RPC errors come with 200.
        headers: the answer's headers.
        body: decoded body.
    """
    try:
        return _answer(call, status, headers, None if status == 204 else load(body))
    except Exception:
        # Bytes of anybody: what cannot be read is not judged, and the application never hears of it.
        return [CallAnswered(call=call)] if call.certain and 200 <= status < 300 else []


def read_event(call: CallStarted, data: bytes, event_type: str = "") -> list[Observation]:
    """Observations of one event of a stream. Never raises; an event that says nothing readable gives none.

    Args:
        call: the call whose answer is the stream.
        data: the event's data: a JSON-RPC response or a bare StreamResponse.
        event_type: ``error`` where the server says that the stream failed.
    """
    try:
        return _event(call, load(data), event_type)
    except Exception:
        return []  # as above


def read_message(call: CallStarted, document: Any) -> list[Observation]:
    """Observations of a whole answer that came as a message (``protobuf.document``). Never raises."""
    try:
        return [CallAnswered(call=call)] if document is UNREADABLE else _answer(call, 200, _no_header, document)
    except Exception:
        return [CallAnswered(call=call)]  # as above


def read_event_message(call: CallStarted, document: Any) -> list[Observation]:
    """Observations of one message of a stream (``protobuf.document``). Never raises."""
    try:
        return _event(call, document, "")
    except Exception:
        return []  # as above


def _no_header(name: str) -> str | None:
    return None


def _answer(call: CallStarted, status: int, headers: Headers, document: Any) -> list[Observation]:
    if not call.certain and not _confirms(call, status, document):
        return []
    if not 200 <= status < 300:
        return [failures.read(call, status, document)]
    if document is UNREADABLE:
        return [CallFailed(call=call, error="JSONDecodeError", from_agent=False, status=status)]
    if isinstance(document, dict) and _is_error(document):
        return [failures.read(call, status, document)]
    found: list[Observation] = []
    result = _result(call, document)
    if call.method == Method.LIST_TASKS:
        found = updates.read_list(result, call, Channel.RESPONSE)
    elif call.method in _TELL_TASKS:
        found = updates.read(result, call, Channel.RESPONSE)
    elif call.method == Method.GET_EXTENDED_CARD and isinstance(result, dict):
        found = [_extended_card(call, status, headers, result)]
    found.append(CallAnswered(call=call))
    return found


def _event(call: CallStarted, document: Any, event_type: str) -> list[Observation]:
    if not isinstance(document, dict) or (not call.certain and not _confirms(call, 200, document)):
        return []
    if _is_error(document):
        return [failures.read_in_stream(call, document)]
    if event_type == "error":
        return [CallFailed(call=call, error=event_type, from_agent=True, status=200, channel=Channel.STREAM)]
    return updates.read(_result(call, document), call, Channel.STREAM)


def _is_error(document: dict[str, Any]) -> bool:
    """A success status with an error inside: always so in JSON-RPC, and in the middle of a stream in HTTP+JSON."""
    if "jsonrpc" in document:
        return document.get("error") is not None and document.get("result") is None
    return isinstance(document.get("error"), dict) and "status" not in document


def _result(call: CallStarted, document: Any) -> Any:
    if isinstance(document, dict) and (call.binding == JSONRPC or "jsonrpc" in document):
        return document.get("result")
    return document


def _confirms(call: CallStarted, status: int, document: Any) -> bool:
    """Whether an answer proves that a call which may be another protocol's was A2A.

    A task must be the one asked for and have a known state. A list must have the members that ListTasks always
    prints. An error must name A2A's domain: codes like -32001 and a plain 404 are everybody's.
    """
    if not isinstance(document, dict):
        return False
    if not 200 <= status < 300 or _is_error(document):
        found = failures.reason(call, status, document)
        return found is not None and found.proven
    result = _result(call, document)
    if not isinstance(result, dict):
        return False
    if call.method == Method.LIST_TASKS:
        return isinstance(result.get("tasks"), list) and all(member in result for member in _LIST_MEMBERS)
    if not updates.looks_like_task(result) or text(result, "id") != call.task_id:
        return False
    return call.binding == JSONRPC or _is_marked(result)


def _is_marked(task: dict[str, Any]) -> bool:
    """Something beside id and state that only A2A writes; ``GET /tasks/7`` is many an API."""
    state = task["status"].get("state")
    return bool(text(task, "contextId")) or task.get("kind") == "task" or str(state).startswith("TASK_STATE_")


def _extended_card(call: CallStarted, status: int, headers: Headers, card: dict[str, Any]) -> CardFetched:
    request = CardRequested(
        url=call.endpoint,
        server_address=call.server_address,
        server_port=call.server_port,
        extended=True,
        credential=call.credential,
        span=call.span,
    )
    return cards.of_document(request, status, headers, card)
