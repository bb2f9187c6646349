# SPDX-License-Identifier: Apache-2.0
"""The gRPC side of the agents: the SDK's own handlers for the services of A2A 1.0 and 0.3, at one loopback port."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import grpc
from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
from a2a.server.request_handlers.grpc_handler import GrpcHandler
from a2a.types import a2a_pb2_grpc

from tests.compat.agents import Agent

PATIENCE = 30.0


@contextlib.contextmanager
def serve_grpc(agent: Agent) -> Iterator[None]:
    """Serve ``agent``, whose card lists the port from then on."""
    loop = asyncio.new_event_loop()
    up, done = threading.Event(), asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(_run(agent, up, done),), daemon=True)
    thread.start()
    try:
        if not up.wait(PATIENCE):
            raise RuntimeError("the gRPC server did not start")
        yield
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(PATIENCE)
        loop.close()


async def _run(agent: Agent, up: threading.Event, done: asyncio.Event) -> None:
    # Generated code has no types.
    add_1_0: Any = a2a_pb2_grpc.add_A2AServiceServicer_to_server
    add_0_3: Any = a2a_v0_3_pb2_grpc.add_A2AServiceServicer_to_server
    server = grpc.aio.server()
    agent.grpc_target = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    handler = agent.handler("http://127.0.0.1")
    add_1_0(GrpcHandler(handler), server)
    add_0_3(CompatGrpcHandler(handler), server)
    await server.start()
    up.set()
    await done.wait()
    await server.stop(grace=0.2)
