# SPDX-License-Identifier: Apache-2.0
"""The WSGI middleware: sees deliveries, and is not seen."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import flask
import httpx
import pytest
from werkzeug.serving import make_server

from otel_a2a import semconv
from otel_a2a.webhooks import A2AWebhookWSGIMiddleware
from tests.support.telemetry import Telemetry
from tests.webhooks.application import STATE, TOKEN, Application, application

# Three lines, so that reading line by line says something.
BODY = json.dumps({"statusUpdate": {"taskId": "t1", "status": {"state": STATE + "WORKING"}}}, indent=0).encode()
Read = Callable[[Any], bytes]


def environ(body: bytes = BODY, *, path: str = "/hook", length: int | None = None, **more: Any) -> dict[str, Any]:
    """A request's environment, with the token; ``more`` wins."""
    made: dict[str, Any] = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": path,
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body) if length is None else length),
        "HTTP_X_A2A_NOTIFICATION_TOKEN": TOKEN,
        "wsgi.input": io.BytesIO(body),
    }
    setup_testing_defaults(made)
    return made | more


class Reader:
    """An application that reads its body in its own way, and remembers what it got."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self.got: bytes | None = None
        self.environ: dict[str, Any] = {}

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        self.environ = environ
        self.got = self._read(environ["wsgi.input"])
        start_response("204 No Content", [])
        return []


def run(app: Any, given: dict[str, Any]) -> list[str]:
    """Let ``app`` have a request; returns the status lines."""
    said: list[str] = []
    for _ in app(given, lambda status, headers, exc_info=None: said.append(status)):
        pass
    return said


def by_pieces(stream: Any) -> bytes:
    return b"".join(iter(lambda: stream.read(7), b""))


def until_length(stream: Any) -> bytes:
    got = b""
    while len(got) < len(BODY):
        got += stream.read(min(10, len(BODY) - len(got)))
    return got


def by_next(stream: Any) -> bytes:
    got = b""
    while len(got) < len(BODY):
        got += next(stream)
    return got


def into(stream: Any) -> bytes:
    buffer, got = bytearray(16), b""
    while count := stream.readinto(buffer):
        got += buffer[:count]
    return got


READS: dict[str, Read] = {
    "read()": lambda stream: stream.read(),
    "read(-1)": lambda stream: stream.read(-1),
    "read(None)": lambda stream: stream.read(None),
    "read(length)": lambda stream: stream.read(len(BODY)),
    "read(7)…": by_pieces,
    "until the length": until_length,
    "readline()…": lambda stream: b"".join(iter(stream.readline, b"")),
    "readline(5)…": lambda stream: b"".join(iter(lambda: stream.readline(5), b"")),
    "readlines()": lambda stream: b"".join(stream.readlines()),
    "for line in": lambda stream: b"".join(stream),
    "next()…": by_next,
    "read1(9)…": lambda stream: b"".join(iter(lambda: stream.read1(9), b"")),
    "readinto()…": into,
    "BufferedReader": lambda stream: io.BufferedReader(stream).read(),
}


# --- what it sees


@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_delivery_is_seen_however_it_is_read(app: Application, read: Read, announced: bool) -> None:
    """By every method that a server's stream may have, with an announced length and without (chunked)."""
    app.send("SUBMITTED")
    reader = Reader(read)
    given = environ() if announced else environ(CONTENT_LENGTH="")
    assert run(A2AWebhookWSGIMiddleware(reader, paths="/hook"), given) == ["204 No Content"]
    assert reader.got == BODY
    can_tell = announced or read not in (until_length, by_next, READS["read(length)"])
    assert (app.state() == "WORKING") is can_tell


def test_the_whole_body_is_seen_before_the_application_acts_on_it(app: Application) -> None:
    """A call that the handler makes left after the delivery was received, as it did."""
    app.send("SUBMITTED")
    seen: list[str] = []

    def acts(stream: Any) -> bytes:
        got: bytes = stream.read(5)
        seen.append(app.state())
        got += stream.read(len(BODY) - 5)
        seen.append(app.state())
        return got

    run(A2AWebhookWSGIMiddleware(Reader(acts)), environ())
    assert seen == ["SUBMITTED", "WORKING"]


@pytest.mark.parametrize(
    ("paths", "of", "seen"),
    [
        ("/hook", {}, True),
        ("/hook", {"PATH_INFO": "/hook/t1"}, False),
        ("/hook/*", {"PATH_INFO": "/hook/t1"}, True),
        (["/a", "/hook"], {}, True),
        ("/hook", {"SCRIPT_NAME": "/api"}, True),
        ("/api/hook", {"SCRIPT_NAME": "/api"}, True),
        ("*", {"REQUEST_METHOD": "GET"}, False),
        ("*", {"CONTENT_TYPE": ""}, True),
        ("*", {"CONTENT_TYPE": "text/plain"}, False),
    ],
)
def test_which_requests_are_looked_at(app: Application, paths: Any, of: dict[str, Any], seen: bool) -> None:
    """POSTs of JSON at the paths that were named, wherever the application is mounted."""
    app.send("SUBMITTED")
    reader = Reader(READS["read()"])
    run(A2AWebhookWSGIMiddleware(reader, paths=paths), environ(**of))
    assert reader.got == BODY
    assert (app.state() == "WORKING") is seen


def test_what_is_not_read_or_not_whole_was_not_told(app: Application) -> None:
    """The application answered from the headers, read a part, or the client sent less than it had announced."""
    app.send("SUBMITTED")
    for read in (lambda stream: b"", lambda stream: stream.read(5), lambda stream: stream.read(0)):
        run(A2AWebhookWSGIMiddleware(Reader(read)), environ())
    run(A2AWebhookWSGIMiddleware(Reader(READS["read()"])), environ(length=len(BODY) + 1))
    assert app.state() == "SUBMITTED"


