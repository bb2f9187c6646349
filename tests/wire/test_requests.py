# SPDX-License-Identifier: Apache-2.0
"""What is A2A, and what is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any

import pytest

from otel_a2a.exchange import RecordedExchange
from otel_a2a.observations import CallStarted, CardRequested, Method
from otel_a2a.wire import requests, urls

JSON = {"content-type": "application/json"}


def read(
    method: str,
    url: str,
    body: Any = b"",
    headers: dict[str, str] | None = None,
    *,
    knows: Callable[[str], bool] = lambda _: False,
    card_urls: Collection[str] = (),
    max_body: int = 1_048_576,
) -> CallStarted | CardRequested | None:
    content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    exchange = RecordedExchange(method, url, {**JSON, **(headers or {})}, content)
    return requests.read_request(exchange, knows=knows, card_urls=card_urls, max_body=max_body)


def rpc(method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {} if params is None else params}


@pytest.mark.parametrize(
    ("method", "path", "content_type"),
    [
        ("GET", "/.well-known/agent-card.json", None),
        ("GET", "/agents/a/.well-known/agent.json", None),
        ("GET", "/v1/card", None),
        ("GET", "/acme/extendedAgentCard", None),
        ("GET", "/agent/authenticatedExtendedCard", None),
        ("GET", "/v1/tasks/1", None),
        ("GET", "/custom/card", None),
        ("POST", "/", "application/json"),
        ("POST", "/", "application/a2a+json"),
        ("POST", "/", None),
        ("POST", "/message:stream", "text/plain"),
        ("POST", "/tasks/1:cancel", "application/x-www-form-urlencoded"),
        ("DELETE", "/tasks/1/pushNotificationConfigs/2", None),
    ],
)
def test_the_filter_lets_a2a_pass(method: str, path: str, content_type: str | None) -> None:
    """Everything that ``read_request`` could recognise gets past the filter."""
    assert requests.may_be_a2a(method, path, content_type, card_paths=("/custom/card",))


@pytest.mark.parametrize(
    ("method", "path", "content_type"),
    [
        ("GET", "/", None),
        ("GET", "/index.html", "application/json"),
        ("GET", "/.well-known/jwks.json", None),
        ("GET", "/custom/card", None),
        ("HEAD", "/.well-known/agent-card.json", None),
        ("OPTIONS", "/tasks/1", "application/json"),
        ("PUT", "/tasks/1", "application/json"),
        ("POST", "/upload", "multipart/form-data; boundary=x"),
        ("POST", "/v1/traces", "application/x-protobuf"),
        ("DELETE", "/users/1", None),
    ],
)
def test_the_filter_stops_the_rest(method: str, path: str, content_type: str | None) -> None:
    """What cannot be A2A is not looked at any further."""
    assert not requests.may_be_a2a(method, path, content_type)


OTLP = {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "SendMessage", "attributes": []}]}]}]}
FOREIGN: list[tuple[str, str, Any]] = [
    ("POST", "http://x.example/v1/traces", OTLP),
    ("POST", "http://x.example/graphql", {"query": "{ tasks { id } }", "operationName": "GetTask"}),
    ("POST", "http://x.example/mcp", rpc("tools/call", {"name": "message/send"})),
    ("POST", "http://x.example/mcp", rpc("tasks/get", {"taskId": "t"})),
    ("POST", "http://x.example/mcp", rpc("tasks/cancel", {"taskId": "t"})),
    ("POST", "http://x.example/mcp", rpc("tasks/list")),
    ("POST", "http://x.example/mcp", rpc("tasks/result", {"taskId": "t", "id": "t"})),
    ("POST", "http://eth.example/", rpc("eth_getTransactionByHash", ["0x1"])),
    ("POST", "http://lsp.example/", rpc("textDocument/didOpen", {"id": "t"})),
    ("POST", "http://x.example/", rpc("GetBlock", {"id": "t"})),
    ("POST", "http://x.example/", rpc("SendMail", {"message": {"messageId": "m"}})),
    ("POST", "http://x.example/", [rpc("message/send")]),
    ("POST", "http://x.example/", {"method": "message/send", "params": {"message": {"messageId": "m"}}}),
    ("POST", "http://x.example/", {**rpc("message/send"), "jsonrpc": "1.0"}),
    ("POST", "http://x.example/", {"jsonrpc": "2.0", "id": 1, "result": {"method": "message/send"}}),
    ("POST", "http://x.example/", {"jsonrpc": "2.0", "params": {"method": "message/send"}}),
    ("POST", "http://x.example/", b'{"jsonrpc": "2.0", "method": "message/send", '),
    ("POST", "http://x.example/", b"\xff\xfe" + '{"jsonrpc": "2.0", "method": "message/send"}'.encode("utf-16-le")),
    ("POST", "https://fcm.example/v1/projects/p/messages:send", {"message": {"token": "x"}}),
    ("POST", "https://x.example/v1/messages", {"messages": []}),
    ("POST", "http://x.example/tasks", {"title": "buy milk"}),
    ("PUT", "http://x.example/tasks/1", {"title": "buy milk"}),
    ("DELETE", "http://x.example/tasks/1", b""),
    ("GET", "http://x.example/tasks/1/comments", b""),
    ("GET", "https://bank.example/v1/card", b""),
    ("GET", "https://x.example/.well-known/openid-configuration", b""),
    ("HEAD", "https://x.example/.well-known/agent-card.json", b""),
    ("POST", "https://x.example/.well-known/agent-card.json", {}),
]


@pytest.mark.parametrize(("method", "url", "body"), FOREIGN)
def test_other_protocols_are_not_recognised(method: str, url: str, body: Any) -> None:
    """MCP, LSP, Ethereum, OTLP, GraphQL and REST with similar names are not A2A."""
    assert read(method, url, body) is None


@pytest.mark.parametrize(
    ("method", "url", "body"),
    [
        ("GET", "https://todo.example/api/tasks/7", b""),
        ("GET", "https://todo.example/api/tasks", b""),
        ("POST", "http://x.example/rpc", rpc("tasks/get", {"id": "t"})),
        ("POST", "http://x.example/rpc", rpc("tasks/cancel", {"id": "t"})),
        ("POST", "http://x.example/rpc", rpc("GetTask", {"id": "t"})),
        ("POST", "http://x.example/rpc", rpc("CancelTask", {"id": "t"})),
        ("POST", "http://x.example/rpc", rpc("ListTasks")),
    ],
)
def test_weak_names_wait_for_the_answer_or_another_sign(method: str, url: str, body: Any) -> None:
    """Names that others use too are certain only with a header of A2A or at a known endpoint."""
    alone = read(method, url, body)
    assert isinstance(alone, CallStarted) and not alone.certain
    for headers in (
        {"a2a-version": "1.0"},
        {"accept": "application/a2a+json"},
        {"content-type": "application/a2a+json"},
    ):
        signed = read(method, url, body, headers)
        assert isinstance(signed, CallStarted) and signed.certain
    if method == "GET":
        in_query = read(method, f"{url}?A2A-Version=1.0")
        assert isinstance(in_query, CallStarted) and in_query.certain
    known = read(method, url, body, knows=lambda endpoint: endpoint == alone.endpoint)
    assert isinstance(known, CallStarted) and known.certain


@pytest.mark.parametrize("path", ["/.well-known/agent-card.json", "/.well-known/agent.json"])
def test_a_card_fetch_is_known_by_its_path(path: str) -> None:
    """Under any base path; query and user-info are not part of the document's URL."""
    request = read("GET", f"https://u:p@Agent.example/base{path}?x=1", headers={"authorization": "Bearer x"})
    assert isinstance(request, CardRequested)
    assert request.url == f"https://agent.example/base{path}"
    assert (request.server_address, request.server_port) == ("agent.example", 443)
    assert request.credential and not request.extended


