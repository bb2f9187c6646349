# SPDX-License-Identifier: Apache-2.0
"""A program's own web server, at which push notifications arrive: WSGI of the standard library, with our middleware."""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import urllib.request
from collections.abc import Iterable
from types import TracebackType
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from otel_a2a.webhooks import A2AWebhookWSGIMiddleware

PATH = "/a2a/webhook"
PATIENCE = 20.0
COMPLETED = ("completed", "TASK_STATE_COMPLETED")


class Receiver:
    """Listens from ``__enter__`` to ``__exit__``. ``url`` and ``token`` are what a webhook is registered with.

    Args:
        agent: base URL of the agent, which holds tasks back until they are released.
    """

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.token = secrets.token_urlsafe()
        self.arrived = 0
        self.ended = 0
        self._completed: set[str] = set()
        self._news = threading.Condition()
        application = A2AWebhookWSGIMiddleware(self._receive, paths=PATH)
        self._server = make_server("127.0.0.1", 0, application, handler_class=_Quiet)
        self.url = f"http://127.0.0.1:{self._server.server_port}{PATH}"

    def __enter__(self) -> Receiver:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    async def end_of(self, task_id: str) -> None:
        """Let a held task go on, and wait until a notification has told that it is completed.

        Raises:
            TimeoutError: none has.
        """
        await asyncio.to_thread(self._end_of, task_id)

    def _end_of(self, task_id: str) -> None:
        urllib.request.urlopen(f"{self.agent}/release/{task_id}", data=b"", timeout=PATIENCE).close()
        with self._news:
            if not self._news.wait_for(lambda: task_id in self._completed, PATIENCE):
                raise TimeoutError(f"no notification told of the end of {task_id}; {self.arrived} arrived")
            self.ended += 1

    def _receive(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        if environ.get("HTTP_X_A2A_NOTIFICATION_TOKEN") != self.token:
            start_response("401 Unauthorized", [])
            return []
        with self._news:
            self._take(json.loads(body))
            self._news.notify_all()
        start_response("204 No Content", [])
        return []

    def _take(self, notification: dict[str, Any]) -> None:
        self.arrived += 1
        # A StreamResponse of 1.0, or a Task of 0.x.
        (told,) = notification.values() if len(notification) == 1 else (notification,)
        if told.get("status", {}).get("state") in COMPLETED:
            self._completed.add(told.get("taskId") or told["id"])


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 — the name of the base class's parameter
        pass
