# SPDX-License-Identifier: Apache-2.0
"""Streams over requests that are read, left, closed, forgotten or broken: nothing differs from a run without us."""

from __future__ import annotations

import copy
import functools
import gc
import json
import pickle
import shutil
import threading
import warnings
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter

from tests.clients.bodies import BODIES, JSON
from tests.clients.loopback import PATIENCE, Peer, Server, whole
from tests.clients.requests.sides import Each, RequestsSide, compare_situation
from tests.clients.sides import CALL
from tests.clients.situations import EVENTS, SSE, Situations, gone, patient

streams = Situations()


@streams("eof")
def drained(side: RequestsSide) -> None:
    with side.session() as session:
        for _ in range(2):
            with side.stream(session) as response:
                side.log += Each(response.iter_lines())
            side.look(response)
    assert len({received.connection for received in side.server.received}) == 1


@streams("eof")
def drained_and_never_closed(side: RequestsSide) -> None:
    with side.session() as session:
        for _ in range(3):
            side.log += Each(side.stream(session).iter_lines())
    assert len({received.connection for received in side.server.received}) == 1


@streams("closed-early")
def left_at_the_first_line(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        with side.stream(session) as response:
            for line in Each(response.iter_lines(chunk_size=1)):
                side.log.append(line)
                break
        side.log.append(gone(side))
        side.look(response)


@streams("closed-early")
def left_and_closed_by_hand(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        response = side.stream(session)
        lines = response.iter_lines(chunk_size=1)
        side.log.append(next(lines))
        response.close()
        response.close()
        side.log.append(gone(side))
        with side.noting():
            side.log += list(lines)
        with side.noting():
            side.log.append(response.content)
        side.look(response)


@streams("closed-early")
def left_by_closing_the_generator(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        response = side.stream(session)
        chunks: Any = response.iter_content(None)
        side.log.append(next(chunks))
        chunks.close()
        # Closing urllib3's generator has closed the connection.
        side.log.append(gone(side))
        side.look(response)
        response.close()


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


@streams("closed-early")
def forgotten_half_way(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        lines = side.stream(session).iter_lines(chunk_size=1)
        side.log.append(next(lines))
        del lines
        side.log.append(gone(side))


@streams("closed-early")
def never_read(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        with side.stream(session) as response:
            side.look(response)
        side.log.append(gone(side))
        side.look(response)


@streams("closed-early")
def never_read_and_forgotten(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        response = side.stream(session)
        del response
        side.log.append(gone(side))


@streams("closed-early")
def forgotten_in_a_cycle(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        cycle: list[Any] = [side.stream(session)]
        cycle.append(cycle)
        del cycle
        with warnings.catch_warnings():
            # The collector may reach the socket before the response that would close it.
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
        side.log.append(gone(side))


@streams("eof")
def generator_never_started(side: RequestsSide) -> None:
    with side.session() as session, side.stream(session) as response:
        response.iter_lines()
        response.raw.stream()
        side.log += Each(response.iter_lines())
        side.look(response)


@streams("eof")
def read_twice(side: RequestsSide) -> None:
    with side.session() as session, side.stream(session) as response:
        side.log += Each(response.iter_lines())
        with side.noting():
            side.log += list(response.iter_lines())
        with side.noting():
            side.log.append(response.content)
        side.log += [response.raw.read(), list(response.raw.stream()), response.raw.readline()]
        with side.noting(StopIteration):
            next(response.raw)
        side.look(response)


@streams("eof")
def whole_after_a_part(side: RequestsSide) -> None:
    with side.session() as session, side.stream(session) as response:
        chunks = response.iter_content(5)
        side.log += [next(chunks), next(chunks), response.content]
        with side.noting():
            side.log += list(chunks)
        side.look(response)


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
            raw.getheader("content-type"),
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


@streams("eof")
def copies_and_pickles_of_a_response_unread(side: RequestsSide) -> None:
    with side.session() as session, side.stream(session) as response:
        for twin in (copy.copy(response), pickle.loads(pickle.dumps(response)), copy.deepcopy(response)):
            side.log += [twin.content, twin.raw, sorted(vars(twin)), list(twin.iter_lines())]
        side.look(response)


@streams("closed-early")
def program_that_raises(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        with side.noting(), side.stream(session) as response:
            for line in Each(response.iter_lines(chunk_size=1)):
                raise LookupError(line)
        side.look(response)
        side.log.append(gone(side))


@streams("closed-early")
def program_that_raises_in_its_own_generator(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient

    def events(session: requests.Session) -> Iterator[bytes]:
        with side.stream(session) as response:
            yield from response.iter_lines(chunk_size=1)

    with side.session() as session:
        lines: Any = events(session)
        side.log.append(next(lines))
        with side.noting():
            lines.throw(LookupError("thrown"))
        side.log.append(gone(side))


@streams("closed-early")
def generator_of_the_program_forgotten(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient

    def events(session: requests.Session) -> Iterator[bytes]:
        with side.stream(session) as response:
            yield from response.iter_lines(chunk_size=1)

    with side.session() as session:
        lines = events(session)
        side.log.append(next(lines))
        del lines
        side.log.append(gone(side))


@streams("ReadTimeoutError")
def silence(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session:
        with side.stream(session, timeout=(PATIENCE, 0.1)) as response:
            with side.noting():
                for line in Each(response.iter_lines(chunk_size=1)):
                    side.log.append(line)
            side.look(response)
        side.look(response)
        side.log.append(gone(side))


@streams("ReadTimeoutError")
def silence_in_a_raw_read(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    with side.session() as session, side.stream(session, timeout=(PATIENCE, 0.1)) as response:
        with side.noting():
            side.log.append(response.raw.read())
        with side.noting():
            side.log.append(response.raw.read())
        side.look(response)


@streams("ProtocolError")
def reset_by_the_server(side: RequestsSide) -> None:
    def script(peer: Peer) -> None:
        peer.head("transfer-encoding: chunked", SSE)
        peer.chunk(EVENTS[0])
        peer.wait("seen")
        peer.reset()

    side.server.scripts["/"] = script
    with side.session() as session:
        with side.stream(session) as response:
            with side.noting():
                for line in Each(response.iter_lines(chunk_size=1)):
                    side.log.append(line)
                    side.server.signal("seen").set()
            side.look(response)
        side.look(response)


@streams("body")
def read_by_a_hook(side: RequestsSide) -> None:
    def hook(response: Any, **options: Any) -> None:
        side.log += [sorted(options), response.content]

    with side.session() as session:
        response = side.stream(session, hooks={"response": hook})
        side.look(response)
        side.log += [response.content, list(response.iter_lines())]


@streams("closed-early")
def streamed_by_a_hook(side: RequestsSide) -> None:
    def hook(response: Any, **options: Any) -> None:
        side.log.extend(response.iter_lines())

    with side.session() as session, side.stream(session, hooks={"response": hook}) as response:
        side.look(response)
        with side.noting():
            side.log.append(response.content)


@streams("eof")
def closed_by_a_hook(side: RequestsSide) -> None:
    def hook(response: Any, **options: Any) -> None:
        response.close()

    with side.session() as session, side.stream(session, hooks={"response": [hook]}) as response:
        side.look(response)
        with side.noting():
            side.log.append(response.content)


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


@streams("eof")
def behind_redirect_and_auth(side: RequestsSide) -> None:
    side.server.scripts["/a"] = whole(b"moved", "location: /", status="307 Temporary Redirect")
    with side.session() as session, side.stream(session, "/a", auth=("u", "p")) as response:
        side.log += Each(response.iter_lines())
        side.look(response)


@streams("body")
def redirect_not_followed(side: RequestsSide) -> None:
    side.server.scripts["/a"] = whole(b"moved", "location: /", status="307 Temporary Redirect")
    with side.session() as session:
        with side.stream(session, "/a", allow_redirects=False) as response:
            side.look(response)
        assert response.next is not None
        side.log += Each(session.send(response.next, stream=True, timeout=PATIENCE).iter_lines())


@streams("closed-early")
def one_connection_only(side: RequestsSide) -> None:
    side.server.scripts["/"] = patient
    side.server.scripts["/other"] = whole(b"{}", JSON)
    with side.session() as session:
        session.mount("http://", HTTPAdapter(pool_maxsize=1, pool_block=True))
        response = side.stream(session)
        free = threading.Timer(0.05, response.close)
        free.start()
        # Waits for the only connection.
        side.look(session.get(side.url("/other"), timeout=PATIENCE))
        free.join()


@streams("eof")
def two_at_once(side: RequestsSide) -> None:
    with side.session() as session:
        both = [Each(side.stream(session).iter_lines(chunk_size=1)) for _ in range(2)]
        for _ in range(3):
            side.log += [next(lines) for lines in both]
        for lines in reversed(both):
            side.log += lines


@streams("eof")
def passed_between_threads(side: RequestsSide) -> None:
    with side.session() as session:
        lines = side.stream(session).iter_lines(chunk_size=1)
        for _ in range(6):
            reader = threading.Thread(target=lambda: side.log.append(next(lines)))
            reader.start()
            reader.join()
        side.log += list(lines)


@streams("eof")
def stream_by_default_of_the_session(side: RequestsSide) -> None:
    with side.session() as session:
        session.stream = True
        with side.call(session) as response:
            side.look(response)
            side.log += Each(response.iter_lines())


@streams("eof")
def streamed_by_a_module_level_function(side: RequestsSide) -> None:
    with requests.post(side.url("/"), json=CALL, stream=True, timeout=PATIENCE, proxies={"no_proxy": "*"}) as response:
        side.log += Each(response.iter_lines())
        side.look(response)


@pytest.mark.parametrize("name", streams)
def test_streams_go_as_without_us(name: str, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """What the program gets and catches, and when the server loses it, are equal; the end is told rightly."""
    compare_situation(streams, name, server, caplog)