def test_a_card_fetch_is_known_by_its_url() -> None:
    """A URL that is configured, or has served a card before."""
    known = {urls.fetch_url("https://registry.example/cards/7/")}
    request = read("GET", "https://registry.example/cards/7?x=1", card_urls=known)
    assert isinstance(request, CardRequested) and not request.extended
    assert isinstance(read("GET", "https://registry.example/cards/7?agent=x", card_urls=known), CardRequested)
    assert read("GET", "https://registry.example/cards/8", card_urls=known) is None


@pytest.mark.parametrize("path", ["/extendedAgentCard", "/acme/extendedAgentCard", "/agent/authenticatedExtendedCard"])
def test_the_extended_card_is_a_card_of_its_own(path: str) -> None:
    """0.2 and 1.0 have paths that nobody else has. It is the card of the interface that stands before them."""
    known = {"https://agent.example"}
    request = read("GET", f"https://agent.example{path}", knows=known.__contains__)
    assert isinstance(request, CardRequested) and request.extended
    assert request.endpoint == "https://agent.example"


def test_the_extended_card_of_0_3_needs_a_second_sign() -> None:
    """``/v1/card`` alone may be a bank's."""
    url = "https://agent.example/a2a/v1/card"
    for interface in ("https://agent.example/a2a", "https://agent.example/a2a/v1"):
        request = read("GET", url, knows=lambda endpoint, known=interface: endpoint == known)  # type: ignore[misc]
        assert isinstance(request, CardRequested) and request.extended
        assert request.endpoint == interface
    stated = read("GET", url, headers={"a2a-version": "0.3"})
    assert isinstance(stated, CardRequested) and stated.endpoint == "https://agent.example/a2a"


