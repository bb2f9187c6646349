# SPDX-License-Identifier: Apache-2.0
"""Parts of messages and artifacts, reduced to a digest and a length that are the same in every dialect.

A part is told by its content alone: text, bytes, a URL or data. How a dialect writes it down (``kind``, ``type`` or a
member's name; ``parts`` or ``content``; a file's nesting; the second wrapping of data in 0.3 HTTP+JSON; ``1`` or
``1.0``) does not count, nor do file names, media types and metadata, which dialects lose. Neighbouring texts are one
text, because streamed chunks are put together differently by everybody.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from otel_a2a.observations import ArtifactFacts
from otel_a2a.wire.reading import field, items, media_type, text

_DEEPEST: Final = 64
_PUNCTUATION: Final = str.maketrans("", "", "{}[],")
_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def digest(parts: list[Any]) -> str:
    """Digest over the content of the parts: 32 hexadecimal digits, empty where there is no content."""
    return _measure(_contents(parts))[0]


def media_types(parts: list[Any]) -> tuple[str, ...]:
    """Media types that the parts state, each once."""
    found: dict[str, None] = {}
    for part in parts:
        if not isinstance(part, dict):
            continue
        stated = text(part, "mediaType") or text(part, "mimeType")
        if not stated and isinstance(file := part.get("file"), dict):
            stated = text(file, "mimeType") or text(file, "mediaType")
        if stated:
            found[media_type(stated)] = None
    return tuple(found)


def held_by(holder: Mapping[str, Any]) -> list[Any]:
    """The parts of a message or an artifact; 0.3 HTTP+JSON calls them ``content``."""
    return items(holder, "parts") or items(holder, "content")


def artifact_facts(artifact: Mapping[str, Any], dialect: str = "") -> ArtifactFacts:
    """What the ledger needs of an artifact. In 0.1 its identity is its index, 0 where none is written."""
    artifact_id = text(artifact, "artifactId")
    if not artifact_id and (dialect == "0.1" or "index" in artifact):
        artifact_id = str(artifact.get("index") or 0)[:64]
    contents = list(_contents(held_by(artifact)))
    fingerprint, size = _measure(contents)
    return ArtifactFacts(artifact_id, fingerprint, size, any(kind == "url" for kind, _ in contents))


def _measure(contents: Iterable[tuple[str, str]]) -> tuple[str, int]:
    """Digest and length, independent of how the content is cut into parts.

    The length is in characters of all texts, URLs, base64 and canonical data, but for the punctuation of data.
    """
    hasher = hashlib.sha256()
    total = 0
    previous = ""
    for kind, content in contents:
        if not content:
            continue
        if kind != "text" or previous != "text":
            hasher.update(f"\0{kind}\0".encode())
        hasher.update(content.encode("utf-8", "surrogatepass"))
        total += _size(kind, content)
        previous = kind
    return (hasher.hexdigest()[:32], total) if total else ("", 0)


def _size(kind: str, content: str) -> int:
    """Characters; of data without the punctuation that is lost where objects or lists become one."""
    return len(content) if kind != "data" else max(1, len(content.translate(_PUNCTUATION)))


def _contents(parts: list[Any]) -> Iterator[tuple[str, str]]:
    for part in parts:
        if not isinstance(part, dict):
            yield "data", canonical(part)
            continue
        file = part.get("file")
        holder = file if isinstance(file, dict) else part
        words = part.get("text")
        if isinstance(words, str):
            yield "text", words
        elif raw := text(holder, "bytes") or text(holder, "fileWithBytes") or text(holder, "raw"):
            yield "raw", raw.rstrip("=").replace("-", "+").replace("_", "/")
        elif url := text(holder, "uri") or text(holder, "fileWithUri") or text(holder, "url"):
            yield "url", url
        elif "data" in part:
            yield "data", canonical(_unwrapped(part["data"]))


def _unwrapped(data: Any) -> Any:
    """0.3 HTTP+JSON wraps data a second time; whether an agent meant it so cannot be told, so all wrapping goes."""
    while isinstance(data, dict) and len(data) == 1 and isinstance(inner := field(data, "data"), dict):
        data = inner
    return data


def canonical(value: Any) -> str:
    """JSON with sorted keys, no spaces, and integral numbers written as integers."""
    try:
        return _ENCODER.encode(_plain(value, 0))
    except (TypeError, ValueError, RecursionError):
        return repr(type(value))


def _plain(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain(member, depth + 1) for key, member in value.items()}
    if isinstance(value, list):
        return [_plain(element, depth + 1) for element in value]
    return value
