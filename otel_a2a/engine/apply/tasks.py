# SPDX-License-Identifier: Apache-2.0
"""An agent told a task's state: by an answer, in a stream, or through a webhook."""

from __future__ import annotations

from otel_a2a.engine import order, turns
from otel_a2a.engine.apply.artifacts import remember_artifact
from otel_a2a.engine.apply.effects import NOTHING, Effect, Transition
from otel_a2a.engine.apply.rumours import rumoured
from otel_a2a.engine.card_records import CardDocument, CardVersion
from otel_a2a.engine.cards import governing
from otel_a2a.engine.ledger import Ledger
from otel_a2a.engine.records import CONTEXTS, REVISIONS, Agent, Artifact, Delivered, Poison, ReadsWhenEnded, Task
from otel_a2a.observations import (
    INTERRUPTED,
    READS,
    TERMINAL,
    ArtifactFacts,
    CallStarted,
    Channel,
    Form,
    Method,
    TaskSeen,
    TaskState,
    rank,
)
from otel_a2a.observations import (
    STREAMS as STREAMING_METHODS,
)


def task_seen(ledger: Ledger, seen: TaskSeen, now_ns: int) -> Effect:
    """An agent told a task's state."""
    call = seen.call
    if not seen.task_id:
        return NOTHING
    if call is None:
        return _delivered(ledger, seen, now_ns)
    agent = ledger.agent_of_call(call)
    task = ledger.task(agent, call.tenant, seen.task_id)
    if task is None:
        task = _new_task(agent, seen, call, now_ns)
        for sent in agent.sends.values():
            if sent.is_into(task) and sent.seq != call.seq:
                turns.note_earlier_answer(task, sent.seq)
        ledger.add_task(task)
    if call.protocol_version == "0.1" and call.is_send and call.seq != task.created_seq:
        task.reused = True
    agent.only_messages = False
    if call.is_send and not call.answered_task:
        _note_divergence(ledger, agent, call, seen)
    turns.note_late_answer(task, call)
    clock_skew = ledger.clock_skew(agent)
    is_old = order.is_told_again(task, seen, clock_skew) or order.is_behind(task, seen, clock_skew)
    contradiction = order.contradiction(task, seen, clock_skew)
    if contradiction is not None and contradiction.resubmitted:
        _begin_turn(task)
        contradiction = None
    reopened = order.changed_terminal(task, seen) or (contradiction is not None and contradiction.reopened)
    if reopened or contradiction is not None:
        _poison(
            ledger,
            task,
            task.terminal if reopened and task.terminal else _left(contradiction, task),
            seen.seq,
            reopened,
        )
    _remember_answer(ledger, task, seen, call)
    _reaffirm(ledger, task, seen, call, ill=reopened or contradiction is not None or is_old)
    for artifact in seen.artifacts:
        remember_artifact(task, artifact, seen, whole=True)
    transition = None if is_old else _take_state(ledger, task, seen, clock_skew, now_ns)
    turns.remember(task, seen, clock_skew, is_old=is_old)
    is_next_question = seen.state in INTERRUPTED and turns.is_settled(task, seen, clock_skew)
    _end_doubt(task, seen, is_next_question=is_next_question)
    if seen.timestamp is not None:
        task.newest_timestamp = max(seen.timestamp, task.newest_timestamp or seen.timestamp)
    return Effect(task, transition)


def _end_doubt(task: Task, seen: TaskSeen, *, is_next_question: bool) -> None:
    """What became of a message into the task is known where it has ended since, or where the agent has taken the
    message and asks again: the same words are then another answer."""
    has_ended = seen.state in TERMINAL
    if not has_ended and not is_next_question:
        return
    left = seen.call.seq if seen.call is not None else seen.seq
    taken = {answer.seq for answer in task.answers if answer.taken_seq}
    sends = task.agent.sends
    for sent in [each for each in sends.values() if each.unanswered_seq and each.is_into(task)]:
        if sent.seq < left if has_ended else sent.seq in taken:
            del sends[sent.seq]


