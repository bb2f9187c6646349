# SPDX-License-Identifier: Apache-2.0
"""opentelemetry-instrumentation-grpc before us and after us, in one process: both see each call once.

Import hooks and wrapped factories last as long as a process, so each order runs in one of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from otel_a2a.semconv import SCOPE
from tests.clients.grpc.agent import Agent, serving
from tests.neighbours.beside import sender
from tests.neighbours.processes import run


@pytest.fixture
def agent() -> Iterator[Agent]:
    with serving() as agent:
        yield agent


@pytest.mark.parametrize("how", ["blocking", "awaited"])
@pytest.mark.parametrize("leaves", ["theirs", "ours"])
@pytest.mark.parametrize("order", [("theirs", "ours"), ("ours", "theirs")], ids=" ".join)
def test_both_see_each_call(order: tuple[str, str], leaves: str, how: str, agent: Agent) -> None:
    """One span each, one within the other, one ``traceparent``, and either leaves without harm to the other.

    Ours is the parent, but for a blocking stream: theirs is a generator there, and calls only when it is read.
    """
    first, second = order
    stays = "ours" if leaves == "theirs" else "theirs"
    steps = (f"+{first}", f"+{second}", "call", f"-{leaves}", "call", f"-{stays}", "call")
    with_both, with_one, with_none = run("grpc_calls", agent.target, how, *steps)
    calls = 4 if how == "blocking" else 2
    ours = {span["id"]: span for span in with_both if span["scope"] == SCOPE}
    theirs = {span["id"]: span for span in with_both if span["scope"] != SCOPE}
    assert (len(ours), len(theirs)) == (calls, calls)
    outer = [span["name"] for span in theirs.values() if span["parent"] is None]
    assert outer == (["/lf.a2a.v1.A2AService/SendStreamingMessage"] if how == "blocking" else [])
    assert {span["parent"] for span in theirs.values()} <= {*ours, None}
    assert {span["parent"] for span in ours.values()} <= {*theirs, None}
    contexts = agent.traceparents()
    assert [len(each) for each in contexts] == [1] * calls * 2 + [0] * calls
    assert {sender(parent) for (parent,) in contexts[:calls]} == set(theirs)
    assert [span["scope"] == SCOPE for span in with_one] == [stays == "ours"] * calls
    assert with_none == []
