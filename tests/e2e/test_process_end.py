# SPDX-License-Identifier: Apache-2.0
"""A process that ends with streams open: their spans are written all the same."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from otel_a2a import semconv
from otel_a2a.cli.demo.programs import clean_environment
from otel_a2a.cli.demo.receiver import Receiver
from otel_a2a.cli.demo.scenario import LAUNCHER
from tests.support.servers import serve

EVENT = (
    b'data: {"jsonrpc": "2.0", "id": 1, "result": {"task": {"id": "t-1", "contextId": "c", '
    b'"status": {"state": "TASK_STATE_WORKING"}}}}\n\n'
)
PROGRAM = """
import os, sys, httpx
message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}
call = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": message}}
client = httpx.Client(timeout=20)
request = client.build_request("POST", sys.argv[1], json=call, headers={"A2A-Version": "1.0"})
response = client.send(request, stream=True)
chunks = response.iter_raw()
print(len(next(chunks)))
"""
FORKED = """
if os.fork() == 0:
    sys.exit(0)
os.wait()
"""


async def endless(request: Request) -> Response:
    async def events() -> AsyncIterator[bytes]:
        yield EVENT
        while not await request.is_disconnected():
            await asyncio.sleep(0.05)

    return StreamingResponse(events(), media_type="text/event-stream")


@pytest.mark.parametrize("fork", ["", FORKED], ids=["alone", "with a child"])
def test_a_stream_that_is_open_at_the_end_is_written(fork: str, tmp_path: Path) -> None:
    """Once, as closed early and without an error; a forked child's end is not the stream's."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + fork)
    agent: Any = Starlette(routes=[Route("/rpc", endless, methods=["POST"])])
    with serve(agent) as base, Receiver() as receiver:
        result = subprocess.run(
            [sys.executable, "-c", LAUNCHER, sys.executable, str(program), f"{base}/rpc"],
            env=clean_environment() | receiver.environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (result.returncode, result.stdout.strip()) == (0, str(len(EVENT))), result.stderr
    sends = [span for span in receiver.spans if span.name == "SendStreamingMessage"]
    assert len(sends) == 1
    assert sends[0].attributes[semconv.A2A_TASK_STATE] == "TASK_STATE_WORKING"
    assert not sends[0].is_error
