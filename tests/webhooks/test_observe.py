# SPDX-License-Identifier: Apache-2.0
"""``observe_webhook``: what is believed, what it moves, and that it never stands in the way."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.instrumentation.utils import suppress_instrumentation
from starlette.datastructures import Headers as StarletteHeaders
from werkzeug.datastructures import EnvironHeaders
from werkzeug.datastructures import Headers as WerkzeugHeaders

from otel_a2a import semconv
from otel_a2a.engine.findings import Strictness
from otel_a2a.webhooks import observe_webhook
from tests.support.telemetry import Telemetry
from tests.webhooks.application import BASE, HOOK, STATE, TOKEN, Application, application

WORKING = STATE + "WORKING"
TOKEN_HEADER = "X-A2A-Notification-Token"


# --- what is believed


def test_a_delivery_with_the_registered_token_moves_the_task(app: Application) -> None:
    """As an answer would, and without a finding."""
    app.send("SUBMITTED")
    assert app.told("WORKING") == ()
    assert app.state() == "WORKING"
    app.told("COMPLETED")
    assert app.task().terminal == STATE + "COMPLETED"
    assert app.found == []


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "task", "id": "t1", "contextId": "ctx-1", "status": {"state": "working"}},
        {"id": "t1", "sessionId": "ctx-1", "status": {"state": "working"}},
        {"task": {"id": "t1", "contextId": "ctx-1", "status": {"state": WORKING}}},
        {"statusUpdate": {"taskId": "t1", "contextId": "ctx-1", "status": {"state": WORKING}}},
        {"jsonrpc": "2.0", "result": {"task": {"id": "t1", "status": {"state": WORKING}}}},
    ],
    ids=["0.3 task", "0.1 task", "1.0 task", "1.0 status", "wrapped"],
)
def test_all_payload_shapes_are_read(app: Application, body: Any) -> None:
    """A Task of 0.x, or a StreamResponse of 1.0, whatever the webhook was registered with."""
    app.send("SUBMITTED")
    app.delivered(body)
    assert app.state() == "WORKING"


def test_artifacts_arrive_by_webhook(app: Application) -> None:
    """An artifact's event, and those in a whole Task."""
    app.send("WORKING")
    artifact = {"artifactId": "a1", "parts": [{"text": "x"}]}
    app.delivered({"artifactUpdate": {"taskId": "t1", "artifact": artifact}})
    app.delivered({"task": {"id": "t1", "status": {"state": WORKING}, "artifacts": [artifact, {"artifactId": "a2"}]}})
    assert set(app.task().artifacts) == {"a1", "a2"}


def test_a_webhook_that_is_registered_by_its_own_call_is_believed(app: Application) -> None:
    """Flat in 1.0, one level down in 0.3; the token is the registration's."""
    app.call("SendMessage", {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}}, TASK)
    app.call("CreateTaskPushNotificationConfig", {"taskId": "t1", "url": HOOK, "token": TOKEN}, {"id": "c1"})
    app.told("WORKING")
    assert app.state() == "WORKING"


def test_a_webhook_of_0_3_is_believed(app: Application) -> None:
    """The configuration is one level down there, and the delivery a bare Task."""
    message = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "x"}]}
    params = {"message": message, "configuration": {"pushNotificationConfig": {"url": HOOK, "token": TOKEN}}}
    started = {"kind": "task", "id": "t1", "contextId": "c", "status": {"state": "submitted"}}
    app.call("message/send", params, started, version="")
    app.delivered(started | {"status": {"state": "completed"}})
    assert app.state() == "COMPLETED"


TASK = {"task": {"id": "t1", "contextId": "ctx-1", "status": {"state": STATE + "SUBMITTED"}}}


@pytest.mark.parametrize("token", ["", "another"])
def test_a_delivery_with_no_or_another_token_moves_nothing(app: Application, token: str) -> None:
    """Anybody may have sent it: one information per task, however many arrive, and not one against the agent."""
    app.send("SUBMITTED")
    for state in ("WORKING", "COMPLETED", "FAILED"):
        app.told(state, token=token)
    app.delivered({"artifactUpdate": {"taskId": "t1", "artifact": {"artifactId": "a"}}}, token=token)
    assert app.state() == "SUBMITTED"
    assert app.task().delivered_at == 0
    assert not app.task().artifacts
    assert app.informed() == ["unverified-notification"]
    assert app.rules() == []


