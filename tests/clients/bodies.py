# SPDX-License-Identifier: Apache-2.0
"""What a server may send: every form of answer, encoded and cut in every way."""

from __future__ import annotations

import json
import zlib

from tests.clients import loopback
from tests.clients.loopback import Peer, Script, chunked, split, whole

SSE = "content-type: text/event-stream"
JSON = "content-type: application/json"
TASK = {"id": "task-1", "contextId": "ctx-1", "status": {"state": "TASK_STATE_WORKING"}, "note": "für 🐘 \u2028 sep"}
EVENTS = [b"data: " + json.dumps({"task": TASK, "n": n}, ensure_ascii=False).encode() for n in range(3)]
LF = b"".join(event + b"\n\n" for event in EVENTS)
CRLF = b"".join(event + b"\r\n\r\n" for event in EVENTS)
CR = b"".join(event + b"\r\r" for event in EVENTS)
MULTI_LINE = b'event: message\nid: 7\ndata: {"task":\ndata:  {"id": "t"}}\n\n: comment\n\nretry: 10\n\ndata\n\n'
NDJSON = b"".join(event[6:] + b"\n" for event in EVENTS)
ANSWER = json.dumps({"jsonrpc": "2.0", "id": 1, "result": TASK}).encode()
ERROR = b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "Task not found"}}'
BIG = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"text": "x" * 1_000_000}}).encode()


def compressed(pieces: list[bytes], window: int, flush: int = zlib.Z_SYNC_FLUSH) -> list[bytes]:
    """Each piece compressed; with ``Z_SYNC_FLUSH`` it can be read as soon as it is there."""
    compressor = zlib.compressobj(wbits=window)
    result = [compressor.compress(piece) + compressor.flush(flush) for piece in pieces]
    result[-1] += compressor.flush()
    return [piece for piece in result if piece]


def gzipped(data: bytes) -> bytes:
    return b"".join(compressed([data], 31))


def endless(pieces: list[bytes], *headers: str) -> Script:
    """Without a length: the body ends with the connection."""

    def script(peer: Peer) -> None:
        peer.head("connection: close", *headers)
        for piece in pieces:
            peer.send(piece)
        peer.close()

    return script


def short(body: bytes, *headers: str) -> Script:
    """More announced than sent."""

    def script(peer: Peer) -> None:
        peer.head(f"content-length: {len(body) + 10}", *headers)
        peer.send(body)
        peer.close()

    return script


def not_http(peer: Peer) -> None:
    peer.send(b"SSH-2.0\r\n\r\n")
    peer.close()


FLUSHED = [event + b"\n\n" for event in EVENTS]
BODIES: dict[str, Script] = {
    "json": whole(ANSWER, JSON),
    "json-error": whole(ERROR, JSON),
    "json-status-500": whole(ERROR, JSON, status="500 Internal Server Error"),
    "json-gzip": whole(gzipped(ANSWER), JSON, "content-encoding: gzip"),
    "json-deflate": whole(zlib.compress(ANSWER), JSON, "content-encoding: deflate"),
    "json-raw-deflate": whole(b"".join(compressed([ANSWER], -15)), JSON, "content-encoding: deflate"),
    "json-chunked": chunked(split(ANSWER, 16), JSON),
    "json-one-byte-chunks": chunked(split(ANSWER, 1), JSON),
    "json-bom": whole(b"\xef\xbb\xbf" + ANSWER, JSON),
    "json-utf16": whole(ANSWER.decode().encode("utf-16"), JSON),
    "json-latin1": whole("{'ü'}".encode("latin-1"), "content-type: application/json; charset=iso-8859-1"),
    "json-big": whole(BIG, JSON),
    "json-big-gzip": chunked(split(gzipped(BIG), 500), JSON, "content-encoding: gzip"),
    "not-json": whole(b"<html>", JSON),
    "no-content": whole(b"", status="204 No Content"),
    "not-modified": loopback.whole(b"", 'etag: W/"1"', status="304 Not Modified"),
    "empty": whole(b""),
    "sse-lf": chunked(FLUSHED, SSE),
    "sse-crlf": chunked([event + b"\r\n\r\n" for event in EVENTS], SSE),
    "sse-cr": chunked([event + b"\r\r" for event in EVENTS], SSE),
    "sse-one-chunk": chunked([LF], SSE),
    "sse-one-byte-chunks": chunked(split(LF, 1), SSE),
    "sse-crlf-one-byte-chunks": chunked(split(CRLF, 1), SSE),
    "sse-cr-split": chunked(split(CR, 5), SSE),
    "sse-split-in-utf8": chunked([LF[: LF.index("ü".encode()) + 1], LF[LF.index("ü".encode()) + 1 :]], SSE),
    "sse-split-in-lines": chunked(split(LF, 37), SSE),
    "sse-multi-line": chunked([MULTI_LINE], SSE),
    "sse-unfinished": chunked([LF + b'data: {"task"'], SSE),
    "sse-bom": chunked([b"\xef\xbb\xbf" + LF], SSE),
    "sse-gzip-flushed": chunked(compressed(FLUSHED, 31), SSE, "content-encoding: gzip"),
    "sse-gzip-unflushed": chunked(compressed(FLUSHED, 31, zlib.Z_NO_FLUSH), SSE, "content-encoding: gzip"),
    "sse-gzip-one-byte-chunks": chunked(split(gzipped(LF), 1), SSE, "content-encoding: gzip"),
    "sse-deflate": chunked(compressed(FLUSHED, 15), SSE, "content-encoding: deflate"),
    "sse-twice-encoded": chunked([gzipped(gzipped(LF))], SSE, "content-encoding: gzip, gzip"),
    "sse-unknown-encoding": chunked([LF], SSE, "content-encoding: rot13"),
    "sse-not-gzip": chunked([LF], SSE, "content-encoding: gzip"),
    "sse-gzip-cut": chunked([gzipped(LF)[:-20]], SSE, "content-encoding: gzip"),
    "sse-empty": chunked([], SSE),
    "sse-no-length": endless([LF], SSE),
    "ndjson": chunked([event[6:] + b"\n" for event in EVENTS], "content-type: application/x-ndjson"),
    "ndjson-split": chunked(split(NDJSON, 11), "content-type: application/x-ndjson"),
    "cut-short": short(ANSWER, JSON),
    "sse-cut-short": chunked(FLUSHED[:2], SSE, end=Peer.close),
    "sse-reset": chunked(FLUSHED[:2], SSE, end=Peer.reset),
    "no-head": lambda peer: peer.close(),
    "not-http": not_http,
}
