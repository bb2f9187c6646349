# SPDX-License-Identifier: Apache-2.0
"""Seed 001's program on our API, ``examples/seeds/seed_001.py``: continuation, waiting, divergence.

Each branch that raised in the original raises here, and each that returned returns. Where it is otherwise,
``docs/seeds.md`` says why.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from examples.seeds import seed_001
from otel_a2a import AgentCardDivergenceError, local
from tests.support.seeds import Agent, Raises, outcome, running


@contextmanager
def declared(history: bool = True, deadline: float | None = 30.0, version: str = "0.3") -> Iterator[Agent]:
    """Seed 001 to the letter, at an agent of A2A 0.3, whose cards have a flag for their history."""
    with running("declared-history", version, task_deadline=deadline) as agent:
        agent.deploy(history=history)
        agent.remote.card()
        yield agent


@pytest.mark.parametrize(
    ("history", "version", "answers_with", "raises"),
    [
        (True, "0.3", "t-2", AgentCardDivergenceError),
        (False, "0.3", "t-2", None),
        (True, "0.3", "", None),
        (False, "0.3", "", None),
        # The seed takes a new id for legal where the card declares no history. A2A 1.0 §3.4.2 does not.
        (False, "1.0", "t-2", AgentCardDivergenceError),
    ],
)
def test_001_reconcile_continuation(history: bool, version: str, answers_with: str, raises: Raises) -> None:
    """A new task id on continuation is a divergence where the card promised continuity; its id is in the exception."""
    with declared(history, version=version) as agent:
        task_id = agent.remote.send("book")["id"]
        agent.answers_with = answers_with
        try:
            answered = seed_001.reconcile_continuation(agent.remote, task_id, "tenant 7")
        except AgentCardDivergenceError as error:
            assert raises
            assert (error.task_id, error.observed) == ("t-1", "t-2")
            assert "t-2" in error.detail and error.request_sent
        else:
            assert not raises
            assert answered["id"] == (answers_with or task_id)


def test_001_a_new_id_diverges_whatever_was_seen_before() -> None:
    """The seed's program returns where the task was not seen working; the promise was about the id, not about that."""
    with declared() as agent:
        agent.begins_as = "submitted"
        agent.remote.send("book")
        agent.answers_with = "t-2"
        with pytest.raises(AgentCardDivergenceError):
            seed_001.reconcile_continuation(agent.remote, "t-1", "tenant 7")


@pytest.mark.parametrize(
    ("deadline", "seconds", "state", "raises"),
    [
        (30.0, 31, "working", AgentCardDivergenceError),
        (30.0, 29, "working", None),
        (30.0, 31, "completed", None),
        (30.0, 31, "input-required", None),
        # Without history the program of the seed polls on, and its text asks for a deadline: who sets none polls on.
        (None, 31, "working", None),
    ],
)
def test_001_probe(deadline: float | None, seconds: float, state: str, raises: Raises) -> None:
    """A task that is still working past its deadline has diverged, not failed."""
    with declared(deadline=deadline) as agent:
        agent.remote.send("book")
        agent.shows["t-1"] = state
        seed_001.probe(agent.remote, "t-1")
        agent.passes(seconds)
        with outcome(raises):
            seed_001.probe(agent.remote, "t-1")


def test_001_a_deadline_holds_whatever_the_card_declares() -> None:
    """The seed's program polls on where the card declares no history, and its text calls that a violation."""
    with declared(history=False) as agent:
        agent.remote.send("book")
        agent.passes(31)
        with pytest.raises(AgentCardDivergenceError):
            seed_001.probe(agent.remote, "t-1")


def test_001_an_expected_state_does_not_come() -> None:
    """Who waits for input-required bounds the wait: past it, the agent has diverged, whatever its card declares."""
    with declared(deadline=None) as agent:
        agent.remote.send("book")
        local.expect_state("t-1", "input-required", within=30)
        agent.passes(31)
        with pytest.raises(AgentCardDivergenceError) as caught:
            seed_001.probe(agent.remote, "t-1")
    assert caught.value.declared == "expected-state-missed"


@pytest.mark.parametrize(
    ("history", "states", "raises"),
    [
        (True, "submitted working input-required", None),
        (True, "submitted input-required", AgentCardDivergenceError),
        (True, "submitted working completed", None),
        # The seed's program raises here too, for any agent; without the flag nobody has promised it.
        (False, "submitted input-required", None),
    ],
)
def test_001_state_machine_ordering(history: bool, states: str, raises: Raises) -> None:
    """Input-required without prior working breaks the order that the card declares."""
    with declared(history) as agent:
        agent.shows["stream"] = states
        with outcome(raises):
            seed_001.start_task(agent.remote, "book")
