# SPDX-License-Identifier: Apache-2.0
"""Answers that are errors: who says so, and what is the reason?

An error counts as the agent's own only where its body has a shape of A2A. The same status code from a gateway, a
framework's router or a proxy says nothing about a task (design §3: an error reply is no state).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from otel_a2a.observations import A2AError, CallFailed, CallStarted, Channel, Method
from otel_a2a.wire.reading import integer

DOMAIN: Final = "a2a-protocol.org"
_REASONS: Final = {
    -32001: A2AError.TASK_NOT_FOUND,
    -32002: A2AError.TASK_NOT_CANCELABLE,
    -32003: A2AError.PUSH_NOT_SUPPORTED,
    -32004: A2AError.UNSUPPORTED_OPERATION,
    -32005: "CONTENT_TYPE_NOT_SUPPORTED",
}
_REASONS_SINCE_0_2: Final = {
    -32006: "INVALID_AGENT_RESPONSE",
    -32007: "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
    -32008: "EXTENSION_SUPPORT_REQUIRED",
    -32009: A2AError.VERSION_NOT_SUPPORTED,
    -32010: "TASK_GENERATION_MISMATCH",
}
"""In 0.1 these numbers mean something else."""
CLASSES: Final = {
    "TaskNotFoundError": A2AError.TASK_NOT_FOUND,
    "TaskNotCancelableError": A2AError.TASK_NOT_CANCELABLE,
    "PushNotificationNotSupportedError": A2AError.PUSH_NOT_SUPPORTED,
    "UnsupportedOperationError": A2AError.UNSUPPORTED_OPERATION,
}
"""Names of error classes, which 0.3 servers write in place of a code over gRPC, and some over HTTP+JSON."""
_PROBLEM: Final = re.compile(rf"https?://{re.escape(DOMAIN)}/errors/([a-z-]+?)(?:-error)?")
"""``type`` of the problem details (RFC 9457) by which A2A 1.0 §11.6 and earlier texts show errors over HTTP+JSON."""
_SPEAKS_OF_A_TASK: Final = re.compile(r"(?<!/)task(?!s?/)", re.IGNORECASE)
"""``tasks/…`` in a sentence is the path, or the method, that a router does not know."""
_NOT_IMPLEMENTED: Final = 501
_OF_0_3: Final = frozenset((409, 422, _NOT_IMPLEMENTED))
"""Statuses by which the 0.3 SDK refuses, and which gateways hardly use."""


class Reason(NamedTuple):
    """What an error body says, if it is A2A's."""

    error: str
    proven: bool = False
    """The body names A2A itself, so it also tells that the call was A2A."""


def read(call: CallStarted, status: int, document: Any) -> CallFailed:
    """The failure that an error answer stands for; ``document`` is its parsed body, or anything else."""
    found = reason(call, status, document)
    error = found.error if found else str(status) if status >= 300 else "error"
    return CallFailed(
        call=call, error=error, from_agent=found is not None, status=status, code=_written_code(status, document)
    )


def read_in_stream(call: CallStarted, document: dict[str, Any]) -> CallFailed:
    """The failure that an ``error`` object inside a stream stands for: nobody but the agent writes there."""
    found = reason(call, 200, document)
    error_object = document["error"]
    code = integer_code(error_object) if isinstance(error_object, dict) else None
    error = found.error if found else str(code) if code is not None else "error"
    return CallFailed(
        call=call,
        error=error,
        from_agent=True,
        status=200,
        code=_written_code(200, document),
        channel=Channel.STREAM,
    )


def reason(call: CallStarted, status: int, document: Any) -> Reason | None:
    """The agent's own reason, or None where the body is not shaped as an A2A error."""
    if not isinstance(document, dict):
        return None
    error = document.get("error")
    if isinstance(error, dict):
        info = error_info(error)
        code = integer_code(error)
        if code is not None and code < 0:
            # The general JSON-RPC codes are known by their number, whatever a reason says in addition.
            named = info if info and code > -32100 else ""
            return Reason(named or _by_code(code, call), bool(info))
        return Reason(info, True) if info else None
    named = _problem(document) or error_info(document)
    return Reason(named, True) if named else _in_0_3(call, status, document, error)


def _problem(document: Mapping[str, Any]) -> str:
    """The reason in ``type`` of problem details, in the spelling of ``google.rpc.ErrorInfo``."""
    kind = document.get("type")
    found = _PROBLEM.fullmatch(kind[:128]) if isinstance(kind, str) else None
    return found[1].replace("-", "_").upper() if found else ""


def integer_code(error: Mapping[str, Any]) -> int | None:
    """The ``code`` member as a number, also where it is written as text with a sign."""
    code = error.get("code")
    if isinstance(code, str) and code.startswith("-"):
        positive = integer(code[1:])
        return None if positive is None else -positive
    return integer(code)


def _written_code(status: int, document: Any) -> str:
    """The number of JSON-RPC wherever one is written, else the HTTP status; empty where that was no error."""
    error = document.get("error") if isinstance(document, dict) else None
    holder = error if isinstance(error, dict) else document
    code = integer_code(holder) if isinstance(holder, dict) else None
    if code is not None and code < 0:
        return str(code)
    return str(status) if status >= 300 else ""


def _by_code(code: int, call: CallStarted) -> str:
    name = _REASONS.get(code)
    if name is None and call.protocol_version != "0.1":
        name = _REASONS_SINCE_0_2.get(code)
    return name or str(code)


def error_info(error: Mapping[str, Any]) -> str:
    """``reason`` of the ``google.rpc.ErrorInfo`` whose domain is A2A's."""
    for detail in (*_dicts(error.get("details")), *_dicts(error.get("data"))):
        found = detail.get("reason")
        if isinstance(found, str) and found and detail.get("domain") == DOMAIN:
            return found[:64]
    return ""


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def _in_0_3(call: CallStarted, status: int, document: Mapping[str, Any], error: Any) -> Reason | None:
    """0.3 over HTTP+JSON has no common shape: ``{"message"}``, ``{"code", "message"}`` or ``{"error": class name}``,
    and ``{"detail"}`` from agents on FastAPI.

    Routers and gateways answer so too, so a bare one counts only where it speaks of a task, and says *not found* only
    where the call named one: ``{"detail": "Not Found"}`` is about the path.
    """
    if isinstance(error, str):
        name = CLASSES.get(error.rpartition(".")[2])
        return Reason(name) if name else None
    message = document.get("message", document.get("detail"))
    if not isinstance(message, str):
        return None
    code = integer_code(document)
    if code is not None and -32800 <= code < -32000:
        return Reason(_by_code(code, call))
    if not set(document) <= {"message", "data"} and set(document) != {"detail"}:
        return None
    if status not in _OF_0_3 and not _SPEAKS_OF_A_TASK.search(message):
        return None
    if status == 404:
        return Reason(A2AError.TASK_NOT_FOUND) if call.task_id else None
    if status == 409 and call.method == Method.CANCEL_TASK:
        return Reason(A2AError.TASK_NOT_CANCELABLE)
    if status == _NOT_IMPLEMENTED:
        return Reason(A2AError.PUSH_NOT_SUPPORTED if "push" in message.lower() else A2AError.UNSUPPORTED_OPERATION)
    return Reason(str(status))
