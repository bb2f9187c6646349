# SPDX-License-Identifier: Apache-2.0
"""Errors: the agent's own, or somebody's on the way."""

from __future__ import annotations

from typing import Any

import pytest

from otel_a2a.wire import failures
from tests.wire.support import started


def failed(document: Any, status: int = 200, **call: Any) -> tuple[str, bool]:
    found = failures.read(started(**call), status, document)
    assert found.status == status
    return found.error, found.from_agent


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (-32001, "TASK_NOT_FOUND"),
        (-32002, "TASK_NOT_CANCELABLE"),
        (-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
        (-32004, "UNSUPPORTED_OPERATION"),
        (-32007, "EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
        (-32009, "VERSION_NOT_SUPPORTED"),
        (-32010, "TASK_GENERATION_MISMATCH"),
        (-32099, "-32099"),
        (-32600, "-32600"),
        (-32601, "-32601"),
        (-32603, "-32603"),
        ("-32001", "TASK_NOT_FOUND"),
    ],
)
def test_json_rpc_codes_have_the_names_of_a2a(code: Any, error: str) -> None:
    """With HTTP 200 or any other status; general codes keep their number."""
    for status in (200, 400, 500):
        assert failed({"jsonrpc": "2.0", "error": {"code": code, "message": "x"}}, status) == (error, True)


def test_numbers_of_0_1_do_not_mean_what_they_mean_today() -> None:
    """-32009 was *invalid task state*."""
    assert failed({"error": {"code": -32009}}, version="0.1") == ("-32009", True)
    assert failed({"error": {"code": -32001}}, version="0.1") == ("TASK_NOT_FOUND", True)


