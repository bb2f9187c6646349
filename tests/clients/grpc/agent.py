# SPDX-License-Identifier: Apache-2.0
"""A gRPC server on loopback that speaks A2A 1.0 and 0.3, and does what the text of a message says.

Words of a text: a state for the task of the answer (``WORKING``), ``message`` for an answer without a task,
``info`` for an error with details, ``abort`` for one without, ``hang`` for waiting until the call is gone, ``big`` for
a large answer, ``garbage`` for bytes that are no message. In a stream each word is one event.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import grpc
from a2a.compat.v0_3 import a2a_v0_3_pb2 as pb_0_3
from a2a.types import a2a_pb2 as pb_1_0
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

PATIENCE = 10.0
"""Seconds after which a test that waits for something that never comes fails instead of hanging."""
VERSIONS = ("1.0", "0.3")
OTHER = "/other.Service/Echo"
OTHER_STREAM = "/other.Service/Repeat"
OURS = {"traceparent", "tracestate"}
"""Metadata that may differ with us."""


@dataclass
class Dialect:
    """The stubs and messages of one version."""

    version: str
    pb: Any

    @property
    def service(self) -> str:
        return "lf.a2a.v1.A2AService" if self.version == "1.0" else "a2a.v1.A2AService"

    @property
    def methods(self) -> dict[str, tuple[str, Any, Any]]:
        """Those that the agent has: kind, request and response."""
        pb = self.pb
        card = "GetExtendedAgentCard" if self.version == "1.0" else "GetAgentCard"
        return {
            "SendMessage": ("unary_unary", pb.SendMessageRequest, pb.SendMessageResponse),
            "SendStreamingMessage": ("unary_stream", pb.SendMessageRequest, pb.StreamResponse),
            "GetTask": ("unary_unary", pb.GetTaskRequest, pb.Task),
            "CancelTask": ("unary_unary", pb.CancelTaskRequest, pb.Task),
            card: ("unary_unary", getattr(pb, f"{card}Request"), pb.AgentCard),
        }

    def stub(self, channel: Any) -> Any:
        """A stub on any channel. Those that a2a-sdk has made for it need a newer gRPC than we do."""
        made = {
            name: getattr(channel, kind)(f"/{self.service}/{name}", _serialised, response.FromString)
            for name, (kind, _, response) in self.methods.items()
        }
        return SimpleNamespace(**made)

    def send(self, text: str, *, task_id: str = "", message_id: str = "m1", context_id: str = "") -> Any:
        """A request to send ``text``."""
        fields: dict[str, Any] = {"message_id": message_id, "role": 1, "task_id": task_id, "context_id": context_id}
        part = self.pb.Part(text=text)
        if self.version == "1.0":
            return pb_1_0.SendMessageRequest(message=pb_1_0.Message(parts=[part], **fields))
        return pb_0_3.SendMessageRequest(request=pb_0_3.Message(content=[part], **fields))

    def get(self, task_id: str) -> Any:
        """A request to read a task."""
        if self.version == "1.0":
            return pb_1_0.GetTaskRequest(id=task_id)
        return pb_0_3.GetTaskRequest(name=f"tasks/{task_id}")

    def cancel(self, task_id: str) -> Any:
        """A request to cancel a task."""
        if self.version == "1.0":
            return pb_1_0.CancelTaskRequest(id=task_id)
        return pb_0_3.CancelTaskRequest(name=f"tasks/{task_id}")

    def task(self, state: str, task_id: str) -> Any:
        """A task in ``state``, given without its prefix."""
        if self.version == "0.3" and state == "CANCELED":
            state = "CANCELLED"
        number = self.pb.TaskState.Value(f"TASK_STATE_{state}")
        return self.pb.Task(id=task_id, context_id="ctx-1", status=self.pb.TaskStatus(state=number))

    def told(self, word: str, kind: Any, task_id: str) -> Any:
        """What ``word`` stands for, as an answer of this ``kind``."""
        if word == "message":
            message = self.pb.Message(message_id="a1", role=2)
            return kind(**{"message" if self.version == "1.0" else "msg": message})
        if word == "big":
            part = self.pb.Part(text="x" * 2_000_000)
            artifact = self.pb.Artifact(artifact_id="a", parts=[part])
            task = self.task("COMPLETED", task_id)
            task.artifacts.append(artifact)
            return kind(task=task)
        return kind(task=self.task(word, task_id))


DIALECTS = {"1.0": Dialect("1.0", pb_1_0), "0.3": Dialect("0.3", pb_0_3)}


@dataclass
class Received:
    """One call as it arrived."""

    method: str
    metadata: list[tuple[str, Any]]
    request: Any


@dataclass
class Agent:
    """The server. ``answer(method, request)`` may decide the words of an answer in place of the message's text."""

    received: list[Received] = field(default_factory=list)
    answer: Callable[[str, Any], str] | None = None
    gone: threading.Event = field(default_factory=threading.Event)
    task_id: str = "t-1"
    port: int = 0

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.port}"

    def forget(self) -> None:
        """As new, apart from the port."""
        self.received.clear()
        self.answer = None
        self.gone = threading.Event()

    def log(self) -> list[object]:
        """What arrived, comparable between runs."""
        return [
            (each.method, [pair for pair in each.metadata if pair[0] not in OURS], each.request)
            for each in list(self.received)
        ]

    def traceparents(self) -> list[list[str]]:
        """The trace contexts of each call."""
        return [[value for key, value in each.metadata if key == "traceparent"] for each in self.received]

    def words(self, method: str, request: Any, context: grpc.ServicerContext, text: str) -> list[str]:
        """Note a call, and find out how to answer it."""
        if not context.add_callback(self.gone.set):
            self.gone.set()
        metadata = [(key, value) for key, value in context.invocation_metadata()]
        self.received.append(Received(method, metadata, request))
        return (self.answer(method, request) if self.answer is not None else text).split()

    def obey(self, word: str, context: Any) -> bool:
        """Do what a word says that is no answer; whether there is anybody left to answer."""
        if word == "abort":
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "not now")
        if word == "missing":
            context.abort(grpc.StatusCode.NOT_FOUND, "TaskNotFoundError: Task not found")
        if word == "info":
            context.abort_with_status(_with_info("TASK_NOT_FOUND", grpc.StatusCode.NOT_FOUND))
        if word == "crash":
            raise RuntimeError("a fault of the agent's")
        if word == "hang":
            while context.is_active():
                time.sleep(0.01)
        return bool(context.is_active())


