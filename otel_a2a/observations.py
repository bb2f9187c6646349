# SPDX-License-Identifier: Apache-2.0
"""What can be observed of A2A traffic: what ``wire`` and ``engine`` share, with ``vocabulary`` and ``facts``.

``wire`` makes observations from bytes, ``engine`` judges them, and neither knows the other. An observation holds
identifiers, states, digests and lengths, never a message, a part, a token or a credential.

The engine stamps ``seq`` (order of observation in this process) and ``at`` (seconds, monotonic) on each observation it
takes. Order is decided by ``seq`` alone, so that clocks can never accuse anybody (rules.md, G2).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from otel_a2a.facts import (
    ArtifactFacts,
    BoundCard,
    CardFacts,
    Delivery,
    Hints,
    Interface,
    PushBinding,
    SentMessage,
    SpanRef,
)
from otel_a2a.vocabulary import (
    INTERRUPTED,
    READS,
    SENDS,
    STATES,
    STREAMS,
    TERMINAL,
    A2AError,
    Channel,
    Decision,
    Form,
    Method,
    Reason,
    TaskState,
    rank,
)

__all__ = [
    "INTERRUPTED",
    "READS",
    "SENDS",
    "STATES",
    "STREAMS",
    "TERMINAL",
    "A2AError",
    "ArtifactFacts",
    "ArtifactSeen",
    "BoundCard",
    "CallAnswered",
    "CallFailed",
    "CallRedirected",
    "CallStarted",
    "CardFacts",
    "CardFetchFailed",
    "CardFetched",
    "CardRequested",
    "Channel",
    "DeadlineReached",
    "Decision",
    "Delivery",
    "Form",
    "Hints",
    "Interface",
    "LocalDecision",
    "MessageSeen",
    "Method",
    "Observation",
    "PushBinding",
    "Reason",
    "SentMessage",
    "SpanRef",
    "StateExpected",
    "StreamEnded",
    "TaskSeen",
    "TaskState",
    "rank",
]


@dataclass(slots=True, kw_only=True)
class Observation:
    """Something seen. ``seq`` and ``at`` are stamped by the engine; a preset ``seq`` is kept."""

    seq: int = field(default=0, init=False)
    at: float = field(default=0.0, init=False)


# --- Agent Cards ------------------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class CardRequested(Observation):
    """A card's fetch is about to leave."""

    url: str
    """Fetch URL, normalised by ``otel_a2a.wire.urls.fetch_url``: no user-info, and of a query only a keyed digest of
    what names the agent."""
    server_address: str = ""
    server_port: int | None = None
    extended: bool = False
    endpoint: str = ""
    """The interface that an extended card is asked of, as a call states it; empty for other cards."""
    credential: str = ""
    """Process-random keyed digest of the credential sent, empty where none was."""
    span: SpanRef | None = None
    is_traced: bool = False
    """The application had a span of its own around the fetch, so that a trace id links causes (rules.md, G9)."""


@dataclass(slots=True, kw_only=True)
class CardFetched(Observation):
    """A card document arrived (200), or was confirmed (304)."""

    request: CardRequested
    status: int
    confirmed: bool = False
    """304: same revision as before; ``revision``, ``digest`` and ``card`` are then empty."""
    revision: str = ""
    """``sha256:…`` over what a task depends on (design §3)."""
    digest: str = ""
    """``sha256:…`` over the whole card without ``signatures``."""
    canonical: bool = True
    """False where the document is no JSON that RFC 8785 accepts, and was hashed as raw bytes."""
    card: CardFacts | None = None
    """None where the document is not a card."""
    age: float = 0.0
    """Seconds in shared caches, from the ``Age`` header."""
    max_age: float | None = None
    """Seconds, from ``Cache-Control``; 0 for ``no-cache`` and ``no-store``; None where not stated."""
    from_cache: bool = False


@dataclass(slots=True, kw_only=True)
class CardFetchFailed(Observation):
    """A card's fetch ended without a document."""

    request: CardRequested
    reason: str
    """HTTP status as text, the exception's class name, or ``invalid_agent_card``."""
    status: int | None = None


# --- What the application says ----------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class LocalDecision(Observation):
    """The application, or a framework in it, decided something about a task or a card by itself (rules.md, G1)."""

    decision: str
    reason: str = ""
    """A ``Reason``, or empty where none of them was recognised in the text that was given."""
    task_id: str = ""
    endpoint: str = ""
    """Narrows the task down where several agents use one id; empty: whichever agent's."""
    tenant: str = ""
    state: str = ""
    artifact_id: str = ""
    source_task_id: str = ""
    """``artifact-merged``: the task that sent the artifact."""
    card_url: str = ""
    card_age: float = 0.0
    declared: bool = True
    """Told by the application itself; False: noticed by a hook, after the fact."""
    span: SpanRef | None = None
    is_traced: bool = False


@dataclass(slots=True, kw_only=True)
class StateExpected(Observation):
    """The application expects ``task_id`` to be in ``state`` within so many seconds (seed 001)."""

    task_id: str
    state: str
    within: float
    endpoint: str = ""
    tenant: str = ""


