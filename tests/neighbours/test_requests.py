# SPDX-License-Identifier: Apache-2.0
"""What only requests has beside others: their mark on its method, redirects, and what import hooks are for."""

from __future__ import annotations

from typing import Any

import pytest
import requests
from opentelemetry.instrumentation.requests import RequestsInstrumentor

from tests.neighbours.agents import working
from tests.neighbours.beside import contrib, inner_span, sender
from tests.neighbours.libraries import REQUESTS, TIMEOUT
from tests.neighbours.processes import run
from tests.support.agents import HEADERS, Recording, envelope, send
from tests.support.servers import serve
from tests.support.telemetry import Telemetry

BODY = envelope("SendMessage", send("x", "m1"))


def test_uninstrumenting_one_session_of_theirs_leaves_ours_working(telemetry: Telemetry) -> None:
    """They look for their mark on the outermost wrapper, which is ours, and leave the session alone."""
    with (
        serve(working().app) as base,
        telemetry.instrumented(state_spans=False),
        contrib(REQUESTS, telemetry),
        requests.Session() as session,
    ):
        RequestsInstrumentor.uninstrument_session(session)
        session.post(f"{base}/rpc", json=BODY, headers=HEADERS, timeout=TIMEOUT)
    inner_span(telemetry)


def test_a_redirect_is_within_one_span_of_each(telemetry: Telemetry) -> None:
    """``Session.send`` calls itself for a redirect, and neither of us counts that again."""
    agent = Recording(working().app)

    async def moved(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == "/old":
            headers = [(b"location", b"/rpc"), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 307, "headers": headers})
            await send({"type": "http.response.body"})
        else:
            await agent(scope, receive, send)

    with serve(moved) as base, telemetry.instrumented(state_spans=False), contrib(REQUESTS, telemetry):
        requests.post(f"{base}/old", json=BODY, headers=HEADERS, timeout=TIMEOUT)
    ((parent,),) = agent.parents
    assert sender(parent) == inner_span(telemetry).context.span_id


@pytest.mark.parametrize(
    "steps",
    [
        ("import requests", "+ours", "import theirs", "+theirs"),
        ("import theirs", "+theirs", "+ours"),
        ("import theirs", "+ours", "+theirs"),
        ("+ours", "import theirs", "+theirs"),
    ],
    ids=" ".join,
)
def test_order_of_imports_does_not_matter(steps: tuple[str, ...]) -> None:
    """Ours is outermost, whether the library, theirs or ours was imported first; then theirs leaves, then ours."""
    with_both, with_ours, with_none = run("requests_orders", *steps, "tell", "-theirs", "tell", "-ours", "tell")
    assert with_both == {"ours is outermost": True, "theirs is below": True, "all is gone": False}
    assert with_ours == {"ours is outermost": True, "theirs is below": False, "all is gone": False}
    assert with_none == {"ours is outermost": False, "theirs is below": False, "all is gone": True}
