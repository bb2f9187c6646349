# SPDX-License-Identifier: Apache-2.0
"""What the ledger remembers: plain records, no logic beyond what derives from one record.

``seq`` fields are places in the order of observations, ``at`` fields are seconds of the engine's clock, ``ns`` fields
are nanoseconds since the epoch. 0 stands for *never*.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from otel_a2a.engine.card_records import CardDocument, DocumentKey
from otel_a2a.observations import INTERRUPTED, CallStarted, Hints, SentMessage, SpanRef

ARTIFACTS = 512
"""Artifacts remembered per task; beyond it, completeness of a snapshot is no longer judged."""
CHUNKS = 64
"""Chunks remembered per artifact, to know a repeated one."""
ASKERS = 16
"""Who has read an ended task, remembered per task."""
STREAMS = 8
"""Streams remembered per task."""
ANSWERS = 8
"""Answers to its questions remembered per task."""
CONTEXTS = 8
"""Context ids remembered per task."""
CREDENTIALS = 64
"""Credentials remembered per agent."""
CONVERSATIONS = 256
"""Contexts remembered per agent in which it has answered with a message of no task."""
REVISIONS = 32
"""Revisions remembered per task as re-affirmed."""

TaskKey = tuple[str, str]
"""Tenant and task id, within one agent (rules.md, G3)."""


class Disposition:
    """What is to be thought of a task."""

    ACTIVE = "active"
    INTERRUPTED = "interrupted"
    TERMINAL = "terminal"
    UNAFFIRMED = "unaffirmed"
    ORPHANED = "orphaned"
    POISONED = "poisoned"
    DIVERGED = "diverged"
    ABANDONED = "abandoned"


@dataclass(slots=True, eq=False)
class Poison:
    """Why a task's id can no longer be trusted."""

    state: str
    """The state that was left against the rules."""
    seq: int
    reopened: bool
    """A terminal state was left or replaced: nothing withdraws that."""


@dataclass(slots=True, eq=False)
class Artifact:
    """An artifact of a task, without its content."""

    seq: int
    """When it was first received."""
    digest: str = ""
    length: int = 0
    appended: bool = False
    """It grew by ``append=true``, so that a shorter one has lost something."""
    grown_seq: int = 0
    """When ``length`` last changed."""
    counted: int = 0
    """What the chunks of one stream add up to: other streams and webhooks repeat them."""
    counted_in: int = 0
    """That stream (``seq`` of its call)."""
    delivered_at: float = 0.0
    """When a webhook brought it, or more of it; 0 once an answer or a stream has shown as much."""
    sealed_in: int = 0
    """The stream (``seq`` of its call) in which its last chunk came."""
    chunks: set[str] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Answer:
    """A message of ours that may answer a question of a task, so that the agent may begin a new turn."""

    seq: int
    """When it left (``seq`` of its call)."""
    taken_seq: int = 0
    """When it was first certain that the agent had taken it."""
    settled: dict[str, int] = field(default_factory=dict)
    """What was settled before it left, and is so again where it turns out to begin no turn."""


@dataclass(slots=True, eq=False)
class StreamSeen:
    """How far a stream has told the life of its task."""

    plays_again: bool
    """It may tell what was before it."""
    state: str = ""
    """The last state in it that was news, or the terminal one."""
    taken: set[int] = field(default_factory=set)
    """Answers (their ``seq``) that the agent had taken where the stream is now."""


@dataclass(slots=True, frozen=True)
class Delivered:
    """When a webhook told a state, and the time stamp that it bore."""

    at: float
    timestamp: float | None


@dataclass(slots=True, eq=False)
class ReadsWhenEnded:
    """Reads of a task that somebody sent in a row, each soon after the one before, after its end was received."""

    answered: int = 0
    sent_at: float = 0.0


@dataclass(slots=True, eq=False)
class Expectation:
    """A state that the application expects by a time."""

    state: str
    due_at: float
    seq: int


