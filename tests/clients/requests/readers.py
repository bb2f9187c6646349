# SPDX-License-Identifier: Apache-2.0
"""Ways to read a streamed response of requests to its end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any


def read_in_sixteens(response: Any) -> None:
    while response.raw.read(16):
        pass


def read_into_a_buffer(response: Any) -> None:
    buffer = bytearray(7)
    while response.raw.readinto(buffer):
        pass


READERS_TO_THE_END: dict[str, Callable[[Any], Any]] = {
    "content": lambda response: response.content,
    "iter_lines": lambda response: list(response.iter_lines()),
    "iter_content": lambda response: list(response.iter_content(7)),
    "read": lambda response: response.raw.read(),
    "read, decoding": lambda response: response.raw.read(decode_content=True),
    "read in pieces": read_in_sixteens,
    "readinto": read_into_a_buffer,
    "readline": lambda response: list(iter(response.raw.readline, b"")),
    "readlines": lambda response: response.raw.readlines(),
    "lines": lambda response: list(response.raw),
    "next": lambda response: list(iter(partial(next, response.raw, b""), b"")),
    "stream": lambda response: list(response.raw.stream()),
    "stream, decoding": lambda response: list(response.raw.stream(decode_content=True)),
    "data": lambda response: response.raw.data,
}
