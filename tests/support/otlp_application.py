# SPDX-License-Identifier: Apache-2.0
"""An application, with its agent in the same process, that calls as often as it is told on its standard input.

Every second call sends a message into a task that has just ended, which is a violation. Each line of input is a number
of calls, each line of output the durations of those calls as JSON. What it logs has the logger's name in front.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx


class Agent(BaseHTTPRequestHandler):
    """Ends each task at once, whatever it is told."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: two would wait for each other

    def do_GET(self) -> None:
        interface = {"url": url(self.server), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        card = {"name": "Agent", "version": "1.0.0", "supportedInterfaces": [interface], "skills": []}
        self._answer(card | {"description": "", "capabilities": {"streaming": False}})

    def do_POST(self) -> None:
        call = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = call["params"]["message"]
        task_id = message.get("taskId") or f"task-of-{message['messageId']}"
        task = {"id": task_id, "contextId": "c-1", "status": {"state": "TASK_STATE_COMPLETED"}}
        self._answer({"jsonrpc": "2.0", "id": call["id"], "result": {"task": task}})

    def _answer(self, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Says nothing."""


def url(server: Any) -> str:
    return f"http://127.0.0.1:{server.server_port}/"


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(name)s|%(levelname)s|%(message)s")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Agent)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with httpx.Client(headers={"A2A-Version": "1.0"}) as client:
        client.get(url(server) + ".well-known/agent-card.json")
        number = 0
        for line in sys.stdin:
            durations = []
            for _ in range(int(line)):
                number += 1
                into = {} if number % 2 else {"taskId": f"task-of-m-{number - 1}", "contextId": "c-1"}
                message = {"messageId": f"m-{number}", "role": "ROLE_USER", "parts": [{"text": "hello"}], **into}
                call = {"jsonrpc": "2.0", "id": number, "method": "SendMessage", "params": {"message": message}}
                started = time.perf_counter()
                client.post(url(server), json=call).raise_for_status()
                durations.append(time.perf_counter() - started)
            print(json.dumps(durations), flush=True)
    server.shutdown()


if __name__ == "__main__":
    main()
