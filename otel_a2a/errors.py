# SPDX-License-Identifier: Apache-2.0
"""The exceptions of mode ``raise``; nothing else of ours ever reaches an application.

    RuntimeError
    └── A2APolicyError                       any finding whose action is ``raise``
        ├── CardTaskBoundaryError            a card decided a task's fate, or the reverse (seed 000)
        │   ├── AgentCardStalenessError      a card-dependent act on a card that is old, gone or denied (seed 004)
        │   └── TaskContinuationBlockedError card state gated a task in flight (seed 004)
        ├── AgentCardDivergenceError         the agent does not do what it declared (seed 001)
        └── TaskResurrectionError            a task came back to life, or was made to (seed 002)

Catching ``RuntimeError`` catches all, as it does in the programs of the seeds.
"""

from __future__ import annotations

from typing import Any

from otel_a2a.engine.findings import Finding, Phase


class A2APolicyError(RuntimeError):
    """Raised in mode ``raise`` for a finding at or above ``raise_on``.

    Attributes:
        findings: all findings of this step, the one that named the exception first.
        phase: when it was decided; ``request`` means that no byte has left.
        request_sent: whether the agent has received the request. If so, sending it again is no retry but a repetition.
        task_id, context_id: the ids concerned, empty where there are none.
    """

    def __init__(self, message: str, findings: tuple[Finding, ...] = (), *, request_sent: bool = True) -> None:
        super().__init__(message)
        self.findings = findings
        self.request_sent = request_sent
        first = findings[0] if findings else None
        self.phase = first.phase if first else Phase.LOCAL
        self.task_id = first.task_id if first else ""
        self.context_id = first.context_id if first else ""

    def __reduce__(self) -> tuple[Any, ...]:
        # BaseException pickles by calling the class with ``args``, which would lose what is beside the message.
        return (_rebuild, (type(self), self.args, self.__dict__))


class CardTaskBoundaryError(A2APolicyError):
    """Card state was used to decide a task's disposition, or a task's record was used against its own events."""


class AgentCardStalenessError(CardTaskBoundaryError):
    """An act that depends on the card could not rely on a current one."""


class TaskContinuationBlockedError(CardTaskBoundaryError):
    """Card state was about to gate a task that is already in flight."""


class TaskResurrectionError(A2APolicyError):
    """A task handle was used across an incompatible revision, or a task went back in its life."""


class AgentCardDivergenceError(A2APolicyError):
    """The agent's behaviour contradicts its card.

    Attributes:
        declared: what the card, or the protocol, promised.
        observed: what came instead.
        detail: one sentence for people.
    """

    def __init__(
        self,
        message: str,
        findings: tuple[Finding, ...] = (),
        *,
        request_sent: bool = True,
        declared: str = "",
        observed: str = "",
        detail: str = "",
    ) -> None:
        super().__init__(message, findings, request_sent=request_sent)
        self.declared = declared
        self.observed = observed
        self.detail = detail


def _rebuild(kind: type[A2APolicyError], args: tuple[Any, ...], state: dict[str, Any]) -> A2APolicyError:
    # Not by calling the class: whoever handles an exception may have put more into its ``args``.
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error
