# SPDX-License-Identifier: Apache-2.0
"""Hints: what an application says, and the reason that its words give."""

from __future__ import annotations

import pytest

from otel_a2a.hints import current_hints, hints, reason_of
from otel_a2a.observations import Reason


@pytest.mark.parametrize(
    "reason", ["server", "transport", "poll-empty", "capability", "stream-end", "user", "deadline"]
)
def test_a_reason_gives_itself(reason: str) -> None:
    """In any case."""
    assert reason_of(reason) == reason_of(reason.upper()) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("skill report no longer advertised", Reason.CAPABILITY),
        ("skill gone", Reason.CAPABILITY),
        ("the skill 'export' was removed", Reason.CAPABILITY),
        ("lost the skill", Reason.CAPABILITY),
        ("skill not found in card", Reason.CAPABILITY),
        ("skill is not among the card's skills any longer", Reason.CAPABILITY),
        ("export is not in the card's list", Reason.CAPABILITY),
        ("agent no longer supports streaming", Reason.CAPABILITY),
        ("push notifications were withdrawn", Reason.CAPABILITY),
        ("card fetch failed: 503", Reason.CAPABILITY),
        ("card 503", Reason.CAPABILITY),
        ("agent-card.json returned 503", Reason.CAPABILITY),
        ("card hash mismatch", Reason.CAPABILITY),
        ("skill 'export' has been retired", Reason.CAPABILITY),
        ("capability revoked", Reason.CAPABILITY),
        ("the agent no longer supports streaming", Reason.CAPABILITY),
        ("agent dropped pushNotifications", Reason.CAPABILITY),
        ("removed from the registry", Reason.CAPABILITY),
        ("AgentCard unreachable", Reason.CAPABILITY),
        ("timeout while waiting for skill report", Reason.TRANSPORT),
        ("client poll timeout", Reason.TRANSPORT),
        ("skill export did not respond", Reason.TRANSPORT),
        ("server error 500", Reason.TRANSPORT),
        ("service unavailable", Reason.TRANSPORT),
        ("disconnected", Reason.TRANSPORT),
        ("server returned 500", Reason.TRANSPORT),
        ("agent offline", Reason.TRANSPORT),
        ("retries exhausted", Reason.TRANSPORT),
        ("gave up waiting", Reason.TRANSPORT),
        ("no webhook received within 3600 s", Reason.TRANSPORT),
        ("stream endpoint unreachable", Reason.TRANSPORT),
        ("upstream closed the connection", Reason.TRANSPORT),
        ("deadline exceeded", Reason.DEADLINE),
        ("missing poll", Reason.POLL_EMPTY),
        ("polling returned no task", Reason.POLL_EMPTY),
        ("no answer to the poll", Reason.POLL_EMPTY),
        ("poll_task returned None", Reason.POLL_EMPTY),
        ("tasks/get returned nothing", Reason.POLL_EMPTY),
        ("3 polls missed", Reason.POLL_EMPTY),
        ("the stream closed", Reason.STREAM_END),
        ("SSE connection closed before completion", Reason.STREAM_END),
        ("the stream was reset by the server", Reason.STREAM_END),
        ("streaming ended", Reason.STREAM_END),
        ("StopAsyncIteration", Reason.STREAM_END),
        ("no task returned by the poll", Reason.POLL_EMPTY),
        ("the stream closed", Reason.STREAM_END),
        ("stream finished", Reason.STREAM_END),
        ("SSE connection closed", Reason.STREAM_END),
        ("streaming did not end within the time limit: timeout", Reason.TRANSPORT),
        ("user_cancelled", Reason.USER),
        ("told by the server", Reason.SERVER),
        ("server reported failed", Reason.SERVER),
        ("server restarted", ""),
        ("server lost the task", ""),
        ("access token revoked", ""),
        ("advertising campaign rejected", ""),
        ("credit card declined", ""),
        ("the amount is not on the card", ""),
        ("request withdrawn", ""),
        ("the order is in the stream of events no more", ""),
        ("skill report failed", ""),
        ("superuser", ""),
        ("", ""),
    ],
)
def test_what_an_application_logs_gives_a_reason(text: str, reason: str) -> None:
    """The name of a skill or of a card alone blames no card, and what befell a server is not its word on a task."""
    assert reason_of(text) == reason


@pytest.mark.parametrize(
    ("given", "reason"), [(TimeoutError("timed out"), Reason.TRANSPORT), (None, ""), (503, ""), (b"user", Reason.USER)]
)
def test_what_is_no_text_is_read_as_one(given: object, reason: str) -> None:
    """Whoever gives a task up often has an exception at hand; nothing that is given here raises one of ours."""
    assert reason_of(given) == reason


def test_any_reason_is_one() -> None:
    """A text that gives none that rules know is kept: the application did say why."""
    with hints(reason=" order changed "):
        held = current_hints()
    assert held is not None and held.reason == "order changed"
