# SPDX-License-Identifier: Apache-2.0
"""Beside OpenTelemetry's instrumentations of httpx, requests and aiohttp: whoever comes or leaves first.

That of requests wraps the same method as we, that of httpx the transport below, that of aiohttp gives each session a
trace config.
"""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from otel_a2a.errors import A2APolicyError
from tests.neighbours.agents import working
from tests.neighbours.beside import both, contrib, inner_span, sender
from tests.neighbours.libraries import LIBRARIES, Library
from tests.support.agents import Recording, ScriptedAgent, envelope, send, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry

each_library = pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
each_way = pytest.mark.parametrize(
    ("library", "way"),
    [pytest.param(library, way, id=f"{library.name}-{way}") for library in LIBRARIES for way in library.ways],
)
each_first = pytest.mark.parametrize("first", ["ours", "theirs"])


@each_way
@each_first
async def test_one_traceparent_and_our_span_is_the_parent_of_theirs(
    first: str, library: Library, way: str, telemetry: Telemetry
) -> None:
    """Whoever came first: the header is the innermost span's, and there is one of it."""
    agent = Recording(working().app)
    with serve(agent) as base, ExitStack() as stack:
        for each in both(first, library, telemetry).values():
            stack.enter_context(each)
        await library.call(base, way)
    ((parent,),) = agent.parents
    assert sender(parent) == inner_span(telemetry).context.span_id


@each_way
@each_first
@pytest.mark.parametrize("leaves", ["ours", "theirs"])
async def test_uninstrumenting_one_leaves_the_other_working(
    leaves: str, first: str, library: Library, way: str, telemetry: Telemetry
) -> None:
    """The one that stays sees the call and sends its header; in the end the library's own methods are back."""
    before = library.patched()
    agent = Recording(working().app)
    with serve(agent) as base, ExitStack() as stays, ExitStack() as goes:
        for name, each in both(first, library, telemetry).items():
            (goes if name == leaves else stays).enter_context(each)
        goes.close()
        await library.call(base, way)
    (span,) = telemetry.spans
    assert (span.name == "POST") == (leaves == "ours")
    ((parent,),) = agent.parents
    assert sender(parent) == span.context.span_id
    assert library.patched() == before


@each_library
async def test_coming_back_after_leaving(library: Library, telemetry: Telemetry) -> None:
    """However often each comes and goes, there is one span of each."""
    with serve(working().app) as base, telemetry.instrumented(state_spans=False):
        for _ in range(3):
            with contrib(library, telemetry):
                telemetry.clear()
                await library.call(base)
                inner_span(telemetry)
            telemetry.clear()
            await library.call(base)
            assert telemetry.names() == {"SendMessage": 1}


@each_library
async def test_what_is_not_a2a_is_theirs_alone(library: Library, telemetry: Telemetry) -> None:
    """A call that we do not look at has their span and their header."""
    agent = Recording(working().app)
    with serve(agent) as base, telemetry.instrumented(), contrib(library, telemetry):
        await library.post(base, {"id": 1, "method": "eth_call", "params": {}})
    assert telemetry.names() == {"POST": 1}
    ((parent,),) = agent.parents
    assert sender(parent) == telemetry.span("POST").context.span_id


@each_library
async def test_refused_request_is_no_span_of_theirs(library: Library, telemetry: Telemetry) -> None:
    """What we stop never comes to them."""
    agent = ScriptedAgent(lambda *_: {"task": task("t-1", "COMPLETED")})
    with serve(agent.app) as base, telemetry.instrumented(strictness="raise"), contrib(library, telemetry):
        await library.call(base)
        with pytest.raises(A2APolicyError):
            await library.post(base, envelope("SendMessage", send("more", "m2", task_id="t-1")))
    assert agent.methods() == ["SendMessage"]
    assert telemetry.names()["POST"] == 1
