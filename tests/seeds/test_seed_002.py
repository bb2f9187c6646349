# SPDX-License-Identifier: Apache-2.0
"""Seed 002's program on our API, ``examples/seeds/seed_002.py``: card revisions and task handles.

Each branch that raised in the original raises here, and each that returned returns. Where it is otherwise,
``docs/seeds.md`` says why.
"""

from __future__ import annotations

from typing import Any

import pytest

from examples.seeds import seed_002
from otel_a2a import TaskResurrectionError, card_revision, local
from tests.support.seeds import Raises, outcome, running


@pytest.mark.parametrize(
    ("profile", "old", "new", "card_changes", "raises"),
    [
        ("fenced", "submitted", "working", {}, None),
        ("fenced", "working", "completed", {}, None),
        ("fenced", "working", "input-required", {}, None),
        ("fenced", "input-required", "working", {}, None),
        ("fenced", "working", "submitted", {}, TaskResurrectionError),
        ("fenced", "completed", "working", {}, TaskResurrectionError),
        ("fenced", "completed", "failed", {}, TaskResurrectionError),
        ("fenced", "working", "working", {"streaming": False}, TaskResurrectionError),
        ("fenced", "working", "completed", {"skills": ("export", "more")}, TaskResurrectionError),
        # The seed's LEGAL_EDGES leave out what polling shows: a state twice, and one that was passed between two polls.
        ("fenced", "working", "working", {}, None),
        ("fenced", "completed", "completed", {}, None),
        ("fenced", "submitted", "completed", {}, None),
        ("fenced", "submitted", "input-required", {}, None),
        ("fenced", "input-required", "completed", {}, None),
        # Seeds 000 and 004 contradict: there no card gates a read. In other profiles the read is what re-affirms.
        ("default", "working", "completed", {"skills": ("other",)}, None),
        ("authority", "working", "completed", {"skills": ("other",)}, None),
        ("default", "working", "submitted", {"skills": ("other",)}, TaskResurrectionError),
    ],
)
def test_002_continue_task(profile: str, old: str, new: str, card_changes: dict[str, Any], raises: Raises) -> None:
    """A handle is good for its revision, and for a state that does not go back."""
    with running(profile) as agent:
        agent.begins_as = "submitted" if old == "submitted" else "working"
        handle = seed_002.start_task(agent.remote, "charge")
        assert handle.card_revision == card_revision(agent.remote.card() or {})
        agent.shows["t-1"] = old
        handle = seed_002.continue_task(agent.remote, handle)
        if card_changes:
            agent.deploy(**card_changes)
        agent.shows["t-1"] = new
        reads = agent.served.methods().count("GetTask")
        with outcome(raises):
            assert seed_002.continue_task(agent.remote, handle).last_state == new
        read = agent.served.methods().count("GetTask") - reads
    assert read == (0 if profile == "fenced" and card_changes else 1)


def test_002_the_way_out_is_free() -> None:
    """An orphan may be canceled and abandoned, and its work begun anew under the new revision."""
    with running("fenced") as agent:
        handle = seed_002.start_task(agent.remote, "charge")
        agent.deploy(skills=("other",))
        agent.remote.card()
        with local.findings() as found:
            seed_002.give_up(agent.remote, handle)
            assert seed_002.start_task(agent.remote, "charge again").task_id == "t-2"
    assert [each.rule for each in found if each.level != "information"] == []
