# SPDX-License-Identifier: Apache-2.0
"""Lenient reading of JSON."""

from __future__ import annotations

from otel_a2a.wire import reading


def test_load_tells_unreadable_from_null() -> None:
    """``null`` is JSON; broken bytes, bottomless nesting and endless numbers are not readable."""
    assert reading.load(b"null") is None
    assert reading.load(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}
    for body in (b"", b"{", b"\xff\xfe\xfd", b"[" * 100_000, b"9" * 10_000):
        assert reading.load(body) is reading.UNREADABLE


def test_members_are_found_in_both_spellings() -> None:
    """camelCase and snake_case are one name; camelCase wins."""
    assert reading.text({"task_id": "t"}, "taskId") == "t"
    assert reading.text({"taskId": "a", "task_id": "b"}, "taskId") == "a"
    assert reading.mapping({"push_notification_config": {"url": "u"}}, "pushNotificationConfig") == {"url": "u"}


def test_wrong_types_read_as_absent() -> None:
    """What is not of the type asked for is not there."""
    value = {"taskId": 7, "parts": "x", "message": [], "append": 1}
    assert reading.text(value, "taskId") == ""
    assert reading.items(value, "parts") == []
    assert reading.mapping(value, "message") == {}
    assert reading.flag(value, "append") is None
    assert reading.mapping([], "message") == {}


def test_booleans_may_be_written_as_text() -> None:
    """Lenient parsers take them, so that a client may rely on them."""
    assert [reading.flag({"append": value}, "append") for value in ("true", "False", "x")] == [True, False, None]


def test_integers_may_be_written_as_text() -> None:
    """ProtoJSON writes int64 as text."""
    assert [reading.integer(value) for value in (7, "7", True, 7.0, "-7", "x", None)] == [7, 7] + [None] * 5


def test_media_type_has_no_parameters() -> None:
    """Parameters and case do not count."""
    assert reading.media_type("Application/JSON; charset=utf-8") == "application/json"
    assert reading.media_type(None) == ""
