# SPDX-License-Identifier: Apache-2.0
"""Calls of the gRPC binding, as the wire reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from a2a.compat.v0_3 import a2a_v0_3_pb2 as v0_3
from a2a.types import a2a_pb2 as v1_0
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

from otel_a2a.exchange import GrpcStatus
from otel_a2a.observations import CallFailed, CallStarted, CardFetched, Method, Observation, StreamEnded, TaskSeen
from otel_a2a.wire import grpc, protobuf, requests, responses
from otel_a2a.wire.reading import UNREADABLE

LF = "/lf.a2a.v1.A2AService/"
OLD = "/a2a.v1.A2AService/"


@dataclass
class Call:
    """A ``MessageExchange`` of plain values."""

    path: str
    request: Any
    target: str = "agent.example:50051"
    metadata: dict[str, str] = field(default_factory=dict)
    method: str = "GRPC"

    def url(self) -> str:
        return f"grpc://{self.target}{self.path}"

    def header(self, name: str) -> str | None:
        return self.metadata.get(name)

    def body(self) -> bytes | None:
        return None

    def message(self) -> Any:
        return self.request


def read(call: Call, **options: Any) -> CallStarted:
    found = requests.read_request(call, knows=lambda url: False, **options)
    assert isinstance(found, CallStarted)
    return found


PUSH = v0_3.PushNotificationConfig(url="https://me.example/hook", token="secret")
SENT_1_0 = v1_0.Message(message_id="m", task_id="t", context_id="c", parts=[v1_0.Part(text="hi")])
SENT_0_3 = v0_3.Message(message_id="m", task_id="t", context_id="c", content=[v0_3.Part(text="hi")])

REQUESTS: dict[str, tuple[Any, str, str]] = {
    LF + "SendMessage": (v1_0.SendMessageRequest(message=SENT_1_0), Method.SEND_MESSAGE, "t"),
    LF + "SendStreamingMessage": (v1_0.SendMessageRequest(message=SENT_1_0), Method.SEND_STREAMING_MESSAGE, "t"),
    LF + "GetTask": (v1_0.GetTaskRequest(id="t"), Method.GET_TASK, "t"),
    LF + "ListTasks": (v1_0.ListTasksRequest(context_id="c"), Method.LIST_TASKS, ""),
    LF + "CancelTask": (v1_0.CancelTaskRequest(id="t"), Method.CANCEL_TASK, "t"),
    LF + "SubscribeToTask": (v1_0.SubscribeToTaskRequest(id="t"), Method.SUBSCRIBE_TO_TASK, "t"),
    LF + "CreateTaskPushNotificationConfig": (
        v1_0.TaskPushNotificationConfig(task_id="t", id="k", url="https://me.example/hook", token="secret"),
        Method.CREATE_PUSH_CONFIG,
        "t",
    ),
    LF + "GetTaskPushNotificationConfig": (
        v1_0.GetTaskPushNotificationConfigRequest(task_id="t", id="k"),
        Method.GET_PUSH_CONFIG,
        "t",
    ),
    LF + "DeleteTaskPushNotificationConfig": (
        v1_0.DeleteTaskPushNotificationConfigRequest(task_id="t", id="k"),
        Method.DELETE_PUSH_CONFIG,
        "t",
    ),
    LF + "GetExtendedAgentCard": (v1_0.GetExtendedAgentCardRequest(), Method.GET_EXTENDED_CARD, ""),
    OLD + "SendMessage": (v0_3.SendMessageRequest(request=SENT_0_3), Method.SEND_MESSAGE, "t"),
    OLD + "SendStreamingMessage": (v0_3.SendMessageRequest(request=SENT_0_3), Method.SEND_STREAMING_MESSAGE, "t"),
    OLD + "GetTask": (v0_3.GetTaskRequest(name="tasks/t"), Method.GET_TASK, "t"),
    OLD + "CancelTask": (v0_3.CancelTaskRequest(name="tasks/t"), Method.CANCEL_TASK, "t"),
    OLD + "TaskSubscription": (v0_3.TaskSubscriptionRequest(name="tasks/t"), Method.SUBSCRIBE_TO_TASK, "t"),
    OLD + "CreateTaskPushNotificationConfig": (
        v0_3.CreateTaskPushNotificationConfigRequest(
            parent="tasks/t", config_id="k", config=v0_3.TaskPushNotificationConfig(push_notification_config=PUSH)
        ),
        Method.CREATE_PUSH_CONFIG,
        "t",
    ),
    OLD + "GetTaskPushNotificationConfig": (
        v0_3.GetTaskPushNotificationConfigRequest(name="tasks/t/pushNotificationConfigs/k"),
        Method.GET_PUSH_CONFIG,
        "t",
    ),
    OLD + "ListTaskPushNotificationConfig": (
        v0_3.ListTaskPushNotificationConfigRequest(parent="tasks/t"),
        Method.LIST_PUSH_CONFIGS,
        "t",
    ),
    OLD + "GetAgentCard": (v0_3.GetAgentCardRequest(), Method.GET_EXTENDED_CARD, ""),
}


@pytest.mark.parametrize("path", REQUESTS)
def test_method_and_task(path: str) -> None:
    """Every method of both services is known, and its task found, whether by id or by the resource's name."""
    request, method, task_id = REQUESTS[path]
    call = read(Call(path, request))
    assert (call.method, call.task_id, call.binding) == (method, task_id, "GRPC")
    assert call.protocol_version == ("1.0" if path.startswith(LF) else "0.3")
    assert (call.endpoint, call.server_address, call.server_port) == ("agent.example:50051", "agent.example", 50051)
    assert call.certain and call.judged


