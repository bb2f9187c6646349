# SPDX-License-Identifier: Apache-2.0
"""Orders from an agent, does not wait, and is told by webhook how it goes: with Flask and a2a-sdk."""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections import defaultdict

from a2a.client import ClientConfig, create_client
from a2a.helpers import new_text_message
from a2a.types import Role, SendMessageRequest, StreamResponse, TaskPushNotificationConfig, TaskState
from flask import Flask, abort, request, url_for
from google.protobuf.json_format import ParseDict

from otel_a2a.webhooks import A2AWebhookWSGIMiddleware

TOKEN = secrets.token_urlsafe()
"""What the agent sends along with every notification: who does not know it is not the agent."""


async def send(agent: str, what: str, webhook: str) -> str:
    """Order ``what``, with notifications to the URL ``webhook``; returns the task's id at once."""
    push = TaskPushNotificationConfig(url=webhook, token=TOKEN)
    config = ClientConfig(streaming=False, polling=True, push_notification_config=push)
    message = SendMessageRequest(message=new_text_message(what, role=Role.ROLE_USER))
    async with await create_client(agent, config) as client:
        answers = [answer async for answer in client.send_message(message)]
    return answers[0].task.id


def application(agent: str) -> Flask:
    """An application that orders from the agent at the URL ``agent``."""
    app = Flask(__name__)
    app.wsgi_app = A2AWebhookWSGIMiddleware(app.wsgi_app, paths="/a2a/webhook")  # type: ignore[method-assign]
    progress: dict[str, list[str]] = defaultdict(list)

    @app.post("/orders")
    def order() -> dict[str, str]:
        webhook = url_for("notified", _external=True)
        return {"task": asyncio.run(send(agent, request.args["what"], webhook))}

    @app.get("/orders/<task_id>")
    def look(task_id: str) -> list[str]:
        return progress[task_id]

    @app.post("/a2a/webhook")
    def notified() -> tuple[str, int]:
        token = request.headers.get("X-A2A-Notification-Token", "")
        if not secrets.compare_digest(token.encode(), TOKEN.encode()):
            abort(401)
        event = ParseDict(request.get_json(), StreamResponse())
        if event.HasField("status_update"):
            update = event.status_update
            progress[update.task_id].append(TaskState.Name(update.status.state))
        return "", 204

    return app


if __name__ == "__main__":
    application(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:9999").run(port=8000)
