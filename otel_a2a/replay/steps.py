# SPDX-License-Identifier: Apache-2.0
"""The steps of an exchange script: requests and answers, streams, webhooks, decisions of the application."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from otel_a2a.observations import STATES
from otel_a2a.wire import states

Seconds = Annotated[float, Field(ge=0)]
HeaderValue = str | int | float


def _known(state: str) -> str:
    if states.normalise(state)[0] is None:
        words = (each.removeprefix("TASK_STATE_").lower().replace("_", "-") for each in sorted(STATES))
        raise ValueError(f"{state!r} is no state of a task; states are {', '.join(words)}")
    return state


State = Annotated[str, AfterValidator(_known)]
"""Any spelling of an A2A task state."""


class Part(BaseModel):
    """Any part of a script. Keys that are not known are passed over."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


# --- requests and answers ---------------------------------------------------------------------------------------------


class _Content(Part):
    """Headers and a body: JSON in ``body``, or text in ``raw``; decoded in either case."""

    headers: dict[str, HeaderValue] = {}
    body: Any = None
    raw: str | None = None

    @property
    def content(self) -> bytes:
        """The body's bytes; none where the script states no body."""
        if self.raw is not None:
            return self.raw.encode("utf-8", "replace")
        return json.dumps(self.body).encode() if "body" in self.model_fields_set else b""

    def fields(self, media_type: str) -> dict[str, str]:
        """Headers by lower-case name, ``media_type`` where a body states none. Without those of the body's transfer."""
        stated = {"content-type": media_type} if media_type else {}
        stated |= {name.lower(): str(value) for name, value in self.headers.items()}
        return {name: value for name, value in stated.items() if name not in _OF_THE_TRANSFER}


_OF_THE_TRANSFER: Final = frozenset(("content-length", "content-encoding", "transfer-encoding"))


def _read(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as error:
        raise ValueError(f"is no URL: {error}") from None


class Request(_Content):
    """What leaves."""

    method: Annotated[str, Field(min_length=1)]
    url: Annotated[str, Field(min_length=1)]

    @field_validator("url")
    @classmethod
    def _can_be_read(cls, url: str) -> str:
        # Nothing would be recognised in a call to anywhere else, and nothing found.
        if _read(url).scheme not in ("http", "https") or not _read(url).hostname:
            raise ValueError(f"must be a whole URL of http or https, not {url!r}")
        return url

    def header_fields(self) -> dict[str, str]:
        """Its headers; a body that states no type is JSON."""
        return self.fields("application/json" if self.content else "")


class Response(_Content):
    """A whole answer, or the failure of the transport to bring one."""

    status: Annotated[int, Field(ge=100, le=599)] | None = None
    error: str | None = None
    """How the transport failed to bring it: any word, such as ``ConnectError`` or ``timeout``. Wins over a status."""
    t: Seconds | None = None
    """When it arrived; by default at the moment of its request."""

    @model_validator(mode="after")
    def _is_something(self) -> Response:
        if self.status is None and self.error is None:
            raise ValueError("needs a status, or an error in place of it")
        return self

    def header_fields(self) -> dict[str, str]:
        """Its headers; a ``body`` that states no type is JSON."""
        return self.fields("application/json" if "body" in self.model_fields_set and self.raw is None else "")


class Event(Part):
    """One event of a stream: JSON in ``data``, or ``raw`` bytes as they were sent."""

    t: Seconds
    data: Any = None
    raw: str | None = None

    @model_validator(mode="after")
    def _is_one_of_them(self) -> Event:
        if ("data" in self.model_fields_set) is (self.raw is not None):
            raise ValueError("needs either data or raw")
        return self


class Stream(Response):
    """An answer that arrives event by event."""

    events: list[Event] = []
    end: Annotated[str, Field(min_length=1)] = "server_closed"
    """``server_closed``, ``client_closed``, ``open``, or any other word for how it broke, such as ``reset``."""
    end_t: Seconds | None = None

    @model_validator(mode="before")
    @classmethod
    def _is_answered(cls, value: Any) -> Any:
        if isinstance(value, dict) and "status" not in value and value.get("error") is None:
            return {**value, "status": 200}
        return value

    def header_fields(self) -> dict[str, str]:
        """Its headers; server-sent events where it states no type."""
        return self.fields("text/event-stream")


# --- steps ------------------------------------------------------------------------------------------------------------


class _Step(Part):
    step: int
    t: Seconds


class CallHints(Part):
    """What the application says about a call, as ``otel_a2a.local.hints`` takes it."""

    model_config = ConfigDict(extra="forbid")

    skill: str | None = None
    expected_duration: Seconds | None = None
    retry_of: str | None = None
    side_effect: bool | None = None
    pinned_card: bool | None = None
    reason: str | None = None


class _CallStep(_Step):
    request: Request
    hints: CallHints = CallHints()


class HttpStep(_CallStep):
    """One request and its answer; None where none ever comes."""

    type: Literal["http"]
    response: Response | None


class SseStep(_CallStep):
    """One request, and the stream that answers it; None where none ever comes."""

    type: Literal["sse"]
    response: Stream | None


class Delivery(Request):
    """What a webhook receives. Its URL may be the path alone, which is what a server sees."""

    method: Annotated[str, Field(min_length=1)] = "POST"

    @field_validator("url")
    @classmethod
    def _can_be_read(cls, url: str) -> str:
        _read(url)
        return url


class PushStep(_Step):
    """A webhook that the client receives."""

    type: Literal["push"]
    request: Delivery
    verified: bool = False
    """The application vouches for the sender."""


class ClockStep(_Step):
    """Time passes, nothing else."""

    type: Literal["clock"]


class _LocalStep(_Step):
    type: Literal["local"]


class _TaskStep(_LocalStep):
    task_id: str
    reason: str = ""
    agent: str = ""
    """URL of the agent's interface, where several agents use one id."""
    tenant: str = ""


class SetTaskState(_TaskStep):
    """The application records a task's state by itself."""

    action: Literal["set_task_state"]
    state: State


class DropArtifact(_TaskStep):
    """The application drops an artifact that it received."""

    action: Literal["drop_artifact"]
    artifact_id: str


class MergeArtifact(_TaskStep):
    """The application merges an artifact into its record of a task."""

    action: Literal["merge_artifact"]
    artifact_id: str
    from_task_id: str = ""


class AbandonTask(_TaskStep):
    """The application gives a task up."""

    action: Literal["abandon_task"]


class ExpectState(_TaskStep):
    """The application expects a task to be in a state soon."""

    action: Literal["expect_state"]
    state: State
    within_s: Seconds


class CardRejected(_LocalStep):
    """The application refuses the card that it fetched."""

    action: Literal["card_rejected"]
    card_url: str
    reason: str = ""


class CardCacheHit(_LocalStep):
    """The application uses its own copy of a card."""

    action: Literal["card_cache_hit"]
    card_url: str
    age_s: Seconds = 0.0


LocalStep = Annotated[
    SetTaskState | DropArtifact | MergeArtifact | AbandonTask | ExpectState | CardRejected | CardCacheHit,
    Field(discriminator="action"),
]
Step = Annotated[HttpStep | SseStep | PushStep | ClockStep | LocalStep, Field(discriminator="type")]

KINDS: Final = {
    "type": ("http", "sse", "push", "local", "clock"),
    "action": (
        "set_task_state",
        "drop_artifact",
        "merge_artifact",
        "abandon_task",
        "expect_state",
        "card_rejected",
        "card_cache_hit",
    ),
}
"""What the members that tell one kind of step from another can be."""
