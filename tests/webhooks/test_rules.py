# SPDX-License-Identifier: Apache-2.0
"""What the rules make of deliveries, which come late, twice and out of order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_a2a.engine.findings import Party
from tests.webhooks.application import HOOK, RPC, STATE, TOKEN, Application, application

EARLY = "2026-01-01T00:00:02Z"
LATE = "2026-01-01T00:01:00Z"


# --- terminal-state-changed, in any order


def test_two_ends_by_webhook(app: Application) -> None:
    """Both told by the agent, in whatever order they arrive: one of them was not the end, and the id is poisoned."""
    app.send("WORKING")
    app.told("FAILED", at=LATE)
    app.told("COMPLETED", at=EARLY)
    assert app.rules() == ["terminal-state-changed"]
    assert app.task().poison is not None
    assert app.state() == "FAILED"


def test_an_end_by_webhook_then_another_by_a_read(app: Application) -> None:
    """An accepted delivery is the agent's word, as an answer is."""
    app.send("WORKING")
    app.told("COMPLETED")
    app.get("FAILED")
    assert app.rules() == ["terminal-state-changed"]


def test_an_end_by_a_read_then_another_by_webhook(app: Application) -> None:
    """The same the other way round."""
    app.send("WORKING")
    app.get("CANCELED")
    app.told("COMPLETED")
    assert app.rules() == ["terminal-state-changed"]


def test_the_same_end_twice(app: Application) -> None:
    """Legal look-alike: a webhook repeats what a read had shown."""
    app.send("WORKING")
    app.get("COMPLETED")
    app.told("COMPLETED")
    assert app.found == []


def test_another_end_that_nobody_vouches_for(app: Application) -> None:
    """Legal look-alike: a forgery accuses no agent."""
    app.send("COMPLETED")
    app.told("FAILED", token="")
    assert app.rules() == []
    assert app.task().poison is None


def test_an_observer_that_started_late(app: Application) -> None:
    """Its first sight of the task is a read, and it registered nothing: a delivery says nothing to it."""
    app.get("COMPLETED")
    app.told("FAILED")
    assert app.found == []
    app.told("FAILED", verified=True)
    assert app.rules() == ["terminal-state-changed"]


# --- backward never


@pytest.mark.parametrize("earlier", ["COMPLETED", "WORKING", "INPUT_REQUIRED"])
@pytest.mark.parametrize("timestamps", [True, False])
def test_a_delivery_never_goes_back(app: Application, earlier: str, timestamps: bool) -> None:
    """It is late, whatever it says; the state known stays."""
    app.send("SUBMITTED")
    app.told(earlier, at=LATE if timestamps else "")
    app.told("SUBMITTED", at=EARLY if timestamps else "")
    assert app.rules() == []
    assert app.informed() == ["late-notification"]
    assert app.state() == earlier


LIFE = ("SUBMITTED", "WORKING", "INPUT_REQUIRED", "WORKING", "COMPLETED")
LAGGING = st.lists(st.sampled_from(range(len(LIFE))), max_size=12)


@given(order=LAGGING, stamped=st.booleans(), polls=st.sets(st.integers(0, 12)))
def test_no_order_of_a_legal_life_accuses(order: list[int], stamped: bool, polls: set[int]) -> None:
    """A legal life, delivered in any order, with loss and repetition, while the client polls: nobody is accused.

    A poll shows a state at least as far as any that was delivered before it left; after the end there is none.
    """
    with application() as app:
        app.card()
        app.send("SUBMITTED")
        furthest = 0
        for step, index in enumerate(order):
            app.told(LIFE[index], at=f"2026-01-01T00:{index:02}:00Z" if stamped else "")
            furthest = max(furthest, index)
            if step in polls and not app.task().terminal:
                app.get(LIFE[furthest])
        assert app.rules() == []
        if "COMPLETED" in (LIFE[index] for index in order):
            assert app.state() == "COMPLETED"


