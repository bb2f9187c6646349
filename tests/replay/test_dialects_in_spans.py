# SPDX-License-Identifier: Apache-2.0
"""Translations over real sockets: calls leave the same spans in every dialect, but for the code of an error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode

from otel_a2a import semconv
from otel_a2a.replay.player import Observer
from otel_a2a.replay.profiles import settings_for
from otel_a2a.replay.script import Script
from otel_a2a_policies import RULES
from tests.replay import loopback
from tests.replay.dialects import DIALECTS, translated
from tests.replay.reasons import Document
from tests.replay.test_dialects import ORIGINALS, Original
from tests.support.telemetry import Telemetry

SAME = (semconv.A2A_METHOD_NAME, semconv.A2A_TASK_ID, semconv.A2A_TASK_STATE, semconv.GEN_AI_CONVERSATION_ID)
SPOKEN = [dialect for dialect in DIALECTS if dialect.sdk == "python"]
UNDER_DEFAULT = [each for each in ORIGINALS if each.profile == "default" and not each.name.startswith("shared-")]


async def calls(document: Document, profile: str) -> list[ReadableSpan]:
    """The spans of all calls and fetches of a script that happens over sockets, in the order in which they began."""
    script = Script.model_validate(document)
    telemetry = Telemetry()
    observer = Observer(settings_for(script, profile, RULES).settings, RULES)
    with telemetry.instrumented(engine=observer.engine):
        async with loopback.happened(script, observer, loopback.AsyncApplication(), whole=True):
            pass
    spans = [span for span in telemetry.ours() if span.kind is SpanKind.CLIENT]
    return sorted(spans, key=lambda span: span.start_time or 0)


def told(span: ReadableSpan) -> tuple[Any, ...]:
    attributes = span.attributes or {}
    failed = span.status.status_code is StatusCode.ERROR
    return span.name, *(attributes.get(name) for name in SAME), failed, semconv.ERROR_TYPE in attributes


def error_types(spans: list[ReadableSpan]) -> list[str]:
    return [str((span.attributes or {}).get(semconv.ERROR_TYPE, "")) for span in spans]


def written_code(step: dict[str, Any]) -> str | None:
    """The code of the error that answers a step: JSON-RPC's where there is one, else the HTTP status; empty for none.

    None where the transport is to blame.
    """
    response = step.get("response") or {}
    if "error" in response or response.get("end") == "reset":
        return None
    for body in (response.get("body"), *map(_data, response.get("events", ()))):
        if isinstance(body, dict) and isinstance(body.get("error"), dict):
            return str(body["error"]["code"])
    status = response.get("status", 200)
    return str(status) if status >= 400 else ""


def _data(event: dict[str, Any]) -> Any:
    name, _, rest = event.get("raw", "").partition("data: ")
    return json.loads(rest) if name.startswith("event: error") else event.get("data")


def codes(document: Document) -> list[str | None]:
    return [written_code(step) for step in document["exchanges"] if step["type"] in ("http", "sse")]


@pytest.mark.parametrize("original", UNDER_DEFAULT, ids=str)
async def test_spans_are_equal_in_every_dialect(original: Original) -> None:
    """Method, task, its state, its context, and whether the call failed. The error's type is the protocol's own code:
    -32001 over JSON-RPC is 404 over HTTP+JSON."""
    wanted = [told(span) for span in await calls(original.document, original.profile)]
    for dialect in SPOKEN:
        if dialect not in original.dialects:
            continue
        document = translated(original.document, dialect)
        spans = await calls(document, original.profile)
        assert [told(span) for span in spans] == wanted, str(dialect)
        types = error_types(spans)
        written = [kind if code is None else code for kind, code in zip(types, codes(document), strict=True)]
        assert types == written, str(dialect)


def test_there_are_errors() -> None:
    """Codes of both bindings are among what is compared."""
    documents = [
        translated(each.document, dialect) for each in UNDER_DEFAULT for dialect in SPOKEN if dialect in each.dialects
    ]
    seen = {code for document in documents for code in codes(document) if code}
    assert {"-32001", "-32603", "404", "422", "501", "503"} <= seen
