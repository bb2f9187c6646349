# SPDX-License-Identifier: Apache-2.0
"""Whole traces as text that people can read and compare: what differs from run to run has a name instead of a value."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from opentelemetry._logs import SeverityNumber

from otel_a2a import semconv
from otel_a2a.cli.demo.receiver import Receiver
from otel_a2a.cli.demo.tree import Node, forest
from otel_a2a.cli.otlp.records import LogEvent, Span
from tests.support.names import KINDS

UNSTEADY: Final = {
    semconv.SERVER_PORT: "<port>",
    semconv.CARD_AGE: "<seconds>",
    semconv.CARD_REVISION_SINCE: "<time>",
}
"""Attributes whose value is another one in each run."""
PORT: Final = r"(?<=127\.0\.0\.1:)\d+"
TIME: Final = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
UUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
HASH: Final = r"sha256:[0-9a-f]{12}"
"""As sentences quote it; attributes have the rest of it behind."""
STEP: Final = "    "


def text_of(receiver: Receiver) -> str:
    """The spans and events of otel-a2a, as trees in the order of time.

    Fetches of a card that failed are left out, and what is said about them: how many fail while an agent restarts is a
    matter of luck.
    """
    events = defaultdict(list)
    for event in receiver.logs:
        events[event.trace_id, event.span_id].append(event)
    spans = {(span.trace_id, span.span_id): span for span in receiver.spans}
    trees = [node for node in forest(receiver.spans) if not _is_failed_fetch(node.span)]
    return _steady("\n".join(line for node in trees for line in _lines(node, events, spans)) + "\n")


def _is_failed_fetch(span: Span) -> bool:
    return span.name == "GetAgentCard" and span.is_error


def _lines(
    node: Node, events: dict[tuple[str, str], list[LogEvent]], spans: dict[tuple[str, str], Span], indent: str = ""
) -> Iterator[str]:
    span = node.span
    status = "" if span.status == span.attributes.get(semconv.FINDING_MESSAGE) else f": {span.status}"
    yield f"{indent}{span.name} ({KINDS[span.kind]})" + (f" ERROR{status}" if span.is_error else "")
    for name, value in sorted(span.attributes.items()):
        yield f"{indent}{STEP}{name} = {UNSTEADY.get(name) or json.dumps(value, ensure_ascii=False)}"
    for link in span.links:
        target = spans.get((link.trace_id, link.span_id))
        yield f"{indent}{STEP}link {link.attributes[semconv.LINK_TYPE]} → {target.name if target else 'elsewhere'}"
    for event in events[span.trace_id, span.span_id]:
        severity = SeverityNumber(event.severity).name
        yield f"{indent}{STEP}event {event.name} {severity} {event.attributes.get(semconv.SECURITY_RULE_NAME, '')}"
    for child in node.children:
        yield from _lines(child, events, spans, indent + STEP)


def _steady(text: str) -> str:
    text = re.sub(TIME, "<time>", re.sub(PORT, "<port>", text))
    # Numbered in the order in which they are first met, so that equal ones stay equal.
    for kind, pattern, rest in (("hash", HASH, "[0-9a-f]*"), ("id", UUID, "")):
        for number, value in enumerate(dict.fromkeys(re.findall(pattern, text)), 1):
            text = re.sub(value + rest, f"<{kind} {number}>", text)
    return text