def test_a_read_after_a_delivery_can_go_back(app: Application) -> None:
    """The read left long after the agent had said more: that is a contradiction, whatever channel told it."""
    app.send("SUBMITTED")
    app.told("WORKING")
    app.passes(60)
    app.get("SUBMITTED")
    assert app.rules() == ["backward-transition"]


def test_a_read_of_the_same_moment_may_be_behind_a_delivery(app: Application) -> None:
    """Legal look-alike: the store from which reads are answered does not have it yet."""
    app.send("SUBMITTED")
    app.told("WORKING")
    app.get("SUBMITTED")
    assert app.rules() == []
    assert app.state() == "WORKING"


def test_a_read_that_was_under_way_does_not_go_back(app: Application) -> None:
    """Legal look-alike: its request left before the delivery arrived."""
    app.send("SUBMITTED")
    read = app.leaves("GetTask", {"id": "t1"})
    app.told("COMPLETED")
    app.answered(read, {"id": "t1", "contextId": "ctx-1", "status": {"state": STATE + "WORKING"}})
    assert app.found == []
    assert app.state() == "COMPLETED"


def test_an_old_delivery_in_a_new_turn_accuses_nobody(app: Application) -> None:
    """Some agents submit a task anew for every turn; a straggler of the turn before is no state of this one."""
    app.send("SUBMITTED")
    app.told("WORKING")
    app.told("INPUT_REQUIRED")
    app.send("SUBMITTED", into="t1")
    app.told("WORKING", at=EARLY)
    app.get("SUBMITTED")
    assert app.rules() == []


# --- late-notification


def test_late_after_the_end(app: Application) -> None:
    """A live state after the end is old news, once per state."""
    app.send("WORKING")
    app.get("COMPLETED")
    (late,) = app.told("WORKING")
    app.told("WORKING")
    assert (late.state, late.previous_state, late.party) == (STATE + "WORKING", STATE + "COMPLETED", Party.AGENT)
    assert app.informed() == ["late-notification"]
    assert app.state() == "COMPLETED"


def test_late_by_its_timestamp(app: Application) -> None:
    """Working or waiting: only the timestamp says which of the two came first."""
    app.send("SUBMITTED")
    app.told("INPUT_REQUIRED", at=LATE)
    app.told("WORKING", at=EARLY)
    assert app.informed() == ["late-notification"]
    assert app.state() == "INPUT_REQUIRED"


@pytest.mark.parametrize("at", ["", "2026-01-01T00:00:57Z", "2026-01-01T00:00:02", LATE])
def test_not_late(app: Application, at: str) -> None:
    """Legal look-alike: no timestamp, one within the clocks' skew, one without a zone, or the newer one."""
    app.send("SUBMITTED")
    app.told("INPUT_REQUIRED", at="2026-01-01T00:01:00Z")
    app.told("WORKING", at=at)
    assert app.found == []
    assert app.state() == "WORKING"


def test_a_new_turn_by_webhook_is_not_late(app: Application) -> None:
    """Legal look-alike: submitted after this client's message, or with the newer timestamp."""
    app.send("SUBMITTED")
    app.told("INPUT_REQUIRED")
    app.send("INPUT_REQUIRED", into="t1")
    app.told("SUBMITTED")
    assert app.found == []
    app.send("SUBMITTED", "t2")
    app.told("INPUT_REQUIRED", "t2", at=EARLY)
    app.told("SUBMITTED", "t2", at=LATE)
    assert app.found == []


def test_a_delivery_of_0_1_is_not_late(app: Application) -> None:
    """There a message begins an ended task anew, and nothing says of which life a delivery tells."""
    message = {"role": "user", "parts": [{"type": "text", "text": "x"}]}
    params = {"id": "t1", "message": message, "pushNotification": {"url": HOOK, "token": TOKEN}}
    for state in ("completed", "submitted"):
        app.call("tasks/send", params, {"id": "t1", "sessionId": "c", "status": {"state": state}}, version="")
    app.delivered({"id": "t1", "sessionId": "c", "status": {"state": "completed"}})
    app.call("tasks/get", {"id": "t1"}, {"id": "t1", "sessionId": "c", "status": {"state": "working"}}, version="")
    assert app.rules() == []
    assert app.informed() == []


