# SPDX-License-Identifier: Apache-2.0
"""The examples: a real agent that pushes, in a process of its own, and applications that it pushes to, in this one."""

from __future__ import annotations

import importlib.util
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

from otel_a2a import semconv
from otel_a2a.cli.demo.programs import clean_environment
from tests.support.servers import serve
from tests.support.telemetry import Telemetry
from tests.webhooks.application import STATE
from tests.webhooks.test_wsgi import served as serve_wsgi

EXAMPLES = Path(__file__).parents[2] / "examples" / "webhooks"
SERVERS: dict[str, Callable[[Any], AbstractContextManager[str]]] = {
    "fastapi_app": serve,
    "flask_app": serve_wsgi,
}
PATIENCE = 30.0


def example(name: str) -> ModuleType:
    """The program, as a module."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # FastAPI looks names of annotations up there.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def agent() -> Iterator[str]:
    """The URL of the agent."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, str(EXAMPLES / "agent.py"), str(port)]
    process = subprocess.Popen(command, env=clean_environment(), stdin=subprocess.DEVNULL)
    try:
        until(lambda: is_up(port))
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def is_up(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def until(true: Callable[[], bool]) -> None:
    """Wait for something to be true; fail if it never is."""
    give_up = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < give_up, "it never came"
        time.sleep(0.05)


@pytest.mark.parametrize("name", SERVERS)
def test_an_application_is_told_of_its_task(agent: str, name: str, telemetry: Telemetry) -> None:
    """It orders, does not wait, and is told how it goes; the trace shows the task's life, and nobody is accused."""
    program = example(name)
    with (
        telemetry.instrumented(strictness="raise", transition_events=True),
        SERVERS[name](program.application(agent)) as base,
        httpx.Client(base_url=base, timeout=PATIENCE) as client,
    ):
        task_id = client.post("/orders", params={"what": "loaf"}).raise_for_status().json()["task"]
        # The span of the last state that is left is written when the application has been told of the end.
        until(lambda: telemetry.names()[f"task {STATE}WORKING"] == 1)
        until(lambda: client.get(f"/orders/{task_id}").json()[-1:] == [f"{STATE}COMPLETED"])
        # Somebody who is not the agent.
        forged = {"statusUpdate": {"taskId": task_id, "status": {"state": f"{STATE}FAILED"}}}
        assert client.post("/a2a/webhook", json=forged).status_code == 401
        assert client.get(f"/orders/{task_id}").json() == [f"{STATE}WORKING", f"{STATE}COMPLETED"]
    assert [event.attributes[semconv.SECURITY_RULE_NAME] for event in telemetry.events()] == []
    created = telemetry.span("SendMessage")
    for state in ("SUBMITTED", "WORKING"):
        span = telemetry.span(f"task {STATE}{state}")
        assert span.parent is not None and span.parent.span_id == created.context.span_id
    (told,) = [
        event
        for event in telemetry.events(semconv.EVENT_TRANSITION)
        if event.attributes[semconv.A2A_TASK_STATE] == f"{STATE}COMPLETED"
    ]
    assert told.attributes[semconv.TASK_STATE_SOURCE] == "webhook"


@pytest.mark.parametrize("name", SERVERS)
def test_a_forgery_that_is_let_in_is_told(
    agent: str, name: str, telemetry: Telemetry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An application that forgets to look at the token takes a forgery for the agent's word; otel-a2a does not."""
    program = example(name)
    with (
        telemetry.instrumented(),
        SERVERS[name](program.application(agent)) as base,
        httpx.Client(base_url=base, timeout=PATIENCE) as client,
    ):
        task_id = client.post("/orders", params={"what": "loaf"}).raise_for_status().json()["task"]
        monkeypatch.setattr(program, "TOKEN", "")
        forged = {"statusUpdate": {"taskId": task_id, "status": {"state": f"{STATE}FAILED"}}}
        assert client.post("/a2a/webhook", json=forged).status_code == 204
        assert f"{STATE}FAILED" in client.get(f"/orders/{task_id}").json()
    (event,) = telemetry.events()
    assert event.attributes[semconv.SECURITY_RULE_NAME] == "unverified-notification"
    assert telemetry.findings() == []


def test_the_page_names_what_is_there() -> None:
    """Every program that the README tells to start exists, and the other way round."""
    page = (EXAMPLES / "README.md").read_text("utf-8")
    assert set(re.findall(r"(\w+\.py)", page)) == {path.name for path in EXAMPLES.glob("*.py")}
