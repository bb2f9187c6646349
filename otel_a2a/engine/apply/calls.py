# SPDX-License-Identifier: Apache-2.0
"""Calls: a request left, was answered, failed, or its stream ended. None of that is a state of a task."""

from __future__ import annotations

from otel_a2a.engine import order, turns
from otel_a2a.engine.apply.effects import NOTHING, Effect
from otel_a2a.engine.cards import NOT_FOR_YOU, NOT_THERE
from otel_a2a.engine.ledger import Ledger
from otel_a2a.engine.records import (
    ASKERS,
    CONTEXTS,
    CONVERSATIONS,
    CREDENTIALS,
    Agent,
    ReadsWhenEnded,
    Send,
    Task,
)
from otel_a2a.observations import (
    READS,
    TERMINAL,
    A2AError,
    ArtifactSeen,
    CallAnswered,
    CallFailed,
    CallRedirected,
    CallStarted,
    MessageSeen,
    Method,
    StreamEnded,
    TaskSeen,
)

SENDS = 64
"""Sends remembered per agent, to know one that is repeated."""
TURNED_AWAY = (*NOT_FOR_YOU, *NOT_THERE)
_PUSH_CONFIGS = (Method.CREATE_PUSH_CONFIG, Method.GET_PUSH_CONFIG, Method.LIST_PUSH_CONFIGS, Method.DELETE_PUSH_CONFIG)
NEED_NOT_BE_THERE = frozenset((Method.SUBSCRIBE_TO_TASK, Method.LIST_TASKS, *_PUSH_CONFIGS))
"""Operations that agents may lack."""
REFUSALS = frozenset(
    (
        A2AError.TASK_NOT_FOUND,
        A2AError.UNSUPPORTED_OPERATION,
        A2AError.PUSH_NOT_SUPPORTED,
        A2AError.VERSION_NOT_SUPPORTED,
    )
)
"""Errors with which an agent says that it has not taken a message; others may come from anywhere on the way."""
UNSENT = frozenset(
    (
        "ClientConnectorCertificateError",
        "ClientConnectorDNSError",
        "ClientConnectorError",
        "ClientConnectorSSLError",
        "ConnectError",
        "ConnectTimeout",
        "ConnectionRefusedError",
        "ConnectionTimeoutError",
        "InvalidURL",
        "LocalProtocolError",
        "NewConnectionError",
        "NotConnected",
        "PoolTimeout",
        "ProxyError",
        "UnsupportedProtocol",
    )
)
"""Exceptions of HTTP libraries after which a request certainly has not reached the agent, and our name for gRPC's."""


def call_started(ledger: Ledger, call: CallStarted) -> Effect:
    """A request leaves: it was not refused."""
    agent = ledger.agent_of_call(call)
    agent.first_call_seq = agent.first_call_seq or call.seq
    _note_credential(agent, call)
    # Its card may have come from elsewhere: a registry, a catalogue.
    agent.address, agent.port = call.server_address, call.server_port
    if call.is_send and call.message is not None:
        agent.sends[call.seq] = Send(call.message, call.tenant, call.task_id, call.context_id, call.seq, call.at)
        if len(agent.sends) > SENDS:
            agent.sends.popitem(last=False)
    if call.method in READS:
        agent.reads += 1
    if call.creates and call.context_id:
        for other in agent.contexts.get(call.context_id, {}).values():
            if other.tenant == call.tenant and not other.terminal:
                # A message that names no task may answer any question in its context: that is for the agent to say.
                turns.note_answer(other, call)
    task = ledger.task(agent, call.tenant, call.task_id)
    if task is None:
        return NOTHING
    if call.is_send:
        # Reads look the same in 0.1 and 0.2; messages do not.
        task.protocol_version = call.protocol_version
        _message_leaves(ledger, task, call)
    elif call.method == Method.CANCEL_TASK:
        task.cancel_seq = task.cancel_seq or call.seq
    elif call.method == Method.DELETE_PUSH_CONFIG:
        task.pushed = False
        task.webhooks.clear()
    elif call.method in READS:
        _read_leaves(task, call)
    if call.push is not None:
        task.pushed = True
        task.webhooks[call.push.url] = call.push.token
    return Effect(task)


