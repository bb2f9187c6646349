# SPDX-License-Identifier: Apache-2.0
"""Which task is which (rules.md, G3): an agent, a tenant and an id, and in 0.1 one life after the other."""

from __future__ import annotations

from otel_a2a.observations import Method
from tests.support.world import COMPLETED, ENDPOINT, SUBMITTED, WORKING, World

RULE = "backward-transition"


def test_the_same_id_at_another_agent() -> None:
    """Task ids are an agent's own."""
    world = World()
    world.send(WORKING)
    world.send(SUBMITTED, endpoint="https://other.example/a2a")
    assert not world.findings


def test_the_same_id_in_another_tenant() -> None:
    """Task ids are a tenant's own."""
    world = World()
    world.send(WORKING, tenant="a")
    world.get("t1", SUBMITTED, tenant="b")
    assert not world.findings


def test_a_reused_port_with_another_card() -> None:
    """Another name at the same card URL is another agent, whose ids begin anew."""
    world = World()
    world.card(name="One")
    world.send(COMPLETED)
    world.card(name="Two")
    world.send(SUBMITTED)
    assert not world.findings


def test_a_client_that_names_its_tasks_begins_one_anew() -> None:
    """In 0.1 a message under the id of an ended task begins it anew."""
    world = World()
    world.send(COMPLETED, task="mine", version="0.1")
    world.answers(world.leaves(Method.SEND_MESSAGE, "mine", version="0.1"), SUBMITTED)
    world.get("mine", WORKING, version="0.1")
    world.get("mine", COMPLETED, version="0.1")
    assert not world.findings


def test_a_task_of_0_1_begun_anew_with_a_poll_under_way() -> None:
    """What is answered to a request of the life before says nothing about this one."""
    world = World()
    world.send(COMPLETED, task="mine", version="0.1")
    poll = world.leaves(Method.GET_TASK, "mine", version="0.1")
    again = world.leaves(Method.SEND_MESSAGE, "mine", version="0.1")
    world.answers(poll, COMPLETED)
    world.answers(again, WORKING)
    world.get("mine", WORKING, version="0.1")
    assert not world.findings


def test_a_message_into_a_live_task_of_0_1() -> None:
    """In 0.1 every message may begin the task anew, so submitted may answer it."""
    world = World()
    world.send(WORKING, task="mine", version="0.1")
    world.answers(world.leaves(Method.SEND_MESSAGE, "mine", version="0.1"), SUBMITTED)
    world.get("mine", WORKING, version="0.1")
    assert not world.findings


def test_a_task_of_0_1_that_took_one_message_is_judged() -> None:
    """Seed 002 in its own dialect: one message under the id, and the task goes back."""
    world = World()
    world.answers(world.leaves(Method.SEND_MESSAGE, "mine", version="0.1"), WORKING)
    world.get("mine", SUBMITTED, version="0.1")
    assert world.rules() == [RULE]


def test_a_redirect_leads_to_the_same_agent() -> None:
    """The other end of a redirect knows the task, and may not take it back."""
    world = World()
    call = world.leaves(Method.SEND_MESSAGE)
    world.redirected(call, "https://agent.example/v2")
    world.answers(call, WORKING)
    world.get("t1", WORKING, endpoint="https://agent.example/v2")
    assert not world.findings
    world.get("t1", SUBMITTED, endpoint="https://agent.example/v2")
    assert world.rules() == [RULE]


def test_all_interfaces_of_a_card_are_one_agent() -> None:
    """A task seen by one interface is the same by another."""
    world = World()
    world.card(interfaces=(ENDPOINT, "https://grpc.example"))
    world.send(WORKING)
    world.get("t1", SUBMITTED, endpoint="https://grpc.example")
    assert world.rules() == [RULE]
