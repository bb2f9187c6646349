# SPDX-License-Identifier: Apache-2.0
"""Seed 004's program on our API, ``examples/seeds/seed_004.py``: start, webhook, continuation with a downgrade.

Each branch that raised in the original raises here, and each that returned returns. Where it is otherwise,
``docs/seeds.md`` says why.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from examples.seeds import seed_004
from otel_a2a import AgentCardStalenessError, CardTaskBoundaryError, TaskContinuationBlockedError
from tests.support.seeds import Agent, Raises, outcome, running


@pytest.fixture
def fenced_by_version() -> Iterator[Agent]:
    """Seed 004 to the letter."""
    with running("version-fenced") as agent:
        yield agent


@pytest.mark.parametrize(
    ("change", "raises"),
    [
        ("none", None),
        ("unreachable", AgentCardStalenessError),
        # Seed 004's name for it; seed 000 says CardTaskBoundaryError, of which the other one is a kind.
        ("skill gone", CardTaskBoundaryError),
    ],
)
def test_004_start_task(fenced_by_version: Agent, change: str, raises: Raises) -> None:
    """Creation is gated by discovery: where the capability cannot be confirmed, nothing is started."""
    fenced_by_version.remote.card()
    if change == "unreachable":
        fenced_by_version.undeploy()
    elif change == "skill gone":
        fenced_by_version.deploy(skills=("other",))
    with outcome(raises):
        assert seed_004.A2AClient(fenced_by_version.remote).start_task("export").delivery_mode == "polling"
    assert fenced_by_version.served.methods() == ([] if raises else ["SendMessage"])


@pytest.mark.parametrize(
    ("change", "seconds", "raises"),
    [
        ("none", 11, None),
        ("push gone", 11, AgentCardStalenessError),
        ("unreachable", 11, AgentCardStalenessError),
        # "Unconditionally, immediately before" has a length: a card of the last 10 seconds (webhook_card_window).
        ("unreachable", 9, None),
    ],
)
def test_004_register_webhook_for(fenced_by_version: Agent, change: str, seconds: float, raises: Raises) -> None:
    """Binding is gated by a fresh card: where that denies push, the task is polled, and nothing was bound."""
    client = seed_004.A2AClient(fenced_by_version.remote)
    started = client.start_task("export")
    fenced_by_version.passes(seconds)
    if change == "push gone":
        fenced_by_version.deploy(push=False)
    elif change == "unreachable":
        fenced_by_version.undeploy()
    with outcome(raises):
        client.register_webhook_for(started, "http://127.0.0.1:9/hook")
    assert started.delivery_mode == ("polling" if raises else "webhook")
    assert ("CreateTaskPushNotificationConfig" in fenced_by_version.served.methods()) is (raises is None)


@pytest.mark.parametrize("change", ["none", "unreachable", "push gone", "skill gone"])
def test_004_continue_task(fenced_by_version: Agent, change: str) -> None:
    """Whatever becomes of the card, the task is polled to its own end; without push it goes back to polling."""
    client = seed_004.A2AClient(fenced_by_version.remote)
    running_task = client.start_task("export")
    client.register_webhook_for(running_task, "http://127.0.0.1:9/hook")
    if change == "unreachable":
        fenced_by_version.undeploy()
    else:
        fenced_by_version.deploy(push=change != "push gone", skills=("other" if change == "skill gone" else "export",))
    assert client.continue_task(running_task).state == "working"
    assert running_task.delivery_mode == ("polling" if change == "push gone" else "webhook")
    fenced_by_version.shows["t-1"] = "completed"
    assert client.continue_task(running_task).state == "completed"
    polls = fenced_by_version.served.methods().count("GetTask")
    assert client.continue_task(running_task).state == "completed"
    assert fenced_by_version.served.methods().count("GetTask") == polls


def test_004_an_empty_poll_is_no_failure(fenced_by_version: Agent) -> None:
    """The client must not infer a failure from a poll that brought nothing; the task stays as it was."""
    client = seed_004.A2AClient(fenced_by_version.remote)
    running_task = client.start_task("export")
    fenced_by_version.silent = True
    with outcome(TaskContinuationBlockedError):
        client.continue_task(running_task)
    assert running_task.state == "working"