def _note_credential(agent: Agent, call: CallStarted) -> None:
    first, _ = agent.credentials.pop(call.credential, (call.seq, 0))
    agent.credentials[call.credential] = (first, call.seq)
    if len(agent.credentials) > CREDENTIALS:
        agent.credentials.popitem(last=False)


def _message_leaves(ledger: Ledger, task: Task, call: CallStarted) -> None:
    if call.protocol_version == "0.1":
        # In 0.1 the client names the task, and a message into one that has ended begins it anew.
        task.reused = True
        if task.terminal:
            _begin_anew(ledger, task, call)
    task.message_seq = call.seq
    if call.context_id and len(task.contexts) < CONTEXTS:
        task.contexts.add(call.context_id)
    turns.note_answer(task, call)


def _begin_anew(ledger: Ledger, task: Task, call: CallStarted) -> None:
    task.created_at = call.at
    task.state = task.terminal = ""
    task.state_seq = task.state_stream = task.terminal_seq = task.read_seq = 0
    task.reads_when_ended.clear()
    task.local_state = ""
    task.cancel_at = 0.0
    task.interrupted_seq = task.resumed_seq = task.lost_seq = 0
    task.answers.clear()
    task.answers_forgotten = False
    task.newest_timestamp = None
    task.settled.clear()
    ledger.leave_context(task)
    task.context_id = ""
    task.contexts.clear()
    task.first_seen.clear()
    task.delivered.clear()
    task.streams.clear()
    task.artifacts.clear()
    ledger.touch(task)


def _read_leaves(task: Task, call: CallStarted) -> None:
    task.asked_at = call.at
    if call.method == Method.GET_TASK and 0 < task.terminal_seq < call.seq:
        # A credential may be added to the request within the library's own call: who asks is settled here.
        asker = order.asker(call)
        call.row = order.continued_reads(task, call) or ReadsWhenEnded()
        call.row.sent_at = call.at
        task.reads_when_ended[asker] = call.row
        task.reads_when_ended.move_to_end(asker)
        if len(task.reads_when_ended) > ASKERS:
            task.reads_when_ended.popitem(last=False)


def message_seen(ledger: Ledger, seen: MessageSeen) -> Effect:
    """An agent answered with a message."""
    if seen.call is None:
        return NOTHING
    agent = ledger.agent_of_call(seen.call)
    if not agent.tasks and not seen.task_id:
        agent.only_messages = True
    answered(agent, seen.call)
    task = ledger.task(agent, seen.call.tenant, seen.task_id or seen.call.task_id)
    if task is None:
        _note_word(agent, seen.context_id or seen.call.context_id, seen.seq)
    else:
        task.answered_seq = seen.seq
        task.changed_at = seen.at
    return Effect(task)


def _note_word(agent: Agent, context_id: str, seq: int) -> None:
    if not context_id:
        return
    agent.conversations.pop(context_id, None)
    agent.conversations[context_id] = seq
    if len(agent.conversations) > CONVERSATIONS:
        agent.conversations.popitem(last=False)


def call_answered(ledger: Ledger, done: CallAnswered) -> Effect:
    """A call ended with an answer that was read to its end."""
    answered(ledger.agent_of_call(done.call), done.call)
    return NOTHING


def answered(agent: Agent, call: CallStarted) -> None:
    """The agent took the call: nothing of it is in doubt, and its endpoint is open to us."""
    agent.refused_seq = 0
    if agent.sends.pop(call.seq, None) is not None and call.message is not None:
        # Nor is what it repeats: that it may run twice has been said.
        doubted = [sent for sent in agent.sends.values() if sent.unanswered_seq]
        for sent in doubted:
            if sent.is_repeated(call):
                del agent.sends[sent.seq]


