# SPDX-License-Identifier: Apache-2.0
"""A card and a message by a2a-sdk, without us, beside us, or with its own spans retired.

    python -m tests.neighbours.programs.sdk_spans AGENT never|beside|retired

Prints how many spans of each name there are, by scope.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter

from opentelemetry import trace

from otel_a2a import A2AInstrumentor
from tests.support.telemetry import Telemetry


async def call(base: str) -> None:
    from a2a.client import ClientConfig, create_client
    from a2a.types import a2a_pb2 as pb

    client = await create_client(base, ClientConfig(streaming=False))
    message = pb.Message(message_id="m", role=pb.ROLE_USER, parts=[pb.Part(text="x")])
    async for _ in client.send_message(pb.SendMessageRequest(message=message)):
        pass
    await client.close()


if __name__ == "__main__":
    base, when = sys.argv[1:]
    telemetry = Telemetry()
    trace.set_tracer_provider(telemetry.tracer_provider)
    if when != "never":
        A2AInstrumentor().instrument(state_spans=False, suppress_sdk_spans=when == "retired")
    asyncio.run(call(base))
    scopes: dict[str, Counter[str]] = {}
    for span in telemetry.spans:
        assert span.instrumentation_scope is not None
        scopes.setdefault(span.instrumentation_scope.name, Counter())[span.name] += 1
    print(json.dumps(scopes))
