# SPDX-License-Identifier: Apache-2.0
"""Reading a sequence without false alarms: what contradicts what.

Pure functions over the ledger's records, used by the rules and by the ledger alike, so that a rule that is switched off
changes no fact. The definition is rules.md G2 (order).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from otel_a2a.engine import turns
from otel_a2a.engine.records import ReadsWhenEnded, Task
from otel_a2a.observations import (
    INTERRUPTED,
    TERMINAL,
    ArtifactFacts,
    CallFailed,
    CallStarted,
    Form,
    Method,
    TaskSeen,
    TaskState,
    rank,
)

CREATION_GRACE = 1.0
"""Seconds after a task's creation in which *not found* may still be replication lag."""
READ_WINDOW = 60.0
"""Seconds within which one read of an ended task follows from another."""


@dataclass(slots=True, frozen=True)
class Contradiction:
    """A state that cannot follow ``earlier``."""

    earlier: str
    reopened: bool
    """``earlier`` was terminal."""
    resubmitted: bool = False
    """The agent answered this client's message into an interrupted task by submitting it anew: odd, but a new turn."""


def contradiction(task: Task, seen: TaskSeen, clock_skew: float) -> Contradiction | None:
    """The edge that ``seen`` takes against the rules, if any: *terminal → live* or *anything → submitted*, by G2.

    Terminal states are accepted from any channel and never contradict here; see ``changed_terminal``. ``clock_skew``:
    seconds within which two timestamps say nothing.
    """
    state, call = seen.state, seen.call
    if state is None or state in TERMINAL or call is None or task.reused:
        return None
    if state != TaskState.SUBMITTED and not task.terminal:
        return None
    if is_told_again(task, seen, clock_skew):
        return None
    within = turns.shown_in(task, call)
    if within in TERMINAL:
        return Contradiction(within, reopened=True)
    if _is_known_to(seen, task.terminal, task, clock_skew):
        return Contradiction(task.terminal, reopened=True)
    return _step_back(task, seen, call, clock_skew) if state == TaskState.SUBMITTED else None


def _step_back(task: Task, seen: TaskSeen, call: CallStarted, clock_skew: float) -> Contradiction | None:
    """*Anything → submitted*, where no answer of ours may have begun a new turn in between."""
    within = turns.shown_in(task, call)
    if within not in ("", TaskState.SUBMITTED, *INTERRUPTED):
        return Contradiction(within, reopened=False)
    known = _not_submitted_before(task, seen, clock_skew) or (within if within in INTERRUPTED else "")
    if not known:
        return None
    if not _may_be_new_turn(task, seen, call, clock_skew):
        return Contradiction(known, reopened=False)
    if not turns.is_late_answer(task, call) and not turns.begins(task, seen, clock_skew):
        return None
    asked = (each for each in task.first_seen if each in INTERRUPTED and _is_known_to(seen, each, task, clock_skew))
    return Contradiction(next(asked, known), reopened=False, resubmitted=True)


def _may_be_new_turn(task: Task, seen: TaskSeen, call: CallStarted, clock_skew: float) -> bool:
    if not same_context(task, seen) or 0 < task.loss_seq < call.seq:
        return False
    if turns.is_late_answer(task, call):
        return True
    within = turns.shown_in(task, call)
    if within in INTERRUPTED and not turns.may_be_explained(task, seen, clock_skew):
        return False
    if within and turns.plays_again(task, seen, clock_skew):
        return True
    return not any(
        0 < seq < call.seq and not _is_ahead(task, state, seen, clock_skew) for state, seq in task.settled.items()
    )


def _not_submitted_before(task: Task, seen: TaskSeen, clock_skew: float) -> str:
    # A state that was left against the rules comes early: the same incident, shown again.
    states = (task.state, task.poison.state if task.poison is not None else "", *task.first_seen, *task.settled)
    known = (each for each in states if each != TaskState.SUBMITTED and _is_known_to(seen, each, task, clock_skew))
    return next(known, "")


def _is_known_to(seen: TaskSeen, state: str, task: Task, clock_skew: float) -> bool:
    """Whether ``state`` was received before the request left that ``seen`` answers, so that the agent has to know it
    there."""
    assert seen.call is not None
    return 0 < _received(task, state) < seen.call.seq and not _is_ahead(task, state, seen, clock_skew)


def _received(task: Task, state: str) -> int:
    seq = task.first_seen.get(state) or task.settled.get(state)
    return seq or (task.terminal_seq if state and state == task.terminal else 0)


def _is_ahead(task: Task, state: str, seen: TaskSeen, clock_skew: float) -> bool:
    """Whether only a webhook has told ``state``, and the store from which reads are answered may not have it yet.

    No order holds between a delivery and a read but that of time: within ``clock_skew`` of the delivery, or where the
    time stamps say that the answer is the older one, it shows what was before.
    """
    delivered, call = task.delivered.get(state), seen.call
    if delivered is None or call is None or call.is_send:
        return False
    if call.at - delivered.at <= clock_skew:
        return True
    if seen.timestamp is None or delivered.timestamp is None:
        return False
    return seen.timestamp < delivered.timestamp - clock_skew