def test_an_unreadable_body_leaves_what_the_path_tells() -> None:
    """A body from a generator is not consumed: over HTTP+JSON the call is known but not judged."""
    call = read("POST", "https://agent.example/message:stream", None)
    assert isinstance(call, CallStarted)
    assert (call.method, call.judged, call.message) == (Method.SEND_STREAMING_MESSAGE, False, None)
    assert read("POST", "https://agent.example/", None) is None


PADDING = "x" * 200_000
BIG_MESSAGE = {"messageId": "m", "taskId": "t", "contextId": "c", "role": "ROLE_USER", "parts": [{"text": PADDING}]}


@pytest.mark.parametrize(
    "envelope",
    [
        {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": BIG_MESSAGE}},
        {"params": {"message": BIG_MESSAGE}, "method": "SendMessage", "jsonrpc": "2.0", "id": 1},
        {"method": "SendMessage", "params": {"message": BIG_MESSAGE}, "jsonrpc": "2.0"},
    ],
)
def test_an_oversized_call_is_recognised_by_its_ends(envelope: dict[str, Any]) -> None:
    """The beginning is read as far as it goes, the method may stand at the end, and nothing is said of the parts."""
    call = read("POST", "https://agent.example/", envelope, max_body=100_000)
    assert isinstance(call, CallStarted)
    assert (call.method, call.protocol_version, call.judged) == (Method.SEND_MESSAGE, "1.0", False)
    assert (call.task_id, call.context_id) == ("t", "c")
    assert call.message is not None and (call.message.message_id, call.message.parts) == ("m", "")


def test_an_oversized_call_does_not_take_ids_out_of_its_parts() -> None:
    """A data part may hold a whole conversation; its ids are not the message's."""
    inner = {"taskId": "other", "contextId": "other", "messageId": "other"}
    message = {"parts": [{"data": inner}, {"text": PADDING}, {"data": inner}], "taskId": "t"}
    call = read("POST", "https://agent.example/", rpc("SendMessage", {"message": message}), max_body=100_000)
    assert isinstance(call, CallStarted)
    assert (call.task_id, call.context_id, call.judged) == ("", "", False)


def test_an_oversized_rest_call_is_known_by_its_path() -> None:
    """The same over HTTP+JSON."""
    call = read("POST", "https://agent.example/message:send", {"message": BIG_MESSAGE}, max_body=100_000)
    assert isinstance(call, CallStarted)
    assert (call.task_id, call.judged) == ("t", False)
    assert call.message is not None and call.message.parts == ""


def test_an_oversized_foreign_body_is_not_a2a() -> None:
    """An upload, a trace export or another protocol's large call."""
    assert read("POST", "https://x.example/", rpc("tools/call", {"text": PADDING}), max_body=100_000) is None
    assert read("POST", "https://x.example/", {"text": PADDING}, max_body=100_000) is None
    assert read("POST", "https://x.example/", b"\x00" * 200_000, max_body=100_000) is None


class Hostile(RecordedExchange):
    """An exchange whose every access fails."""

    def body(self) -> bytes | None:
        raise RuntimeError("no body")

    def url(self) -> str:
        raise RuntimeError("no url")


def test_a_failing_exchange_is_no_a2a() -> None:
    """A fault of a client library's request object stays here."""
    for method in ("GET", "POST", "DELETE"):
        exchange = Hostile(method, "https://agent.example/tasks/1/pushNotificationConfigs/1", {})
        assert requests.read_request(exchange, knows=lambda _: True) is None


def test_no_credential_of_a_request_shows() -> None:
    """Tokens, webhook URLs and credentials are digests in every observation of a request."""
    config = {
        "url": "https://hook.example/TOP-SECRET",
        "token": "TOP-SECRET",
        "authentication": {"credentials": "TOP-SECRET"},
    }
    headers = {"authorization": "Bearer TOP-SECRET", "x-api-key": "TOP-SECRET"}
    params = {"message": {"messageId": "m", "parts": [{"text": "TOP-SECRET"}]}}
    for method, body in (
        ("SendMessage", {**params, "configuration": {"taskPushNotificationConfig": config}}),
        ("message/send", {**params, "configuration": {"pushNotificationConfig": config}}),
        ("tasks/send", {**params, "pushNotification": config}),
        ("CreateTaskPushNotificationConfig", {"taskId": "t", **config}),
        ("tasks/pushNotificationConfig/set", {"taskId": "t", "pushNotificationConfig": config}),
    ):
        call = read("POST", "https://u:TOP-SECRET@agent.example/?key=TOP-SECRET", rpc(method, body), headers)
        assert isinstance(call, CallStarted) and call.push and call.credential
        assert "TOP-SECRET" not in repr(call)
