# SPDX-License-Identifier: Apache-2.0
"""opentelemetry-instrumentation-grpc before us and after us, in one process: both see each call once.

Import hooks and wrapped factories last as long as a process, so each order runs in one of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("opentelemetry.instrumentation.grpc")

from tests.clients.grpc.agent import Agent, serving

ORDERS = ("theirs.instrument(); ours()", "ours(); theirs.instrument()")
PROGRAM = """
import asyncio, json, sys
from opentelemetry.instrumentation.grpc import GrpcAioInstrumentorClient, GrpcInstrumentorClient
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry import trace
from otel_a2a import A2AInstrumentor

spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(provider)
ours = A2AInstrumentor().instrument
is_async = {is_async}
theirs = GrpcAioInstrumentorClient() if is_async else GrpcInstrumentorClient()
{order}

import grpc
from a2a.types import a2a_pb2 as pb, a2a_pb2_grpc

send = pb.SendMessageRequest(message=pb.Message(message_id="m", parts=[pb.Part(text="{text}")]))

def blocking():
    with grpc.insecure_channel("{target}") as channel:
        stub = a2a_pb2_grpc.A2AServiceStub(channel)
        stub.SendMessage(send)
        stub.SendMessage.with_call(send)
        stub.SendMessage.future(send).result()
        list(stub.SendStreamingMessage(send))

async def awaiting():
    async with grpc.aio.insecure_channel("{target}") as channel:
        stub = a2a_pb2_grpc.A2AServiceStub(channel)
        await stub.SendMessage(send)
        async for _ in stub.SendStreamingMessage(send):
            pass

def told():
    found = [
        dict(
            name=span.name,
            scope=span.instrumentation_scope.name,
            id=span.context.span_id,
            parent=span.parent and span.parent.span_id,
        )
        for span in spans.get_finished_spans()
        if not span.name.startswith("task ")
    ]
    spans.clear()
    return found

def run():
    asyncio.run(awaiting()) if is_async else blocking()
    return told()

found = dict(both=run())
{first}
found["one"] = run()
{second}
found["none"] = run()
print(json.dumps(found))
"""


@pytest.fixture
def agent() -> Iterator[Agent]:
    with serving() as agent:
        yield agent


def run(agent: Agent, *, order: str, first: str, is_async: bool) -> dict[str, list[dict[str, Any]]]:
    steps = {"theirs": "theirs.uninstrument()", "ours": "A2AInstrumentor().uninstrument()"}
    second = "ours" if first == "theirs" else "theirs"
    program = textwrap.dedent(PROGRAM).format(
        order=order, first=steps[first], second=steps[second], target=agent.target, text="WORKING", is_async=is_async
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "internal error" not in done.stderr
    found: dict[str, list[dict[str, Any]]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("first", ["theirs", "ours"])
@pytest.mark.parametrize("order", ORDERS)
def test_both_see_each_call(order: str, first: str, is_async: bool, agent: Agent) -> None:
    """One span each, one within the other, one ``traceparent``, and either leaves without harm to the other.

    Ours is the parent, but for a blocking stream: theirs is a generator there, and calls only when it is read.
    """
    found = run(agent, order=order, first=first, is_async=is_async)
    calls = 2 if is_async else 4
    ours = {span["id"]: span for span in found["both"] if span["scope"] == "otel_a2a"}
    theirs = {span["id"]: span for span in found["both"] if span["scope"] != "otel_a2a"}
    assert (len(ours), len(theirs)) == (calls, calls)
    outer = [span["name"] for span in theirs.values() if span["parent"] is None]
    assert outer == ([] if is_async else ["/lf.a2a.v1.A2AService/SendStreamingMessage"])
    assert {span["parent"] for span in theirs.values()} <= {*ours, None}
    assert {span["parent"] for span in ours.values()} <= {*theirs, None}
    contexts = agent.traceparents()
    assert [len(each) for each in contexts] == [1] * calls * 2 + [0] * calls
    sent = {int(each[0].split("-")[2], 16) for each in contexts[:calls]}
    assert sent == set(theirs)
    left = {span["scope"] == "otel_a2a" for span in found["one"]}
    assert (left, len(found["one"])) == ({first == "theirs"}, calls)
    assert found["none"] == []