def info(reason: str, domain: str = "a2a-protocol.org") -> list[dict[str, str]]:
    return [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": domain}]


def test_the_reason_is_what_counts_over_http_json() -> None:
    """1.0 writes it in ``details``, and in ``data`` over JSON-RPC."""
    error = {"code": 404, "status": "NOT_FOUND", "message": "x", "details": info("TASK_NOT_FOUND")}
    assert failed({"error": error}, 404, rest=True) == ("TASK_NOT_FOUND", True)
    error = {"code": -32004, "message": "x", "data": info("UNSUPPORTED_OPERATION")}
    assert failed({"error": error}) == ("UNSUPPORTED_OPERATION", True)
    error = {"code": -32602, "message": "x", "data": info("INVALID_PARAMS")}
    assert failed({"error": error}) == ("-32602", True)


@pytest.mark.parametrize(
    "document",
    [
        {
            "type": "https://a2a-protocol.org/errors/task-not-found",
            "title": "Task Not Found",
            "status": 404,
            "detail": "x",
        },
        {"code": 5, "message": "x", "details": info("TASK_NOT_FOUND")},
    ],
)
def test_problem_details_and_a_bare_status_name_the_reason_too(document: Any) -> None:
    """The first is how the specification's own examples look, the second what gRPC's gateway makes of a status."""
    assert failed(document, 404, rest=True, task_id="t") == ("TASK_NOT_FOUND", True)


def test_problem_details_of_others_are_not_the_agents() -> None:
    """Web frameworks write RFC 9457 for paths that they do not know."""
    document = {"type": "https://tools.ietf.org/html/rfc9110#section-15.5.5", "title": "Not Found", "status": 404}
    assert failed(document, 404, rest=True, task_id="t") == ("404", False)
    named = {"type": "https://elsewhere.example/a2a-protocol.org/errors/task-not-found", "status": 404}
    assert failed(named, 404, rest=True, task_id="t") == ("404", False)


def test_a_reason_of_another_domain_is_not_the_agents() -> None:
    """Cloud gateways write the same shape."""
    bare = {"code": 5, "message": "x", "details": info("TASK_NOT_FOUND", "googleapis.com")}
    assert failed(bare, 404, rest=True) == ("404", False)
    error = {"code": 403, "status": "PERMISSION_DENIED", "details": info("API_KEY_INVALID", "googleapis.com")}
    assert failed({"error": error}, 403, rest=True) == ("403", False)
    assert failed({"error": {"code": 500, "status": "INTERNAL", "message": "x"}}, 500, rest=True) == ("500", False)


@pytest.mark.parametrize(
    ("document", "status", "expected"),
    [
        ({"message": "Task not found"}, 404, ("TASK_NOT_FOUND", True)),
        ({"message": "Task t was specified but does not exist"}, 404, ("TASK_NOT_FOUND", True)),
        ({"detail": "Task t not found"}, 404, ("TASK_NOT_FOUND", True)),
        ({"detail": "Task not found: tasks/t"}, 404, ("TASK_NOT_FOUND", True)),
        ({"code": -32001, "message": "Task not found: t"}, 404, ("TASK_NOT_FOUND", True)),
        ({"code": -32002, "message": "Task not cancelable: t"}, 409, ("TASK_NOT_CANCELABLE", True)),
        ({"message": "Task cannot be canceled - current state: completed"}, 409, ("TASK_NOT_CANCELABLE", True)),
        ({"message": "Task t is in terminal state: completed"}, 422, ("422", True)),
        ({"message": "Context in message does not match"}, 422, ("422", True)),
        ({"message": "This operation is not supported"}, 501, ("UNSUPPORTED_OPERATION", True)),
        ({"message": "Push Notification is not supported"}, 501, ("PUSH_NOTIFICATION_NOT_SUPPORTED", True)),
        ({"error": "io.a2a.spec.TaskNotFoundError", "message": ""}, 404, ("TASK_NOT_FOUND", True)),
        ({"message": "unknown exception"}, 500, ("500", False)),
    ],
)
def test_errors_of_0_3_over_http_json(document: Any, status: int, expected: tuple[str, bool]) -> None:
    """Python writes ``message``, JavaScript adds ``code``, Java the name of a class, FastAPI ``detail``."""
    method = "CancelTask" if status == 409 else "GetTask"
    assert failed(document, status, method=method, rest=True, version="0.3", task_id="t") == expected


@pytest.mark.parametrize(
    "document",
    [
        {"detail": "Not Found"},
        {"detail": "no such path: /a2a/tasks/t"},
        {"detail": "unknown route tasks/t"},
        {"message": "no handler for tasks/get"},
        {"detail": [{"loc": ["path"], "msg": "task"}]},
        {"message": "Not Found"},
        {"message": "Cannot GET /a2a/tasks/t"},
        {"message": "no Route matched with those values"},
        {"message": "Missing Authentication Token"},
        {"statusCode": 404, "message": "Cannot GET /tasks/t", "error": "Not Found"},
        {"timestamp": "x", "status": 404, "error": "Not Found", "path": "/tasks/t"},
        {"code": 404, "message": "route not found"},
        "Not Found",
        None,
        [],
    ],
)
def test_a_404_of_routers_and_gateways_is_not_the_agents(document: Any) -> None:
    """Nothing is said about the task."""
    assert failed(document, 404, method="GetTask", rest=True, version="0.3", task_id="t") == ("404", False)


def test_not_found_needs_a_task_that_was_asked_for() -> None:
    """A list or a creating send cannot miss a task."""
    assert failed({"message": "Task not found"}, 404, method="ListTasks", rest=True, version="0.3") == ("404", False)


def test_inside_a_stream_only_the_agent_writes() -> None:
    """1.0 over HTTP+JSON writes a status object there, without a reason."""
    found = failures.read_in_stream(started(rest=True), {"error": {"code": 500, "status": "INTERNAL"}})
    assert (found.error, found.from_agent) == ("500", True)
    assert failures.read_in_stream(started(), {"error": {"code": -32603}}).error == "-32603"
    assert failures.read_in_stream(started(), {"error": "boom"}).error == "error"


@pytest.mark.parametrize(
    ("document", "status", "code"),
    [
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "Task not found"}}, 200, "-32001"),
        ({"error": {"code": 404, "status": "NOT_FOUND", "details": info("TASK_NOT_FOUND")}}, 404, "404"),
        ({"message": "Task not found"}, 404, "404"),
        ({"code": -32001, "message": "Task not found: t"}, 404, "-32001"),
        ("<html>", 503, "503"),
        ({"error": "invalid_grant"}, 401, "401"),
        ({"error": {"message": "no code"}}, 200, ""),
    ],
)
def test_the_code_is_the_one_that_was_written(document: Any, status: int, code: str) -> None:
    """``error.type`` is the protocol's code: a number of JSON-RPC, or an HTTP status."""
    assert failures.read(started(rest=status >= 300), status, document).code == code


def test_the_code_of_an_error_in_a_stream() -> None:
    """There it comes with status 200, which is none."""
    assert failures.read_in_stream(started(), {"error": {"code": -32603}}).code == "-32603"
    assert failures.read_in_stream(started(rest=True), {"error": {"status": "INTERNAL"}}).code == ""
