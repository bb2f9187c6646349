# SPDX-License-Identifier: Apache-2.0
"""A loopback server that answers any bytes, in any pieces, and breaks off wherever a test says so."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

PATIENCE = 10.0
"""Seconds after which a test that waits for something that never comes fails instead of hanging."""


OURS = {"traceparent", "tracestate"}
"""The request headers that may differ with us."""


class Hangup(Exception):
    """The client went away, or a script ended the connection."""


@dataclass
class Received:
    """One request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int


@dataclass
class Peer:
    """The server's side of one connection, as a script sees it."""

    socket: socket.socket
    server: Server
    request: Received
    buffer: bytes = b""

    def send(self, data: bytes) -> None:
        try:
            self.socket.sendall(data)
        except OSError as error:
            raise Hangup from error

    def head(self, *headers: str, status: str = "200 OK", body: bytes = b"") -> None:
        self.send("\r\n".join((f"HTTP/1.1 {status}", *headers, "", "")).encode() + body)

    def chunk(self, data: bytes) -> None:
        self.send(b"%x\r\n%s\r\n" % (len(data), data))

    def last_chunk(self) -> None:
        self.send(b"0\r\n\r\n")

    def wait(self, signal: str) -> None:
        if not self.server.signal(signal).wait(PATIENCE):
            raise Hangup(f"nobody said {signal}")

    def wait_for_hangup(self) -> None:
        """Return once the client has closed the connection."""
        self.socket.settimeout(PATIENCE)
        with contextlib.suppress(OSError):
            while self.socket.recv(4096):
                pass

    def reset(self) -> None:
        """End the connection with a RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise Hangup

    def close(self) -> None:
        """End the connection with a FIN."""
        raise Hangup


Script = Callable[[Peer], None]


@dataclass
class Server:
    """Answers each path with its script. Use as a context manager."""

    scripts: dict[str, Script] = field(default_factory=dict)
    received: list[Received] = field(default_factory=list)
    _signals: dict[str, threading.Event] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Server:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._deaf = socket.socket()
        self._deaf.bind(("127.0.0.1", 0))
        self._connections = 0
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        # A blocked accept() does not see that its socket was closed.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._deaf.close()

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def deaf_url(self) -> str:
        """Nobody listens there."""
        return f"http://127.0.0.1:{self._deaf.getsockname()[1]}/"

    def signal(self, name: str) -> threading.Event:
        with self._lock:
            return self._signals.setdefault(name, threading.Event())

    def forget(self) -> None:
        """As new, apart from the port."""
        with self._lock:
            self._signals.clear()
        self.received.clear()

    def log(self) -> list[object]:
        """What arrived, comparable between runs: connections count from 0 in order of appearance."""
        numbers: dict[int, int] = {}
        return [
            (r.method, r.target, r.body, numbers.setdefault(r.connection, len(numbers)), sorted(set(r.headers) - OURS))
            for r in list(self.received)
        ]

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._connections += 1
                threading.Thread(target=self._serve, args=(connection, self._connections), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        buffer = b""
        with connection, contextlib.suppress(Hangup, OSError):
            connection.settimeout(PATIENCE)
            while True:
                request, buffer = _read(connection, buffer, number)
                self.received.append(request)
                path = request.target.partition("?")[0]
                self.scripts.get(path, missing)(Peer(connection, self, request, buffer))


def missing(peer: Peer) -> None:
    peer.head("content-length: 0", status="404 Not Found")


def _read(connection: socket.socket, buffer: bytes, number: int) -> tuple[Received, bytes]:
    def more() -> bytes:
        data = connection.recv(65536)
        if not data:
            raise Hangup
        return data

    while b"\r\n\r\n" not in buffer:
        buffer += more()
    head, _, buffer = buffer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = b""
    if headers.get("transfer-encoding") == "chunked":
        while True:
            while b"\r\n" not in buffer:
                buffer += more()
            size, _, buffer = buffer.partition(b"\r\n")
            wanted = int(size, 16)
            while len(buffer) < wanted + 2:
                buffer += more()
            body += buffer[:wanted]
            buffer = buffer[wanted + 2 :]
            if wanted == 0:
                break
    else:
        wanted = int(headers.get("content-length", "0"))
        while len(buffer) < wanted:
            buffer += more()
        body, buffer = buffer[:wanted], buffer[wanted:]
    return Received(method, target, headers, body, number), buffer


def whole(body: bytes, *headers: str, status: str = "200 OK") -> Script:
    """Head and body in one go, with a length."""

    def script(peer: Peer) -> None:
        sent = b"" if peer.request.method == "HEAD" else body
        peer.head(f"content-length: {len(body)}", *headers, status=status, body=sent)

    return script


def chunked(pieces: list[bytes], *headers: str, end: Callable[[Peer], None] = Peer.last_chunk) -> Script:
    """Each piece as one HTTP chunk, then ``end``."""

    def script(peer: Peer) -> None:
        peer.head("transfer-encoding: chunked", *headers)
        for piece in pieces:
            peer.chunk(piece)
        end(peer)

    return script


def split(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]
