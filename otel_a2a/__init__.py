# SPDX-License-Identifier: Apache-2.0
"""OpenTelemetry for agent-to-agent (A2A) traffic: makes it visible, and keeps it honest.

Everything public is here, and is imported when it is first used: the launcher imports this package before any
application starts, so it has to be cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from otel_a2a.version import __version__

if TYPE_CHECKING:
    from otel_a2a.engine.findings import Finding, Level, Strictness
    from otel_a2a.engine.strictness import suppress_policy
    from otel_a2a.errors import (
        A2APolicyError,
        AgentCardDivergenceError,
        AgentCardStalenessError,
        CardTaskBoundaryError,
        TaskContinuationBlockedError,
        TaskResurrectionError,
    )
    from otel_a2a.instrumentor import A2AInstrumentor
    from otel_a2a.processor import PolicySpanProcessor
    from otel_a2a.wire.revision import card_revision

__all__ = [
    "A2AInstrumentor",
    "A2APolicyError",
    "AgentCardDivergenceError",
    "AgentCardStalenessError",
    "CardTaskBoundaryError",
    "Finding",
    "Level",
    "PolicySpanProcessor",
    "Strictness",
    "TaskContinuationBlockedError",
    "TaskResurrectionError",
    "__version__",
    "card_revision",
    "suppress_policy",
]

_HOMES = {
    "A2AInstrumentor": "otel_a2a.instrumentor",
    "A2APolicyError": "otel_a2a.errors",
    "AgentCardDivergenceError": "otel_a2a.errors",
    "AgentCardStalenessError": "otel_a2a.errors",
    "CardTaskBoundaryError": "otel_a2a.errors",
    "Finding": "otel_a2a.engine.findings",
    "Level": "otel_a2a.engine.findings",
    "PolicySpanProcessor": "otel_a2a.processor",
    "Strictness": "otel_a2a.engine.findings",
    "TaskContinuationBlockedError": "otel_a2a.errors",
    "TaskResurrectionError": "otel_a2a.errors",
    "card_revision": "otel_a2a.wire.revision",
    "suppress_policy": "otel_a2a.engine.strictness",
}


if not TYPE_CHECKING:  # type checkers would take it for "any name is here"

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(home), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
