# SPDX-License-Identifier: Apache-2.0
"""Settings at agents: which entries count where, and that rules, deadlines and exceptions go by them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from otel_a2a.config import ActionRule, AgentSettings, Settings, names_host
from otel_a2a.engine.findings import Strictness
from otel_a2a.engine.places import Places
from otel_a2a.engine.records import Disposition
from otel_a2a.engine.strictness import CACHE, Policy
from otel_a2a.observations import Channel, Form, Method, TaskSeen
from otel_a2a_policies import RULES
from tests.support.world import CARD_URL, COMPLETED, ENDPOINT, HOST, INPUT, WORKING, World, message

OTHER = "https://other.example/a2a"


def at(host: str, **changes: object) -> AgentSettings:
    return AgentSettings(host, tuple(changes.items()))


def world(tmp_path: Path, host: str, changes: str, **settings: Any) -> World:
    """A world that is set otherwise at ``host``."""
    path = tmp_path / "mine.toml"
    path.write_text(f'[[agents]]\nhost = "{host}"\nsettings = {{ {changes} }}\n', "utf-8")
    return World(profile=str(path), rule_set=RULES, **settings)


def falls_due(world: World, seconds: float) -> list[tuple[str, str]]:
    """Time passes without traffic: the rules and agents of what falls due."""
    world.passes(seconds)
    return [(each.rule, each.agent) for each in world.engine.pass_time() if each.level.value != "information"]


# --- which settings


def test_an_agent_without_entries_has_the_settings_of_all() -> None:
    """The very same object: nothing is copied where nothing differs."""
    settings = Settings(agents=(at("*.partner.example", task_deadline=5.0),))
    assert Places(settings).at("elsewhere") is settings
    assert Places(Settings()).at(HOST) == Settings()


def test_settings_are_resolved_once() -> None:
    """The second look finds what the first one made."""
    places = Places(Settings(agents=(at("*", task_deadline=5.0),)))
    assert places.at(HOST) is places.at(HOST)


def test_the_more_exact_glob_wins_then_the_later_entry_for_each_setting() -> None:
    """Each setting is decided on its own, as lines of policy are."""
    places = Places(
        Settings(
            agents=(
                at("agent.example", task_deadline=1.0),
                at("*.example", task_deadline=2.0, watched_elsewhere=True),
                at("*.example", max_card_age=3.0),
                at("*.example", max_card_age=4.0),
            )
        )
    )
    found = places.at("agent.example")
    assert (found.task_deadline, found.watched_elsewhere, found.max_card_age) == (1.0, True, 4.0)


def test_a_port_can_be_named() -> None:
    """``host:port`` names one of two agents at a host; the host alone names both."""
    places = Places(Settings(agents=(at("h:1", task_deadline=1.0), at("h", max_card_age=2.0))))
    first, second = places.at("h", "h:1"), places.at("h", "h:2")
    assert (first.task_deadline, first.max_card_age) == (1.0, 2.0)
    assert (second.task_deadline, second.max_card_age) == (None, 2.0)


@pytest.mark.parametrize(
    ("glob", "host", "label"),
    [
        ("Agent.Example", "agent.example", "agent.example:443"),
        ("[::1]", "::1", "::1:8000"),
        ("[::1]:8000", "::1", "::1:8000"),
        ("[FE80:*]:*", "fe80::7", "fe80::7:8000"),
        ("agent-[ab].example", "agent-b.example", ""),
    ],
)
def test_hosts_are_named_as_people_write_them(glob: str, host: str, label: str) -> None:
    """In any case, and IPv6 addresses in their brackets, which are a set of characters elsewhere."""
    assert Places(Settings(agents=(at(glob, task_deadline=1.0),))).at(host, label).task_deadline == 1.0
    assert (
        Policy(Settings(policy=(ActionRule(Strictness.OFF, agent=glob),))).action("any", host, label) is Strictness.OFF
    )
    _, _, port = label.rpartition(":")
    assert names_host([glob], host, int(port) if port else None)


@pytest.mark.parametrize(("pinned", "cards"), [(True, ("*",)), (False, ())])
def test_pinned_puts_an_agent_among_the_pinned_cards_or_takes_it_out(pinned: bool, cards: tuple[str, ...]) -> None:
    """It wins over the list that holds for all."""
    places = Places(Settings(pinned_cards=("h*",), agents=(at("h", pinned=pinned),)))
    assert places.at("h").pinned_cards == cards
    assert places.at("h2").pinned_cards == ("h*",)


def test_what_is_remembered_is_bounded() -> None:
    """However many hosts are called, the memory for them does not grow."""
    places = Places(Settings(agents=(at("h1*", task_deadline=5.0),)))
    for number in range(CACHE + 100):
        assert (places.at(f"h{number}").task_deadline is None) == (not f"{number}".startswith("1"))
    assert len(places._held) == CACHE


# --- what goes by them


def test_a_deadline_at_one_agent(tmp_path: Path) -> None:
    """A task is stuck at the agent that has a deadline, and at no other."""
    found = world(tmp_path, HOST, "task_deadline = 60")
    found.send(WORKING)
    found.send(WORKING, task="t2", endpoint=OTHER)
    assert falls_due(found, 61) == [("task-stuck", HOST)]
    assert falls_due(found, 1000) == []


def test_a_deadline_for_all_but_one_agent(tmp_path: Path) -> None:
    """Where an agent has a longer deadline, the shorter one of all does not count."""
    found = world(tmp_path, HOST, "task_deadline = 600", task_deadline=60)
    found.send(WORKING)
    found.send(WORKING, task="t2", endpoint=OTHER)
    assert falls_due(found, 61) == [("task-stuck", "other.example")]
    assert falls_due(found, 600) == [("task-stuck", HOST)]


def test_an_agent_is_where_it_is_called(tmp_path: Path) -> None:
    """A card out of a catalogue makes no agent of the catalogue: its calls say where the agent is."""
    found = world(tmp_path, HOST, "task_deadline = 60")
    found.card(url="https://catalogue.example/cards/pay.json")
    found.send(WORKING)
    assert falls_due(found, 61) == [("task-stuck", HOST)]


def test_a_task_that_is_watched_elsewhere(tmp_path: Path) -> None:
    """No rule about not watching speaks of the agent that another process watches."""
    found = world(tmp_path, HOST, "watched_elsewhere = true", task_deadline=60)
    found.send(WORKING)
    found.send(WORKING, task="t2", endpoint=OTHER)
    assert falls_due(found, 61) == [("task-stuck", "other.example")]


def test_silence_of_webhooks_at_one_agent(tmp_path: Path) -> None:
    """A task with a webhook may be silent for as long as its agent is given."""
    found = world(tmp_path, HOST, "webhook_silence = 30")
    for endpoint, task in ((ENDPOINT, "t1"), (OTHER, "t2")):
        found.send(WORKING, task=task, push=True, endpoint=endpoint)
    assert falls_due(found, 31) == [("task-unwatched", HOST)]


def test_ids_that_a_gateway_rewrites(tmp_path: Path) -> None:
    """Behind a declared gateway another id in an answer is no divergence, for rule and record; elsewhere it is."""
    found = world(tmp_path, HOST, "gateway_rewrites_ids = true")
    for endpoint, task in ((ENDPOINT, "t1"), (OTHER, "t2")):
        found.send(WORKING, task=task, endpoint=endpoint)
        call = found.leaves(Method.SEND_MESSAGE, task, sent=message("more", "m2"), endpoint=endpoint)
        found.answers(call, WORKING, task=f"{task}-again")
    assert [(each.rule, each.agent) for each in found.findings if each.level.value == "violation"] == [
        ("continuation-diverged", "other.example")
    ]
    assert found.task("t1").disposition == Disposition.ACTIVE
    assert found.task("t2").disposition == Disposition.DIVERGED


def test_clocks_that_differ_at_one_agent(tmp_path: Path) -> None:
    """An agent whose replicas' clocks are minutes apart has shown no older version; the other one has."""
    found = world(tmp_path, HOST, "clock_skew = 300")
    for endpoint, task in ((ENDPOINT, "t1"), (OTHER, "t2")):
        found.send(WORKING, task=task, endpoint=endpoint)
        for timestamp in (1_000.0, 900.0):
            read = found.leaves(Method.GET_TASK, task, endpoint=endpoint)
            found.answers(read, WORKING, timestamp=timestamp)
    assert [(each.rule, each.agent) for each in found.findings] == [("snapshot-rolled-back", "other.example")]


