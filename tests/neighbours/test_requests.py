# SPDX-License-Identifier: Apache-2.0
"""Beside opentelemetry-instrumentation-requests, which wraps the same method: whoever comes or leaves first."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import requests
from opentelemetry.instrumentation.requests import RequestsInstrumentor
from opentelemetry.sdk.trace import ReadableSpan

from tests.support.agents import HEADERS, ScriptedAgent, envelope, send, task
from tests.support.servers import serve
from tests.support.telemetry import Telemetry

SECONDS = 10


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry()


@contextmanager
def contrib(telemetry: Telemetry) -> Iterator[None]:
    instrumentor = RequestsInstrumentor()
    instrumentor.instrument(tracer_provider=telemetry.tracer_provider, meter_provider=telemetry.meter_provider)
    try:
        yield
    finally:
        instrumentor.uninstrument()


def agent() -> ScriptedAgent:
    events = [{"task": task("t-1", "SUBMITTED")}, {"task": task("t-1", "COMPLETED")}]
    return ScriptedAgent(lambda method, _: events if "Streaming" in method else {"task": task("t-2", "WORKING")})


def prepared(base: str, method: str = "SendMessage") -> requests.PreparedRequest:
    request = requests.Request("POST", f"{base}/rpc", json=envelope(method, send("x", "m1")), headers=HEADERS)
    return request.prepare()


def charge(base: str, how: str) -> None:
    """One call, by each of the ways in which requests is called."""
    with requests.Session() as session:
        if how == "post":
            session.post(f"{base}/rpc", json=envelope("SendMessage", send("x", "m1")), headers=HEADERS, timeout=SECONDS)
        elif how == "send":
            session.send(prepared(base), timeout=SECONDS)
        else:
            response = session.send(prepared(base, "SendStreamingMessage"), stream=True, timeout=SECONDS)
            assert len([line for line in response.iter_lines() if line]) == 2


def nested(telemetry: Telemetry) -> tuple[ReadableSpan, ReadableSpan]:
    """Our span and theirs, of which ours is the parent; there are no others."""
    (theirs,) = (span for span in telemetry.spans if span.name == "POST")
    (ours,) = telemetry.ours()
    assert theirs.parent is not None and theirs.parent.span_id == ours.context.span_id
    assert ours.parent is None
    return ours, theirs


@pytest.mark.parametrize("how", ["post", "send", "stream"])
@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_one_traceparent_and_our_span_is_the_parent_of_theirs(first: str, how: str, telemetry: Telemetry) -> None:
    """Whoever came first: the header is the innermost span's, and there is one of it."""
    told = agent()
    ours, theirs = telemetry.instrumented(state_spans=False), contrib(telemetry)
    with serve(told.app) as base, ExitStack() as stack:
        for each in (ours, theirs) if first == "ours" else (theirs, ours):
            stack.enter_context(each)
        charge(base, how)
    _, innermost = nested(telemetry)
    (headers,) = told.headers
    assert headers["traceparent"].split("-")[2] == f"{innermost.context.span_id:016x}"


@pytest.mark.parametrize("first", ["ours", "theirs"])
@pytest.mark.parametrize("leaves", ["ours", "theirs"])
def test_uninstrumenting_one_leaves_the_other_working(first: str, leaves: str, telemetry: Telemetry) -> None:
    """And the one that has left does nothing any more; in the end the library's own method is back."""
    before = requests.Session.send
    with serve(agent().app) as base, ExitStack() as stays, ExitStack() as goes:
        for name in (first, {"ours": "theirs", "theirs": "ours"}[first]):
            entered = telemetry.instrumented(state_spans=False) if name == "ours" else contrib(telemetry)
            (goes if name == leaves else stays).enter_context(entered)
        goes.close()
        charge(base, "post")
    assert telemetry.names() == ({"POST": 1} if leaves == "ours" else {"SendMessage": 1})
    assert requests.Session.send is before


def test_coming_back_after_leaving(telemetry: Telemetry) -> None:
    """However often each comes and goes, there is one span of each."""
    with serve(agent().app) as base, telemetry.instrumented(state_spans=False):
        for _ in range(3):
            with contrib(telemetry):
                telemetry.clear()
                charge(base, "post")
                nested(telemetry)
            telemetry.clear()
            charge(base, "post")
            assert telemetry.names() == {"SendMessage": 1}


