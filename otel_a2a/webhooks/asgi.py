# SPDX-License-Identifier: Apache-2.0
"""Deliveries to an ASGI application: FastAPI, Starlette, Django, Quart, …"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from otel_a2a.webhooks.collect import Watch
from otel_a2a.webhooks.observe import Verify

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


class A2AWebhookMiddleware:
    """Sees the push notifications that an ASGI application receives.

    Args:
        app: the application.
        paths: globs of the paths at which notifications arrive, with or without the path that the application is
            mounted at; by default every POST of JSON is looked at.
        verified: whether the application vouches for every sender, or a function of headers (by lower-case name) and
            body that says so for one; it is asked only for what reads as an A2A delivery, and is not to block.

    Raises:
        ValueError: ``verified`` is a coroutine function.
    """

    def __init__(self, app: App, paths: str | Iterable[str] = "*", verified: bool | Verify = False) -> None:
        self.app = app
        self._watch = Watch(paths, verified)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        collected = None
        if scope["type"] == "http":
            collected = self._watch.open(
                scope["method"], scope["path"], scope.get("root_path", ""), lambda: scope["headers"]
            )
        if collected is None:
            await self.app(scope, receive, send)
            return

        async def observed() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                collected.take(message.get("body", b""))
                if not message.get("more_body", False):
                    collected.end()
            return message

        await self.app(scope, observed, send)