class _Status(grpc.Status):
    def __init__(self, code: grpc.StatusCode, details: str, trailing_metadata: Any) -> None:
        self.code = code
        self.details = details
        self.trailing_metadata = trailing_metadata


def _with_info(reason: str, code: grpc.StatusCode) -> grpc.Status:
    packed = any_pb2.Any()
    packed.Pack(error_details_pb2.ErrorInfo(reason=reason, domain="a2a-protocol.org"))
    rich = status_pb2.Status(code=code.value[0], message="no such task", details=[packed])
    return _Status(code, "no such task", (("grpc-status-details-bin", rich.SerializeToString()),))


def _text(request: Any) -> str:
    message = getattr(request, "message", None) or getattr(request, "request", None)
    parts = getattr(message, "parts", None) or getattr(message, "content", None) or ()
    return parts[0].text if parts else "WORKING"


def _servicer(agent: Agent, dialect: Dialect) -> Any:
    """A servicer of ``dialect``'s service: every method does what ``agent`` is told."""

    def send(request: Any, context: Any) -> Any:
        (*before, word) = agent.words("SendMessage", request, context, _text(request))
        for each in (*before, word):
            if not agent.obey(each, context):
                return dialect.pb.SendMessageResponse()
        return dialect.told(word, dialect.pb.SendMessageResponse, agent.task_id)

    def stream(request: Any, context: Any) -> Iterator[Any]:
        for word in agent.words("SendStreamingMessage", request, context, _text(request)):
            if not agent.obey(word, context):
                return
            yield dialect.told(word, dialect.pb.StreamResponse, agent.task_id)

    def get(request: Any, context: Any) -> Any:
        (word,) = agent.words("GetTask", request, context, "WORKING")
        agent.obey(word, context)
        return dialect.task(word, agent.task_id)

    def cancel(request: Any, context: Any) -> Any:
        (word,) = agent.words("CancelTask", request, context, "CANCELED")
        agent.obey(word, context)
        return dialect.task(word, agent.task_id)

    def card(request: Any, context: Any) -> Any:
        agent.words("GetCard", request, context, "card")
        return dialect.pb.AgentCard(name="Extended", version="1")

    return type(
        "Servicer",
        (),
        {
            "SendMessage": staticmethod(send),
            "SendStreamingMessage": staticmethod(stream),
            "GetTask": staticmethod(get),
            "CancelTask": staticmethod(cancel),
            "GetExtendedAgentCard": staticmethod(card),
            "GetAgentCard": staticmethod(card),
        },
    )


def _serialised(message: Any) -> bytes:
    content: bytes = message.SerializeToString()
    return content


def _handlers(agent: Agent, dialect: Dialect) -> grpc.GenericRpcHandler:
    servicer = _servicer(agent, dialect)
    methods: dict[str, Any] = {
        name: getattr(grpc, f"{kind}_rpc_method_handler")(getattr(servicer, name), request.FromString, _serialised)
        for name, (kind, request, _) in dialect.methods.items()
    }
    return grpc.method_handlers_generic_handler(dialect.service, methods)


def _others(agent: Agent) -> grpc.GenericRpcHandler:
    def echo(request: bytes, context: Any) -> bytes:
        agent.words("Echo", request, context, "")
        return request

    def repeat(request: bytes, context: Any) -> Iterator[bytes]:
        agent.words("Repeat", request, context, "")
        yield from (request, request)

    return grpc.method_handlers_generic_handler(
        "other.Service",
        {
            "Echo": grpc.unary_unary_rpc_method_handler(echo),
            "Repeat": grpc.unary_stream_rpc_method_handler(repeat),
        },
    )


@contextlib.contextmanager
def serving() -> Iterator[Agent]:
    """An agent that is reachable at ``target``."""
    agent = Agent()
    server = grpc.server(futures.ThreadPoolExecutor(8))
    server.add_generic_rpc_handlers((*(_handlers(agent, each) for each in DIALECTS.values()), _others(agent)))
    agent.port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield agent
    finally:
        server.stop(grace=None).wait(PATIENCE)
