# SPDX-License-Identifier: Apache-2.0
"""Calls by the SDK's gRPC stubs, blocking or awaited, while we, OpenTelemetry's instrumentation or both look on.

    python -m tests.neighbours.programs.grpc_calls AGENT blocking|awaited STEP…

A step is ``+ours``, ``+theirs``, ``-ours``, ``-theirs`` or ``call``. Prints the spans of each step ``call``.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

from opentelemetry import trace
from opentelemetry.instrumentation.grpc import GrpcAioInstrumentorClient, GrpcInstrumentorClient

from otel_a2a import A2AInstrumentor
from tests.neighbours.processes import described
from tests.support.telemetry import Telemetry


def blocking(target: str) -> None:
    import grpc
    from a2a.types import a2a_pb2_grpc

    send = message()
    with grpc.insecure_channel(target) as channel:
        stub = a2a_pb2_grpc.A2AServiceStub(channel)
        stub.SendMessage(send)
        stub.SendMessage.with_call(send)
        stub.SendMessage.future(send).result()
        list(stub.SendStreamingMessage(send))


async def awaiting(target: str) -> None:
    import grpc.aio
    from a2a.types import a2a_pb2_grpc

    send = message()
    async with grpc.aio.insecure_channel(target) as channel:
        stub = a2a_pb2_grpc.A2AServiceStub(channel)
        await stub.SendMessage(send)
        async for _ in stub.SendStreamingMessage(send):
            pass


def message() -> Any:
    from a2a.types import a2a_pb2 as pb

    return pb.SendMessageRequest(message=pb.Message(message_id="m", parts=[pb.Part(text="WORKING")]))


if __name__ == "__main__":
    target, how, *steps = sys.argv[1:]
    telemetry = Telemetry()
    trace.set_tracer_provider(telemetry.tracer_provider)
    theirs = GrpcInstrumentorClient() if how == "blocking" else GrpcAioInstrumentorClient()

    def call() -> list[dict[str, Any]]:
        telemetry.clear()
        blocking(target) if how == "blocking" else asyncio.run(awaiting(target))
        return described(telemetry.spans)

    actions: dict[str, Callable[[], Any]] = {
        "+ours": lambda: A2AInstrumentor().instrument(state_spans=False),
        "-ours": lambda: A2AInstrumentor().uninstrument(),
        "+theirs": theirs.instrument,
        "-theirs": theirs.uninstrument,
        "call": call,
    }
    done = [(step, actions[step]()) for step in steps]
    print(json.dumps([spans for step, spans in done if step == "call"]))
