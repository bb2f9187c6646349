# SPDX-License-Identifier: Apache-2.0
"""Errors in each dialect, as recorded of SDKs: JSON-RPC codes with status 200, and three shapes over HTTP+JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.replay.dialects.dialect import Dialect
from tests.replay.dialects.reading import Object


class _Kind(NamedTuple):
    reason: str
    status: str
    """Name of the gRPC status that goes with it in 1.0."""
    in_1_0: int
    python_0_3: int
    js_0_3: int


INTERNAL = -32603
_KINDS = {
    -32600: _Kind("INVALID_REQUEST", "INVALID_ARGUMENT", 400, 400, 400),
    -32601: _Kind("METHOD_NOT_FOUND", "NOT_FOUND", 404, 404, 404),
    -32602: _Kind("INVALID_PARAMS", "INVALID_ARGUMENT", 400, 422, 400),
    INTERNAL: _Kind("INTERNAL_ERROR", "INTERNAL", 500, 500, 500),
    -32001: _Kind("TASK_NOT_FOUND", "NOT_FOUND", 404, 404, 404),
    -32002: _Kind("TASK_NOT_CANCELABLE", "FAILED_PRECONDITION", 400, 409, 409),
    -32003: _Kind("PUSH_NOTIFICATION_NOT_SUPPORTED", "FAILED_PRECONDITION", 400, 501, 400),
    -32004: _Kind("UNSUPPORTED_OPERATION", "FAILED_PRECONDITION", 400, 501, 400),
}


@dataclass(slots=True, frozen=True)
class Refused:
    """An agent refuses."""

    code: int
    message: str


def read(error: Any) -> Refused:
    """The ``error`` of a JSON-RPC answer."""
    return Refused(error["code"], error["message"])


def of_jsonrpc(refused: Refused, dialect: Dialect) -> Object:
    """The ``error`` of a JSON-RPC answer; 1.0 says the reason, too."""
    error: Object = {"code": refused.code, "message": refused.message}
    return error | ({"data": _details(refused, dialect)} if dialect.is_1_0 and _details(refused, dialect) else {})


def of_http_json(refused: Refused, dialect: Dialect) -> tuple[int, Object]:
    """Status and body over HTTP+JSON."""
    kind = _KINDS[refused.code]
    if not dialect.is_1_0:
        if dialect.sdk == "js":
            return kind.js_0_3, {"code": refused.code, "message": refused.message}
        return kind.python_0_3, {"message": refused.message}
    body: Object = {"code": kind.in_1_0, "status": kind.status, "message": refused.message}
    details = _details(refused, dialect)
    return kind.in_1_0, {"error": body | ({"details": details} if details else {})}


def _details(refused: Refused, dialect: Dialect) -> list[Object]:
    """The reason; none is given for a fault of the agent itself."""
    if refused.code == INTERNAL:
        return []
    info: Object = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": _KINDS[refused.code].reason,
        "domain": "a2a-protocol.org",
    }
    return [info if dialect.sdk == "js" else {**info, "metadata": {}}]
