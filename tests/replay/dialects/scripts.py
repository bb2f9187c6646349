# SPDX-License-Identifier: Apache-2.0
"""A whole exchange script in another dialect: the same calls, answers, streams, webhooks and cards, at their times."""

from __future__ import annotations

import copy
import json
from typing import Any

from tests.replay.dialects import answers, calls, cards
from tests.replay.dialects.calls import Call
from tests.replay.dialects.dialect import Dialect
from tests.replay.dialects.errors import Refused
from tests.replay.dialects.reading import Object


def translated(document: Object, dialect: Dialect) -> Object:
    """The document of a script as it would be, had both ends spoken ``dialect``.

    Raises:
        Untranslatable: the dialect has no word for something in it.
    """
    document = copy.deepcopy(document)
    return document | {"exchanges": [_step(step, dialect) for step in document["exchanges"]]}


def dialect_of(document: Object) -> Dialect | None:
    """The dialect of a script's calls; None where it has none."""
    found = [calls.read(step["request"]) for step in document["exchanges"] if step["type"] in ("http", "sse")]
    return next((call.dialect for call in found if call is not None), None)


def _step(step: Object, dialect: Dialect) -> Object:
    if step["type"] == "push":
        request = step["request"]
        return step | {"request": request | {"body": answers.write_delivery(request["body"], dialect)}}
    if step["type"] not in ("http", "sse"):
        return step
    call = calls.read(step["request"])
    if call is None:
        return _card_fetch(step, dialect)
    headers = {name: value for name, value in step["request"].get("headers", {}).items() if name != "A2A-Version"}
    request = calls.write(call, dialect)
    request["headers"] |= headers
    step = step | {"request": request}
    if step["type"] == "sse" and step["response"] is not None and "events" in step["response"]:
        return step | {"response": _stream(call, step["response"], dialect)}
    return _answered(step, call, dialect)


def _card_fetch(step: Object, dialect: Dialect) -> Object:
    response: Object = step.get("response") or {}
    if not cards.is_card(response.get("body")):
        return step
    return step | {"response": response | {"body": cards.translated(response["body"], dialect)}}


def _answered(step: Object, call: Call, dialect: Dialect) -> Object:
    response = step["response"]
    if not response or not isinstance(response.get("body"), dict):
        return step
    answer = answers.read(call, response["body"])
    if isinstance(answer, Refused) and answers.refuses_in_stream(call, dialect):
        at = max(step["t"], response.get("t", 0))
        return step | {"type": "sse", "response": _refused_in_stream(call, answer, dialect, at)}
    rest = {name: value for name, value in response.items() if name not in ("status", "body", "headers")}
    return step | {"response": answers.write(call, answer, dialect) | rest}


def _refused_in_stream(call: Call, answer: Refused, dialect: Dialect, at: float) -> Object:
    event = answers.write_event(call, answer, dialect)
    events = [] if event is None else [{"t": at, **event}]
    return {"t": at, "events": events, "end": "server_closed" if events else "reset", "end_t": at}


def _stream(call: Call, stream: Object, dialect: Dialect) -> Object:
    events: list[Object] = []
    for event in stream["events"]:
        data = _data(event)
        if data is None:
            events.append(event)
            continue
        written = answers.write_event(call, answers.read(call, data), dialect)
        if written is None:
            return stream | {"events": events, "end": "reset", "end_t": event["t"]}
        events.append({"t": event["t"], **written})
    return stream | {"events": events}


def _data(event: Object) -> Any:
    """The JSON of an event; None where it has none, like a comment."""
    if "data" in event:
        return event["data"]
    text = "\n".join(line.removeprefix("data:") for line in event["raw"].splitlines() if line.startswith("data:"))
    return json.loads(text) if text else None