# --- unverified-notification


def test_unverified_says_whose_doing_it_is(app: Application) -> None:
    """Another token is the sender's; a webhook without a token is the client's own."""
    app.send("WORKING")
    (other,) = app.told("COMPLETED", token="other")
    app.send("WORKING", "t2", token="")
    (none,) = app.told("COMPLETED", "t2", token="")
    assert (other.rule, other.party, other.task_id) == ("unverified-notification", Party.AGENT, "t1")
    assert (none.rule, none.party, none.task_id) == ("unverified-notification", Party.CLIENT, "t2")


def test_unverified_is_silent_where_the_webhook_was_registered_elsewhere(app: Application) -> None:
    """Legal look-alike: another worker registered it, so that its token is not known here."""
    app.call("GetTask", {"id": "t1"}, {"id": "t1", "status": {"state": STATE + "WORKING"}})
    app.told("COMPLETED", token="")
    assert app.found == []


def test_unverified_is_silent_after_the_webhook_was_deleted(app: Application) -> None:
    """Legal look-alike: what was already on its way arrives, and moves nothing."""
    app.send("WORKING")
    app.call("DeleteTaskPushNotificationConfig", {"taskId": "t1", "id": "c1"}, {})
    app.told("COMPLETED")
    assert app.found == []
    assert app.state() == "WORKING"


# --- artifacts


def test_chunks_by_stream_and_by_webhook_are_counted_once(app: Application) -> None:
    """A webhook repeats what a stream brings: the artifact is not as long as both, so that no read is truncated."""
    app.send("WORKING")
    watching = app.leaves("SubscribeToTask", {"id": "t1"})
    watching.respond(200, {"content-type": "text/event-stream"}.get, RPC)
    chunks = [{"artifactId": "a", "parts": [{"text": f"part {number}"}]} for number in range(3)]
    for number, chunk in enumerate(chunks):
        event = {"artifactUpdate": {"taskId": "t1", "artifact": chunk, "append": number > 0, "lastChunk": number == 2}}
        app.streamed(watching, event)
        app.delivered(event)
        app.delivered(event)
    whole = {"artifactId": "a", "parts": [{"text": f"part {number}"} for number in range(3)]}
    shown = {"id": "t1", "contextId": "ctx-1", "status": {"state": STATE + "COMPLETED"}, "artifacts": [whole]}
    app.call("GetTask", {"id": "t1"}, shown)
    assert app.rules() == []
    app.call("GetTask", {"id": "t1"}, shown | {"artifacts": chunks[2:]})
    assert app.rules() == ["artifact-truncated"]


def test_a_chunk_that_arrives_during_a_read_does_not_truncate_it(app: Application) -> None:
    """The read may tell of the moment before."""
    app.send("WORKING")
    watching = app.leaves("SubscribeToTask", {"id": "t1"})
    watching.respond(200, {"content-type": "text/event-stream"}.get, RPC)
    first = {"artifactId": "a", "parts": [{"text": "first"}]}
    second = {"artifactId": "a", "parts": [{"text": "second"}]}
    app.streamed(watching, {"artifactUpdate": {"taskId": "t1", "artifact": first}})
    app.streamed(watching, {"artifactUpdate": {"taskId": "t1", "artifact": first, "append": True}})
    read = app.leaves("GetTask", {"id": "t1"})
    app.streamed(watching, {"artifactUpdate": {"taskId": "t1", "artifact": second, "append": True}})
    shown = {"artifactId": "a", "parts": [*first["parts"], *first["parts"]]}
    status = {"state": STATE + "WORKING"}
    app.answered(read, {"id": "t1", "contextId": "ctx-1", "status": status, "artifacts": [shown]})
    assert app.rules() == []
