# SPDX-License-Identifier: Apache-2.0
"""What observations hold of cards, messages, artifacts and webhooks: names, digests and lengths, never content."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, frozen=True)
class SpanRef:
    """Where a span is, as plain numbers, so that the ledger can remember it without OpenTelemetry."""

    trace_id: int
    span_id: int
    trace_flags: int = 1


@dataclass(slots=True, frozen=True)
class Interface:
    """One entry of ``supportedInterfaces`` (1.0), or of ``url`` / ``additionalInterfaces`` (0.x)."""

    url: str
    """Normalised by ``otel_a2a.wire.urls.endpoint``, so that it can be compared with the URL of a call."""
    binding: str
    version: str = ""
    tenant: str = ""

    def serves(self, tenant: str) -> bool:
        """Whether a call for ``tenant`` is for this one: several agents may share a URL, told apart by their tenants.

        A call that names none may be for any of them, and an interface that names none serves all.
        """
        return not tenant or self.tenant in ("", tenant)


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

    def lists(self, endpoint: str, tenant: str = "") -> bool:
        """Whether the card offers the interface at ``endpoint`` to ``tenant``."""
        return any(interface.url == endpoint and interface.serves(tenant) for interface in self.interfaces)


@dataclass(slots=True, frozen=True, kw_only=True)
class BoundCard:
    """The card document that a client of an SDK was made from and relies on, whatever the agent says by now."""

    url: str
    """Where it was fetched, as in ``CardRequested``."""
    revision: str
    at: float
    """When it was fetched, in seconds of the engine's clock."""


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


@dataclass(slots=True, frozen=True)
class ArtifactFacts:
    """An artifact without its content."""

    artifact_id: str
    digest: str
    length: int
    """Characters and bytes of all parts, in a measure that grows with every part appended."""
    is_elsewhere: bool = False
    """A part of it is a URL: the length says nothing of the content there."""
