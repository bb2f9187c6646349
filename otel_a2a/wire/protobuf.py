# SPDX-License-Identifier: Apache-2.0
"""Protobuf messages as the objects that their ProtoJSON form parses to, so that gRPC is read as HTTP+JSON is.

Whoever has stubs of A2A has protobuf and Google's common messages; we bring neither.
"""

from __future__ import annotations

from typing import Any

from otel_a2a.wire.reading import UNREADABLE


def document(message: Any, limit: int) -> Any:
    """The message as an object, or ``UNREADABLE``: over ``limit`` bytes, or none of protobuf's. Never raises."""
    try:
        if message.ByteSize() > limit:
            return UNREADABLE
        from google.protobuf.json_format import MessageToDict

        return MessageToDict(message)
    except Exception:
        # A stub with a serializer of its own, or a message that has no JSON form.
        return UNREADABLE


def error_infos(status: bytes) -> list[dict[str, str]]:
    """Reason and domain of each ``google.rpc.ErrorInfo`` in a serialised ``google.rpc.Status``. Never raises."""
    if not status:
        return []
    try:
        from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]  # has no types

        found = []
        for detail in status_pb2.Status.FromString(status).details:
            info = error_details_pb2.ErrorInfo()
            if detail.Unpack(info):
                found.append({"reason": info.reason, "domain": info.domain})
        return found
    except Exception:
        return []  # as above