def call_failed(ledger: Ledger, failed: CallFailed) -> Effect:
    """A call ended with an error: no state, but perhaps a loss, a door that is closed, or a send in doubt."""
    call = failed.call
    agent = ledger.agent_of_call(call)
    if failed.from_agent:
        answered(agent, call)
    else:
        _note_doubt(agent, failed)
    task = ledger.task(agent, call.tenant, call.task_id)
    if task is None:
        return NOTHING
    if failed.from_agent:
        task.answered_seq = failed.seq
        if call.method in READS:
            task.read_refused_seq = failed.seq
        if failed.error in REFUSALS:
            turns.begins_none(task, call, failed.seq)
    # Of which execution of a 0.1 task a webhook told the end, nobody knows: it may be this one's.
    may_have_ended = task.terminal or (task.reused and task.delivered_at >= call.at)
    if call.method == Method.CANCEL_TASK and failed.error != A2AError.TASK_NOT_FOUND and not may_have_ended:
        # *Not cancelable* leaves open whether it has ended or runs on: a2a-sdk says so of a working task too.
        task.cancel_at = failed.at
    if call.push is not None and (call.method == Method.CREATE_PUSH_CONFIG or failed.from_agent):
        task.webhooks.pop(call.push.url, None)
        task.pushed = bool(task.webhooks)
    if failed.from_agent and failed.error == A2AError.TASK_NOT_FOUND:
        _note_loss(ledger, task, failed)
    return Effect(task)


def _note_doubt(agent: Agent, failed: CallFailed) -> None:
    sent = agent.sends.get(failed.call.seq)
    if failed.error not in UNSENT and (failed.status is None or failed.status >= 500):
        if sent is not None:
            sent.unanswered_seq = failed.seq
        return
    agent.sends.pop(failed.call.seq, None)
    if _is_turned_away(failed):
        agent.refused_seq = failed.seq
        agent.refused_endpoint = failed.call.endpoint
        agent.refused_credential = failed.call.credential


def _is_turned_away(failed: CallFailed) -> bool:
    """Whether an answer that no agent wrote says that an interface is closed or gone.

    Who may see the extended card is another matter than who may bring work, and over HTTP+JSON, where each operation
    has a path, *not found* may only say that the agent does not have that one.
    """
    call = failed.call
    if failed.status not in TURNED_AWAY or call.method == Method.GET_EXTENDED_CARD:
        return False
    return call.binding != "HTTP+JSON" or call.method not in NEED_NOT_BE_THERE or failed.status not in NOT_THERE


def _note_loss(ledger: Ledger, task: Task, failed: CallFailed) -> None:
    call = failed.call
    if call.method != Method.CANCEL_TASK and call.method not in READS and not call.is_send:
        return
    if not order.lost(task, failed) or task.credential != call.credential:
        return
    if not task.lost_seq:
        task.lost_seq = failed.seq
    if task.trouble_seq:
        ledger.trouble(task)


def stream_ended(ledger: Ledger, ended: StreamEnded) -> Effect:
    """A stream ended. Its task goes on, as far as anybody knows."""
    agent = ledger.agent_of_call(ended.call)
    sent = agent.sends.get(ended.call.seq)
    if sent is not None:
        sent.unanswered_seq = ended.seq
    task = ledger.task(agent, ended.call.tenant, ended.call.task_id or ended.call.answered_task)
    if task is None:
        return NOTHING
    task.open_streams.discard(ended.call.seq)
    if turns.shown_in(task, ended.call) not in TERMINAL:
        task.ended_stream_seq = ended.seq
    return Effect(task)


def redirected(ledger: Ledger, redirect: CallRedirected) -> Effect:
    """The answer comes from another URL, which is the same agent."""
    ledger.same_agent(ledger.agent_of_call(redirect.call), redirect.endpoint)
    return NOTHING


def answer_withheld(ledger: Ledger, task: Task, answer: TaskSeen | ArtifactSeen | MessageSeen | CallFailed) -> None:
    """The application got an exception of ours instead of an answer about ``task``."""
    task.refused_seq = task.refused_seq or answer.seq
    if not isinstance(answer, CallFailed) and answer.call is not None and answer.call.is_send:
        # An error would have said that the message was not taken; this one was.
        task.refused_send = True
    ledger.trouble(task)
