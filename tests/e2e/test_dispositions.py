# SPDX-License-Identifier: Apache-2.0
"""What is to be thought of a task stands on the spans of the calls that tell of it."""

from __future__ import annotations

import time
from typing import Any

from otel_a2a import local, semconv
from otel_a2a.engine import current
from otel_a2a.engine.clock import SystemClock
from tests.support.agents import send, task
from tests.support.incidents import lives, running
from tests.support.telemetry import Telemetry


class Later(SystemClock):
    """The same clocks, two seconds from now."""

    @staticmethod
    def monotonic() -> float:
        return time.monotonic() + 2


def shown(telemetry: Telemetry) -> list[str]:
    """The dispositions on the spans of all calls about tasks, in order."""
    told = [(span.attributes or {}).get(semconv.TASK_DISPOSITION) for span in telemetry.spans]
    return [str(each) for each in told if each is not None]


def test_a_life_whose_card_narrows(telemetry: Telemetry) -> None:
    """A task is unaffirmed until a read has answered for it under the new card."""
    with running(lives("WORKING", "WORKING", "INPUT_REQUIRED", "WORKING", "COMPLETED"), telemetry) as app:
        app.call("SendMessage", send("x", "m1"))
        app.redeploy(skills=())
        app.fetch_card()
        app.call("SendMessage", send("y", "m2", task_id="t-1"))
        for _ in range(3):
            app.call("GetTask", {"id": "t-1"})
    assert shown(telemetry) == ["active", "unaffirmed", "interrupted", "active", "terminal"]


def test_a_task_that_goes_back_and_is_given_up(telemetry: Telemetry) -> None:
    """Its id is poisoned, until the application abandons it."""
    with running(lives("WORKING", "SUBMITTED"), telemetry) as app:
        app.call("SendMessage", send("x", "m1"))
        app.call("GetTask", {"id": "t-1"})
        local.task_abandoned("t-1")
        app.call("GetTask", {"id": "t-1"})
    assert shown(telemetry) == ["active", "poisoned", "abandoned"]


def test_a_task_that_is_not_there_any_more(telemetry: Telemetry) -> None:
    """*Not found* is an error and no state, and says all the same that the task is orphaned."""

    def answer(method: str, params: dict[str, Any]) -> Any:
        if method == "SendMessage":
            return {"task": task("t-1", "WORKING")}
        return {"error": {"code": -32001, "message": "Task not found"}}

    with running(answer, telemetry) as app:
        app.call("SendMessage", send("x", "m1"))
        engine = current()
        assert engine is not None
        # In the first second of its life it may not be there yet.
        engine.clock = Later()
        app.call("CancelTask", {"id": "t-1"})
    assert shown(telemetry) == ["active", "orphaned"]


def test_a_task_that_is_answered_with_another(telemetry: Telemetry) -> None:
    """The other task is a task like any other, and the first one has diverged."""

    def answer(method: str, params: dict[str, Any]) -> Any:
        seen = task("t-2" if "taskId" in params.get("message", {}) else "t-1", "WORKING")
        return {"task": seen} if method == "SendMessage" else seen

    with running(answer, telemetry) as app:
        app.call("SendMessage", send("x", "m1"))
        app.call("SendMessage", send("y", "m2", task_id="t-1"))
        app.call("GetTask", {"id": "t-1"})
    assert shown(telemetry) == ["active", "active", "diverged"]
