# SPDX-License-Identifier: Apache-2.0
"""``response.raw`` in the hands of a program: nothing differs from a run without us."""

from __future__ import annotations

import copy
import functools
import json
import pickle
import shutil
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest
import requests

from tests.clients.bodies import BODIES
from tests.clients.loopback import PATIENCE, Server, whole
from tests.clients.requests.sides import RequestsSide, compare_situation
from tests.clients.situations import EVENTS, SSE, Situations, gone, patient

streams = Situations()


@streams("closed-early")
def generator_of_raw_closed_and_thrown_into(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        response = side.stream(session)
        chunks = response.raw.stream()
        side.log += [next(chunks), iter(chunks) is chunks, chunks.send(None)]
        with side.noting():
            chunks.throw(LookupError("thrown"))
        side.log.append(gone(side))
        with side.noting(StopIteration):
            next(chunks)
        chunks.close()
        side.look(response)
        response.close()


@streams("eof")
def mixed_reads(side: RequestsSide) -> None:
    side.server.scripts["/"] = whole(b"".join(EVENTS), SSE)
    with side.session() as session, side.stream(session) as response:
        raw = response.raw
        side.log += [raw.read(3), raw.read(0), raw.readline(), next(raw), raw.readinto(bytearray(0)), raw.read()]
        side.look(response)


@streams("eof")
def as_many_bytes_as_announced(side: RequestsSide) -> None:
    side.server.scripts["/"] = whole(b"".join(EVENTS), SSE)
    with side.session() as session:
        with side.stream(session) as response:
            side.log.append(response.raw.read(int(response.headers["content-length"])))
        side.look(response)


@streams("eof")
def nothing_to_read(side: RequestsSide) -> None:
    side.server.scripts["/"] = whole(b"", status="204 No Content")
    with side.session() as session:
        with side.stream(session) as response:
            side.look(response)
        side.look(response)


@streams("eof")
def copied_as_a_file(side: RequestsSide) -> None:
    side.server.scripts["/"] = BODIES["json-gzip"]
    with side.session() as session, side.stream(session) as response:
        response.raw.decode_content = True
        side.log.append(response.raw.decode_content)
        target = BytesIO()
        shutil.copyfileobj(response.raw, target, 16)
        side.log.append(target.getvalue())
        side.look(response)


@streams("eof")
def loaded_as_a_file(side: RequestsSide) -> None:
    side.server.scripts["/"] = BODIES["json"]
    with side.session() as session, side.stream(session) as response:
        side.log.append(json.load(response.raw))


@streams("eof")
def read_method_replaced(side: RequestsSide) -> None:
    side.server.scripts["/"] = BODIES["json-gzip"]
    with side.session() as session, side.stream(session) as response:
        raw: Any = response.raw
        raw.read = functools.partial(raw.read, decode_content=True)
        side.log.append(json.load(raw))
        side.look(response)


@streams("eof")
def read_method_replaced_by_one_that_counts(side: RequestsSide) -> None:
    side.server.scripts["/"] = BODIES["json-gzip"]

    def counting(read: Any, *args: Any, **options: Any) -> Any:
        side.log.append((args, options))
        return read(*args, **options)

    with side.session() as session, side.stream(session) as response:
        raw: Any = response.raw
        raw.read = functools.partial(counting, raw.read)
        side.log.append(response.content)
        del raw.read
        side.log.append(raw.read())
        side.look(response)


@streams("eof")
def stream_method_replaced(side: RequestsSide) -> None:
    def doubling(stream: Any, *args: Any, **options: Any) -> Iterator[bytes]:
        for chunk in stream(*args, **options):
            yield chunk + chunk

    with side.session() as session, side.stream(session) as response:
        raw: Any = response.raw
        raw.stream = functools.partial(doubling, raw.stream)
        side.log += response.iter_lines()
        side.look(response)


@streams("eof")
def raw_as_a_context(side: RequestsSide) -> None:
    with side.session() as session:
        response = side.stream(session)
        with response.raw as raw:
            side.log += [raw is response.raw, *raw]
        with side.noting():
            side.log.append(raw.read())
        side.look(response)


@streams("closed-early")
def raw_as_a_context_that_is_left(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        response = side.stream(session)
        with side.noting(), response.raw as raw:
            raise LookupError(raw.readline())
        side.log.append(gone(side))


@streams("closed-early")
def drained_by_urllib3(side: RequestsSide) -> None:
    with side.session() as session:
        for _ in range(2):
            response = side.stream(session)
            response.raw.drain_conn()
            response.raw.release_conn()
            side.look(response)
            response.close()


@streams("closed-early")
def attributes_of_raw(side: RequestsSide) -> None:
    with side.session() as session, side.stream(session) as response:
        raw: Any = response.raw
        raw.mine = 1
        side.log += [
            raw.mine,
            raw.headers.get("content-type"),
            raw.geturl(),
            raw.readable(),
            raw.fileno() > 0,
            len(dir(raw)),
        ]
        del raw.mine
        for name in ("mine", "no_such_name"):
            with side.noting():
                getattr(raw, name)
        with side.noting(TypeError):
            raw.read("many")
        with side.noting(TypeError):
            raw.read(1, 2, 3, 4)
        side.log += [hash(raw) == hash(response.raw), raw == response.raw, bool(raw), raw in {response.raw: 1}]


@streams("closed-early")
def copies_of_raw(side: RequestsSide) -> None:
    with side.session() as session, side.stream(session) as response:
        for copier in (copy.copy, copy.deepcopy, pickle.dumps):
            with side.noting():
                side.log.append(type(copier(response.raw)).__name__)


@streams("ReadTimeoutError")
def silence_in_a_raw_read(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session, side.stream(session, timeout=(PATIENCE, 0.1)) as response:
        with side.noting():
            side.log.append(response.raw.read())
        with side.noting():
            side.log.append(response.raw.read())
        side.look(response)


@streams("eof")
def replaced_by_a_hook(side: RequestsSide) -> None:
    def hook(response: Any, **options: Any) -> Any:
        other = requests.Response()
        other.status_code, other.url, other.raw = 200, response.url, BytesIO(b"data: {}\n\n")
        other.headers["content-type"] = "text/event-stream"
        response.close()
        return other

    with side.session() as session, side.stream(session, hooks={"response": hook}) as response:
        side.log += [hasattr(response.raw, "stream"), isinstance(response.raw, BytesIO), *response.iter_lines()]
        raw: Any = response.raw
        side.log.append(raw.getvalue())
        side.look(response)


@pytest.mark.parametrize("name", streams)
def test_raw_files_behave_as_without_us(name: str, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """What the program gets and catches, and when the server loses it, are equal; the end is told rightly."""
    compare_situation(streams, name, server, caplog)
