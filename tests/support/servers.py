# SPDX-License-Identifier: Apache-2.0
"""Real servers on loopback: any ASGI application, served by uvicorn in a thread of its own."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any

import uvicorn


@contextlib.contextmanager
def serve(app: Any) -> Iterator[str]:
    """Serve ``app`` and yield its base URL, without a trailing slash."""
    listening = socket.create_server(("127.0.0.1", 0))
    host, port = listening.getsockname()
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        _wait_until_up(host, port)
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        listening.close()


def _wait_until_up(host: str, port: int) -> None:
    with socket.create_connection((host, port), timeout=10) as probe:
        probe.sendall(f"GET /up HTTP/1.1\r\nhost: {host}:{port}\r\nconnection: close\r\n\r\n".encode())
        while probe.recv(4096):
            pass
