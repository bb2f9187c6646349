# SPDX-License-Identifier: Apache-2.0
"""The shared vocabulary: what can be observed of A2A traffic.

``wire`` makes observations from bytes, ``engine`` judges them, and neither knows the other. An observation holds
identifiers, states, digests and lengths, never a message, a part, a token or a credential.

The engine stamps ``seq`` (order of observation in this process) and ``at`` (seconds, monotonic) on each observation it
takes. Order is decided by ``seq`` alone, so that clocks can never accuse anybody (rules.md, G2).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final


class TaskState:
    """The task states of A2A 1.0, in the spelling of the wire; older dialects are normalised to it."""

    SUBMITTED: Final = "TASK_STATE_SUBMITTED"
    WORKING: Final = "TASK_STATE_WORKING"
    INPUT_REQUIRED: Final = "TASK_STATE_INPUT_REQUIRED"
    AUTH_REQUIRED: Final = "TASK_STATE_AUTH_REQUIRED"
    COMPLETED: Final = "TASK_STATE_COMPLETED"
    FAILED: Final = "TASK_STATE_FAILED"
    CANCELED: Final = "TASK_STATE_CANCELED"
    REJECTED: Final = "TASK_STATE_REJECTED"


TERMINAL: Final = frozenset((TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED))
INTERRUPTED: Final = frozenset((TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED))
STATES: Final = frozenset((TaskState.SUBMITTED, TaskState.WORKING)) | INTERRUPTED | TERMINAL


def rank(state: str) -> int:
    """How far a state is along a task's life: 0 submitted, 1 working or interrupted, 2 terminal."""
    if state in TERMINAL:
        return 2
    return 0 if state == TaskState.SUBMITTED else 1


class Method:
    """Names of A2A operations (semantic-conventions-genai PR #195); every dialect is normalised to them."""

    SEND_MESSAGE: Final = "SendMessage"
    SEND_STREAMING_MESSAGE: Final = "SendStreamingMessage"
    GET_TASK: Final = "GetTask"
    LIST_TASKS: Final = "ListTasks"
    CANCEL_TASK: Final = "CancelTask"
    SUBSCRIBE_TO_TASK: Final = "SubscribeToTask"
    CREATE_PUSH_CONFIG: Final = "CreateTaskPushNotificationConfig"
    GET_PUSH_CONFIG: Final = "GetTaskPushNotificationConfig"
    LIST_PUSH_CONFIGS: Final = "ListTaskPushNotificationConfigs"
    DELETE_PUSH_CONFIG: Final = "DeleteTaskPushNotificationConfig"
    GET_EXTENDED_CARD: Final = "GetExtendedAgentCard"
    GET_CARD: Final = "GetAgentCard"
    """Not an A2A operation: our name for the public card's fetch, in the same style."""


SENDS: Final = frozenset((Method.SEND_MESSAGE, Method.SEND_STREAMING_MESSAGE))
READS: Final = frozenset((Method.GET_TASK, Method.SUBSCRIBE_TO_TASK))
STREAMS: Final = frozenset((Method.SEND_STREAMING_MESSAGE, Method.SUBSCRIBE_TO_TASK))


class Channel:
    """How an observation reached this process."""

    RESPONSE: Final = "response"
    STREAM: Final = "stream"
    WEBHOOK: Final = "webhook"
    LOCAL: Final = "local"


class Form:
    """How much of a task an observation shows."""

    SNAPSHOT: Final = "snapshot"
    """A whole Task object: absence in it means something."""
    LISTED: Final = "listed"
    """A Task out of a list, or trimmed by the request: absence proves nothing."""
    UPDATE: Final = "update"
    """A status or artifact event."""


class A2AError:
    """Reasons of A2A errors, in the spelling of ``google.rpc.ErrorInfo.reason`` (A2A 1.0, section 5.4)."""

    TASK_NOT_FOUND: Final = "TASK_NOT_FOUND"
    TASK_NOT_CANCELABLE: Final = "TASK_NOT_CANCELABLE"
    PUSH_NOT_SUPPORTED: Final = "PUSH_NOTIFICATION_NOT_SUPPORTED"
    UNSUPPORTED_OPERATION: Final = "UNSUPPORTED_OPERATION"
    VERSION_NOT_SUPPORTED: Final = "VERSION_NOT_SUPPORTED"


@dataclass(slots=True, kw_only=True)
class Observation:
    """Something seen. ``seq`` and ``at`` are stamped by the engine; a preset ``seq`` is kept."""

    seq: int = field(default=0, init=False)
    at: float = field(default=0.0, init=False)


@dataclass(slots=True, frozen=True)
class SpanRef:
    """Where a span is, as plain numbers, so that the ledger can remember it without OpenTelemetry."""

    trace_id: int
    span_id: int
    trace_flags: int = 1