def _note_divergence(ledger: Ledger, agent: Agent, call: CallStarted, seen: TaskSeen) -> None:
    """The first task in the answer is what the agent made of the message."""
    call.answered_task = seen.task_id
    if call.creates:
        for other in agent.contexts.get(call.context_id, {}).values():
            if other.task_id != seen.task_id:
                turns.begins_none(other, call, seen.seq)
    named = ledger.task(agent, call.tenant, call.task_id)
    if named is None or call.task_id == seen.task_id or named.terminal:
        return
    if not ledger.rewrites_ids(agent) or order.belongs_elsewhere(named, call, seen):
        named.diverged = True


def _begin_turn(task: Task) -> None:
    task.first_seen.clear()
    task.delivered.clear()


def _left(contradiction: order.Contradiction | None, task: Task) -> str:
    return contradiction.earlier if contradiction is not None else task.state


def _new_task(agent: Agent, seen: TaskSeen, call: CallStarted, now_ns: int) -> Task:
    task = Task(agent, call.tenant, seen.task_id, created_seq=call.seq, created_at=seen.at, created_ns=now_ns)
    task.born_here = call.is_send and call.task_id != seen.task_id
    task.created_in = call.seq if task.born_here and seen.channel == Channel.STREAM else 0
    task.protocol_version = call.protocol_version
    task.origin = call.span
    task.hints = call.hints
    task.changed_at = seen.at
    if call.message is not None and call.is_send:
        task.references = frozenset(call.message.reference_task_ids)
    document_in_force = governing(agent, call.endpoint, call.tenant)
    task.card_revision = document_in_force.current.revision if document_in_force is not None else ""
    for document in agent.documents.values():
        # What the card said when the request left, and what it said when the answer came.
        task.revisions.add(document.current.revision)
        said = _as_of(document, call.seq)
        if said is not None:
            task.revisions.add(said.revision)
    return task


def _as_of(document: CardDocument, seq: int) -> CardVersion | None:
    """What a document was known to say then."""
    return next((version for version in reversed(document.history) if version.seq < seq), None)


def _poison(ledger: Ledger, task: Task, state: str, seq: int, reopened: bool) -> None:
    if task.poison is None:
        task.poison = Poison(state, seq, reopened)
    else:
        task.poison.reopened = task.poison.reopened or reopened
    ledger.trouble(task)


def _remember_answer(ledger: Ledger, task: Task, seen: TaskSeen, call: CallStarted) -> None:
    if seen.context_id and not task.context_id:
        ledger.set_context(task, seen.context_id)
    for context_id in (seen.context_id, call.context_id if call.task_id in ("", task.task_id) else ""):
        if context_id and len(task.contexts) < CONTEXTS:
            task.contexts.add(context_id)
    task.answered_seq = seen.seq
    if call.method == Method.CANCEL_TASK:
        # The cancel may have left before anything was known of the task.
        task.cancel_seq = task.cancel_seq or call.seq
    task.correlation = task.correlation or seen.correlation or call.correlation
    if call.method in READS or call.method == Method.LIST_TASKS:
        task.read_at = seen.at
        task.read_refused_seq = 0
    if seen.state is not None and call.seq > task.rumoured_end_seq:
        task.rumoured_end_seq = 0
    if seen.state in TERMINAL:
        task.cancel_at = 0.0
    elif call.method == Method.CANCEL_TASK:
        task.cancel_at = seen.at
    if isinstance(call.row, ReadsWhenEnded):
        call.row.answered += 1
    if seen.state is not None and seen.state == task.local_state:
        # The agent says so too: the record was right.
        task.local_state = ""
    if call.method == Method.GET_TASK and seen.form == Form.SNAPSHOT:
        task.read_seq = seen.seq
        task.read_timestamp = seen.timestamp if seen.timestamp is not None else task.read_timestamp
        task.generation = seen.generation if seen.generation is not None else task.generation
    if seen.channel == Channel.STREAM:
        task.open_streams.add(call.seq)
    _meet_expectations(task, seen.state)
    if _shows_progress(task, seen):
        task.changed_at = seen.at
    task.endpoints.add(call.endpoint)
    task.credential = call.credential
    if call.method in STREAMING_METHODS:
        task.streamed = True
    if call.push is not None:
        task.pushed = True
        task.webhooks[call.push.url] = call.push.token
    if call.is_send and call.message is not None and seen.form != Form.LISTED:
        if task.created_by is None and task.born_here:
            task.created_by = call.message
        else:
            task.last_message = call.message


