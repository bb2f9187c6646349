# SPDX-License-Identifier: Apache-2.0
"""How an observation changes the ledger, after the rules have seen the ledger without it.

Facts are kept whether or not a rule about them is switched on. Everything runs under the engine's lock.
"""

from __future__ import annotations

from dataclasses import dataclass

from otel_a2a.engine import order
from otel_a2a.engine.ledger import Ledger, in_force
from otel_a2a.engine.records import (
    ARTIFACTS,
    HISTORY,
    REVISIONS,
    STREAMS,
    Agent,
    CardDocument,
    CardVersion,
    Poison,
    Task,
)
from otel_a2a.observations import (
    INTERRUPTED,
    READS,
    STREAMS as STREAMING_METHODS,
    TERMINAL,
    A2AError,
    ArtifactSeen,
    CallFailed,
    CallStarted,
    CardFetched,
    Channel,
    Form,
    MessageSeen,
    Method,
    SpanRef,
    TaskSeen,
    TaskState,
    rank,
)


@dataclass(slots=True, frozen=True)
class Transition:
    """A task left a state for another. ``previous`` is empty at first sight."""

    task_id: str
    context_id: str
    previous: str
    state: str
    previous_since_ns: int
    at_ns: int
    created_ns: int
    created_at: float
    origin: SpanRef | None
    channel: str
    server_address: str
    task_card_revision: str


def call_started(ledger: Ledger, call: CallStarted) -> None:
    """A request leaves: it was not refused."""
    agent = ledger.agent_of_call(call)
    task = ledger.task(agent, call.tenant, call.task_id)
    if task is None:
        return
    if call.is_send:
        if call.protocol_version == "0.1" and task.terminal:
            # In 0.1 the client names the task and a message into an ended one begins it anew.
            _begin_anew(ledger, task, call)
        task.message_seq = call.seq
        if task.pushed or call.protocol_version == "0.1":
            # A webhook may have told the application more than is seen here, and in 0.1 every message may begin anew:
            # this one counts as an answer to a question.
            task.interrupted_seq, task.resumed_seq = call.seq, 0
    elif call.method == Method.CANCEL_TASK:
        task.cancel_seq = call.seq
    elif call.method == Method.DELETE_PUSH_CONFIG:
        task.pushed = False
    if call.push is not None:
        task.pushed = True


def _begin_anew(ledger: Ledger, task: Task, call: CallStarted) -> None:
    task.begun_seq = call.seq
    task.created_at = call.at
    task.state = task.terminal = ""
    task.state_seq = task.state_stream = task.terminal_seq = 0
    task.turn_seq = task.interrupted_seq = task.resumed_seq = task.lost_seq = task.cancel_seq = 0
    task.first_seen.clear()
    task.streams.clear()
    task.artifacts.clear()
    ledger.touch(task)


def task_seen(ledger: Ledger, seen: TaskSeen, now_ns: int) -> tuple[Task, Transition | None] | None:
    """An agent told a task's state. Returns the task, and the transition if it was one."""
    call = seen.call
    if call is None or not seen.task_id:
        return None
    agent = ledger.agent_of_call(call)
    task = ledger.task(agent, call.tenant, seen.task_id)
    if task is None:
        task = _new_task(agent, seen, call, now_ns)
        ledger.add_task(task)
    if order.of_another_life(task, call):
        return task, None
    contradiction = order.contradiction(task, seen, ledger.clock_skew)
    if contradiction is not None and contradiction.resubmitted:
        _begin_turn(task, seen, call)
        contradiction = None
    reopened = order.changed_terminal(task, seen) or (contradiction is not None and contradiction.reopened)
    if reopened or contradiction is not None:
        _poison(ledger, task, task.terminal if reopened and task.terminal else _left(contradiction, task), seen.seq, reopened)
    _remember_answer(task, seen, call)
    _reaffirm(ledger, task, seen, call, ill=reopened or contradiction is not None)
    _remember_artifacts(task, seen)
    return task, _take_state(ledger, task, seen, now_ns)