def test_a_message_is_the_same_in_both() -> None:
    """Id, context and content of a message do not depend on the version that carries it."""
    sent = [read(Call(f"{start}SendMessage", REQUESTS[f"{start}SendMessage"][0])) for start in (LF, OLD)]
    assert sent[0].message == sent[1].message is not None
    assert {call.context_id for call in sent} == {"c"}


def test_webhooks() -> None:
    """A registration by its own call, and inline, is the same webhook in both versions."""
    name = "CreateTaskPushNotificationConfig"
    inline = v0_3.SendMessageConfiguration(push_notification=PUSH)
    calls = [
        read(Call(LF + name, REQUESTS[LF + name][0])),
        read(Call(OLD + name, REQUESTS[OLD + name][0])),
        read(Call(OLD + "SendMessage", v0_3.SendMessageRequest(request=SENT_0_3, configuration=inline))),
    ]
    pushes = [call.push for call in calls]
    assert all(push is not None for push in pushes)
    assert len({(push.url, push.token) for push in pushes if push}) == 1


def test_metadata() -> None:
    """Tenant, version and credential; a version that contradicts the service is passed over."""
    request = v1_0.GetTaskRequest(id="t", tenant="acme")
    call = read(Call(LF + "GetTask", request, metadata={"a2a-version": "1.1", "authorization": "Bearer x"}))
    assert (call.tenant, call.protocol_version, bool(call.credential)) == ("acme", "1.1", True)
    assert read(Call(LF + "GetTask", request, metadata={"a2a-version": "0.3"})).protocol_version == "1.0"


def test_a_correlation_key_in_metadata_and_message() -> None:
    """A gateway's key is found in the call's metadata, and in those of the message."""
    request = v1_0.SendMessageRequest(message=v1_0.Message(message_id="m"))
    request.message.metadata.update({"x-trace": "in the message"})
    assert read(Call(LF + "SendMessage", request), correlation_key="x-trace").correlation == "in the message"
    sent = Call(LF + "SendMessage", request, metadata={"x-trace": "beside it"})
    assert read(sent, correlation_key="x-trace").correlation == "beside it"


@pytest.mark.parametrize("request_", [b"bytes", None, "text", object()])
def test_what_is_no_message_is_not_judged(request_: object) -> None:
    """A stub's own kinds of requests are seen by their method alone."""
    call = read(Call(LF + "SendMessage", request_))
    assert (call.judged, call.message, call.task_id) == (False, None, "")