def test_a_subscription_at_an_agent_whose_clocks_differ(tmp_path: Path) -> None:
    """The record goes by the agent's own skew as the rules do: what is older by less than that is news."""
    found = world(tmp_path, HOST, "clock_skew = 300")
    for endpoint, task in ((ENDPOINT, "t1"), (OTHER, "t2")):
        first = found.leaves(Method.SEND_MESSAGE, endpoint=endpoint)
        found.answers(first, WORKING, task=task, timestamp=1_000.0)
        stream = found.leaves(Method.SUBSCRIBE_TO_TASK, task, endpoint=endpoint)
        found.answers(stream, INPUT, channel=Channel.STREAM, form=Form.UPDATE, timestamp=900.0)
    assert (found.task("t1").state, found.task("t2").state) == (INPUT, WORKING)


@pytest.mark.parametrize(
    ("asked", "answered", "diverged"),
    [
        ("", "c-1", False),
        ("", "c-2", True),
        ("c-1", "c-1", False),
        ("c-1", "c-2", True),
        ("c-2", "c-2", False),
        ("c-1", "", False),
        ("", "", False),
    ],
)
def test_what_a_gateway_says_of_what_belongs_together(asked: str, answered: str, diverged: bool) -> None:
    """Its correlation is compared, the request's or else the named task's, and only where both sides state one."""
    found = World(rule_set=RULES, gateway_rewrites_ids=True, correlation_key="X-Conversation")
    first = found.leaves(Method.SEND_MESSAGE)
    first.correlation = "c-1"
    found.answers(first, WORKING)
    call = found.leaves(Method.SEND_MESSAGE, "t1", sent=message("more", "m2"))
    call.correlation = asked
    found.observe(
        TaskSeen(
            call=call,
            channel=Channel.RESPONSE,
            form=Form.SNAPSHOT,
            task_id="t2",
            context_id="c1",
            state=WORKING,
            correlation=answered,
        )
    )
    assert found.rules() == (["continuation-diverged"] if diverged else [])
    assert found.task("t1").disposition == (Disposition.DIVERGED if diverged else Disposition.ACTIVE)