def _shows_progress(task: Task, seen: TaskSeen) -> bool:
    # A poll shows the last message again and again; one without an id may be a new one.
    has_news = seen.has_message and (not seen.status_message_id or seen.status_message_id != task.status_message_id)
    task.status_message_id = seen.status_message_id or task.status_message_id
    return has_news or any(_is_new(facts, task.artifacts.get(facts.artifact_id)) for facts in seen.artifacts)


def _is_new(facts: ArtifactFacts, held: Artifact | None) -> bool:
    return held is None or facts.length != held.length or (bool(held.digest) and facts.digest != held.digest)


def _meet_expectations(task: Task, state: str | None) -> None:
    if task.expectations:
        task.expectations = [each for each in task.expectations if each.state != state]


def _reaffirm(ledger: Ledger, task: Task, seen: TaskSeen, call: CallStarted, *, ill: bool) -> None:
    """A read that shows the task whole re-affirms it under the cards of now, and withdraws what a slip had poisoned."""
    if ill or call.method not in READS or seen.form == Form.LISTED or not order.same_context(task, seen):
        return
    whole = seen.form == Form.SNAPSHOT
    if whole and not order.intact(task, seen.artifacts, call.seq):
        return
    if seen.state is None:
        return
    said = (_as_of(document, call.seq) for document in task.agent.documents.values())
    _affirm(task, {version.revision for version in said if version is not None})
    if not whole:
        return
    if task.lost_seq and task.lost_seq < call.seq:
        task.lost_seq = 0
    poison = task.poison
    if poison is not None and not poison.reopened and poison.seq < call.seq and rank(seen.state) >= rank(poison.state):
        task.poison = None
    if not task.refused_send and task.refused_seq < call.seq:
        task.refused_seq = 0
    if not task.trouble_seq:
        ledger.settle(task)


def _affirm(task: Task, revisions: set[str]) -> None:
    if revisions <= task.reaffirmed:
        return
    task.reaffirmed |= revisions
    if len(task.reaffirmed) > REVISIONS:
        held = {version.revision for document in task.agent.documents.values() for version in document.history}
        task.reaffirmed &= held


def _take_state(ledger: Ledger, task: Task, seen: TaskSeen, clock_skew: float, now_ns: int) -> Transition | None:
    state = seen.state
    if state is None:
        return None
    call = seen.call
    assert call is not None
    if task.reused:
        if call.seq < task.terminal_seq:
            # It may have been so before the end that is known.
            task.first_seen.setdefault(state, seen.seq)
            return None
        task.terminal, task.terminal_seq = (state, seen.seq) if state in TERMINAL else ("", 0)
        return _move(ledger, task, seen, now_ns) if state != task.state else None
    turns.note_question(task, call, state, seen.seq)
    is_current = turns.is_current(task, seen, clock_skew)
    if is_current or state in TERMINAL:
        if task.delivered.pop(state, None) is not None:
            # From now on no read may be behind it; those that left before may.
            task.first_seen[state] = seen.seq
            task.settled.pop(state, None)
        task.first_seen.setdefault(state, seen.seq)
    if state != TaskState.SUBMITTED and turns.is_settled(task, seen, clock_skew):
        task.settled.setdefault(state, seen.seq)
    if state in TERMINAL and not task.terminal:
        task.terminal = state
        task.terminal_seq = seen.seq
    if state == task.state:
        if seen.timestamp is not None:
            _set_timestamp(task, seen)
        return None
    if not _supersedes(task, seen, call, clock_skew, is_current=is_current):
        return None
    return _move(ledger, task, seen, now_ns)