def test_uninstrumenting_one_session_of_theirs_leaves_ours_working(telemetry: Telemetry) -> None:
    """They look for their mark on the outermost wrapper, which is ours, and leave the session alone."""
    with (
        serve(agent().app) as base,
        telemetry.instrumented(state_spans=False),
        contrib(telemetry),
        requests.Session() as session,
    ):
        RequestsInstrumentor.uninstrument_session(session)
        session.send(prepared(base), timeout=SECONDS)
    nested(telemetry)


def test_what_is_not_a2a_is_theirs_alone(telemetry: Telemetry) -> None:
    """A call that we do not look at has their span and their header."""
    told = agent()
    with serve(told.app) as base, telemetry.instrumented(), contrib(telemetry):
        requests.post(f"{base}/rpc", json={"id": 1, "method": "eth_call", "params": {}}, timeout=SECONDS)
    theirs = telemetry.span("POST")
    assert telemetry.names() == {"POST": 1}
    assert told.headers[0]["traceparent"].split("-")[2] == f"{theirs.context.span_id:016x}"


def test_a_redirect_is_within_one_span_of_each(telemetry: Telemetry) -> None:
    """``Session.send`` calls itself for a redirect, and neither of us counts that again."""
    told = agent()
    inner = told.app

    async def moved(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == "/old":
            headers = [(b"location", b"/rpc"), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 307, "headers": headers})
            await send({"type": "http.response.body"})
        else:
            await inner(scope, receive, send)

    with serve(moved) as base, telemetry.instrumented(state_spans=False), contrib(telemetry):
        body = envelope("SendMessage", send("x", "m1"))
        requests.post(f"{base}/old", json=body, headers=HEADERS, timeout=SECONDS)
    _, theirs = nested(telemetry)
    assert told.headers[0]["traceparent"].split("-")[2] == f"{theirs.context.span_id:016x}"


def test_refused_request_is_no_span_of_theirs(telemetry: Telemetry) -> None:
    """What we stop never comes to them."""
    told = ScriptedAgent(lambda *_: {"task": task("t-1", "COMPLETED")})
    with serve(told.app) as base, telemetry.instrumented(strictness="raise"), contrib(telemetry):
        charge(base, "post")
        again = envelope("SendMessage", send("more", "m2", task_id="t-1"))
        with pytest.raises(RuntimeError):
            requests.post(f"{base}/rpc", json=again, headers=HEADERS, timeout=SECONDS)
    assert told.methods() == ["SendMessage"]
    assert telemetry.names()["POST"] == 1


@pytest.mark.parametrize(
    "order",
    [
        "import requests; clients.install(); RequestsInstrumentor = contrib(); RequestsInstrumentor().instrument()",
        "RequestsInstrumentor = contrib(); RequestsInstrumentor().instrument(); clients.install()",
        "RequestsInstrumentor = contrib(); clients.install(); RequestsInstrumentor().instrument()",
        "clients.install(); RequestsInstrumentor = contrib(); RequestsInstrumentor().instrument()",
    ],
)
def test_order_of_imports_does_not_matter(order: str) -> None:
    """Ours is outermost, whether the library, theirs or ours was imported first. Each in a process of its own."""
    program = f"""
        from otel_a2a import clients, patching

        def contrib():
            from opentelemetry.instrumentation.requests import RequestsInstrumentor
            return RequestsInstrumentor

        {order}
        import requests
        patch = patching.installed(requests.Session, "send")
        applied = "opentelemetry_instrumentation_requests_applied"
        print(requests.Session.send is patch.wrapper, hasattr(patch.original, applied))
        RequestsInstrumentor().uninstrument()
        print(requests.Session.send is patch.wrapper, hasattr(patch.original, applied))
        clients.uninstall()
        print(hasattr(requests.Session.send, "__wrapped__"), RequestsInstrumentor._instrument.__module__)
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60, check=True
    )
    assert result.stdout == "True True\nTrue False\nFalse opentelemetry.instrumentation.requests\n"