def test_a_fence_around_one_agent(tmp_path: Path) -> None:
    """Only its tasks are orphaned by a change of the card."""
    found = world(tmp_path, HOST, "fenced = true")
    other_card = "https://other.example/.well-known/agent-card.json"
    for url, endpoint, task in ((CARD_URL, ENDPOINT, "t1"), (other_card, OTHER, "t2")):
        found.card(url=url, interfaces=(endpoint,))
        found.send(WORKING, task=task, endpoint=endpoint)
        found.card(url=url, interfaces=(endpoint,), skills=("pay", "refund", "ship"))
        found.get(task, WORKING, endpoint=endpoint)
    assert [(each.rule, each.agent) for each in found.findings if each.level.value == "violation"] == [
        ("continued-across-revisions", HOST)
    ]


@pytest.mark.parametrize(("changes", "raises"), [("raise_in_stream = true", True), ("raise_in_stream = false", False)])
def test_what_may_raise_at_one_agent(changes: str, raises: bool, tmp_path: Path) -> None:
    """In a stream an exception ends some servers' runs: that is a matter of the server."""
    found = world(tmp_path, HOST, changes, strictness="raise", raise_in_stream=not raises)
    found.send(WORKING)
    stream = found.leaves(Method.SUBSCRIBE_TO_TASK, "t1")
    verdict = found.streams(stream, COMPLETED, WORKING)
    assert (verdict.error is not None) == raises


def test_a_level_that_raises_at_one_agent(tmp_path: Path) -> None:
    """``raise_on`` may be lower where an agent is to be held to more."""
    found = world(tmp_path, HOST, 'raise_on = "improvement"', strictness="raise")
    for endpoint, error in ((ENDPOINT, True), (OTHER, False)):
        found.send(WORKING, task="t1", endpoint=endpoint)
        call = found.leaves(Method.GET_TASK, "t1", endpoint=endpoint)
        assert (found.answers(call, None).error is not None) == error
        assert [each.rule for each in found.last.findings] == ["unknown-state"]


# --- a pinned card


def pinned(found: World) -> World:
    """An agent whose card changes under its version, drops what a task uses, and is old when new work is sent."""
    found.card()
    found.send(WORKING, push=True)
    found.card(push=False, skills=())
    found.message("t1", WORKING)
    found.leaves(Method.CREATE_PUSH_CONFIG, "t1", push=True)
    found.passes(3600)
    found.engine.pass_time()
    found.send(WORKING, task="t3", sent=message("new", "m3"))
    return found


CARD_RULES = {
    "card-changed-under-same-version",
    "continued-across-revisions",
    "webhook-denied-by-card",
    "created-from-stale-card",
}


@pytest.mark.parametrize("how", ["at the agent", "in the list", "hardly"])
def test_no_rule_about_cards_speaks_of_a_pinned_agent(how: str, tmp_path: Path) -> None:
    """All of them are silent, whichever way the card is pinned; without that all of them speak."""
    changes = "max_card_age = 600, immutable_per_version = true"
    if how != "in the list":
        changes += f", pinned = {'true' if how == 'at the agent' else 'false'}"
    more: dict[str, Any] = {"pinned_cards": HOST} if how == "in the list" else {}
    found = pinned(world(tmp_path, HOST, changes, **more))
    spoken = {each.rule for each in found.findings} & CARD_RULES
    assert spoken == (CARD_RULES if how == "hardly" else set())


def test_a_webhook_that_a_pinned_card_promises(tmp_path: Path) -> None:
    """What the agent's own card withdraws is no reason to stop waiting where that card does not count."""
    for changes, expected in (("pinned = true", []), ("pinned = false", [("waiting-on-withdrawn-webhook", HOST)])):
        found = world(tmp_path, HOST, changes)
        found.card()
        found.send(WORKING, push=True)
        found.card(push=False)
        assert falls_due(found, 61) == expected
