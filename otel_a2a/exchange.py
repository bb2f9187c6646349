# SPDX-License-Identifier: Apache-2.0
"""What a client module must be able to say of a request, so that the wire layer can read it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from urllib.parse import urlsplit


class Exchange(Protocol):
    """One HTTP request, read lazily: a request that is not A2A must cost almost nothing.

    ``method`` is upper case, ``path`` the decoded or encoded path without query. ``url()`` is the full URL as text.
    ``header(name)`` takes a lower-case name. ``body()`` is the body, or None where it cannot be read without consuming
    it.
    """

    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...
    def url(self) -> str: ...
    def header(self, name: str) -> str | None: ...
    def body(self) -> bytes | None: ...


GRPC: Final = "GRPC"
"""What ``Exchange.method`` is for a gRPC call; on the wire that is always a POST."""


class MessageExchange(Exchange, Protocol):
    """One gRPC call. ``path`` names service and method, ``header(name)`` looks into the metadata, and there is no body.

    ``target`` is what the channel was made for. ``message()`` is the request as the application gave it: a protobuf
    message, or whatever the stub's serializer takes.
    """

    @property
    def target(self) -> str: ...
    def message(self) -> Any: ...


@dataclass(slots=True, frozen=True)
class GrpcStatus:
    """How a gRPC call ended that was not ``OK``."""

    code: str
    """By its name: ``NOT_FOUND``."""
    message: str = ""
    details: bytes = b""
    """A serialised ``google.rpc.Status``, from ``grpc-status-details-bin``; empty where the agent sent none."""


@dataclass(slots=True)
class RecordedExchange:
    """An exchange made of plain values: for replays, tests and clients without lazy requests."""

    method: str
    full_url: str
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes | None = b""

    @property
    def path(self) -> str:
        return urlsplit(self.full_url).path or "/"

    def url(self) -> str:
        return self.full_url

    def header(self, name: str) -> str | None:
        return self.headers.get(name)

    def body(self) -> bytes | None:
        return self.content
