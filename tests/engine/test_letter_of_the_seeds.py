# SPDX-License-Identifier: Apache-2.0
"""What only a built-in profile asks: each seed to the letter, and the specification alone."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import CardFetchFailed, CardRequested, Decision, LocalDecision
from otel_a2a_policies import RULES
from tests.support.world import CANCELED, CARD_URL, COMPLETED, HOST, SUBMITTED, WORKING, World


def falls_due(world: World, seconds: float) -> list[tuple[str, str]]:
    """Time passes without traffic: the rules and agents of what falls due."""
    world.passes(seconds)
    return [(each.rule, each.agent) for each in world.engine.pass_time() if each.level.value != "information"]


def test_an_orphan_that_nobody_resolves() -> None:
    """Under ``fenced`` a live task is found a minute after its card has changed; under ``default`` it is none."""
    for profile, expected in (("fenced", [("orphan-unresolved", HOST)]), ("default", []), ("authority", [])):
        found = World(profile=profile, rule_set=RULES)
        found.card()
        found.send(WORKING)
        found.card(skills=("pay",))
        assert falls_due(found, 59) == []
        assert falls_due(found, 2) == expected
        assert falls_due(found, 3600) == []


@pytest.mark.parametrize("way_out", ["cancelled", "ended", "back", "restarted"])
def test_an_orphan_that_is_resolved(way_out: str) -> None:
    """It was cancelled, had ended, the card went back, or the task was made after the change."""
    found = World(profile="fenced", rule_set=RULES)
    found.card()
    if way_out == "restarted":
        found.card(skills=("pay",))
    found.send(WORKING)
    if way_out != "restarted":
        found.card(skills=("pay",))
    if way_out == "cancelled":
        found.cancel("t1", CANCELED)
    elif way_out == "ended":
        found.get("t1", COMPLETED)
    elif way_out == "back":
        found.card()
    assert falls_due(found, 3600) == []


def test_an_orphan_that_was_found_late() -> None:
    """An observer that never saw another card accuses nobody."""
    found = World(profile="fenced", rule_set=RULES)
    found.get("t1", WORKING)
    found.card(skills=("pay",))
    assert falls_due(found, 3600) == []


def test_a_live_task_that_is_submitted_again() -> None:
    """A2A forbids only the way back from an end, and so does ``spec``."""
    for profile, rules in (("default", ["backward-transition"]), ("spec", [])):
        found = World(profile=profile, rule_set=RULES)
        found.send(WORKING)
        found.get("t1", SUBMITTED)
        assert found.rules() == rules
        found.get("t1", COMPLETED)
        found.get("t1", SUBMITTED)
        assert found.rules()[len(rules) :] == ["backward-transition", "terminal-state-changed", "task-id-reused"]


@pytest.mark.parametrize(
    ("stated", "seconds", "stale"),
    [(None, 119, False), (None, 121, True), (60, 61, True), (300, 121, True), (300, 119, False)],
)
def test_a_card_under_version_fenced_is_fresh(stated: float | None, seconds: float, stale: bool) -> None:
    """120 seconds are the limit: a shorter age that is set wins, a longer one does not."""
    more: dict[str, Any] = {"max_card_age": stated} if stated is not None else {}
    found = World(profile="version-fenced", rule_set=RULES, **more)
    found.card()
    found.passes(seconds)
    found.send(WORKING)
    assert found.levels("created-from-stale-card") == (["violation"] if stale else [])


def test_a_cards_own_age_is_no_excuse_under_version_fenced() -> None:
    """What the card says of its own age counts only where it is shorter."""
    for max_age, seconds, expected in ((3600.0, 121, ["violation"]), (30.0, 31, ["violation"]), (30.0, 29, [])):
        found = World(profile="version-fenced", rule_set=RULES)
        found.card()
        next(iter(found.engine.ledger.by_endpoint.values())).documents[(CARD_URL, False, "")].max_age = max_age
        found.passes(seconds)
        found.send(WORKING)
        assert found.levels("created-from-stale-card") == expected


@pytest.mark.parametrize(
    ("profile", "level"), [("default", "information"), ("version-fenced", "information"), ("authority", "violation")]
)
def test_a_late_artifact_in_a_canceled_record(profile: str, level: str) -> None:
    """Seed 000 to the letter closes the record of a canceled task, also to what its own task still sends."""
    found = World(profile=profile, rule_set=RULES)
    found.send(WORKING)
    found.cancel("t1", CANCELED)
    found.observe(LocalDecision(decision=Decision.ARTIFACT_MERGED, task_id="t1", artifact_id="a1", source_task_id="t1"))
    assert found.levels("artifact-merged-into-other-task") == [level]


@pytest.mark.parametrize(
    ("profile", "level"), [("default", "improvement"), ("version-fenced", "violation"), ("authority", "violation")]
)
def test_new_work_on_a_copy_of_a_card_that_cannot_be_had(profile: str, level: str) -> None:
    """A copy that has not expired is an excuse only where seeds 000 and 004 are not taken to the letter."""
    found = World(profile=profile, rule_set=RULES)
    found.card()
    found.passes(10)
    request = CardRequested(url=CARD_URL, server_address=HOST)
    found.observe(request)
    found.observe(CardFetchFailed(request=request, reason="503", status=503))
    found.send(WORKING)
    assert found.levels("created-without-card") == [level]
