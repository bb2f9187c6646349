# SPDX-License-Identifier: Apache-2.0
"""The agents' side of a script: one loopback server for all its hosts, which answers what it is told to, and when."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress
from dataclasses import dataclass


@dataclass
class Arrival:
    """A request as it arrived, and the connection to answer it on."""

    method: str
    target: str
    body: bytes
    writer: asyncio.StreamWriter

    def head(self, status: int, headers: dict[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} Scripted", *(f"{name}: {value}" for name, value in headers.items())]
        self.writer.write("\r\n".join((*lines, "connection: close", "", "")).encode())

    def whole(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.head(status, {**headers, "content-length": str(len(body))})
        self.writer.write(body)

    def chunk(self, data: bytes) -> None:
        self.writer.write(b"%x\r\n%s\r\n" % (len(data), data))

    def last_chunk(self) -> None:
        self.writer.write(b"0\r\n\r\n")

    def reset(self) -> None:
        """End the connection with a RST."""
        connection: socket.socket = self.writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


class Agents:
    """The server that stands for every host of a script."""

    def __init__(self) -> None:
        self.arrivals: asyncio.Queue[Arrival] = asyncio.Queue()
        self._writers: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> Agents:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        self._deaf = socket.socket()
        self._deaf.bind(("127.0.0.1", 0))
        self.deaf_port: int = self._deaf.getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._deaf.close()
        self._server.close()
        for writer in self._writers:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.split("\r\n")
            method, target, _ = first.split(" ")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            self.arrivals.put_nowait(Arrival(method, target, body, writer))