def is_behind(task: Task, seen: TaskSeen, clock_skew: float) -> bool:
    """Whether an answer shows the task as it was before a delivery that it does not know of yet."""
    call = seen.call
    if call is None or seen.state in (None, *TERMINAL) or seen.state == task.state:
        return False
    # Once the question is answered, the task may be at work again.
    is_asking = task.state in INTERRUPTED and task.message_seq < _received(task, task.state)
    ahead = task.terminal or (task.state if seen.state == TaskState.SUBMITTED or is_asking else "")
    return 0 < _received(task, ahead) < call.seq and _is_ahead(task, ahead, seen, clock_skew)


def is_told_again(task: Task, seen: TaskSeen, clock_skew: float) -> bool:
    """Whether a subscription repeats what happened before it: some agents play the whole life to whoever subscribes.

    By its time stamp; where that says nothing, the events with which a subscription begins are old ones as long as they
    would go back: 0.3 leaves it to the agent which of the missed events it plays. A snapshot is none of these, and an
    end is news whatever the clock says.
    """
    call = seen.call
    if seen.form != Form.UPDATE or call is None or call.method != Method.SUBSCRIBE_TO_TASK or seen.state in TERMINAL:
        return False
    if seen.timestamp is None or task.timestamp is None or abs(seen.timestamp - task.timestamp) <= clock_skew:
        return _plays_again(task, seen, call, clock_skew)
    if seen.timestamp > task.timestamp:
        return False
    # What was learned since the subscription left may be ahead of its stream, which then lags and repeats nothing.
    was_known = task.timestamp_seq < call.seq or task.timestamp_in == call.seq
    return was_known or _plays_again(task, seen, call, clock_skew)


def _plays_again(task: Task, seen: TaskSeen, call: CallStarted, clock_skew: float) -> bool:
    within = turns.shown_in(task, call)
    is_at_first = within in ("", TaskState.SUBMITTED)
    if within in TERMINAL:
        return False
    if 0 < task.terminal_seq < call.seq:
        return is_at_first or turns.plays_again(task, seen, clock_skew)
    if seen.state != TaskState.SUBMITTED or not is_at_first or not _not_submitted_before(task, seen, clock_skew):
        return False
    return not _may_be_new_turn(task, seen, call, clock_skew)


def asker(call: CallStarted) -> tuple[str, int]:
    """Who makes a call, as far as can be told: by the credential, and the application's trace, or where it has none
    its execution context. Several users of one application ask for different reasons."""
    in_trace = call.span is not None and call.is_traced
    return call.credential, call.span.trace_id if call.span is not None and in_trace else call.execution


def continued_reads(task: Task, call: CallStarted) -> ReadsWhenEnded | None:
    """The reads of the ended task that ``call`` goes on with: of the same asker, soon before, and with no delivery
    since that was a reason to look."""
    reads = task.reads_when_ended.get(asker(call))
    if reads is None or call.at - reads.sent_at > READ_WINDOW or task.delivered_at > reads.sent_at:
        return None
    return reads


def changed_terminal(task: Task, seen: TaskSeen) -> bool:
    """Whether ``seen`` replaces one terminal state by a different one, in any order and on any channel."""
    return seen.state in TERMINAL and bool(task.terminal) and seen.state != task.terminal and not task.reused


def is_late(task: Task, seen: TaskSeen, clock_skew: float) -> bool:
    """Whether a delivery tells of a live state that the task has left by now.

    Webhooks come late and out of order: after an end, with an older timestamp, or with a state that comes before the
    one held. The same state again is a duplicate, and another end is no matter of lateness.
    """
    state = seen.state
    if state is None or state == task.state or state in TERMINAL:
        return False
    if task.terminal:
        return True
    if seen.timestamp is not None and task.timestamp is not None and seen.timestamp < task.timestamp - clock_skew:
        return True
    return rank(state) < rank(task.state or TaskState.SUBMITTED)


def same_context(task: Task, seen: TaskSeen) -> bool:
    """Whether nothing says that ``seen`` belongs to another context. Empty is absent."""
    return not seen.context_id or not task.context_id or seen.context_id == task.context_id


def belongs_elsewhere(named: Task | None, call: CallStarted, seen: TaskSeen) -> bool:
    """Whether a gateway that rewrites ids says that an answer belongs to something else than the message did."""
    expected = call.correlation or (named.correlation if named is not None else "")
    return bool(expected and seen.correlation) and expected != seen.correlation


def intact(task: Task, artifacts: Iterable[ArtifactFacts], before: int) -> bool:
    """Whether every artifact received before ``before`` is still there. Unknown counts as intact."""
    if task.artifacts_forgotten:
        return True
    present = {artifact.artifact_id for artifact in artifacts}
    return all(artifact_id in present for artifact_id, held in task.artifacts.items() if held.seq < before)


def lost(task: Task, failed: CallFailed) -> bool:
    """Whether an A2A *not found* says that the agent lost a task which it had not ended.

    Not where the task has ended here by now, where the request left before the task was first seen, nor where it left
    within ``CREATION_GRACE`` of the creation: whatever the answer took, it may tell of that moment.
    """
    call = failed.call
    return (
        not task.terminal
        and not task.reused
        and any(seq < call.seq for seq in task.first_seen.values())
        and call.at - task.created_at > CREATION_GRACE
    )
