# SPDX-License-Identifier: Apache-2.0
"""Reading scripts: what is allowed, what stands in for what is absent, and what is said of a broken file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel_a2a.replay.script import Script, ScriptError, load
from otel_a2a.replay.steps import HttpStep, SetTaskState, SseStep
from tests.replay.cases import paths
from tests.replay.scripts import get, script, stream, update

CARD = {"method": "GET", "url": "https://agent.example/.well-known/agent-card.json"}
ANSWERED = {"step": 0, "t": 0, "type": "http", "request": CARD, "response": {"status": 200}}
STREAMED = {"step": 0, "t": 0, "type": "sse", "request": CARD, "response": {"events": [{"t": 1, "data": 1}]}}
RECORDED = {"step": 0, "t": 0, "type": "local", "action": "set_task_state", "task_id": "t-1", "state": "failed"}


def written(folder: Path, document: Any) -> Path:
    path = folder / "report.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def complaint(folder: Path, document: Any) -> str:
    with pytest.raises(ScriptError) as caught:
        load(written(folder, document))
    text = str(caught.value)
    assert text.startswith(f"{folder / 'report.json'}: ")
    assert caught.value.path == folder / "report.json"
    return text.removeprefix(f"{folder / 'report.json'}: ")


@pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
def test_every_case_is_a_script(path: Path) -> None:
    """The cases are read, with all their exchanges and expectations."""
    document = json.loads(path.read_text())
    read = load(path)
    assert (read.id, read.title) == (document["id"], document["title"])
    assert [each.step for each in read.exchanges] == [each["step"] for each in document["exchanges"]]
    assert [(each.rule, each.step) for each in read.expected or ()] == [
        (each["rule"], each["step"]) for each in document["expected"]
    ]
    assert set(read.expected_by_profile) == set(document.get("expected_by_profile", {}))


def test_little_is_needed(tmp_path: Path) -> None:
    """One exchange makes a script; it is called after its file, and says nothing of what is expected."""
    read = load(written(tmp_path, {"exchanges": [ANSWERED]}))
    assert (read.id, read.title, read.expected, read.expected_by_profile) == ("report", "", None, {})


def test_further_keys_are_passed_over(tmp_path: Path) -> None:
    """A script may hold notes of its own anywhere but among the settings."""
    exchange = {**ANSWERED, "note": "x", "request": {**CARD, "why": 1}}
    read = load(written(tmp_path, {"exchanges": [exchange], "ticket": 7}))
    assert len(read.exchanges) == 1


@pytest.mark.parametrize(
    ("document", "said"),
    [
        pytest.param("{", ["is not JSON", "line 1 column 2"], id="no-json"),
        pytest.param("[" * 100_000, ["is not JSON"], id="too-deep"),
        pytest.param([], ["the document: must be an object, not []"], id="no-object"),
        pytest.param({}, ["exchanges: is missing", "resourceSpans"], id="no-exchanges"),
        pytest.param({"exchanges": []}, ["exchanges: List should have at least 1 item"], id="empty"),
        pytest.param({"exchanges": [7]}, ["exchanges[0]: must be an object, not 7"], id="no-exchange"),
        pytest.param(
            {"exchanges": [ANSWERED, {"step": 1, "t": 1, "type": "websocket"}]},
            ["exchanges[1].type: 'websocket' is not one of http, sse, push, local, clock"],
            id="unknown-type",
        ),
        pytest.param(
            {"exchanges": [{"step": 1, "t": 1}]},
            ["exchanges[0].type: is missing; it is one of http, sse, push, local, clock"],
            id="no-type",
        ),
        pytest.param(
            {"exchanges": [{"step": 1, "t": 1, "type": "local", "action": "forget"}]},
            ["exchanges[0].action: 'forget' is not one of set_task_state, drop_artifact", "card_cache_hit"],
            id="unknown-action",
        ),
        pytest.param(
            {"exchanges": [{"step": 1, "t": 1, "type": "local", "action": "drop_artifact", "task_id": "t-1"}]},
            ["exchanges[0].artifact_id: is missing"],
            id="local-without-its-member",
        ),
        pytest.param(
            {"exchanges": [{**ANSWERED, "t": -1}]},
            ["exchanges[0].t: Input should be greater than or equal to 0, not -1"],
            id="before-the-beginning",
        ),
        pytest.param(
            '{"exchanges": [{"step": 1, "t": NaN, "type": "clock"}]}',
            ["exchanges[0].t: Input should be"],
            id="not-a-time",
        ),
        pytest.param(
            {"exchanges": [{**ANSWERED, "request": {"method": "GET", "url": "http://[::1"}}]},
            ["exchanges[0].request.url: is no URL: Invalid IPv6 URL"],
            id="no-url",
        ),
        pytest.param(
            {"exchanges": [{**ANSWERED, "request": {"method": "GET", "url": "agent.example/a2a"}}]},
            ["exchanges[0].request.url: must be a whole URL of http or https, not 'agent.example/a2a'"],
            id="part-of-a-url",
        ),
        pytest.param(
            {"exchanges": [{**RECORDED, "state": "cancelled?"}]},
            ["exchanges[0].state: 'cancelled?' is no state of a task; states are auth-required, canceled, completed"],
            id="no-state",
        ),
        pytest.param(
            {"exchanges": [{**ANSWERED, "response": {}}]},
            ["exchanges[0].response: needs a status, or an error in place of it"],
            id="no-answer",
        ),
        pytest.param(
            {"exchanges": [{key: value for key, value in ANSWERED.items() if key != "response"}]},
            ["exchanges[0].response: is missing"],
            id="no-response",
        ),
        pytest.param(
            {"exchanges": [{**STREAMED, "response": {"status": 200, "events": [{"t": 1}]}}]},
            ["exchanges[0].response.events[0]: needs either data or raw"],
            id="empty-event",
        ),
        pytest.param(
            {"exchanges": [{**ANSWERED, "hints": {"skil": "pay"}}]},
            ["exchanges[0].hints.skil: is not known; known are skill, expected_duration, retry_of"],
            id="unknown-hint",
        ),
        pytest.param(
            {"exchanges": [ANSWERED], "settings": {"deadline": 3}},
            ["settings.deadline: is not known; known are deadline_s, max_card_age_s, card_failure_window_s", "env"],
            id="unknown-setting",
        ),
        pytest.param(
            {"exchanges": [ANSWERED], "expected": [{"step": 3}]}, ["expected[0].rule: is missing"], id="no-rule"
        ),
        pytest.param(
            {"exchanges": [ANSWERED], "expected_by_profile": {"fenced": [{}]}},
            ["expected_by_profile.fenced[0].rule: is missing"],
            id="no-rule-of-a-profile",
        ),
    ],
)
def test_a_broken_file_is_told_where_and_what_is_allowed(tmp_path: Path, document: Any, said: list[str]) -> None:
    """The error names the file, the place in it, and the values that may stand there."""
    text = complaint(tmp_path, document)
    assert all(piece in text for piece in said), text


def test_several_errors_are_told_at_once(tmp_path: Path) -> None:
    """The first errors are told, the rest is counted."""
    text = complaint(tmp_path, {"exchanges": [{**ANSWERED, "t": -1}] * 8})
    assert text.count("greater than or equal to 0") == 5
    assert text.endswith("; and 3 more")


def test_a_long_value_is_not_repeated(tmp_path: Path) -> None:
    """A value that is wrong is shown, but not a whole document."""
    assert len(complaint(tmp_path, {"exchanges": "x" * 10_000})) < 200


def test_what_is_no_file(tmp_path: Path) -> None:
    """A file that is not there, and a folder that holds no script, are named as what they are."""
    with pytest.raises(ScriptError, match=r"nowhere\.json: cannot be read: No such file"):
        load(tmp_path / "nowhere.json")
    with pytest.raises(ScriptError, match=r"is a folder without a script \(\*\.json\)"):
        load(tmp_path)


def first(read: Script) -> Any:
    return read.exchanges[0]


def test_a_body_is_json_unless_it_is_raw() -> None:
    """A body is sent as JSON and says so; raw text is sent as it is, without a type; an absent body is none."""
    json_body = first(
        script({"type": "http", "request": {**CARD, "body": None}, "response": {"status": 200, "raw": "ö"}})
    )
    assert isinstance(json_body, HttpStep)
    assert json_body.request.content == b"null"
    assert json_body.response is not None
    assert json_body.request.header_fields() == {"content-type": "application/json"}
    assert json_body.response.content == "ö".encode()
    assert json_body.response.header_fields() == {}
    absent = first(script({"type": "http", "request": CARD, "response": {"status": 204}}))
    assert (absent.request.content, absent.request.header_fields()) == (b"", {})
    assert (absent.response.content, absent.response.header_fields()) == (b"", {})


def test_headers_are_as_stated() -> None:
    """Stated headers win, names count in lower case, numbers are text; those of the transfer mean nothing here."""
    headers = {"Content-Type": "text/plain", "Age": 3, "Content-Encoding": "gzip", "Content-Length": 9}
    step = first(script(get("WORKING", response={"status": 200, "body": {}, "headers": headers})))
    assert step.response.header_fields() == {"content-type": "text/plain", "age": "3"}


def test_a_stream_is_of_events_unless_it_says_otherwise() -> None:
    """A stream states neither status nor type: it is a 200 of server-sent events that the server ends."""
    step = first(script({"type": "sse", "request": CARD, "response": {"events": []}}))
    assert isinstance(step, SseStep) and step.response is not None
    assert step.response.status == 200
    assert step.response.header_fields() == {"content-type": "text/event-stream"}
    assert step.response.end == "server_closed"
    lines = first(script(stream({"t": 0, "data": update("WORKING")}, headers={"content-type": "application/x-ndjson"})))
    assert lines.response.header_fields() == {"content-type": "application/x-ndjson"}


def test_a_decision_is_told_apart_by_its_action() -> None:
    """Local steps are of several kinds, each with its own members."""
    step = first(script({"type": "local", "action": "set_task_state", "task_id": "t-1", "state": "failed"}))
    assert isinstance(step, SetTaskState)
    assert (step.task_id, step.state, step.reason) == ("t-1", "failed", "")


def test_settings_have_the_names_of_settings() -> None:
    """Thresholds of a script are settings under another name; what is not stated is not set."""
    settings = {"deadline_s": 300, "max_card_age_s": 120, "gateway_rewrites_ids": True, "env": {"A": "b"}}
    read = script(get("WORKING"), settings=settings).settings
    assert read.values() == {"task_deadline": 300.0, "max_card_age": 120.0, "gateway_rewrites_ids": True}
    assert read.env == {"A": "b"}
