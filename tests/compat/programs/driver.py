# SPDX-License-Identifier: Apache-2.0
"""What every program does with its client, in the client's own environment: only the standard library and otel_a2a.

    python -m tests.compat.programs.NAME {clean,faulty,refused} BASE TRANSPORT FILE

Writes JSON to FILE, since some frameworks print: ``steps``, the things that the client could do; ``notifications``, how
many arrived at its webhook, and ``ends``, of how many tasks nothing else told the end; or ``user``, what a program sees
of a call that was refused.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, Protocol

from otel_a2a import local
from tests.compat.programs.receiving import Receiver

UNKNOWN_SKILL = "juggle"
"""A skill that the agent does not offer, so that mode raise stops the send before it leaves."""
STEPS = ("send", "stream", "ask", "poll", "webhook", "cancel")


class Driven(Protocol):
    """A client that can be driven. A step that it lacks is left out: ``send`` alone must be there."""

    async def open(self, base: str, transport: str) -> None:
        """Make the client of the agent at ``base``; the card is fetched here, or with the first message."""

    async def send(self, text: str) -> Any:
        """Send a new message, the way a user of the client does; what the user gets."""


def main(client: Driven) -> None:
    """Run one phase and write down what came of it."""
    phase, base, transport, file = sys.argv[1:5]
    Path(file).write_text(json.dumps(asyncio.run(PHASES[phase](client, base, transport))), "utf-8")


async def _clean(client: Driven, base: str, transport: str) -> dict[str, Any]:
    await client.open(base, transport)
    steps = []
    with Receiver(base) as receiver:
        arguments = {"send": ("work",), "stream": ("work",), "webhook": (receiver,)}
        for step in STEPS:
            run = getattr(client, step, None)
            if run is not None:
                await run(*arguments.get(step, ()))
                steps.append(step)
    await _close(client)
    return {"steps": steps, "notifications": receiver.arrived, "ends": receiver.ended}


async def _faulty(client: Driven, base: str, transport: str) -> dict[str, Any]:
    await client.open(base, transport)
    seen = [await _outcome(client, text) for text in ("once", "again")]
    await _close(client)
    return {"user": seen}


async def _refused(client: Driven, base: str, transport: str) -> dict[str, Any]:
    await client.open(base, transport)
    with local.hints(skill=UNKNOWN_SKILL):
        seen = await _outcome(client, "work")
    await _close(client)
    return {"user": [seen]}


async def _outcome(client: Driven, text: str) -> str:
    try:
        result = str(await client.send(text))
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    return " ".join(result.split())[:300]


async def _close(client: Driven) -> None:
    close = getattr(client, "close", None)
    if close is not None:
        await close()


PHASES = {"clean": _clean, "faulty": _faulty, "refused": _refused}
