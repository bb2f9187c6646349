# SPDX-License-Identifier: Apache-2.0
"""Beside the spans that a2a-sdk makes by itself, and without them where a setting retires them.

The SDK reads its switch when it is imported, so each case runs in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support.agents import ScriptedAgent, task
from tests.support.servers import serve

SDK, OURS = "a2a-python-sdk", "otel_a2a"
PROGRAM = """
import asyncio, json, sys
from collections import Counter
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from otel_a2a import A2AInstrumentor

base, when = sys.argv[1:]
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(provider)
if when != "never":
    A2AInstrumentor().instrument(state_spans=False, suppress_sdk_spans=when == "retired")

from a2a.client import ClientConfig, create_client
from a2a.types import a2a_pb2 as pb

async def main():
    client = await create_client(base, ClientConfig(streaming=False))
    message = pb.Message(message_id="m", role=pb.ROLE_USER, parts=[pb.Part(text="x")])
    async for _ in client.send_message(pb.SendMessageRequest(message=message)):
        pass
    await client.close()

asyncio.run(main())
if when != "never":
    A2AInstrumentor().uninstrument()
scopes = {}
for span in spans.get_finished_spans():
    scopes.setdefault(span.instrumentation_scope.name, Counter())[span.name] += 1
print(json.dumps(scopes))
"""


def spans(when: str) -> dict[str, dict[str, int]]:
    """How many spans of each name there are, by scope, after a card and a message."""
    agent = ScriptedAgent(lambda *_: {"task": task("t-1", "COMPLETED")})
    with serve(agent.app) as base:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, base, when], capture_output=True, text=True, timeout=60, check=False
        )
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, int]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("when", ["beside", "retired"])
def test_spans_of_the_sdk(when: str) -> None:
    """Beside ours the SDK's are as without us; with SUPPRESS_SDK_SPANS there are only ours, which stay the same."""
    alone = spans("never")
    assert set(alone) == {SDK}
    together = spans(when)
    assert together.pop(OURS) == {"GetAgentCard": 1, "SendMessage": 1}
    assert together == (alone if when == "beside" else {})