def _begin_turn(task: Task, seen: TaskSeen, call: CallStarted) -> None:
    task.turn_seq = seen.seq
    task.turn_message = max(task.message_seq, call.seq if call.is_send else 0)
    task.interrupted_seq = task.resumed_seq = 0
    task.first_seen.clear()
    task.streams.clear()
    if seen.channel == Channel.STREAM:
        # Whatever else is open may still be telling of the last turn; this one is in the new one.
        task.streams[call.seq] = TaskState.SUBMITTED


def _left(contradiction: order.Contradiction | None, task: Task) -> str:
    return contradiction.earlier if contradiction is not None else task.state


def _new_task(agent: Agent, seen: TaskSeen, call: CallStarted, now_ns: int) -> Task:
    task = Task(agent, call.tenant, seen.task_id, created_seq=call.seq, created_at=seen.at, created_ns=now_ns)
    task.born_here = call.is_send and call.task_id != seen.task_id
    task.protocol_version = call.protocol_version
    task.origin = call.span
    governing = in_force(agent, call.endpoint)
    task.card_revision = governing.current.revision if governing is not None else ""
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


def _remember_answer(task: Task, seen: TaskSeen, call: CallStarted) -> None:
    if seen.context_id and not task.context_id:
        task.context_id = seen.context_id
    task.endpoints.add(call.endpoint)
    task.credential = call.credential
    if call.method in STREAMING_METHODS:
        task.streamed = True
    if call.push is not None:
        task.pushed = True
    if call.is_send and call.message is not None and seen.form != Form.LISTED:
        if task.created_by is None and task.born_here:
            task.created_by = call.message
        else:
            task.last_message = call.message


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


def _remember_artifacts(task: Task, seen: TaskSeen) -> None:
    for artifact in seen.artifacts:
        _remember_artifact(task, artifact.artifact_id, seen.seq)


def _remember_artifact(task: Task, artifact_id: str, seq: int) -> None:
    if artifact_id in task.artifacts:
        return
    if len(task.artifacts) >= ARTIFACTS:
        task.artifacts_forgotten = True
        return
    task.artifacts[artifact_id] = seq


def _take_state(ledger: Ledger, task: Task, seen: TaskSeen, now_ns: int) -> Transition | None:
    state = seen.state
    if state is None:
        return None
    call = seen.call
    assert call is not None
    _remember_waiting(task, call, state, seen.seq)
    if order.of_this_turn(task, call) or state in TERMINAL:
        if seen.channel == Channel.STREAM:
            _remember_in_stream(task, call.seq, state)
        task.first_seen.setdefault(state, seen.seq)
    if state in TERMINAL and not task.terminal:
        task.terminal = state
        task.terminal_seq = seen.seq
    if state == task.state:
        task.timestamp = seen.timestamp if seen.timestamp is not None else task.timestamp
        return None
    if not _supersedes(task, seen, call, ledger.clock_skew):
        return None
    previous, since_ns = task.state, task.state_ns
    task.state = state
    task.state_seq = seen.seq
    task.state_stream = call.seq if seen.channel == Channel.STREAM else 0
    task.state_ns = now_ns
    task.timestamp = seen.timestamp
    ledger.touch(task)
    return Transition(
        task_id=task.task_id,
        context_id=task.context_id,
        previous=previous,
        state=state,
        previous_since_ns=since_ns,
        at_ns=now_ns,
        created_ns=task.created_ns,
        created_at=task.created_at,
        origin=task.origin,
        channel=seen.channel,
        server_address=task.agent.address,
        task_card_revision=task.card_revision,
    )


def _remember_waiting(task: Task, call: CallStarted, state: str, seq: int) -> None:
    if state in INTERRUPTED:
        if not task.interrupted_seq or task.resumed_seq:
            task.interrupted_seq, task.resumed_seq = seq, 0
    elif task.interrupted_seq and not task.resumed_seq:
        is_later = call.seq >= task.interrupted_seq or task.streams.get(call.seq) in INTERRUPTED
        task.resumed_seq = seq if is_later else 0


def _remember_in_stream(task: Task, stream: int, state: str) -> None:
    furthest = task.streams.get(stream)
    if furthest is None or rank(state) >= rank(furthest) and furthest not in TERMINAL:
        task.streams[stream] = state
        if len(task.streams) > STREAMS:
            task.streams.popitem(last=False)


