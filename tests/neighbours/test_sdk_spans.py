# SPDX-License-Identifier: Apache-2.0
"""Beside the spans that a2a-sdk makes by itself, and without them where a setting retires them.

The SDK reads its switch when it is imported, so each case runs in a process of its own.
"""

from __future__ import annotations

import pytest

from otel_a2a.semconv import SCOPE
from tests.neighbours.processes import run
from tests.support.agents import ScriptedAgent, task
from tests.support.servers import serve

SDK = "a2a-python-sdk"


@pytest.mark.parametrize("when", ["beside", "retired"])
def test_spans_of_the_sdk(when: str) -> None:
    """Beside ours the SDK's are as without us; with SUPPRESS_SDK_SPANS there are only ours, which stay the same."""
    agent = ScriptedAgent(lambda *_: {"task": task("t-1", "COMPLETED")})
    with serve(agent.app) as base:
        alone = run("sdk_spans", base, "never")
        together = run("sdk_spans", base, when)
    assert set(alone) == {SDK}
    assert together.pop(SCOPE) == {"GetAgentCard": 1, "SendMessage": 1}
    assert together == (alone if when == "beside" else {})
