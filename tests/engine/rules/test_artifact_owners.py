# SPDX-License-Identifier: Apache-2.0
"""Whose artifact is it: artifact-crossed-tasks is the agent's, artifact-merged-into-other-task the client's."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.observations import ArtifactFacts, Method
from tests.support.marks import fires, late, legal
from tests.support.whole import Whole, artifact
from tests.support.world import CANCELED, COMPLETED, FAILED, WORKING, message

CROSSED = "artifact-crossed-tasks"
MERGED = "artifact-merged-into-other-task"
UUID = "6f1b4c1e-9d0a-4a52-8d3b-0f5e7a6c2b11"


def shown(world: Whole, task: str, *held: ArtifactFacts, context: str = "c1", **request: Any) -> None:
    """A task is created, and shown with these artifacts."""
    call = world.leaves(Method.SEND_MESSAGE, sent=request.pop("sent", message(task, f"m-{task}")), **request)
    world.shows(call, COMPLETED, *held, task_id=task, context_id=context)


# --- one task's artifact in another task


@fires(CROSSED)
def test_a_numbered_artifact_beside_the_task_s_own() -> None:
    """Artifacts of a conversation pile up in each of its tasks."""
    world = Whole()
    shown(world, "t1", artifact("A1", "one"))
    shown(world, "t2", artifact("A1", "one"), artifact("A2", "two"))
    assert world.rules() == [CROSSED] and world.levels(CROSSED) == ["violation"]
    assert world.findings[0].task_id == "" and "t1" in world.findings[0].message


@fires(CROSSED)
@pytest.mark.parametrize("name", [UUID, f"artifact-{UUID}", UUID.replace("-", ""), "01ARZ3NDEKTSV4RRFFQ69G5FAV"])
def test_an_id_that_is_given_once(name: str) -> None:
    """It cannot be two tasks' by chance."""
    world = Whole()
    shown(world, "t1", artifact(name))
    shown(world, "t2", artifact(name))
    assert world.rules() == [CROSSED]


@fires(CROSSED)
def test_in_a_stream() -> None:
    """The last chunk of a whole artifact shows whose it is."""
    world = Whole()
    shown(world, "t1", artifact(UUID))
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE, sent=message("next", "m2"))
    world.streams(stream, WORKING, task="t2")
    world.chunk(stream, UUID, task="t2", last=True)
    assert world.rules() == [CROSSED]


@fires(CROSSED)
@pytest.mark.parametrize("names", [("A1", "A2"), ("A2", "A1")])
def test_a_numbered_artifact_beside_the_task_s_own_in_a_stream(names: tuple[str, ...]) -> None:
    """They pile up one by one, in whatever order."""
    world = Whole()
    shown(world, "t1", artifact("A1", "one"))
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE, sent=message("next", "m2"))
    world.streams(stream, WORKING, task="t2")
    world.chunk(stream, names[0], {"A1": "one", "A2": "two"}[names[0]], task="t2", last=True)
    assert not world.rules()
    world.chunk(stream, names[1], {"A1": "one", "A2": "two"}[names[1]], task="t2", last=True)
    world.chunk(stream, "A3", "three", task="t2", last=True)
    assert world.rules() == [CROSSED]


@fires(CROSSED)
def test_in_another_tenant() -> None:
    """Whatever the context, it is not that tenant's to see."""
    world = Whole()
    shown(world, "t1", artifact(UUID), tenant="one")
    shown(world, "t2", artifact(UUID), tenant="two", context="c2")
    assert world.rules() == [CROSSED] and "not this client's" in world.findings[0].message


@fires(CROSSED)
def test_with_another_credential_while_the_first_is_in_use() -> None:
    """Two clients, and one sees what is the other's."""
    world = Whole()
    shown(world, "t1", artifact(UUID), credential="one")
    world.send(WORKING, task="t3", credential="two", sent=message("other", "m3"))
    world.leaves(Method.LIST_TASKS, credential="one")
    shown(world, "t2", artifact(UUID), credential="two", context="c2")
    assert world.rules() == [CROSSED]


# --- it does not fire