def test_a_forged_delivery_accuses_nobody(app: Application) -> None:
    """Neither of a state that A2A does not have, nor of a last event that is none."""
    app.send("WORKING")
    app.delivered({"statusUpdate": {"taskId": "t1", "status": {"state": "dreaming"}}}, token="")
    app.delivered({"statusUpdate": {"taskId": "t2", "status": {"state": "dreaming"}}}, token="")
    event = {"kind": "status-update", "taskId": "t1", "final": True, "status": {"state": "working"}}
    app.delivered(event, token="")
    assert app.rules() == []
    app.delivered(event)
    app.delivered({"statusUpdate": {"taskId": "t1", "status": {"state": "dreaming"}}})
    assert app.rules() == ["final-flag-on-live-task", "unknown-state"]


def test_the_application_can_vouch_for_the_sender(app: Application) -> None:
    """It has checked a signature, say; then no token is needed."""
    app.send("SUBMITTED", token="")
    app.told("WORKING", token="", verified=True)
    assert app.state() == "WORKING"
    assert app.found == []


@pytest.mark.parametrize("verified", [1, "yes", [True]])
def test_nothing_but_true_vouches(app: Application, verified: Any) -> None:
    """A value that merely counts as true may be a forgotten await."""
    app.send("SUBMITTED")
    app.told("WORKING", token="", verified=verified)
    assert app.state() == "SUBMITTED"


def test_an_unknown_task_is_nobodys(app: Application) -> None:
    """A delivery that overtakes the answer which names its task, or belongs to another process: no word about it."""
    app.told("WORKING", "t9")
    app.told("WORKING", "t9", token="", verified=True)
    app.told("WORKING", "t9", token="wrong")
    assert app.found == []


def test_duplicates_are_nothing(app: Application) -> None:
    """Deliveries come at least once: the same one again changes nothing and is no finding."""
    app.send("SUBMITTED")
    for state in ("WORKING", "WORKING", "COMPLETED", "COMPLETED", "COMPLETED"):
        app.told(state)
    assert app.state() == "COMPLETED"
    assert app.found == []


def test_tasks_of_one_id_are_told_apart_by_their_token(app: Application) -> None:
    """Two agents number their tasks from one; each delivery goes to the task whose token it carries."""
    app.send("SUBMITTED", token="one")
    app.card(base="https://other.example")
    app.send("SUBMITTED", token="two", base="https://other.example")
    app.told("WORKING", token="two")
    states = {each.agent.address: each.state for each in app.engine.ledger.tasks()}
    assert states == {"agent.example": STATE + "SUBMITTED", "other.example": WORKING}


def test_tasks_of_one_id_are_told_apart_by_the_url(app: Application) -> None:
    """Where the application vouches; without a URL nothing says which of them is meant."""
    app.send("SUBMITTED", token="")
    app.card(base="https://other.example")
    message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}
    webhook = {"taskPushNotificationConfig": {"url": f"{HOOK}/other"}}
    app.call("SendMessage", {"message": message, "configuration": webhook}, TASK, "https://other.example/rpc")
    app.told("WORKING", token="", verified=True)
    app.told("WORKING", token="", verified=True, url=f"{HOOK}/other")
    states = {each.agent.address: each.state for each in app.engine.ledger.tasks()}
    assert states == {"agent.example": STATE + "SUBMITTED", "other.example": WORKING}


# --- what is written


def test_a_transition_by_webhook_is_written_like_any_other(telemetry: Telemetry) -> None:
    """The span of the state left, below the call that created the task; the event; the task's duration."""
    with application(telemetry, transition_events=True) as app:
        app.card()
        app.send("SUBMITTED")
        app.told("WORKING")
        app.told("COMPLETED")
    created = telemetry.span("SendMessage")
    for state in ("SUBMITTED", "WORKING"):
        span = telemetry.span(f"task {STATE}{state}")
        assert span.parent is not None and span.parent.span_id == created.context.span_id
        assert span.attributes is not None and span.attributes[semconv.TASK_STATE_SOURCE] == "webhook"
    states = [event.attributes[semconv.A2A_TASK_STATE] for event in telemetry.events(semconv.EVENT_TRANSITION)]
    assert states == [STATE + "SUBMITTED", STATE + "WORKING", STATE + "COMPLETED"]
    assert [point.count for point in telemetry.metric(semconv.METRIC_TASK_DURATION)] == [1]


def test_a_finding_belongs_to_the_span_of_the_request(telemetry: Telemetry) -> None:
    """The span that is current where the delivery is looked at is the parent of the violation's."""
    tracer = telemetry.tracer_provider.get_tracer("web framework")
    with telemetry.instrumented():
        app = Application()
        app.card()
        app.send("COMPLETED")
        with tracer.start_as_current_span("POST /hook") as request:
            (finding,) = app.told("FAILED")
    span = telemetry.span("violation terminal-state-changed")
    assert span.parent is not None and span.parent.span_id == request.get_span_context().span_id
    assert (finding.trace_id, finding.span_id) == (
        request.get_span_context().trace_id,
        request.get_span_context().span_id,
    )


