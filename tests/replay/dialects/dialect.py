# SPDX-License-Identifier: Apache-2.0
"""The dialects of A2A over HTTP: a version, a binding, and the SDK that writes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

JSONRPC: Final = "JSONRPC"
HTTP_JSON: Final = "HTTP+JSON"


class Shape:
    """How an object is written down."""

    KIND: Final = "kind"
    """0.2 and 0.3 over JSON-RPC, and their webhooks: ``kind`` tells what an object is, states are in lower case."""
    PROTO_0_3: Final = "a2a.v1"
    """0.3 over HTTP+JSON: ProtoJSON of the package ``a2a.v1``."""
    PROTO_1_0: Final = "lf.a2a.v1"
    """1.0 in both bindings: ProtoJSON of the package ``lf.a2a.v1``. All translation goes by way of it."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What two ends of a call agree on."""

    version: str
    binding: str
    sdk: str
    """``python`` leaves out what is empty; ``js`` writes it, and answers with statuses of its own; ``compat`` is
    a2a-sdk 1.x that talks to a server of 0.3, in snake_case."""

    def __str__(self) -> str:
        return f"{self.version}-{self.binding}-{self.sdk}"

    @property
    def is_1_0(self) -> bool:
        return self.version == "1.0"

    @property
    def is_jsonrpc(self) -> bool:
        return self.binding == JSONRPC

    @property
    def shape(self) -> str:
        if self.is_1_0:
            return Shape.PROTO_1_0
        return Shape.KIND if self.is_jsonrpc else Shape.PROTO_0_3


DIALECTS: Final = (
    Dialect("1.0", JSONRPC, "python"),
    Dialect("1.0", HTTP_JSON, "python"),
    Dialect("1.0", JSONRPC, "js"),
    Dialect("1.0", HTTP_JSON, "js"),
    Dialect("0.3", JSONRPC, "python"),
    Dialect("0.3", JSONRPC, "js"),
    Dialect("0.3", HTTP_JSON, "python"),
    Dialect("0.3", HTTP_JSON, "js"),
    Dialect("0.3", HTTP_JSON, "compat"),
)
