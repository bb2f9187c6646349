# SPDX-License-Identifier: Apache-2.0
"""Seed 000's program on our API, ``examples/seeds/seed_000.py``: admission, absorbing states, retry, merging.

Each branch that raised in the original raises here, and each that returned returns. Where it is otherwise,
``docs/seeds.md`` says why.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from examples.seeds import seed_000
from otel_a2a import AgentCardStalenessError, CardTaskBoundaryError, TaskResurrectionError, local
from tests.support.seeds import Agent, Raises, outcome, running


@pytest.fixture
def authority() -> Iterator[Agent]:
    """Seeds 000 and 004 to the letter."""
    with running("authority") as agent:
        yield agent


@pytest.mark.parametrize(
    ("change", "raises"),
    [
        ("none", None),
        # AgentCardStalenessError is a CardTaskBoundaryError, and the name that seed 004 has for this.
        ("unreachable", AgentCardStalenessError),
        ("unreachable, with a copy", AgentCardStalenessError),
        ("skill gone", CardTaskBoundaryError),
    ],
)
def test_000_admit_new_task(authority: Agent, change: str, raises: Raises) -> None:
    """Where the card is unreachable or lacks the skill, no task is created; else one is."""
    if change == "unreachable, with a copy":
        authority.remote.card()
    if change.startswith("unreachable"):
        authority.undeploy()
    elif change == "skill gone":
        authority.deploy(skills=("other",))
    with outcome(raises):
        assert seed_000.admit_new_task(authority.remote, "export").task_id == "t-1"
    assert authority.served.methods() == ([] if raises else ["SendMessage"])
    assert raises is None or issubclass(raises, CardTaskBoundaryError)


def test_000_by_default_an_unexpired_copy_is_enough() -> None:
    """The profile decides: in ``default`` a copy of the card that has not expired admits new work all the same."""
    with running("default") as agent:
        agent.remote.card()
        agent.undeploy()
        assert seed_000.admit_new_task(agent.remote, "export").task_id == "t-1"


@pytest.mark.parametrize(
    ("old", "new", "raises"),
    [
        ("working", "completed", None),
        ("working", "failed", None),
        ("working", "canceled", None),
        ("submitted", "working", None),
        ("completed", "working", TaskResurrectionError),
        ("completed", "failed", TaskResurrectionError),
        ("canceled", "completed", TaskResurrectionError),
        # The seed's program raises here too; but to be told an end twice is no transition.
        ("completed", "completed", None),
    ],
)
def test_000_apply_status_event(authority: Agent, old: str, new: str, raises: Raises) -> None:
    """Terminal states are absorbing: nothing that the agent says afterwards reaches the record."""
    authority.begins_as = "submitted" if old == "submitted" else "working"
    record = seed_000.admit_new_task(authority.remote, "export")
    authority.shows["t-1"] = old
    seed_000.apply_status_event(authority.remote, record)
    authority.shows["t-1"] = new
    with outcome(raises):
        seed_000.apply_status_event(authority.remote, record)
    assert record.state == (old if raises else new)


@pytest.mark.parametrize("state", ["working", "completed"])
@pytest.mark.parametrize("change", ["unreachable", "skill gone"])
def test_000_reconcile_with_card(authority: Agent, state: str, change: str) -> None:
    """Live or ended, the task is as it was: the card's delta changes nothing, and the agent's own end is taken."""
    record = seed_000.admit_new_task(authority.remote, "export")
    authority.shows["t-1"] = state
    seed_000.apply_status_event(authority.remote, record)
    if change == "unreachable":
        authority.undeploy()
    else:
        authority.deploy(skills=("other",))
    seed_000.reconcile_with_card(authority.remote, record)
    assert record.state == state
    authority.shows["t-1"] = "completed"
    seed_000.apply_status_event(authority.remote, record)
    assert record.state == "completed"


@pytest.mark.parametrize(
    ("reason", "raises"),
    [("the skill is no longer advertised", CardTaskBoundaryError), ("transport timeout", None)],
)
def test_000_a_local_end_needs_a_transport_reason(authority: Agent, reason: str, raises: Raises) -> None:
    """A vanished skill fails no task; a timeout of the transport may."""
    record = seed_000.admit_new_task(authority.remote, "export")
    with outcome(raises):
        seed_000.give_up(record, reason)
    assert record.state == ("working" if raises else "failed")


@pytest.mark.parametrize(
    ("state", "task_id", "skills", "raises"),
    [
        ("canceled", "", ("export",), None),
        ("failed", "", ("export",), None),
        ("working", "", ("export",), CardTaskBoundaryError),
        ("canceled", "", ("other",), CardTaskBoundaryError),
        # Two rules find it, and the exception has the name of the first (seed 002's); the other one is in it.
        ("canceled", "t-1", ("export",), TaskResurrectionError),
    ],
)
def test_000_retry_task(authority: Agent, state: str, task_id: str, skills: tuple[str, ...], raises: Raises) -> None:
    """A retry takes an ended task, a fresh id, and a card that admits it."""
    record = seed_000.admit_new_task(authority.remote, "export")
    authority.shows["t-1"] = state
    seed_000.apply_status_event(authority.remote, record)
    authority.deploy(skills=skills)
    with local.findings() as found, outcome(raises):
        assert seed_000.retry_task(authority.remote, record, task_id).task_id == "t-2"
    assert authority.served.methods().count("SendMessage") == (1 if raises else 2)
    assert ("retry-of-live-task" in {each.rule for each in found}) is (state == "working" or bool(task_id))


@pytest.mark.parametrize(
    ("state", "from_task", "raises"),
    [
        ("working", "", None),
        ("completed", "", None),
        ("canceled", "", CardTaskBoundaryError),
        ("canceled", "t-2", CardTaskBoundaryError),
        ("working", "t-2", CardTaskBoundaryError),
    ],
)
def test_000_merge_artifact(authority: Agent, state: str, from_task: str, raises: Raises) -> None:
    """Nothing is merged into a canceled record, and nothing of another task into any."""
    record = seed_000.admit_new_task(authority.remote, "export")
    authority.shows["t-1"] = state
    seed_000.apply_status_event(authority.remote, record)
    with outcome(raises):
        seed_000.merge_artifact(record, "a-1", from_task)
    assert record.artifacts == ([] if raises else ["a-1"])


def test_000_by_default_a_canceled_record_takes_its_own_late_chunk() -> None:
    """The profile decides: in ``default`` a task's own artifact may land in its canceled record."""
    with running("default") as agent:
        record = seed_000.admit_new_task(agent.remote, "export")
        agent.shows["t-1"] = "canceled"
        seed_000.apply_status_event(agent.remote, record)
        seed_000.merge_artifact(record, "a-1")
    assert record.artifacts == ["a-1"]
