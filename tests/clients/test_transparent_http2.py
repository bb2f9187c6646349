# SPDX-License-Identifier: Apache-2.0
"""HTTP/2, where many streams share a connection: nothing differs from a run without us."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.loopback import PATIENCE, Server
from tests.clients.sides import CALL, Program, Side, compare
from tests.clients.situations import EVENTS

h2_connection = pytest.importorskip("h2.connection")
h2_config = pytest.importorskip("h2.config")
h2_events = pytest.importorskip("h2.events")


class Http2Server(Server):
    """Streams three events on ``/``, and two on ``/patient``, which never ends."""

    def _serve(self, connection: socket.socket, number: int) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(PATIENCE)
            protocol = h2_connection.H2Connection(h2_config.H2Configuration(client_side=False))
            protocol.initiate_connection()
            connection.sendall(protocol.data_to_send())
            paths: dict[int, str] = {}
            while data := connection.recv(65536):
                for event in protocol.receive_data(data):
                    self._answer(protocol, event, paths)
                connection.sendall(protocol.data_to_send())

    def _answer(self, protocol: Any, event: Any, paths: dict[int, str]) -> None:
        if isinstance(event, h2_events.RequestReceived):
            headers = {_text(name): _text(value) for name, value in event.headers}
            paths[event.stream_id] = headers[":path"]
            # Whether ours is among them is no difference that counts.
            self.paths.append((headers[":method"], headers[":path"]))
        elif isinstance(event, h2_events.DataReceived):
            protocol.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2_events.StreamEnded):
            patient = paths[event.stream_id] == "/patient"
            protocol.send_headers(event.stream_id, [(":status", "200"), ("content-type", "text/event-stream")])
            for message in EVENTS[: 2 if patient else 3]:
                protocol.send_data(event.stream_id, message)
            if not patient:
                protocol.end_stream(event.stream_id)

    def forget(self) -> None:
        super().forget()
        self.paths: list[tuple[str, str]] = []

    def log(self) -> list[object]:
        return list(self.paths)


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value


@pytest.fixture(scope="module")
def http2_server() -> Iterator[Server]:
    with Http2Server() as server:
        yield server


def client(side: Side) -> Any:
    return side.client(http1=False, http2=True)


async def answered(side: Side) -> None:
    async with side.open(client(side)) as agent:
        for _ in range(2):
            response = await side.do(agent.post(side.url("/"), json=CALL))
            side.look(response)
            side.log.append(response.content)


async def drained(side: Side) -> None:
    async with side.open(client(side)) as agent:
        async with side.open(agent.stream("POST", side.url("/"), json=CALL)) as response:
            side.log += [line async for line in side.each(response)]
        side.look(response)


async def left_early(side: Side) -> None:
    async with side.open(client(side)) as agent:
        async with side.open(agent.stream("POST", side.url("/patient"), json=CALL)) as response:
            async for line in side.each(response):
                side.log.append(line)
                break
        # The connection outlives the stream.
        side.look(await side.do(agent.post(side.url("/"), json=CALL)))


async def side_by_side(side: Side) -> None:
    async with side.open(client(side)) as agent:
        streamed = await side.do(agent.send(agent.build_request("POST", side.url("/patient"), json=CALL), stream=True))
        lines = side.each(streamed)
        side.log.append(await lines.__anext__())
        side.look(await side.do(agent.post(side.url("/"), json=CALL)))
        side.log.append(await lines.__anext__())
        await side.close(streamed)


@pytest.mark.parametrize("program", [answered, drained, left_early, side_by_side], ids=lambda program: program.__name__)
def test_http2_goes_as_without_us(
    program: Program, library: str, kind: str, http2_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """Answers, streams, and a stream that is given up while its connection lives on."""
    http2_server.forget()
    seen = compare(program, library, kind, http2_server, caplog)
    assert seen.operations
