# SPDX-License-Identifier: Apache-2.0
"""An endpoint for OTLP over HTTP: ``http/protobuf``, plain or compressed."""

from __future__ import annotations

import http.server
import os
import socket
import socketserver
import threading
from collections.abc import Collection
from types import TracebackType
from typing import Final

from otel_a2a.cli.otlp.requests import MAX_BODY, SIGNALS, Received, Take

SECONDS: Final = 30.0
"""How long a connection may be silent."""


class HttpEndpoint:
    """Listens from its making, answers from ``__enter__`` to ``__exit__``.

    Args:
        take: gets each request, on a thread of its own.
        host: name or address of this machine.
        port: 0 for a free one.
        signals: what is taken; anything else is answered with 404.

    Raises:
        OSError: the port is taken, or the host is none of this machine.
    """

    def __init__(self, take: Take, host: str = "127.0.0.1", port: int = 0, signals: Collection[str] = SIGNALS) -> None:
        self.host = host
        self._server = _Server(take, host, port, signals)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> HttpEndpoint:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        """Where it listens."""
        port: int = self._server.server_address[1]
        return port


class _Server(socketserver.ThreadingTCPServer):
    # http.server.HTTPServer would ask the name service for our own name first, which can take seconds.
    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # where it would let two programs listen on one port

    def __init__(self, take: Take, host: str, port: int, signals: Collection[str]) -> None:
        self.take = take
        self.signals = signals
        self.address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        super().__init__((host, port), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Says nothing: a sender that goes away in the middle is its own affair."""


class _Handler(http.server.BaseHTTPRequestHandler):
    timeout = SECONDS

    def do_POST(self) -> None:
        self._answer(self._take())

    def _take(self) -> int:
        server = self.server
        assert isinstance(server, _Server), "made by it"
        signal = self.path.removeprefix("/v1/")
        length = self.headers.get("content-length", "0")
        if not length.isdecimal():
            return 400
        if int(length) > MAX_BODY:
            return 413
        body = self.rfile.read(int(length))
        if signal not in server.signals:
            return 404
        if self.headers.get_content_type() == "application/json":
            return 415
        kept = {name: self.headers[name] for name in ("content-type", "content-encoding") if name in self.headers}
        try:
            server.take(Received(signal, body, kept))
        except ValueError:
            return 400
        return 200

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 — the name of the base class's parameter
        """Says nothing."""