def test_a_large_message_is_not_judged() -> None:
    """Over the limit nothing is read."""
    assert not read(Call(LF + "SendMessage", v1_0.SendMessageRequest(message=SENT_1_0)), max_body=4).judged


@pytest.mark.parametrize("path", [LF + "NoSuchMethod", "/other.Service/SendMessage", LF, "", "/x" + LF + "GetTask"])
def test_what_is_none_of_ours(path: str) -> None:
    """Other services, other methods."""
    assert requests.read_request(Call(path, None), knows=lambda url: True) is None


def test_a_target_that_nobody_knows() -> None:
    """Without a target there is no agent that a call could be held to."""
    assert requests.read_request(Call(LF + "GetTask", None, target=""), knows=lambda url: False) is None


def test_the_filter() -> None:
    """Only A2A's services pass it."""
    assert requests.may_be_a2a("GRPC", LF + "GetTask", None)
    assert requests.may_be_a2a("GRPC", OLD + "GetTask", None)
    assert not requests.may_be_a2a("GRPC", "/grpc.health.v1.Health/Check", None)


# --- answers ----------------------------------------------------------------------------------------------------------


def answered(path: str, message: Any) -> list[Observation]:
    call = read(Call(path, REQUESTS[path][0]))
    return responses.read_message(call, protobuf.document(message, 1_000_000))


def test_an_answer_with_a_task() -> None:
    """State, context and artifacts, in either version; 0.3 spells one state otherwise."""
    new = v1_0.Task(id="t", context_id="c", status=v1_0.TaskStatus(state=v1_0.TASK_STATE_CANCELED))
    new.artifacts.add(artifact_id="a").parts.add(text="x")
    old = v0_3.Task(id="t", context_id="c", status=v0_3.TaskStatus(state=v0_3.TASK_STATE_CANCELLED))
    old.artifacts.add(artifact_id="a").parts.add(text="x")
    seen = [
        answered(LF + "SendMessage", v1_0.SendMessageResponse(task=new))[0],
        answered(LF + "GetTask", new)[0],
        answered(OLD + "SendMessage", v0_3.SendMessageResponse(task=old))[0],
        answered(OLD + "GetTask", old)[0],
    ]
    told = [(s.task_id, s.context_id, s.state, s.artifacts) for s in seen if isinstance(s, TaskSeen)]
    assert told == [told[0]] * 4
    assert told[0][:3] == ("t", "c", "TASK_STATE_CANCELED")


def test_the_extended_card() -> None:
    """It comes by a call, and is a document of its interface's."""
    found = answered(LF + "GetExtendedAgentCard", v1_0.AgentCard(name="A", version="1"))[0]
    assert isinstance(found, CardFetched)
    assert (found.request.url, found.request.extended) == ("agent.example:50051", True)


def test_an_answer_that_cannot_be_read_is_an_answer() -> None:
    """No error is made of it."""
    call = read(Call(LF + "GetTask", REQUESTS[LF + "GetTask"][0]))
    assert [type(each).__name__ for each in responses.read_message(call, UNREADABLE)] == ["CallAnswered"]
    assert responses.read_event_message(call, UNREADABLE) == []


# --- statuses ---------------------------------------------------------------------------------------------------------


def details(reason: str, domain: str = "a2a-protocol.org") -> bytes:
    packed, other = any_pb2.Any(), any_pb2.Any()
    packed.Pack(error_details_pb2.ErrorInfo(reason=reason, domain=domain))
    other.Pack(error_details_pb2.BadRequest())
    content: bytes = status_pb2.Status(code=5, details=[other, packed]).SerializeToString()
    return content


