# SPDX-License-Identifier: Apache-2.0
"""What a program may import, and what importing it costs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import otel_a2a

PUBLIC = {
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
}


def _loaded_after(statement: str) -> set[str]:
    program = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    return set(json.loads(output))


def test_the_public_names_are_these() -> None:
    """Every public name is a promise, so a new one is a decision: this list and the package's change together."""
    assert set(otel_a2a.__all__) == PUBLIC
    assert set(dir(otel_a2a)) == PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_is_there(name: str) -> None:
    """Each name is imported when it is asked for."""
    assert getattr(otel_a2a, name) is not None


def test_other_names_are_not() -> None:
    """A misspelt name fails as it does everywhere."""
    with pytest.raises(AttributeError, match="no attribute 'A2AInstrumentr'"):
        _ = otel_a2a.A2AInstrumentr  # type: ignore[attr-defined]  # the test is that it is not there


@pytest.mark.parametrize("module", ["otel_a2a", "otel_a2a.environment_variables"])
def test_the_launcher_pays_almost_nothing(module: str) -> None:
    """What the launcher imports before any application starts brings neither pydantic nor the SDK with it."""
    loaded = _loaded_after(f"import {module}")
    assert module in loaded
    assert not {name for name in loaded if name.split(".")[0] == "pydantic" or name.startswith("opentelemetry.sdk")}


def test_instrumenting_imports_no_client_library() -> None:
    """An application that does not use a library does not get it from us, and no validator either."""
    loaded = _loaded_after("from otel_a2a import A2AInstrumentor; A2AInstrumentor().instrument()")
    assert "otel_a2a.operation" in loaded
    assert not loaded & {"a2a", "aiohttp", "grpc", "httpx", "httpx2", "pydantic", "requests"}


def test_revisions_of_text_bytes_and_objects_are_the_same() -> None:
    """A card is a card in whatever form it is at hand."""
    card = {"name": "a", "supportedInterfaces": [{"url": "https://a.example", "protocolBinding": "JSONRPC"}]}
    text = json.dumps(card)
    revision = otel_a2a.card_revision(card)
    assert revision.startswith("sha256:")
    assert otel_a2a.card_revision(text) == otel_a2a.card_revision(text.encode()) == revision
