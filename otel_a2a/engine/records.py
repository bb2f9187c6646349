# SPDX-License-Identifier: Apache-2.0
"""What the ledger remembers: plain records, no logic beyond what derives from one record."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from otel_a2a.observations import INTERRUPTED, CardFacts, SentMessage, SpanRef

HISTORY = 16
"""Revisions remembered per card document; older ones give no verdict."""
ARTIFACTS = 512
"""Artifact ids remembered per task; beyond it, completeness of a snapshot is no longer judged."""
STREAMS = 8
"""Streams remembered per task."""
REVISIONS = 64
"""Card revisions remembered per task as re-affirmed; beyond it, only those that its agent's documents still hold."""

DocumentKey = tuple[str, bool, str]
"""Fetch URL, extended, keyed digest of the credential (rules.md, G6)."""
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


@dataclass(slots=True)
class CardVersion:
    """One entry in the history of a card document: since when it says what it says."""

    revision: str
    card: CardFacts
    seq: int


@dataclass(slots=True, eq=False)
class CardDocument:
    """A card document, compared only with its own history."""

    key: DocumentKey
    history: list[CardVersion] = field(default_factory=list)
    forgotten: bool = False
    """The history's beginning has been dropped."""
    digest: str = ""
    fetched_at: float = 0.0
    """When it was last fetched or confirmed."""
    fetched_seq: int = 0
    span: SpanRef | None = None

    @property
    def current(self) -> CardVersion:
        return self.history[-1]


@dataclass(slots=True, eq=False)
class Poison:
    """Why a task's id can no longer be trusted."""

    state: str
    """The state that was left against the rules."""
    seq: int
    reopened: bool
    """A terminal state was left or replaced: nothing withdraws that."""


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
    born_here: bool = False
    """The creating answer was seen by this ledger (rules.md, G7)."""
    protocol_version: str = ""
    origin: SpanRef | None = None
    """The span of the call that created it, or first showed it."""
    state: str = ""
    state_seq: int = 0
    state_stream: int = 0
    """The stream (``seq`` of its call) that brought the state; 0 for another channel."""
    state_ns: int = 0
    terminal: str = ""
    terminal_seq: int = 0
    first_seen: dict[str, int] = field(default_factory=dict)
    """State → when it was first received."""
    streams: OrderedDict[int, str] = field(default_factory=OrderedDict)
    """Stream (``seq`` of its call) → the furthest state seen in it."""
    timestamp: float | None = None
    endpoints: set[str] = field(default_factory=set)
    credential: str = ""
    streamed: bool = False
    pushed: bool = False
    artifacts: dict[str, int] = field(default_factory=dict)
    """Artifact id → when it was first received."""
    artifacts_forgotten: bool = False
    created_by: SentMessage | None = None
    last_message: SentMessage | None = None
    message_seq: int = 0
    """When this process last sent a message into it."""
    interrupted_seq: int = 0
    """When it was last received in an interrupted state, after another one."""
    resumed_seq: int = 0
    """When it was received in a state that is certainly later than the interrupted one; 0 while it waits."""
    turn_seq: int = 0
    """When its agent was seen to begin a new turn by submitting it anew."""
    turn_message: int = 0
    """The message (``seq`` of its call) that this turn answers."""
    begun_seq: int = 0
    """0.1: the message that began it anew after its end; what is answered to earlier requests is of another life."""
    cancel_seq: int = 0
    card_revision: str = ""
    """The revision in force when it was created or first seen; empty where no card was known."""
    revisions: set[str] = field(default_factory=set)
    """Revisions under which it was created (rules.md, G4)."""
    reaffirmed: frozenset[str] = frozenset()
    """Revisions under which it was re-affirmed since."""
    poison: Poison | None = None
    lost_seq: int = 0
    refused_seq: int = 0
    """When an answer about it was withheld from the application."""
    refused_send: bool = False

    @property
    def went_back(self) -> bool:
        return self.poison is not None

    @property
    def trouble_seq(self) -> int:
        """When the first of regression, loss and refusal was received; 0 where there is none.

        A loss after this process asked to cancel the task is no trouble: it is how some agents end one.
        """
        lost = 0 if 0 < self.cancel_seq < self.lost_seq else self.lost_seq
        marks = [seq for seq in (self.poison.seq if self.poison else 0, lost, self.refused_seq) if seq]
        return min(marks) if marks else 0

    @property
    def disposition(self) -> str:
        if self.poison is not None:
            return Disposition.POISONED
        if self.terminal:
            return Disposition.TERMINAL
        if self.lost_seq:
            return Disposition.ORPHANED
        return Disposition.INTERRUPTED if self.state in INTERRUPTED else Disposition.ACTIVE


@dataclass(slots=True, eq=False)
class Agent:
    """A remote agent: all interfaces of its cards are one agent (rules.md, G3)."""

    id: int
    address: str
    port: int | None
    endpoints: set[str] = field(default_factory=set)
    documents: dict[DocumentKey, CardDocument] = field(default_factory=dict)
    tasks: dict[TaskKey, Task] = field(default_factory=dict)
    troubled: OrderedDict[TaskKey, Task] = field(default_factory=OrderedDict)
    """Tasks that went back, were lost, or whose answer was withheld: the newest few."""

    @property
    def label(self) -> str:
        return f"{self.address}:{self.port}" if self.port else self.address
