# SPDX-License-Identifier: Apache-2.0
"""An application that calls an agent and receives its push notifications, in bytes, on a clock that it turns itself.

    app.card()                                    the agent's card is fetched
    app.send()                                    task t1 is created, with a webhook
    app.told("WORKING")                           the agent's notification arrives
    assert app.state() == "WORKING"

Every call goes through the seam that clients use, every notification through ``observe_webhook``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from otel_a2a import operation, sources
from otel_a2a.engine.engine import Engine
from otel_a2a.engine.findings import Finding
from otel_a2a.engine.records import Task
from otel_a2a.exchange import RecordedExchange
from otel_a2a.webhooks import observe_webhook
from otel_a2a_policies import RULES
from tests.support.agents import card, task
from tests.support.telemetry import Telemetry
from tests.support.world import VirtualClock

BASE: Final = "https://agent.example"
RPC: Final = f"{BASE}/rpc"
HOOK: Final = "https://app.example/hook"
TOKEN: Final = "TOP-SECRET"
JSON: Final = {"content-type": "application/json"}
STATE: Final = "TASK_STATE_"
GRAVE: Final = ("violation", "improvement")


class Application:
    """See the module. ``found`` has the new findings, in order."""

    def __init__(self, **settings: Any) -> None:
        chosen = sources.effective({}, **{k: v for k, v in settings.items() if k != "webhook_silence"}).settings
        # Only a policy file can say this one.
        chosen = replace(chosen, webhook_silence=settings.get("webhook_silence"))
        self.found: list[Finding] = []
        self.faults: list[str] = []
        self.clock = VirtualClock()
        self.engine = Engine(
            chosen, RULES, (self,), self.clock, lambda where, error: self.faults.append(f"{where}: {error!r}")
        )

    def export(self, finding: Finding, context: Any) -> None:
        self.found.append(finding)

    # --- what it does

    def card(self, *, push: bool = True, base: str = BASE, **more: Any) -> None:
        """Fetch the agent's card."""
        url = f"{base}/.well-known/agent-card.json"
        op = operation.begin(RecordedExchange("GET", url, {}, b""))
        assert op is not None
        op.respond(200, JSON.get, url)
        op.body(json.dumps(card(f"{base}/rpc", push=push, **more)).encode())

    def call(self, method: str, params: dict[str, Any], result: Any, url: str = RPC, version: str = "1.0") -> None:
        """A call and its answer."""
        op = self.leaves(method, params, url, version)
        self.answered(op, result, url)

    def leaves(self, method: str, params: dict[str, Any], url: str = RPC, version: str = "1.0") -> operation.Operation:
        body = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}
        headers = JSON | ({"a2a-version": version} if version else {})
        op = operation.begin(RecordedExchange("POST", url, headers, json.dumps(body).encode()))
        assert op is not None
        return op

    def answered(self, op: operation.Operation, result: Any, url: str = RPC) -> None:
        op.respond(200, JSON.get, url)
        op.body(json.dumps({"jsonrpc": "2.0", "id": "1", "result": result}).encode())

    def streamed(self, op: operation.Operation, result: Any) -> None:
        """An event arrives in the stream that answers a call."""
        op.feed(b"data: " + json.dumps({"jsonrpc": "2.0", "id": "1", "result": result}).encode() + b"\n\n")

    def send(
        self, state: str = "SUBMITTED", task_id: str = "t1", *, token: str = TOKEN, base: str = BASE, into: str = ""
    ) -> None:
        """Send a message with a webhook; it creates ``task_id``, or goes into the task ``into``."""
        message = {"messageId": f"m-{self.clock.now}", "role": "ROLE_USER", "parts": [{"text": "x"}]}
        webhook = {"url": HOOK} | ({"token": token} if token else {})
        params = {
            "message": message | ({"taskId": into} if into else {}),
            "configuration": {"taskPushNotificationConfig": webhook, "returnImmediately": True},
        }
        self.call("SendMessage", params, {"task": task(into or task_id, state)}, f"{base}/rpc")

    def get(self, state: str, task_id: str = "t1") -> None:
        """Read the task."""
        self.call("GetTask", {"id": task_id}, task(task_id, state))

    def passes(self, seconds: float) -> None:
        """Let time pass; what falls due is judged."""
        self.clock.now += seconds
        self.engine.pass_time()

    # --- what it is told

    def told(self, state: str, task_id: str = "t1", *, at: str = "", **how: Any) -> tuple[Finding, ...]:
        """A status event arrives, with the right token unless ``how`` says otherwise."""
        status = {"state": STATE + state} | ({"timestamp": at} if at else {})
        return self.delivered({"statusUpdate": {"taskId": task_id, "contextId": "ctx-1", "status": status}}, **how)

    def delivered(
        self, body: Any, *, token: str = TOKEN, url: str | None = None, verified: bool = False
    ) -> tuple[Finding, ...]:
        """A notification arrives."""
        headers = JSON | ({"X-A2A-Notification-Token": token} if token else {})
        return observe_webhook(json.dumps(body).encode(), headers, url=url, verified=verified)

    # --- what is known

    def task(self, task_id: str = "t1") -> Task:
        (found,) = (each for each in self.engine.ledger.tasks() if each.task_id == task_id)
        return found

    def state(self, task_id: str = "t1") -> str:
        return self.task(task_id).state.removeprefix(STATE)

    def rules(self, *levels: str) -> list[str]:
        """Names of the new findings at ``levels``, in order; by default of all that accuse somebody."""
        assert self.faults == []
        return [each.rule for each in self.found if each.level.value in (levels or GRAVE)]

    def informed(self) -> list[str]:
        """What was said of deliveries, for information."""
        return [name for name in self.rules("information") if name.endswith("-notification")]


@contextmanager
def application(telemetry: Telemetry | None = None, **settings: Any) -> Iterator[Application]:
    """A process that is instrumented with the application's own engine."""
    app = Application(**settings)
    known = {name: value for name, value in settings.items() if name != "webhook_silence"}
    with (telemetry or Telemetry()).instrumented(engine=app.engine, **known):
        yield app