STATUSES: dict[str, tuple[GrpcStatus, str, str, bool]] = {
    "1.0, in details": (GrpcStatus("NOT_FOUND", "gone", details("TASK_NOT_FOUND")), "GetTask", "TASK_NOT_FOUND", True),
    "1.0, another code": (
        GrpcStatus("UNKNOWN", "", details("UNSUPPORTED_OPERATION")),
        "GetTask",
        "UNSUPPORTED_OPERATION",
        True,
    ),
    "another's details": (
        GrpcStatus("UNKNOWN", "", details("TASK_NOT_FOUND", "bank.example")),
        "GetTask",
        "UNKNOWN",
        False,
    ),
    "broken details": (GrpcStatus("UNKNOWN", "", b"\xff\xff"), "GetTask", "UNKNOWN", False),
    "0.3, not found": (GrpcStatus("NOT_FOUND", "TaskNotFoundError: gone"), "GetTask", "TASK_NOT_FOUND", True),
    "0.3, not cancelable": (
        GrpcStatus("UNIMPLEMENTED", "TaskNotCancelableError: no"),
        "CancelTask",
        "TASK_NOT_CANCELABLE",
        True,
    ),
    "0.3, terminal": (GrpcStatus("INVALID_ARGUMENT", "InvalidParamsError: x"), "SendMessage", "INVALID_ARGUMENT", True),
    "plain not found": (GrpcStatus("NOT_FOUND", "no"), "GetTask", "TASK_NOT_FOUND", True),
    "plain not found, no task": (GrpcStatus("NOT_FOUND", "no"), "GetExtendedAgentCard", "NOT_FOUND", True),
    "plain not cancelable": (GrpcStatus("FAILED_PRECONDITION", "no"), "CancelTask", "TASK_NOT_CANCELABLE", True),
    "a proxy's": (GrpcStatus("UNIMPLEMENTED", "unknown service"), "GetTask", "UNIMPLEMENTED", False),
    "no access": (GrpcStatus("PERMISSION_DENIED", "RBAC: access denied"), "GetTask", "PERMISSION_DENIED", False),
    "cut off": (GrpcStatus("UNAVAILABLE", "Socket closed"), "GetTask", "UNAVAILABLE", False),
    "never connected": (
        GrpcStatus("UNAVAILABLE", "failed to connect to all addresses; last error: …"),
        "GetTask",
        "NotConnected",
        False,
    ),
    "too late": (GrpcStatus("DEADLINE_EXCEEDED", "Deadline Exceeded"), "GetTask", "DEADLINE_EXCEEDED", False),
}


@pytest.mark.parametrize("name", STATUSES)
def test_a_status(name: str) -> None:
    """Who said it, and which of A2A's errors it is; ``error.type`` is always gRPC's name for it."""
    status, method, error, from_agent = STATUSES[name]
    call = read(Call(LF + method, REQUESTS[LF + method][0]))
    (failed,) = grpc.read_status(call, status, in_stream=False)
    assert isinstance(failed, CallFailed)
    assert (failed.error, failed.from_agent, failed.code) == (error, from_agent, status.code)


@pytest.mark.parametrize(
    ("code", "status"),
    [("PERMISSION_DENIED", 403), ("UNAUTHENTICATED", 401), ("UNIMPLEMENTED", 404), ("UNAVAILABLE", None)],
)
def test_the_status_of_http_that_says_the_same(code: str, status: int | None) -> None:
    """By it an agent that turns its caller away is known; a code that may be of this process has none."""
    call = read(Call(LF + "GetTask", REQUESTS[LF + "GetTask"][0]))
    (failed,) = grpc.read_status(call, GrpcStatus(code), in_stream=False)
    assert isinstance(failed, CallFailed) and failed.status == status


def test_a_status_in_a_stream() -> None:
    """The agent's own error is an event of the stream, which ends with it; another's only ends the stream."""
    call = read(Call(LF + "SubscribeToTask", REQUESTS[LF + "SubscribeToTask"][0]))
    failed, ended = grpc.read_status(call, GrpcStatus("NOT_FOUND", ""), in_stream=True)
    assert isinstance(failed, CallFailed) and failed.channel == "stream"
    assert isinstance(ended, StreamEnded) and ended.reason == "NOT_FOUND"
    (broken,) = grpc.read_status(call, GrpcStatus("UNAVAILABLE", "Socket closed"), in_stream=True)
    assert isinstance(broken, StreamEnded) and broken.reason == "UNAVAILABLE"
