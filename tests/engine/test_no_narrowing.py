# SPDX-License-Identifier: Apache-2.0
"""Cards that change and take nothing away, return, or say nothing about the task at hand (rules.md, G4 to G6)."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.engine.card_records import HISTORY
from otel_a2a.engine.ledger import DOCUMENTS
from otel_a2a.observations import CardFetched, CardFetchFailed, CardRequested, Method
from tests.support.world import CARD_URL, ENDPOINT, WORKING, World, message

RULE = "continued-across-revisions"
MOVED = "https://agent.example/v2"
HARMLESS: dict[str, dict[str, Any]] = {
    "description": {"description": "better words"},
    "a skill more": {"skills": ("pay", "refund", "ship")},
    "an interface more": {"interfaces": (ENDPOINT, MOVED)},
    "an interface more, preferred": {"interfaces": (MOVED, ENDPOINT)},
}


def streaming_task_with_webhook(**card: Any) -> World:
    """A task that uses all that a card can promise, and its agent's card."""
    world = World()
    world.card(**card)
    world.streams(world.leaves(Method.SEND_STREAMING_MESSAGE, push=True), WORKING)
    return world


# --- it does not fire: nothing narrowed


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_copy_at_another_address_that_is_overruled(confirmed: bool) -> None:
    """A gateway shows less than the agent, and the agent's own card, fetched since, is as it was."""
    gateway = "https://gateway.example/agents/pay/.well-known/agent-card.json"
    world = streaming_task_with_webhook()
    world.card(url=gateway)
    world.card(url=gateway, skills=("pay",))
    if confirmed:
        world.card_confirmed()
    else:
        world.card()
    world.message("t1")
    assert not world.rules()


def test_a_copy_at_another_address_that_is_older_overrules_nothing() -> None:
    """The newest card is what the agent says now, wherever it was had."""
    gateway = "https://gateway.example/agents/pay/.well-known/agent-card.json"
    world = streaming_task_with_webhook()
    world.card(url=gateway)
    world.card(skills=("pay",))
    world.message("t1")
    assert world.rules() == [RULE]


@pytest.mark.parametrize("change", HARMLESS.values(), ids=HARMLESS)
def test_a_change_that_takes_nothing_away(change: dict[str, Any]) -> None:
    """Prose, more skills, more interfaces and their order are no narrowing."""
    world = streaming_task_with_webhook()
    world.card(**change)
    world.message("t1", WORKING)
    assert not world.rules()


@pytest.mark.parametrize(
    "change", [{"streaming": False}, {"push": False}, {"streaming": False, "push": False}], ids=str
)
def test_what_the_task_does_not_use(change: dict[str, Any]) -> None:
    """A polled task needs neither streaming nor push."""
    world = World()
    world.card()
    world.send(WORKING)
    world.card(**change)
    world.message("t1", WORKING)
    assert not world.rules()


def test_a_webhook_that_was_deleted() -> None:
    """A task without its webhook needs no push any more."""
    world = World()
    world.card()
    world.send(WORKING, push=True)
    world.leaves(Method.DELETE_PUSH_CONFIG, "t1")
    world.card(push=False)
    world.message("t1", WORKING)
    assert not world.rules()


def test_what_the_card_never_promised() -> None:
    """Streaming that was not advertised cannot be withdrawn."""
    world = streaming_task_with_webhook(streaming=False)
    world.card(streaming=False, description="other")
    world.message("t1", WORKING)
    assert not world.rules()


def test_another_interface_is_gone() -> None:
    """Only the interface in use counts."""
    world = World()
    world.card(interfaces=(ENDPOINT, MOVED))
    world.send(WORKING)
    world.card(interfaces=(ENDPOINT,))
    world.message("t1", WORKING)
    assert not world.rules()


def test_the_card_is_confirmed() -> None:
    """304 is the same revision."""
    world = World()
    world.card()
    world.send(WORKING)
    world.card_confirmed()
    world.message("t1", WORKING)
    assert not world.rules()


def test_a_fetch_that_fails_and_a_document_that_is_no_card() -> None:
    """A failed discovery narrows nothing (seed 004)."""
    world = World()
    world.card()
    world.send(WORKING)
    world.observe(CardFetchFailed(request=CardRequested(url=CARD_URL), reason="503", status=503))
    world.observe(CardFetched(request=CardRequested(url=CARD_URL), status=200, revision="sha256:x", digest="sha256:x"))
    world.message("t1", WORKING)
    assert not world.rules()


# --- it does not fire: known revisions


def test_a_rolling_deploy_that_is_rolled_back() -> None:
    """A, B, A: back to the revision of its creation, the task is where it was."""
    world = World()
    world.card()
    world.send(WORKING)
    for skills in (("pay",), ("pay", "refund")) * 3:
        world.card(skills=skills)
    world.message("t1", WORKING)
    assert not world.rules()


def test_a_rolling_deploy_that_narrows_nothing() -> None:
    """A and B behind a load balancer, each as good as the other."""
    world = World()
    world.card(skills=("pay",))
    world.send(WORKING)
    for skills in (("pay", "ship"), ("pay",)) * 3:
        world.card(skills=skills)
        world.message("t1", WORKING)
        world.get("t1", WORKING)
    assert not world.rules()


def test_a_card_that_changes_while_the_creating_send_is_under_way() -> None:
    """The task may have been made under either revision, so it knows both."""
    world = World()
    world.card()
    send = world.leaves(Method.SEND_MESSAGE)
    world.card(skills=("pay",))
    world.answers(send, WORKING)
    world.message("t1", WORKING)
    world.card()
    world.message("t1", WORKING, sent=message("and more", "m3"))
    assert not world.rules()


