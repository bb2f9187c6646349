# SPDX-License-Identifier: Apache-2.0
"""How an observation changes the ledger, after the rules have seen the ledger without it.

One module per kind of observation. Facts are kept whether or not a rule about them is switched on. Everything runs
under the engine's lock.
"""

from __future__ import annotations

from otel_a2a.engine.apply import artifacts, calls, cards, local, tasks
from otel_a2a.engine.apply.effects import NOTHING, CardChange, Effect, Transition
from otel_a2a.engine.ledger import Ledger
from otel_a2a.observations import (
    ArtifactSeen,
    CallAnswered,
    CallFailed,
    CallRedirected,
    CallStarted,
    CardFetched,
    CardFetchFailed,
    LocalDecision,
    MessageSeen,
    Observation,
    StateExpected,
    StreamEnded,
    TaskSeen,
)

__all__ = ["NOTHING", "CardChange", "Effect", "Transition", "apply"]


def apply(ledger: Ledger, observation: Observation, now_ns: int) -> Effect:
    """Change the ledger by ``observation``. ``now_ns``: nanoseconds since the epoch, for telemetry."""
    if isinstance(observation, TaskSeen):
        if observation.call is not None:
            calls.answered(ledger.agent_of_call(observation.call), observation.call)
        return tasks.task_seen(ledger, observation, now_ns)
    if isinstance(observation, ArtifactSeen):
        return artifacts.artifact_seen(ledger, observation)
    if isinstance(observation, CallStarted):
        return calls.call_started(ledger, observation)
    if isinstance(observation, CallAnswered):
        return calls.call_answered(ledger, observation)
    if isinstance(observation, StreamEnded):
        return calls.stream_ended(ledger, observation)
    if isinstance(observation, MessageSeen):
        return calls.message_seen(ledger, observation)
    if isinstance(observation, CallFailed):
        return calls.call_failed(ledger, observation)
    if isinstance(observation, CardFetched):
        return cards.card_fetched(ledger, observation, now_ns)
    if isinstance(observation, CardFetchFailed):
        return cards.card_fetch_failed(ledger, observation)
    if isinstance(observation, CallRedirected):
        return calls.redirected(ledger, observation)
    if isinstance(observation, LocalDecision):
        return local.local_decision(ledger, observation)
    if isinstance(observation, StateExpected):
        return local.state_expected(ledger, observation)
    return NOTHING