@legal(CROSSED)
@pytest.mark.parametrize("second", [(), ("log",)])
def test_static_ids_and_the_same_short_answer(second: tuple[str, ...]) -> None:
    """Many agents call every result ``result``, and say OK twice."""
    world = Whole()
    shown(world, "t1", artifact("result", "OK"))
    shown(world, "t2", artifact("result", "OK"), *[artifact(name, "ran 2") for name in second])
    assert not world.rules()


@legal(CROSSED)
def test_counters_that_begin_anew_in_every_task() -> None:
    """artifact-1 again, with another content, or the same one alone."""
    world = Whole()
    shown(world, "t1", artifact("artifact-1", "one"), artifact("artifact-2", "two"))
    shown(world, "t2", artifact("artifact-1", "uno"), artifact("artifact-2", "dos"))
    shown(world, "t3", artifact("artifact-1", "one"))
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE, sent=message("next", "m4"))
    world.streams(stream, WORKING, task="t4")
    for name, content in (("artifact-1", "un"), ("artifact-2", "two")):
        world.chunk(stream, name, content, task="t4", last=True)
    assert not world.rules()


@legal(CROSSED)
def test_numbers_of_0_1() -> None:
    """Its artifacts have no ids: those of every task begin at 0."""
    world = Whole()
    shown(world, "t1", artifact("0", "one"), version="0.1")
    shown(world, "t2", artifact("0", "one"), artifact("1", "two"), version="0.1")
    assert not world.rules()


@legal(CROSSED)
def test_an_id_that_is_known_from_other_conversations() -> None:
    """Then the agent gives it again and again."""
    world = Whole()
    shown(world, "t0", artifact("A1", "other"), context="c0")
    shown(world, "t1", artifact("A1", "one"))
    shown(world, "t2", artifact("A1", "one"), artifact("A2", "two"))
    assert not world.rules()


@legal(CROSSED)
@pytest.mark.parametrize("request_", [{}, {"credential": "renewed"}, {"context": "c2"}])
def test_a_task_that_refers_to_the_other(request_: dict[str, Any]) -> None:
    """It was asked to work on the first one's result, and hands it on."""
    world = Whole()
    shown(world, "t1", artifact(UUID), credential="old")
    shown(world, "t2", artifact(UUID), sent=message("refine", "m2", references=("t1",)), **request_)
    assert not world.rules()


@legal(CROSSED)
def test_a_result_that_is_handed_on_twice() -> None:
    """The third task refers to the second, which had it from the first."""
    world = Whole()
    shown(world, "t1", artifact(UUID))
    shown(world, "t2", artifact(UUID), sent=message("refine", "m2", references=("t1",)))
    shown(world, "t3", artifact(UUID), sent=message("again", "m3", references=("t2",)))
    assert not world.rules()


@legal(CROSSED)
def test_a_token_that_was_renewed() -> None:
    """The same client asks for the same document with its new token (G6)."""
    world = Whole()
    shown(world, "t1", artifact(UUID), credential="old")
    shown(world, "t2", artifact(UUID), credential="new", context="c2")
    world.get("t2", COMPLETED, credential="new", context="c2")
    assert CROSSED not in world.rules()


@legal(CROSSED)
def test_a_document_that_every_conversation_gets() -> None:
    """The same client, another context: terms of service, a template."""
    world = Whole()
    for number in range(3):
        shown(world, f"t{number}", artifact(UUID), context=f"c{number}")
    assert not world.rules()


@legal(CROSSED)
def test_an_id_made_of_the_content() -> None:
    """The same content has the same digest, whoever asks."""
    world = Whole()
    shown(world, "t1", artifact("9" * 64), tenant="one")
    shown(world, "t2", artifact("9" * 64), tenant="two")
    assert not world.rules()


@legal(CROSSED)
def test_empty_artifacts_and_chunks() -> None:
    """Nothing is alike in nothing, and chunks are alike in many."""
    world = Whole()
    shown(world, "t1", artifact(UUID, ""))
    shown(world, "t2", artifact(UUID, ""))
    stream = world.leaves(Method.SEND_STREAMING_MESSAGE, sent=message("next", "m9"))
    world.streams(stream, WORKING, task="t3")
    for task in ("t3", "t4"):
        world.chunk(stream, "tokens-1", "the ", task=task)
    assert not world.rules()