@dataclass(slots=True, eq=False)
class Task:
    """A task as its agent told it to this process (rules.md, G1)."""

    agent: Agent
    tenant: str
    task_id: str
    created_seq: int
    created_at: float
    created_ns: int
    context_id: str = ""
    contexts: set[str] = field(default_factory=set)
    """Every context id sent or answered for it."""
    born_here: bool = False
    """The creating answer was seen by this ledger (rules.md, G7)."""
    created_in: int = 0
    """The stream (``seq`` of its call) of the creating send, 0 where that was no stream."""
    protocol_version: str = ""
    origin: SpanRef | None = None
    """The span of the call that created it, or first showed it."""
    hints: Hints | None = None
    references: frozenset[str] = frozenset()
    correlation: str = ""
    """What a gateway that rewrites ids said it belongs to, at first."""
    # --- states
    state: str = ""
    state_seq: int = 0
    state_stream: int = 0
    """The stream (``seq`` of its call) that brought the state; 0 for another channel."""
    state_ns: int = 0
    terminal: str = ""
    terminal_seq: int = 0
    first_seen: dict[str, int] = field(default_factory=dict)
    """State → when it was first received in the turn that the task is in."""
    delivered: dict[str, Delivered] = field(default_factory=dict)
    """States that so far only a webhook has told."""
    streams: OrderedDict[int, StreamSeen] = field(default_factory=OrderedDict)
    """By ``seq`` of their call: the newest few, open ones before others."""
    open_streams: set[int] = field(default_factory=set)
    timestamp: float | None = None
    timestamp_seq: int = 0
    """When that was received."""
    timestamp_in: int = 0
    """The call (its ``seq``) that told it; 0 for a webhook."""
    newest_timestamp: float | None = None
    """The newest that an answer bore, whether or not it was news."""
    read_seq: int = 0
    """When an answer to GetTask was last received."""
    read_timestamp: float | None = None
    generation: int | None = None
    changed_at: float = 0.0
    """When it last showed progress: a state, a status message, an artifact."""
    status_message_id: str = ""
    """Id of the last message in its status."""
    reused: bool = False
    """0.1 only: more than one message was sent under its id, so nothing tells which execution an answer is of."""
    interrupted_seq: int = 0
    """When it was last received in an interrupted state."""
    interrupted_in: int = 0
    """The call (its ``seq``) that told so, if only one has; else 0."""
    resumed_seq: int = 0
    """When it was received in a state that is certainly later; 0 while it waits."""
    answers: list[Answer] = field(default_factory=list)
    """Our messages that may answer its questions: the newest few."""
    answers_forgotten: bool = False
    """There were more: who plays the whole life again tells of their turns too."""
    settled: dict[str, int] = field(default_factory=dict)
    """State → when it was first received with all of these certainly taken: no answer explains a step back from it."""
    # --- contact
    endpoints: set[str] = field(default_factory=set)
    credential: str = ""
    streamed: bool = False
    answered_seq: int = 0
    """When the agent last said anything about it."""
    read_at: float = 0.0
    """When it was last shown to somebody who had asked: by a read, or in a list."""
    asked_at: float = 0.0
    """When a read of it last left, whatever became of that."""
    read_refused_seq: int = 0
    """When an A2A error answered a read of it; 0 once a read is answered."""
    reads_when_ended: OrderedDict[tuple[str, int], ReadsWhenEnded] = field(default_factory=OrderedDict)
    """By who asks: the newest few."""
    # --- webhooks
    pushed: bool = False
    """It has a webhook."""
    webhooks: dict[str, str] = field(default_factory=dict)
    """Keyed digest of the URL → keyed digest of the token."""
    delivered_at: float = 0.0
    rumoured_end_seq: int = 0
    """When a webhook told its end whose word nobody can check; 0 once a later answer shows it alive."""
    # --- artifacts
    artifacts: dict[str, Artifact] = field(default_factory=dict)
    artifacts_forgotten: bool = False
    # --- messages
    created_by: SentMessage | None = None
    last_message: SentMessage | None = None
    message_seq: int = 0
    """When this process last sent a message into it."""
    cancel_seq: int = 0
    """When this process first asked to cancel it."""
    cancel_at: float = 0.0
    """When a cancel ended that did not end it."""
    # --- cards
    card_revision: str = ""
    """The revision in force when it was created or first seen; empty where no card was known."""
    revisions: set[str] = field(default_factory=set)
    """Revisions under which it was created (rules.md, G4)."""
    reaffirmed: set[str] = field(default_factory=set)
    """Revisions under which a read re-affirmed it (rules.md, G4)."""
    # --- trouble
    poison: Poison | None = None
    lost_seq: int = 0
    refused_seq: int = 0
    """When an answer about it was withheld from the application."""
    refused_send: bool = False
    diverged: bool = False
    abandoned: bool = False
    # --- what the application made of it
    local_state: str = ""
    local_reason: str = ""
    local_seq: int = 0
    ended_stream_seq: int = 0
    """When a stream of it last ended without a terminal state."""
    expectations: list[Expectation] = field(default_factory=list)
    scheduled: dict[str, float] = field(default_factory=dict)
    """Kind of deadline → when its reminder is due; a deadline that was judged stays, and is not due again."""

    @property
    def is_live(self) -> bool:
        return bool(self.state) and not self.terminal

    @property
    def is_given_up(self) -> bool:
        """Lost, not to be trusted, left behind by its agent, or abandoned: there is reason to cancel or replace it."""
        return bool(self.lost_seq or self.poison or self.diverged or self.abandoned)

    @property
    def went_back(self) -> bool:
        return self.poison is not None

    @property
    def loss_seq(self) -> int:
        """When its loss was received; 0 where it was not lost, or lost only after this process asked to cancel it: so
        some agents end a task."""
        return 0 if 0 < self.cancel_seq < self.lost_seq else self.lost_seq

    @property
    def trouble_seq(self) -> int:
        """When the first of regression, loss and refusal was received; 0 where there is none."""
        marks = [seq for seq in (self.poison.seq if self.poison else 0, self.loss_seq, self.refused_seq) if seq]
        return min(marks) if marks else 0

    @property
    def disposition(self) -> str:
        if self.abandoned:
            return Disposition.ABANDONED
        if self.poison is not None:
            return Disposition.POISONED
        if self.terminal:
            return Disposition.TERMINAL
        if self.lost_seq:
            return Disposition.ORPHANED
        if self.diverged:
            return Disposition.DIVERGED
        return Disposition.INTERRUPTED if self.state in INTERRUPTED else Disposition.ACTIVE


