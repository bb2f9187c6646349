# SPDX-License-Identifier: Apache-2.0
"""The order in which a script happens."""

from __future__ import annotations

from typing import Any

from otel_a2a.replay.script import Script
from otel_a2a.replay.timeline import Act, timeline
from tests.replay.scripts import get, script, send, stream, update


def told(read: Script) -> list[tuple[float, int, str]]:
    return [(moment.t, moment.step, moment.act) for moment in timeline(read)]


def event(t: float) -> dict[str, Any]:
    return {"t": t, "data": update("WORKING")}


def test_a_request_comes_before_its_answer() -> None:
    """Both are at the exchange's time, unless the answer has one of its own; it cannot come before its request."""
    late = {"status": 200, "t": 5}
    early = {"status": 200, "t": 0}
    assert told(script(send(), get("WORKING", response=late), get("WORKING", response=early))) == [
        (0, 0, Act.REQUEST),
        (0, 0, Act.ANSWER),
        (1, 1, Act.REQUEST),
        (2, 2, Act.REQUEST),
        (2, 2, Act.ANSWER),
        (5, 1, Act.ANSWER),
    ]


def test_a_stream_goes_on_while_other_steps_happen() -> None:
    """Events are at their own times, and the end is with the last of them."""
    assert told(script(stream(event(0.5), event(2)), get("WORKING"), {"type": "clock"})) == [
        (0, 0, Act.REQUEST),
        (0, 0, Act.ANSWER),
        (0.5, 0, Act.EVENT),
        (1, 1, Act.REQUEST),
        (1, 1, Act.ANSWER),
        (2, 0, Act.EVENT),
        (2, 0, Act.END),
        (2, 2, Act.PASS),
    ]


def test_one_time_is_ordered_by_step_and_not_by_place() -> None:
    """Of what happens at one time the lower step comes first, wherever it stands in the file."""
    read = script({"type": "clock", "step": 7, "t": 1}, {"type": "clock", "step": 3, "t": 1})
    assert [step for _, step, _ in told(read)] == [3, 7]


def test_nothing_arrives_after_the_end() -> None:
    """What is sent to a client that has left does not happen; what comes at the very end does."""
    read = script(stream(event(1), event(2), event(3), end="client_closed", end_t=2))
    assert told(read)[2:] == [(1, 0, Act.EVENT), (2, 0, Act.EVENT), (2, 0, Act.END)]


def test_a_stream_may_end_long_after_its_last_event_or_never() -> None:
    """The end has its own time; an open stream has none."""
    assert told(script(stream(event(1), end="reset", end_t=9)))[-1] == (9, 0, Act.END)
    assert told(script(stream(event(1), end="open")))[-1] == (1, 0, Act.EVENT)


def test_a_stream_that_failed_has_no_events() -> None:
    """Where the transport fails there is neither head, nor event, nor end."""
    read = script({**stream(), "response": {"error": "ConnectError"}})
    assert told(read) == [(0, 0, Act.REQUEST), (0, 0, Act.ANSWER)]


def test_a_call_may_never_be_answered() -> None:
    """Where the answer is null, the request leaves and nothing comes back."""
    assert told(script(get("WORKING", response=None), {**stream(), "response": None})) == [
        (0, 0, Act.REQUEST),
        (1, 1, Act.REQUEST),
    ]


def test_what_the_wire_does_not_show() -> None:
    """Webhooks and decisions happen at their time."""
    push = {"type": "push", "request": {"method": "POST", "url": "https://hooks.example", "body": {}}}
    decision = {"type": "local", "action": "abandon_task", "task_id": "t-1"}
    assert told(script(push, decision)) == [(0, 0, Act.DELIVERY), (1, 1, Act.DECISION)]