def _supersedes(task: Task, seen: TaskSeen, call: CallStarted, skew: float) -> bool:
    """Whether ``seen`` is newer than the state held, as far as anybody can tell (rules.md, G2)."""
    if not task.state or seen.state in TERMINAL:
        return True
    if call.seq > task.state_seq or seen.channel == Channel.STREAM and task.state_stream == call.seq:
        # The request left after that state was received, or both came in one stream.
        return True
    if task.terminal or not order.of_this_turn(task, call):
        return False
    if seen.timestamp is not None and task.timestamp is not None and seen.timestamp < task.timestamp - skew:
        return False
    assert seen.state is not None
    return rank(seen.state) >= rank(task.state)


def artifact_seen(ledger: Ledger, seen: ArtifactSeen) -> Task | None:
    """An artifact event arrived."""
    call = seen.call
    if call is None or not seen.task_id:
        return None
    task = ledger.task(ledger.agent_of_call(call), call.tenant, seen.task_id)
    if task is not None and seen.artifact.artifact_id:
        _remember_artifact(task, seen.artifact.artifact_id, seen.seq)
    return task


def call_failed(ledger: Ledger, failed: CallFailed) -> None:
    """A call ended with an error: no state, but perhaps a loss."""
    call = failed.call
    if not (failed.from_agent and failed.error == A2AError.TASK_NOT_FOUND and call.task_id):
        return
    if call.method != Method.CANCEL_TASK and call.method not in READS and not call.is_send:
        return
    task = ledger.task(ledger.agent_of_call(call), call.tenant, call.task_id)
    if task is None or not order.lost(task, failed) or task.credential != call.credential:
        return
    if not task.lost_seq:
        task.lost_seq = failed.seq
    if task.trouble_seq:
        ledger.trouble(task)


def answer_withheld(ledger: Ledger, task: Task, answer: TaskSeen | ArtifactSeen | MessageSeen | CallFailed) -> None:
    """The application got an exception of ours instead of an answer about ``task``."""
    task.refused_seq = task.refused_seq or answer.seq
    if not isinstance(answer, CallFailed) and answer.call is not None and answer.call.is_send:
        # An error would have said that the message was not taken; this one was.
        task.refused_send = True
    ledger.trouble(task)


def card_fetched(ledger: Ledger, fetched: CardFetched) -> CardChange | None:
    """A card document arrived or was confirmed. Returns what changed; None where it is no card, or nothing is known."""
    request = fetched.request
    held = ledger.document(request)
    if fetched.confirmed:
        if held is not None:
            _mark_fetched(held[1], fetched)
            return CardChange(held[0], held[1], held[1].current.revision, changed=False)
        return None
    card = fetched.card
    if card is None:
        return None
    if held is not None and _is_another_agent(held[1].current, fetched):
        # Another agent answers at this address now: a reused port, another deployment (rules.md, G3).
        ledger.forget_agent(held[0])
        held = None
    agent = ledger.agent_of_card(request, card)
    document = held[1] if held is not None else CardDocument((request.url, request.extended, request.credential))
    previous = document.current.revision if document.history else ""
    if previous != fetched.revision:
        document.history.append(CardVersion(fetched.revision, card, fetched.seq))
        if len(document.history) > HISTORY:
            del document.history[0]
            document.forgotten = True
    else:
        document.current.card = card
    document.digest = fetched.digest
    _mark_fetched(document, fetched)
    ledger.attach(agent, document)
    return CardChange(agent, document, previous, changed=bool(previous) and previous != fetched.revision)


def _mark_fetched(document: CardDocument, fetched: CardFetched) -> None:
    document.fetched_at = fetched.at
    document.fetched_seq = fetched.seq
    document.span = fetched.request.span


def _is_another_agent(held: CardVersion, fetched: CardFetched) -> bool:
    card = fetched.card
    return bool(card and card.name and held.card.name and card.name != held.card.name)


@dataclass(slots=True, frozen=True)
class CardChange:
    """What a card's fetch meant."""

    agent: Agent
    document: CardDocument
    previous_revision: str
    changed: bool

