# SPDX-License-Identifier: Apache-2.0
"""A finding as one line of JSON. ``docs/finding.schema.json`` is made from this model: ``make schema``."""

from __future__ import annotations

import datetime
import json
import os
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from otel_a2a.engine.clock import moment
from otel_a2a.engine.findings import Finding, Level, Party, Phase, Strictness

TRACE_ID: Final = r"^[0-9a-f]{32}$"
SPAN_ID: Final = r"^[0-9a-f]{16}$"


class FindingRecord(BaseModel):
    """One finding of otel-a2a: a line of the file that OTEL_PYTHON_A2A_VIOLATIONS_FILE names.

    What is not known is left out. Later versions may add members; none changes its meaning.
    """

    model_config = ConfigDict(frozen=True)

    time: datetime.datetime = Field(description="When it was found, in UTC.")
    level: Level = Field(description="How grave it is; a property of the rule.")
    rule: str = Field(description="The rule that fired.", min_length=1)
    boundary: str = Field(description="The boundary that was crossed, which is the rule's category.")
    ruleset: str = Field(description="The pack that the rule comes from.")
    reference: str | None = Field(None, description="Where the rule is explained.")
    message: str = Field(description="What happened, for people.")
    action: Strictness = Field(description="What was done about it.")
    would_raise: bool = Field(description="Whether mode raise would have stopped the call.")
    party: Party = Field(description="Who crossed the boundary: the application (client), or the remote agent.")
    phase: Phase = Field(description="When it was found.")
    agent: str | None = Field(None, description="host:port of the agent.")
    server_address: str | None = Field(None, description="Host of the agent.")
    server_port: int | None = Field(None, description="Port of the agent.")
    task_id: str | None = None
    context_id: str | None = None
    message_id: str | None = None
    state: str | None = Field(None, description="The task's state, TASK_STATE_….")
    previous_state: str | None = Field(None, description="The state before.")
    card_revision: str | None = Field(None, description="Revision of the card in force.")
    task_card_revision: str | None = Field(None, description="Revision under which the task was created.")
    card_since: datetime.datetime | None = Field(None, description="When the card was first seen at that revision.")
    trace_id: str | None = Field(None, description="The trace in which it was found.", pattern=TRACE_ID)
    span_id: str | None = Field(None, description="The span in which it was found.", pattern=SPAN_ID)
    process_id: int = Field(description="The process that found it: several may write to one file.")


_OTHERWISE: Final = ("time", "card_since", "trace_id", "span_id", "process_id")
_SAME: Final = tuple(name for name in FindingRecord.model_fields if name not in _OTHERWISE)
"""Members that are called the same in a ``Finding``."""


def as_line(finding: Finding) -> bytes:
    """The finding as UTF-8 JSON with a line feed at its end, and none before."""
    known = {name: _text(value) for name in _SAME if (value := getattr(finding, name)) not in ("", None)}
    if finding.span_id:
        known |= {"trace_id": f"{finding.trace_id:032x}", "span_id": f"{finding.span_id:016x}"}
    if finding.card_since_ns:
        known["card_since"] = moment(finding.card_since_ns)
    record = FindingRecord(time=moment(finding.time_unix_nano), process_id=os.getpid(), **known)
    return record.model_dump_json(exclude_none=True).encode() + b"\n"


def _text(value: Any) -> Any:
    # Half a character, which JSON can spell and UTF-8 cannot, may be part of an id.
    return value.encode(errors="replace").decode() if type(value) is str else value


def schema() -> str:
    """The JSON Schema of a line, as text."""
    made = FindingRecord.model_json_schema(mode="serialization")
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | made
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(schema(), end="")