def test_narrower_than_one_known_revision_but_not_than_another() -> None:
    """A task made under {a} does not depend on b, which came and went while it lived."""
    world = World()
    world.card(skills=("a",))
    world.send(WORKING)
    world.card(skills=("a", "b"))
    world.get("t1", WORKING)
    world.card(skills=("a", "c"))
    world.message("t1", WORKING)
    assert not world.rules()


@pytest.mark.parametrize("method", [Method.GET_TASK, Method.SUBSCRIBE_TO_TASK])
def test_a_read_re_affirms(method: str) -> None:
    """One read sent after the change, and answered whole, lets the task go on."""
    world = streaming_task_with_webhook()
    world.card(skills=("pay",))
    world.answers(world.leaves(method, "t1"), WORKING)
    world.message("t1", WORKING)
    assert not world.rules()


def test_a_subscription_answered_by_live_updates_re_affirms() -> None:
    """An agent that goes on to stream the task has it."""
    world = World()
    world.card()
    world.send(WORKING)
    world.card(skills=("pay",))
    world.streams(world.leaves(Method.SUBSCRIBE_TO_TASK, "t1"), WORKING)
    world.message("t1", WORKING)
    assert not world.rules()


def test_a_read_with_partial_artifacts_that_are_all_there() -> None:
    """The ids count: what is still growing is there."""
    world = World()
    world.card()
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE)
    world.streams(stream, WORKING)
    world.artifact(stream, "a1")
    world.card(skills=("pay",))
    read = world.leaves(Method.GET_TASK, "t1")
    world.artifact(stream, "a2")
    world.answers(read, WORKING, holds=("a1",))
    world.message("t1", WORKING)
    assert not world.rules()


def test_a_history_that_was_forgotten() -> None:
    """After more revisions than are remembered, nothing is known of the one the task was made under."""
    world = World()
    world.card(skills=("a", "b"))
    world.send(WORKING)
    for number in range(HISTORY + 1):
        world.card(skills=(f"s{number}",))
    world.message("t1", WORKING)
    assert not world.rules()


# --- it does not fire: another document (G6)


def test_the_first_card_comes_after_the_task() -> None:
    """The first version seen is the one the task is known under."""
    world = World()
    world.send(WORKING)
    world.card(skills=("pay",))
    world.message("t1", WORKING)
    assert not world.rules()


def test_an_extended_card_beside_the_public_one() -> None:
    """Two kinds of document are two histories, whichever says less."""
    world = World()
    world.card()
    world.send(WORKING)
    world.card(extended=True, credential="mine", skills=("pay",), streaming=False)
    world.message("t1", WORKING, credential="mine")
    assert not world.rules()


def test_a_rotated_credential() -> None:
    """What another token is shown is another document."""
    world = World()
    world.card(extended=True, credential="old", skills=("pay", "refund"))
    world.send(WORKING, credential="old")
    world.card(extended=True, credential="new", skills=("pay",))
    world.message("t1", WORKING, credential="new")
    assert not world.rules()


def test_what_another_user_may_no_longer_see() -> None:
    """In a process that acts for many, one user's card says nothing about another user's task."""
    world = World()
    for user in ("one", "two"):
        world.card(credential=user)
    world.send(WORKING, credential="one")
    world.card(credential="two", skills=("pay",))
    world.message("t1", WORKING, credential="one")
    assert not world.rules()


def test_the_card_of_the_gateway_and_the_agents_own() -> None:
    """One interface told by two addresses: each is compared with its own past."""
    world = World()
    world.card(skills=("pay", "refund", "ship"))
    world.send(WORKING)
    for _ in range(3):
        world.card(url="https://gateway.example/.well-known/agent-card.json", skills=("pay",), streaming=False)
        world.card(skills=("pay", "refund", "ship"))
    world.message("t1", WORKING)
    assert not world.rules()


def test_a_document_that_lists_none_of_the_tasks_interfaces() -> None:
    """What an agent says at another address about other interfaces is no word about this one."""
    world = World()
    world.card(interfaces=(ENDPOINT,))
    call = world.leaves(Method.SEND_MESSAGE)
    world.answers(call, WORKING)
    world.card(url="https://b.example/card", interfaces=(MOVED,))
    world.redirected(call, MOVED)
    world.card(url="https://b.example/card", interfaces=(MOVED,), skills=("pay",))
    world.message("t1", WORKING)
    assert not world.rules()


def test_another_agents_card() -> None:
    """The card of one agent does not bind the tasks of another."""
    world = World()
    world.card()
    world.send(WORKING)
    other: dict[str, Any] = {
        "url": "https://other.example/card",
        "interfaces": ("https://other.example/a2a",),
        "name": "Other",
    }
    world.card(**other)
    world.card(**other, skills=("pay",))
    world.message("t1", WORKING)
    assert not world.rules()


def test_documents_are_bounded() -> None:
    """A credential that rotates makes documents without end: the oldest of those leave, the public one stays."""
    world = World()
    world.card()
    world.send(WORKING)
    for number in range(DOCUMENTS + 50):
        world.card(credential=f"token {number}")
    assert len(world.task().agent.documents) == DOCUMENTS
    world.card(skills=("pay",))
    world.message("t1", WORKING)
    assert world.rules() == [RULE]
