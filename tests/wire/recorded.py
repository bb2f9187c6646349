# SPDX-License-Identifier: Apache-2.0
"""Recorded exchanges, and what the wire makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otel_a2a.exchange import RecordedExchange
from otel_a2a.observations import (
    ArtifactSeen,
    CallFailed,
    CallStarted,
    CardFetchFailed,
    CardRequested,
    MessageSeen,
    Observation,
    TaskSeen,
)
from otel_a2a.wire import bodies, cards, requests, responses, webhooks

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "tests" / "vectors" / "exchanges.jsonl"
SHARED = ROOT.parent / "shared"
LIMIT = 1_048_576


@dataclass(frozen=True)
class Recorded:
    """One recorded exchange."""

    folder: str
    step: str
    receiver: str
    method: str
    url: str
    headers: dict[str, str]
    body: bytes
    status: int
    answer_headers: dict[str, str]
    answer: bytes
    chunks: tuple[bytes, ...]

    @property
    def name(self) -> str:
        return f"{self.folder}/{self.step}/{self.receiver}"

    @property
    def host(self) -> str:
        """The agent's interface, which is the root of its server in all recordings."""
        return "http://" + self.url.split("/")[2]

    def exchange(self) -> RecordedExchange:
        return RecordedExchange(self.method, self.url, self.headers, self.body)

    def read_request(self, *, known: bool = True) -> CallStarted | CardRequested | None:
        knows: Callable[[str], bool] = (lambda endpoint: endpoint == self.host) if known else (lambda _: False)
        return requests.read_request(self.exchange(), knows=knows)

    def read_answer(self, request: CallStarted | CardRequested) -> list[Observation]:
        """The answer as an operation reads it: by chunks where it is a stream, else as a whole."""
        header = self.answer_headers.get
        if isinstance(request, CardRequested):
            return [cards.read_card(request, self.status, header, self.answer)]
        reader = bodies.BodyReader(header("content-type"), header("content-encoding"), LIMIT)
        events = [event for chunk in self.chunks for event in reader.feed(chunk)]
        events += reader.finish()
        if not reader.is_stream:
            return [seen for e in events for seen in responses.read_answer(request, self.status, header, e.data)]
        return [seen for event in events for seen in responses.read_event(request, event.data, event.type)]

    def read_delivery(self) -> list[Observation]:
        return webhooks.read_delivery(self.headers.get, self.body)


def own() -> list[Recorded]:
    """The recordings that are part of this project."""
    with VECTORS.open(encoding="utf-8") as lines:
        return [_from_line(json.loads(line)) for line in lines]


def shared_folders() -> list[Path]:
    """Folders of the full set of recordings; empty where it is not here."""
    root = SHARED / "vectors"
    folders = root.iterdir() if root.is_dir() else ()
    return sorted(path for path in folders if path.is_dir() and not path.name.startswith("grpc"))


def shared(folder: Path) -> Iterator[Recorded]:
    """All recordings of a folder."""
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_bytes())
        request, response = document["request"], document["response"]
        answer = response["body_text"] or ""
        chunks = [chunk["text"] for chunk in response.get("chunks") or []] or [answer]
        yield Recorded(
            folder=folder.name,
            step=document["meta"]["step"],
            receiver=document["meta"]["receiver"],
            method=request["method"],
            url=request["url"],
            headers={name.lower(): value for name, value in request["headers"]},
            body=(request["body_text"] or "").encode(),
            status=response["status"],
            answer_headers={name.lower(): value for name, value in response["headers"]},
            answer=answer.encode(),
            chunks=tuple(chunk.encode() for chunk in chunks),
        )


def _from_line(line: dict[str, Any]) -> Recorded:
    request, response = line["request"], line["response"]
    answer = response["body"].encode()
    return Recorded(
        folder=line["folder"],
        step=line["step"],
        receiver=line["receiver"],
        method=request["method"],
        url=request["url"],
        headers=request["headers"],
        body=request["body"].encode(),
        status=response["status"],
        answer_headers=response["headers"],
        answer=answer,
        chunks=(answer,),
    )


def summary(observations: list[Observation]) -> str:
    """A line that tells states, artifacts (``+`` appended, ``.`` last chunk), messages and errors in their order."""
    return " ".join(word for seen in observations if (word := _word(seen)))


def _word(seen: Observation) -> str:
    if isinstance(seen, TaskSeen):
        return (seen.state or f"?{seen.raw_state}").removeprefix("TASK_STATE_").lower()
    if isinstance(seen, ArtifactSeen):
        return f"artifact{'+' if seen.append else ''}{'.' if seen.last_chunk else ''}"
    if isinstance(seen, MessageSeen):
        return "message"
    if isinstance(seen, CallFailed):
        return f"!{seen.error}{'' if seen.from_agent else '?'}"
    if isinstance(seen, CardFetchFailed):
        return f"!card-{seen.reason}"
    return ""