@legal(CROSSED)
def test_the_task_s_own_artifact_again() -> None:
    """Read again, and once more."""
    world = Whole()
    shown(world, "t1", artifact(UUID))
    for _ in range(2):
        world.shows(world.leaves(Method.GET_TASK, "t1"), COMPLETED, artifact(UUID))
    assert not world.rules()


@legal(CROSSED)
def test_one_task_named_with_and_without_its_tenant() -> None:
    """A gateway may know the tenant from the credential."""
    world = Whole()
    shown(world, "t1", artifact(UUID), tenant="acme")
    world.shows(world.leaves(Method.GET_TASK, "t1"), COMPLETED, artifact(UUID))
    assert not world.rules()


@fires(CROSSED)
def test_two_tenants_tasks_of_one_id() -> None:
    """Ids may be counters; where the contexts differ, so do the tasks."""
    world = Whole()
    shown(world, "1", artifact(UUID), tenant="a")
    shown(world, "1", artifact(UUID), tenant="b", context="c2")
    assert world.rules() == [CROSSED]


@late(CROSSED)
def test_a_task_whose_first_owner_was_not_seen() -> None:
    """The first that shows it is taken for its owner; a task that refers to it says so."""
    world = Whole()
    world.shows(world.leaves(Method.GET_TASK, "t2"), COMPLETED, artifact(UUID))
    assert not world.rules()


# --- merged by the client


@fires(MERGED)
@pytest.mark.parametrize("own", ["a1", "result"])
def test_into_the_record_of_a_task_that_had_not_sent_it(own: str) -> None:
    """Seed 000, case 3: the retry's artifacts in the canceled task's record, also where every task calls them alike."""
    world = Whole()
    world.send(WORKING)
    world.shows(world.leaves(Method.CANCEL_TASK, "t1"), CANCELED, artifact(own, "partial"))
    shown(world, "t2", artifact("result", "whole"), sent=message("again", "m2"))
    world.merges("result", "t2", into="t1")
    assert world.rules() == [MERGED] and world.levels(MERGED) == ["violation"]


@fires(MERGED)
@pytest.mark.parametrize(("profile", "level"), [("default", "information"), ("authority", "violation")])
def test_its_own_late_chunk_in_a_canceled_record(profile: str, level: str) -> None:
    """Information, and a violation where the seed is taken at its word."""
    world = Whole(profile=profile)
    world.send(WORKING)
    world.cancel("t1")
    world.merges("a1", "t1")
    assert world.levels(MERGED) == [level]


@legal(MERGED)
@pytest.mark.parametrize("state", [WORKING, COMPLETED, FAILED])
@pytest.mark.parametrize("source", ["t1", ""])
def test_its_own_artifacts(source: str, state: str) -> None:
    """What a task has sent belongs into its record."""
    world = Whole()
    world.send(WORKING)
    world.get("t1", state, holds=("a1",))
    world.merges("a1", source)
    assert not world.findings


@legal(MERGED)
def test_an_artifact_that_both_tasks_have_sent() -> None:
    """The agent had put it there first."""
    world = Whole()
    shown(world, "t1", artifact("result", "OK"))
    shown(world, "t2", artifact("result", "OK"))
    world.merges("result", "t2", into="t1")
    assert not world.rules()


@legal(MERGED)
def test_a_record_for_each_task() -> None:
    """Seed 000: a new task id, and a record of its own."""
    world = Whole()
    world.send(WORKING)
    world.cancel("t1")
    shown(world, "t2", artifact("a2", "whole"), sent=message("again", "m2"))
    world.merges("a2", "t2", into="t2")
    assert not world.rules()


@late(MERGED)
def test_records_of_tasks_that_were_not_seen() -> None:
    """Which task has sent what, nobody here knows; of a known record with that artifact neither."""
    world = Whole()
    world.merges("a1", "t2", into="t9")
    world.get("t1", WORKING, holds=("a1",))
    world.merges("a1", "t2", into="t1")
    assert not world.findings