def _move(ledger: Ledger, task: Task, seen: TaskSeen, now_ns: int) -> Transition:
    assert seen.state is not None
    previous, since_ns = task.state, task.state_ns
    task.state = seen.state
    task.state_seq = seen.seq
    task.state_stream = seen.call.seq if seen.call is not None and seen.channel == Channel.STREAM else 0
    task.state_ns = now_ns
    _set_timestamp(task, seen)
    task.changed_at = seen.at
    ledger.touch(task)
    return Transition(
        task_id=task.task_id,
        context_id=task.context_id,
        previous=previous,
        state=seen.state,
        previous_since_ns=since_ns,
        at_ns=now_ns,
        created_ns=task.created_ns,
        created_at=task.created_at,
        origin=task.origin,
        channel=seen.channel,
        server_address=task.agent.address,
        task_card_revision=task.card_revision,
    )


def _set_timestamp(task: Task, seen: TaskSeen) -> None:
    task.timestamp = seen.timestamp
    task.timestamp_seq = seen.seq
    task.timestamp_in = seen.call.seq if seen.call is not None else 0


def _supersedes(task: Task, seen: TaskSeen, call: CallStarted, skew: float, *, is_current: bool) -> bool:
    """Whether ``seen`` is newer than the state held, as far as anybody can tell (rules.md, G2)."""
    if not task.state or seen.state in TERMINAL:
        return True
    if call.seq > max(task.state_seq, task.first_seen.get(task.state, 0)) or (
        seen.channel == Channel.STREAM and task.state_stream == call.seq
    ):
        # The request left after that state was received, or both came in one stream.
        return True
    if task.terminal or not is_current:
        return False
    if seen.timestamp is not None and task.timestamp is not None and seen.timestamp < task.timestamp - skew:
        return False
    assert seen.state is not None
    return rank(seen.state) >= rank(task.state)


def _delivered(ledger: Ledger, seen: TaskSeen, now_ns: int) -> Effect:
    """A webhook brought a state. Webhooks come late, twice and out of order, so none of them contradicts anything
    (G2)."""
    task = ledger.delivered_to(seen)
    if task is None:
        return rumoured(ledger, seen)
    task.delivered_at = seen.at
    task.answered_seq = seen.seq
    _end_doubt(task, seen, is_next_question=False)
    if seen.state is not None and seen.state == task.local_state:
        task.local_state = ""
    _meet_expectations(task, seen.state)
    if _shows_progress(task, seen):
        task.changed_at = seen.at
    for artifact in seen.artifacts:
        remember_artifact(task, artifact, seen, whole=True)
    if seen.state in TERMINAL:
        task.cancel_at = 0.0
    if seen.state is None or task.reused:
        return Effect(task)
    if order.changed_terminal(task, seen):
        _poison(ledger, task, task.terminal, seen.seq, reopened=True)
    turns.note_question(task, None, seen.state, seen.seq)
    if seen.state != TaskState.SUBMITTED and not task.answers:
        task.settled.setdefault(seen.state, seen.seq)
    if not any(answer.taken_seq for answer in task.answers) or seen.state in TERMINAL:
        # After a new turn, a late delivery may bring a state of the last one.
        if seen.state not in task.first_seen:
            task.delivered[seen.state] = Delivered(seen.at, seen.timestamp)
        task.first_seen.setdefault(seen.state, seen.seq)
    if seen.state in TERMINAL and not task.terminal:
        task.terminal, task.terminal_seq = seen.state, seen.seq
    if seen.state == task.state:
        if seen.timestamp is not None and (task.timestamp is None or seen.timestamp > task.timestamp):
            _set_timestamp(task, seen)
        return Effect(task)
    if order.is_late(task, seen, ledger.clock_skew(task.agent)) or (
        seen.state in TERMINAL and seen.state != task.terminal
    ):
        return Effect(task)
    return Effect(task, _move(ledger, task, seen, now_ns))