@dataclass(slots=True, kw_only=True)
class DeadlineReached(Observation):
    """Time has passed: made by the engine itself, at an observation or by its timer. ``task`` is the engine's
    record."""

    kind: str
    task: Any


# --- Calls ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class CallStarted(Observation):
    """A request to an agent is about to leave. Later observations of the same call refer to this object."""

    method: str
    binding: str
    """``JSONRPC``, ``HTTP+JSON`` or ``GRPC``."""
    protocol_version: str
    """``0.1``, ``0.2``, ``0.3`` or ``1.0`` as far as the request shows it; ``0.2`` also stands for what may be 0.3."""
    endpoint: str
    """Interface URL, normalised by ``otel_a2a.wire.urls.endpoint``: no query, no user-info, no method path."""
    server_address: str
    server_port: int | None
    tenant: str = ""
    task_id: str = ""
    context_id: str = ""
    message: SentMessage | None = None
    push: PushBinding | None = None
    credential: str = ""
    certain: bool = True
    """False: the request alone may also be another protocol's (``tasks/get`` of MCP); the answer decides."""
    judged: bool = True
    """False: the body could not be read (a generator, over the size limit), so ids may be missing."""
    trimmed: bool = False
    """The request asks for less than the whole task."""
    limits_history: bool = False
    """The request limits the task's history (``historyLength``), and some agents leave out artifacts with it."""
    span: SpanRef | None = None
    is_traced: bool = False
    """The application had a span of its own around the call."""
    hints: Hints | None = None
    """What the application said about the call (``otel_a2a.local``)."""
    bound: BoundCard | None = None
    """The card that the client holds, where a hook of its SDK knows; else the newest document is taken for it."""
    correlation_key: str = ""
    """Header or metadata member by which a gateway that rewrites ids says what belongs together; empty: none does."""
    correlation: str = ""
    """Its value in the request."""
    answered_correlation: str = ""
    """Its value in the answer's headers."""
    execution: int = 0
    """The execution context that makes the call, as a number; 0: not known."""
    row: Any = field(default=None, init=False)
    """The row of reads of an ended task that the call is one of; noted by the engine."""
    answered_task: str = field(default="", init=False)
    """The first task in the answer; noted by the engine."""

    @property
    def is_send(self) -> bool:
        return self.method in SENDS

    @property
    def creates(self) -> bool:
        """A send that is known to name no task: its answer may create one. In 0.1 the client names every task."""
        return self.method in SENDS and not self.task_id and self.judged


@dataclass(slots=True, kw_only=True)
class CallRedirected(Observation):
    """The answer comes from another URL, which therefore is the same agent (rules.md, G3)."""

    call: CallStarted
    endpoint: str


@dataclass(slots=True, kw_only=True)
class CallFailed(Observation):
    """A call ended with an error. An error is no task state."""

    call: CallStarted
    error: str
    """An ``A2AError`` reason, a JSON-RPC code or HTTP status as text, or an exception's class name."""
    from_agent: bool
    """The answer was shaped as an A2A error: the agent itself said so, not a proxy, not the network."""
    status: int | None = None
    code: str = ""
    """The error's code as it was on the wire (``-32001``, ``404``), for ``error.type``; empty where there is none."""
    channel: str = Channel.RESPONSE
    """``Channel.STREAM``: an event of a stream said so, and closing the stream is another matter than an answer."""


@dataclass(slots=True, kw_only=True)
class CallAnswered(Observation):
    """A call ended with an answer that was read to its end."""

    call: CallStarted


@dataclass(slots=True, kw_only=True)
class StreamEnded(Observation):
    """A stream ended. The end of a stream is not the end of a task."""

    call: CallStarted
    reason: str
    """``eof``, ``closed-early`` or an exception's class name."""


@dataclass(slots=True, kw_only=True)
class TaskSeen(Observation):
    """An agent told the state of a task."""

    call: CallStarted | None
    """The call that brought it; None for a webhook."""
    channel: str
    form: str
    task_id: str
    context_id: str = ""
    state: str | None = None
    """A ``TaskState``, or None where the agent stated none or an unknown one; then ``raw_state`` has its text."""
    raw_state: str = ""
    timestamp: float | None = None
    """Seconds since the epoch; None where absent or without a time zone."""
    final: bool | None = None
    artifacts: tuple[ArtifactFacts, ...] = ()
    generation: int | None = None
    has_message: bool = False
    status_message_id: str = ""
    """Id of the message in the status, by which one that is only shown again is known."""
    correlation: str = ""
    """The value of the call's ``correlation_key`` in the answer."""
    delivery: Delivery | None = None
    """Webhooks only."""


@dataclass(slots=True, kw_only=True)
class ArtifactSeen(Observation):
    """An artifact event arrived."""

    call: CallStarted | None
    channel: str
    task_id: str
    context_id: str = ""
    artifact: ArtifactFacts
    append: bool = False
    last_chunk: bool = False
    delivery: Delivery | None = None
    """Webhooks only."""


@dataclass(slots=True, kw_only=True)
class MessageSeen(Observation):
    """An agent answered with a message and no task."""

    call: CallStarted | None
    channel: str
    message_id: str = ""
    task_id: str = ""
    context_id: str = ""