# --- Agent Cards ------------------------------------------------------------------------------------------------------


@dataclass(slots=True, frozen=True)
class Interface:
    """One entry of ``supportedInterfaces`` (1.0), or of ``url`` / ``additionalInterfaces`` (0.x)."""

    url: str
    """Normalised by ``otel_a2a.wire.urls.endpoint``, so that it can be compared with the URL of a call."""
    binding: str
    version: str = ""
    tenant: str = ""


@dataclass(slots=True, kw_only=True)
class CardFacts:
    """What a card says, over the shapes of all versions. ``None``: the card does not say."""

    name: str
    version: str
    interfaces: tuple[Interface, ...]
    streaming: bool | None
    push_notifications: bool | None
    extended_card: bool | None
    state_transition_history: bool | None
    has_capabilities: bool
    """``capabilities`` is an object, so an absent flag is a denial."""
    skills: frozenset[str]
    is_legacy: bool
    """A 0.x card: no ``supportedInterfaces``."""
    input_modes: frozenset[str] = frozenset()
    """Media types of ``defaultInputModes`` and of every skill; empty where the card states none."""
    modes: str = ""
    """Digest over all input and output modes, to tell that they changed."""
    durations: tuple[tuple[str, float], ...] = ()
    """Skill id and ``estimatedDuration`` in seconds, for the skills that state one (seed 001; no A2A version has
    it)."""


@dataclass(slots=True, kw_only=True)
class CardRequested(Observation):
    """A card's fetch is about to leave."""

    url: str
    """Normalised fetch URL: no query, no user-info."""
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


@dataclass(slots=True, frozen=True, kw_only=True)
class BoundCard:
    """The card document that a client of an SDK was made from and relies on, whatever the agent says by now."""

    url: str
    """Where it was fetched, as in ``CardRequested``."""
    revision: str
    at: float
    """When it was fetched, in seconds of the engine's clock."""


# --- What the application says ----------------------------------------------------------------------------------------


@dataclass(slots=True, frozen=True, kw_only=True)
class Hints:
    """What the application says about the calls that it makes in a context. Durations in seconds."""

    skill: str = ""
    expected_duration: float | None = None
    retry_of: str = ""
    """The task that this send is a deliberate retry of."""
    side_effect: bool = False
    """Running it twice does harm."""
    pinned_card: bool = False
    """The application relies on a card that it holds, on purpose."""
    reason: str = ""
    """Why a task is canceled: ``user``, ``deadline``, ``capability``, or text."""


class Decision:
    """What an application decided about a task without the wire."""

    STATE: Final = "state"
    ARTIFACT_DROPPED: Final = "artifact-dropped"
    ARTIFACT_MERGED: Final = "artifact-merged"
    ABANDONED: Final = "abandoned"
    CARD_REJECTED: Final = "card-rejected"
    CARD_FROM_CACHE: Final = "card-from-cache"


class Reason:
    """Reasons of local decisions that rules know; any other text is one too."""

    SERVER: Final = "server"
    TRANSPORT: Final = "transport"
    POLL_EMPTY: Final = "poll-empty"
    CAPABILITY: Final = "capability"
    STREAM_END: Final = "stream-end"
    USER: Final = "user"
    DEADLINE: Final = "deadline"


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


@dataclass(slots=True, frozen=True, kw_only=True)
class Delivery:
    """How a webhook arrived. Digests are keyed, as in ``PushBinding``."""

    token: str = ""
    url: str = ""
    verified: bool = False
    """The application vouches for the sender."""
    span: SpanRef | None = None
    """The span in which it was received."""


@dataclass(slots=True, kw_only=True)
class DeadlineReached(Observation):
    """Time has passed: made by the engine itself, at an observation or by its timer. ``task`` is the engine's
    record."""

    kind: str
    task: Any


# --- Calls ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class SentMessage:
    """A message on its way to an agent, without its content."""

    message_id: str
    """Empty in 0.1, which has none."""
    parts: str
    """Digest over the parts in a canonical form that is the same in every dialect; empty where not readable."""
    reference_task_ids: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ()
    """Media types that the parts state; a part that states none adds none."""


@dataclass(slots=True, kw_only=True)
class PushBinding:
    """A webhook registration, given inline or by its own method. Digests are keyed: they say nothing outside this
    process."""

    url: str
    """Keyed digest of the webhook's URL."""
    token: str = ""
    """Keyed digest of the notification token, empty where none was given."""
    config_id: str = ""


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
    rpc_id: str = ""
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


@dataclass(slots=True, frozen=True)
class ArtifactFacts:
    """An artifact without its content."""

    artifact_id: str
    digest: str
    length: int
    """Characters and bytes of all parts, in a measure that grows with every part appended."""


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