@dataclass(slots=True, frozen=True)
class Owner:
    """Who had an artifact first."""

    task_id: str
    tenant: str
    credential: str
    context_id: str


@dataclass(slots=True, eq=False)
class Send:
    """A send on its way, or that ended without an answer: what a repetition of it would duplicate."""

    message: SentMessage
    tenant: str
    task_id: str
    context_id: str
    seq: int
    at: float
    unanswered_seq: int = 0
    """When it ended without an answer; 0 while it is under way."""

    def is_into(self, task: Task) -> bool:
        """Whether the message named ``task``."""
        return (self.tenant, self.task_id) == (task.tenant, task.task_id)

    def is_repeated(self, call: CallStarted) -> bool:
        """Whether ``call`` sends this message again: the same id, or the same parts in the same context.

        The same word to another task of the context is another answer.
        """
        message = call.message
        if message is None:
            return False
        if message.message_id and message.message_id == self.message.message_id:
            return True
        same_parts = bool(message.parts) and message.parts == self.message.parts
        same_context = bool(call.context_id) and (call.tenant, call.context_id) == (self.tenant, self.context_id)
        return same_parts and same_context and (not call.task_id or self.task_id in ("", call.task_id))


@dataclass(slots=True, eq=False)
class Agent:
    """A remote agent: all interfaces of its cards are one agent (rules.md, G3)."""

    id: int
    address: str
    port: int | None
    endpoints: set[str] = field(default_factory=set)
    documents: dict[DocumentKey, CardDocument] = field(default_factory=dict)
    tasks: dict[TaskKey, Task] = field(default_factory=dict)
    contexts: dict[str, dict[TaskKey, Task]] = field(default_factory=dict)
    troubled: OrderedDict[TaskKey, Task] = field(default_factory=OrderedDict)
    """Tasks that went back, were lost, or whose answer was withheld: the newest few."""
    sends: OrderedDict[int, Send] = field(default_factory=OrderedDict)
    """By ``seq`` of their call."""
    reads: int = 0
    """Reads of tasks sent to it."""
    only_messages: bool = False
    """It has answered with messages, and never with a task (rules.md, G11)."""
    refused_seq: int = 0
    """When its task endpoint last answered 401, 403, 404 or 410 and no A2A error."""
    refused_endpoint: str = ""
    refused_credential: str = ""
    first_call_seq: int = 0
    """When the first call to it left."""
    credentials: OrderedDict[str, tuple[int, int]] = field(default_factory=OrderedDict)
    """Keyed digest → when a call with it first and last left: the newest few."""
    conversations: OrderedDict[str, int] = field(default_factory=OrderedDict)
    """Context → when it last answered there with a message of no task: the newest few."""
    artifact_owners: OrderedDict[tuple[str, str], Owner] = field(default_factory=OrderedDict)
    """Artifact id and digest → who had it first: the newest few."""
    artifact_contexts: OrderedDict[str, set[str]] = field(default_factory=OrderedDict)
    """Artifact id → the contexts it was seen in: the newest few."""

    @property
    def label(self) -> str:
        return f"{self.address}:{self.port}" if self.port else self.address
