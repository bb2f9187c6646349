# SPDX-License-Identifier: Apache-2.0
"""The incidents of the seeds as they were, with nothing stopped; and each as it should have been.

One function per incident; with ``right`` the client does what the seed prescribes, on tasks of other ids. The whole of
it happens in a span of the application, as it does below a web framework. Seed 002's incident is the demo.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from otel_a2a import local
from tests.support.agents import Answer, send, task
from tests.support.incidents import PUSH, Application, accepting, lives, running
from tests.support.telemetry import Telemetry

RIGHT = "-right"
"""How the ids of tasks end in which all goes as it should."""


@dataclass(slots=True, frozen=True)
class Incident:
    """An incident. ``seed`` is as the README numbers it; ``rule`` is the one that finds it."""

    seed: str
    rule: str
    agent: Callable[[str], Answer]
    play: Callable[[Application, str, bool], None]
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def task_id(self) -> str:
        """The task that it happens to."""
        return f"t-{self.seed.replace(', ', '-')}"

    def happen(self, telemetry: Telemetry, *, right: bool = False) -> None:
        """Play it."""
        task_id = self.task_id + (RIGHT if right else "")
        tracer = telemetry.tracer_provider.get_tracer("application")
        answer = self.agent(task_id)
        with tracer.start_as_current_span("POST /orders"), running(answer, telemetry, **self.settings) as app:
            app.call("SendMessage", send("export", "m1"))
            self.play(app, task_id, right)


def skill_left(app: Application, task_id: str, right: bool) -> None:
    """The skill leaves the card, and the client books the task as failed. The agent ends it later."""
    app.redeploy(skills=())
    app.fetch_card()
    if not right:
        local.task_state(task_id, "failed", reason="skill artifact.export is no longer advertised")
    app.call("GetTask", {"id": task_id})


def artifact_pruned(app: Application, task_id: str, right: bool) -> None:
    """The skill leaves the card, and the client drops what it had received."""
    app.redeploy(skills=())
    app.fetch_card()
    if not right:
        local.artifact_dropped(task_id, "a-1", reason="the producing skill is not advertised")


def retried(app: Application, task_id: str, right: bool) -> None:
    """A canceled task is retried, and the new task's artifact lands in the record of the old one."""
    with local.hints(reason="user"):
        app.call("CancelTask", {"id": task_id})
    with local.hints(retry_of=task_id):
        app.call("SendMessage", send("export", "m2"))
    again = f"{task_id}-again"
    local.artifact_merged(again if right else task_id, "a-2", from_task=again)


def continued(app: Application, task_id: str, right: bool) -> None:
    """A message into a task, which another task answers unless all is right."""
    app.call("SendMessage", send("tenant 7", "m2" if not right else "m2-right", task_id=task_id))


def webhook_bound(app: Application, task_id: str, right: bool) -> None:
    """A webhook is registered on a card that was fetched long ago; the agent says 200, and never delivers."""
    app.redeploy(push=False)
    if right:
        app.fetch_card()
        app.call("GetTask", {"id": task_id})
    else:
        app.call("CreateTaskPushNotificationConfig", {"taskId": task_id, **PUSH})


def card_away(app: Application, task_id: str, right: bool) -> None:
    """A fetch of the card fails, and the client cancels its task."""
    app.agent.card = 503
    app.fetch_card()
    app.call("GetTask" if right else "CancelTask", {"id": task_id})


def with_artifact(task_id: str) -> Answer:
    ended = task(task_id, "COMPLETED", artifacts=[{"artifactId": "a-1", "parts": []}])
    return lambda method, params: {"task": ended}


def canceled(task_id: str) -> Answer:
    again = f"{task_id}-again"

    def answer(method: str, params: dict[str, Any]) -> Any:
        if method != "SendMessage":
            return task(task_id, "CANCELED")
        if params["message"]["messageId"] == "m1":
            return {"task": task(task_id, "WORKING")}
        return {"task": task(again, "COMPLETED", artifacts=[{"artifactId": "a-2", "parts": [{"text": "the export"}]}])}

    return answer


def diverging(task_id: str) -> Answer:
    def answer(method: str, params: dict[str, Any]) -> Any:
        another = params.get("message", {}).get("messageId") == "m2"
        shown = task(f"{task_id}-another" if another else task_id, "WORKING")
        return {"task": shown} if method == "SendMessage" else shown

    return answer


def working(*states: str) -> Callable[[str], Answer]:
    return lambda task_id: lives(*states, task_id=task_id)


INCIDENTS = (
    Incident("000, 1", "phantom-terminal-state", working("WORKING", "COMPLETED"), skill_left),
    Incident("000, 2", "artifact-truncated", with_artifact, artifact_pruned),
    Incident("000, 3", "artifact-merged-into-other-task", canceled, retried),
    Incident("001", "continuation-diverged", diverging, continued),
    Incident("004, 1", "webhook-from-stale-card", accepting, webhook_bound, {"webhook_card_window": 0.0}),
    Incident("004, 2", "cancel-after-card-failure", working("WORKING", "COMPLETED"), card_away),
)
