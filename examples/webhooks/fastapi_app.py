# SPDX-License-Identifier: Apache-2.0
"""Orders from an agent, does not wait, and is told by webhook how it goes: with FastAPI and a2a-sdk."""

from __future__ import annotations

import secrets
import sys
from collections import defaultdict
from typing import Annotated

import uvicorn
from a2a.client import ClientConfig, create_client
from a2a.helpers import new_text_message
from a2a.types import Role, SendMessageRequest, StreamResponse, TaskPushNotificationConfig, TaskState
from fastapi import FastAPI, Header, HTTPException, Request
from google.protobuf.json_format import ParseDict

from otel_a2a.webhooks import A2AWebhookMiddleware

TOKEN = secrets.token_urlsafe()
"""What the agent sends along with every notification: who does not know it is not the agent."""


def application(agent: str) -> FastAPI:
    """An application that orders from the agent at the URL ``agent``."""
    app = FastAPI()
    app.add_middleware(A2AWebhookMiddleware, paths="/a2a/webhook")
    progress: dict[str, list[str]] = defaultdict(list)

    @app.post("/orders")
    async def order(what: str, request: Request) -> dict[str, str]:
        webhook = TaskPushNotificationConfig(url=str(request.url_for("notified")), token=TOKEN)
        config = ClientConfig(streaming=False, polling=True, push_notification_config=webhook)
        message = SendMessageRequest(message=new_text_message(what, role=Role.ROLE_USER))
        async with await create_client(agent, config) as client:
            answers = [answer async for answer in client.send_message(message)]
        return {"task": answers[0].task.id}

    @app.get("/orders/{task_id}")
    async def look(task_id: str) -> list[str]:
        return progress[task_id]

    @app.post("/a2a/webhook", status_code=204)
    async def notified(request: Request, x_a2a_notification_token: Annotated[str, Header()] = "") -> None:
        if not secrets.compare_digest(x_a2a_notification_token.encode(), TOKEN.encode()):
            raise HTTPException(401)
        event = ParseDict(await request.json(), StreamResponse())
        if event.HasField("status_update"):
            update = event.status_update
            progress[update.task_id].append(TaskState.Name(update.status.state))

    return app


if __name__ == "__main__":
    uvicorn.run(application(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:9999"), port=8000)