def test_a_finding_without_a_span_is_a_trace_of_its_own(telemetry: Telemetry) -> None:
    """Nothing else is known to hang it on."""
    with telemetry.instrumented():
        app = Application()
        app.card()
        app.send("COMPLETED")
        app.told("FAILED")
    assert telemetry.span("violation terminal-state-changed").parent is None


def test_nothing_is_raised_in_mode_raise(telemetry: Telemetry) -> None:
    """What was delivered has happened: the finding is logged, and returned."""
    with application(telemetry, strictness="raise", raise_on="information") as app:
        app.card()
        app.send("COMPLETED")
        (finding,) = app.told("FAILED")
        assert (finding.rule, finding.action, finding.would_raise) == (
            "terminal-state-changed",
            Strictness.LOG,
            False,
        )
        (late,) = app.told("WORKING")
        assert late.action is Strictness.LOG


def test_no_secret_leaves(telemetry: Telemetry) -> None:
    """Token, URL and text of a delivery are in no span, no event, no record and no finding."""
    with telemetry.instrumented(transition_events=True):
        app = Application()
        app.card()
        app.send("WORKING")
        body = {"taskId": "t1", "status": {"state": STATE + "FAILED", "message": {"parts": [{"text": "TOP-SECRET"}]}}}
        found = app.delivered({"statusUpdate": body}) + app.delivered({"statusUpdate": body}, token="TOP-SECRET-2")
        found += app.told("COMPLETED")
    assert found
    written = repr([span.to_json() for span in telemetry.spans]) + repr(telemetry.events()) + repr(found)
    assert "TOP-SECRET" not in written and "app.example" not in written


# --- what does not disturb it


def as_pairs(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


def as_environ(headers: Mapping[str, str]) -> EnvironHeaders:
    return EnvironHeaders({f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()})


@pytest.mark.parametrize(
    "shape",
    [dict, lambda h: {k.upper(): v for k, v in h.items()}, as_pairs, StarletteHeaders, WerkzeugHeaders, as_environ],
    ids=["dict", "upper", "pairs", "starlette", "werkzeug", "environ"],
)
def test_headers_come_in_any_shape(app: Application, shape: Any) -> None:
    """Mappings and pairs, text and bytes, names in any case."""
    app.send("SUBMITTED")
    body = json.dumps({"task": {"id": "t1", "status": {"state": WORKING}}}).encode()
    observe_webhook(body, shape({TOKEN_HEADER: TOKEN}))
    assert app.state() == "WORKING"


def test_nothing_is_looked_at_without_instrumentation() -> None:
    """No runtime, no look; and none under OpenTelemetry's own switch."""
    assert observe_webhook(b"{}", {}) == ()
    with application() as app:
        app.card()
        app.send("SUBMITTED")
        with suppress_instrumentation():
            app.told("WORKING")
        assert app.state() == "SUBMITTED"


def test_a_body_over_the_limit_is_not_read(telemetry: Telemetry) -> None:
    """MAX_BODY bounds what is parsed."""
    with application(telemetry, max_body=1000) as app:
        app.card()
        app.send("SUBMITTED")
        app.delivered({"task": {"id": "t1", "status": {"state": WORKING}, "padding": "x" * 1000}})
        assert app.state() == "SUBMITTED"


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=8) | st.sampled_from(["t1", WORKING]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["task", "statusUpdate", "artifactUpdate", "id", "taskId", "status", "state", "kind"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)
ODD_HEADERS = st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=3) | st.lists(
    st.tuples(st.text(max_size=8) | st.binary(max_size=8) | st.none(), st.text(max_size=8) | st.integers()), max_size=3
)


@given(body=st.binary(max_size=64) | JSON_VALUES.map(lambda value: json.dumps(value).encode()), headers=ODD_HEADERS)
def test_no_delivery_raises(body: bytes, headers: Iterable[Any]) -> None:
    """Whatever anybody posts: nothing is raised, and nothing of ours fails."""
    with application() as app:
        app.card(base=BASE)
        app.send("WORKING")
        observe_webhook(body, headers, verified=True)
        assert app.faults == []


def test_arguments_that_are_nothing_do_not_raise(app: Application, telemetry: Telemetry) -> None:
    """A wrong call is passed over and counted as an internal error: the application is not to fail by us."""
    assert observe_webhook(None, None) == ()  # type: ignore[arg-type]
    assert observe_webhook("{}", [("a",)]) == ()  # type: ignore[arg-type,list-item]
    assert sum(point.value for point in telemetry.metric(semconv.METRIC_INTERNAL_ERRORS)) == 2
