# SPDX-License-Identifier: Apache-2.0
"""Tasks that wait for deliveries: what is said when none comes, on a clock that the test turns."""

from __future__ import annotations

import pytest

from otel_a2a import local
from otel_a2a.engine.findings import Level, Phase
from tests.webhooks.application import RPC, STATE, Application, application

WITHDRAWN = "waiting-on-withdrawn-webhook"
UNWATCHED = "task-unwatched"


def waiting(app: Application) -> None:
    """A task that waits for its webhook."""
    app.card()
    app.send("WORKING")
    app.passes(10)


# --- waiting-on-withdrawn-webhook


def test_a_webhook_that_the_card_has_withdrawn() -> None:
    """A minute after the card dropped push, and nothing was heard since: the seed's silent divergence."""
    with application() as app:
        waiting(app)
        app.told("WORKING")
        app.passes(1)
        app.card(push=False)
        app.passes(59)
        assert app.rules() == []
        app.passes(2)
        assert app.rules() == [WITHDRAWN]
        (found,) = app.found[-1:]
        assert (found.level, found.phase, found.task_id) == (Level.VIOLATION, Phase.DEADLINE, "t1")
        app.passes(3600)
        assert app.rules() == [WITHDRAWN]


def test_a_card_that_changes_again_has_still_withdrawn_push() -> None:
    """The later change is about something else."""
    with application() as app:
        waiting(app)
        app.card(push=False)
        app.passes(30)
        app.card(push=False, skills=("charge", "refund"))
        app.passes(31)
        assert app.rules() == [WITHDRAWN]


@pytest.mark.parametrize("sign", ["delivery", "artifact", "read", "stream"])
def test_a_sign_of_life_after_the_withdrawal(sign: str) -> None:
    """Legal look-alike: deliveries already queued arrive, or the client has gone back to asking."""
    with application() as app:
        waiting(app)
        app.card(push=False)
        app.passes(30)
        if sign == "delivery":
            app.told("WORKING")
        elif sign == "artifact":
            app.delivered({"artifactUpdate": {"taskId": "t1", "artifact": {"artifactId": "a"}}})
        elif sign == "read":
            app.get("WORKING")
        else:
            stream = app.leaves("SubscribeToTask", {"id": "t1"})
            stream.respond(200, {"content-type": "text/event-stream"}.get, RPC)
            app.streamed(stream, {"task": {"id": "t1", "status": {"state": STATE + "WORKING"}}})
        app.passes(120)
        assert app.rules() == []


def test_a_forged_delivery_is_no_sign_of_life() -> None:
    """Nobody vouches for it, so the client still hears nothing."""
    with application() as app:
        waiting(app)
        app.card(push=False)
        app.passes(30)
        app.told("WORKING", token="")
        app.passes(31)
        assert app.rules() == [WITHDRAWN]


def test_a_card_that_flaps() -> None:
    """Legal look-alike: a deployment in progress; push is back within the minute."""
    with application() as app:
        waiting(app)
        app.card(push=False)
        app.passes(50)
        app.card(push=True)
        app.passes(3600)
        assert app.rules() == []


def test_a_task_that_has_ended_waits_for_nothing() -> None:
    """Legal look-alike: its end was delivered before the card changed."""
    with application() as app:
        waiting(app)
        app.told("COMPLETED")
        app.card(push=False)
        app.passes(3600)
        assert app.rules() == []


def test_a_webhook_that_was_deleted_is_not_waited_for() -> None:
    """Legal look-alike: the client has seen the card, taken its webhook back, and polls later."""
    with application() as app:
        waiting(app)
        app.card(push=False)
        app.call("DeleteTaskPushNotificationConfig", {"taskId": "t1", "id": "c1"}, {})
        app.passes(3600)
        assert app.rules() == []


def test_an_observer_that_started_late_sees_no_withdrawal() -> None:
    """The first card that it saw offered no push: that it ever did is not known here. The denial was told at once."""
    with application() as app:
        app.card(push=False)
        app.send("WORKING")
        assert app.rules() == ["webhook-denied-by-card"]
        app.passes(3600)
        assert app.rules() == ["webhook-denied-by-card"]


# --- task-unwatched


def test_nothing_came_in_the_time_that_was_expected() -> None:
    """The hinted duration is past, with neither a delivery nor a read."""
    with application() as app:
        app.card()
        with local.hints(expected_duration=300):
            app.send("WORKING")
        app.passes(299)
        assert app.rules() == []
        app.passes(2)
        assert UNWATCHED in app.rules("improvement")


@pytest.mark.parametrize("sign", ["delivery", "read"])
def test_something_came_in_time(sign: str) -> None:
    """Legal look-alike: one delivery, or one read, is a look."""
    with application() as app:
        app.card()
        with local.hints(expected_duration=300):
            app.send("WORKING")
        app.passes(200)
        if sign == "delivery":
            app.told("WORKING")
        else:
            app.get("WORKING")
        app.passes(200)
        assert UNWATCHED not in app.rules()


def test_no_expectation_no_finding() -> None:
    """Legal look-alike: nothing says how long it may take."""
    with application() as app:
        waiting(app)
        app.passes(86_400)
        assert app.rules() == []


def test_silence_where_silence_is_limited() -> None:
    """Each delivery begins the time anew."""
    with application(webhook_silence=600.0) as app:
        waiting(app)
        app.passes(500)
        app.told("WORKING")
        app.passes(500)
        assert app.rules() == []
        app.passes(101)
        assert app.rules() == [UNWATCHED]


def test_a_task_that_waits_for_the_client_is_silent() -> None:
    """Legal look-alike: the agent has asked, and the next word is the client's; after it the time counts again."""
    with application(webhook_silence=600.0) as app:
        waiting(app)
        app.told("INPUT_REQUIRED")
        app.passes(3600)
        assert app.rules() == []
        app.send("WORKING", into="t1")
        app.passes(601)
        assert app.rules() == [UNWATCHED]


def test_a_task_without_a_webhook_is_not_awaited() -> None:
    """Legal look-alike: nobody promised a delivery."""
    with application(webhook_silence=600.0) as app:
        app.card()
        message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}
        app.call("SendMessage", {"message": message}, {"task": {"id": "t1", "status": {"state": STATE + "WORKING"}}})
        app.passes(3600)
        assert app.rules() == []


def test_progress_by_webhook_keeps_a_task_from_being_stuck() -> None:
    """A status message and a new artifact are progress, though the state stays; a bare repetition is none."""
    with application(task_deadline=600.0) as app:
        waiting(app)
        status = {"state": STATE + "WORKING", "message": {"role": "ROLE_AGENT", "parts": [{"text": "half"}]}}
        for body in (
            {"statusUpdate": {"taskId": "t1", "status": status}},
            {"task": {"id": "t1", "status": {"state": STATE + "WORKING"}, "artifacts": [{"artifactId": "a"}]}},
            {"artifactUpdate": {"taskId": "t1", "artifact": {"artifactId": "b"}}},
        ):
            app.passes(500)
            app.delivered(body)
        app.passes(500)
        assert app.rules() == []
        app.told("WORKING")
        app.passes(101)
        assert app.rules() == ["task-stuck"]