def test_a_body_over_the_limit_is_let_go(telemetry: Telemetry) -> None:
    """Announced or not, no more than MAX_BODY is kept."""
    with application(telemetry, max_body=1000) as app:
        app.card()
        app.send("SUBMITTED")
        for given in (environ(BODY + b" " * 1000), environ(BODY + b" " * 1000, CONTENT_LENGTH="")):
            run(A2AWebhookWSGIMiddleware(Reader(by_pieces)), given)
        assert app.state() == "SUBMITTED"


def test_the_application_vouches(app: Application) -> None:
    """By a function of headers, with lower-case names, and body."""
    app.send("SUBMITTED", token="")
    asked: list[Any] = []

    def verify(headers: Any, body: bytes) -> bool:
        asked.append((headers["authorization"], headers["content-type"], body))
        return True

    wrapped = A2AWebhookWSGIMiddleware(Reader(READS["read()"]), verified=verify)
    run(wrapped, environ(b'{"action": "opened"}'))
    run(wrapped, environ(HTTP_AUTHORIZATION="Bearer signed"))
    assert asked == [("Bearer signed", "application/json", BODY)]
    assert app.state() == "WORKING"


# --- that it is not seen


def test_it_keeps_to_pep_3333(app: Application) -> None:
    """The reference validator on both sides of the middleware has nothing to say, and the delivery is seen."""
    app.send("SUBMITTED")
    reader = Reader(by_pieces)

    def strict(given: dict[str, Any], start_response: Any) -> list[bytes]:
        reader(given, lambda status, headers: None)
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "2")])
        return [b"ok"]

    inner: Any = validator(strict)
    outer: Any = validator(A2AWebhookWSGIMiddleware(inner))
    answer = outer(environ(QUERY_STRING="", SCRIPT_NAME=""), lambda status, headers, exc_info=None: lambda data: None)
    assert list(answer) == [b"ok"]
    answer.close()
    assert (reader.got, app.state()) == (BODY, "WORKING")


def test_the_stream_has_what_the_servers_stream_has(app: Application) -> None:
    """Its other attributes, and no more; what reading raises is the stream's own."""
    given = environ()
    stream = given["wsgi.input"]
    reader = Reader(lambda stream: b"")
    run(A2AWebhookWSGIMiddleware(reader), given)
    wrapped = reader.environ["wsgi.input"]
    assert wrapped.tell() == 0 and wrapped.seekable() and not wrapped.closed
    assert not hasattr(wrapped, "readinto2")
    with pytest.raises(TypeError):
        wrapped.read("x")
    stream.close()
    with pytest.raises(ValueError, match="closed file"):
        wrapped.read()


def test_exceptions_and_answers_pass(app: Application) -> None:
    """The iterable that the application returns is handed on as it is; what it raises as well."""
    answer = iter([b"ok"])
    assert A2AWebhookWSGIMiddleware(lambda *_: answer)(environ(), None) is answer
    error = RuntimeError("handler")

    def fails(stream: Any) -> bytes:
        stream.read()
        raise error

    with pytest.raises(RuntimeError) as caught:
        run(A2AWebhookWSGIMiddleware(Reader(fails)), environ())
    assert caught.value is error


def test_a_fault_of_ours_does_not_reach_the_application(
    app: Application, telemetry: Telemetry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is counted, and the request is served."""

    def fails(*args: Any) -> Any:
        raise LookupError

    monkeypatch.setattr("otel_a2a.webhooks.observe.webhooks.read_told", fails)
    reader = Reader(READS["read()"])
    assert run(A2AWebhookWSGIMiddleware(reader), environ()) == ["204 No Content"]
    assert reader.got == BODY
    assert sum(point.value for point in telemetry.metric(semconv.METRIC_INTERNAL_ERRORS)) == 1


def test_without_instrumentation_it_is_not_there() -> None:
    """The application gets the server's own stream."""
    given = environ()
    stream = given["wsgi.input"]
    run(A2AWebhookWSGIMiddleware(Reader(lambda got: b"" if got is stream else pytest.fail("another stream"))), given)


# --- over real sockets


@contextmanager
def served(app: Any) -> Iterator[str]:
    """``app`` under werkzeug's server, in threads."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


def flask_application() -> flask.Flask:
    made = flask.Flask(__name__)

    @made.post("/json")
    def json_() -> str:
        return str(flask.request.get_json()["statusUpdate"]["taskId"])

    @made.post("/data")
    def data() -> str:
        return str(len(flask.request.get_data()))

    @made.post("/stream")
    def stream() -> str:
        return str(sum(len(chunk) for chunk in iter(lambda: flask.request.stream.read(5), b"")))

    made.wsgi_app = A2AWebhookWSGIMiddleware(made.wsgi_app)  # type: ignore[method-assign]
    return made


@pytest.mark.parametrize(("path", "answer"), [("/json", "t1"), ("/data", str(len(BODY))), ("/stream", str(len(BODY)))])
@pytest.mark.parametrize("chunked", [False, True])
def test_over_a_real_server(telemetry: Telemetry, path: str, answer: str, chunked: bool) -> None:
    """Flask under werkzeug, by each way in which Flask reads a body."""
    headers = {"content-type": "application/json", "x-a2a-notification-token": TOKEN}
    content = iter([BODY[:9], BODY[9:]]) if chunked else BODY
    with application(telemetry) as app, served(flask_application()) as base:
        app.card()
        app.send("SUBMITTED")
        assert httpx.post(base + path, content=content, headers=headers).text == answer
        assert app.state() == "WORKING"
        assert httpx.post(f"{base}/data", content=b" " * 3_000_000, headers=headers).text == "3000000"
        assert app.found == []
