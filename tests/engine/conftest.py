# SPDX-License-Identifier: Apache-2.0
"""A test that is marked as one in which a rule fires has to show that: ``tests/support/marks.py``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from otel_a2a.engine.verdict import make_finding


@pytest.fixture(autouse=True)
def _fires_as_it_is_marked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    marked = {mark.args[0] for mark in request.node.iter_markers("rule") if mark.kwargs["kind"] == "fires"}
    if not marked:
        yield
        return
    fired: set[str] = set()

    def noted(rule: Any, *arguments: Any, **named: Any) -> Any:
        fired.add(rule.name)
        return make_finding(rule, *arguments, **named)

    monkeypatch.setattr("otel_a2a.engine.judge.make_finding", noted)
    yield
    assert marked <= fired, f"marked as firing, and silent: {', '.join(sorted(marked - fired))}"
