# SPDX-License-Identifier: Apache-2.0
"""The gRPC side of an agent on a2a-sdk: its own handlers for the services of A2A 1.0 and 0.3, at one loopback port."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import grpc
from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
from a2a.server.request_handlers import RequestHandler
from a2a.server.request_handlers.grpc_handler import GrpcHandler
from a2a.types import a2a_pb2_grpc

PATIENCE = 30.0


@contextlib.contextmanager
def serve_grpc(handler_at: Callable[[str], RequestHandler]) -> Iterator[str]:
    """Serve, in a thread, the handler that ``handler_at`` makes for a target (``host:port``); the target.

    The loop is the thread's own, and ends like that of any program: what the SDK has left running is cancelled. Left to
    the garbage collector, it would fail in the middle of another test.
    """
    up: Future[tuple[str, Callable[[], object]]] = Future()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(handler_at, up)), daemon=True)
    thread.start()
    target, stop = up.result(PATIENCE)
    try:
        yield target
    finally:
        stop()
        thread.join(PATIENCE)


async def _serve(handler_at: Callable[[str], RequestHandler], up: Future[tuple[str, Callable[[], object]]]) -> None:
    # Generated code has no types.
    add_1_0: Any = a2a_pb2_grpc.add_A2AServiceServicer_to_server
    add_0_3: Any = a2a_v0_3_pb2_grpc.add_A2AServiceServicer_to_server
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    server = grpc.aio.server()
    target = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    handler = handler_at(target)
    add_1_0(GrpcHandler(handler), server)
    add_0_3(CompatGrpcHandler(handler), server)
    await server.start()
    up.set_result((target, lambda: loop.call_soon_threadsafe(done.set)))
    await done.wait()
    await server.stop(grace=0.2)
