# SPDX-License-Identifier: Apache-2.0
"""New turns: an agent may submit a task anew for each answer to its questions, and that is no step back (rules.md,
``backward-transition``).

Whether an answer *explains* a task that is shown as submitted depends on whether the agent may have taken it after the
state that was known. Streams lag and answers overtake each other, so there are three degrees: an answer may be on its
way, an observation shows that the agent has taken it by then, or nobody can tell. All of it is decided here.
"""

from __future__ import annotations

from otel_a2a.engine.records import ANSWERS, STREAMS, Answer, StreamSeen, Task
from otel_a2a.observations import INTERRUPTED, TERMINAL, CallStarted, Channel, Form, Method, TaskSeen, TaskState


def note_answer(task: Task, call: CallStarted) -> None:
    """A message leaves. It answers a question of the task if that waits, as far as is known.

    A webhook may have told the application more than is seen here.
    """
    if is_waiting(task, call) or task.pushed:
        _add(task, Answer(call.seq))


def note_earlier_answer(task: Task, seq: int) -> None:
    """A message left (``seq`` of its call) before anything was known of the task that it named."""
    _add(task, Answer(seq))


def note_late_answer(task: Task, call: CallStarted) -> None:
    """A message that named nothing turns out to be one into ``task``: the agent answers it with that."""
    if is_late_answer(task, call):
        _add(task, Answer(call.seq))


def is_late_answer(task: Task, call: CallStarted) -> bool:
    """Whether a message that named neither task nor context answers a question of ``task``, now that it is answered
    with that."""
    return call.creates and is_waiting(task, call) and all(answer.seq != call.seq for answer in task.answers)


def _add(task: Task, answer: Answer) -> None:
    task.answers.append(answer)
    # The agent may take it at any time from now on: what is known says nothing about the order of what comes.
    answer.settled, task.settled = task.settled, {}
    if len(task.answers) > ANSWERS:
        forgotten = task.answers.pop(0)
        task.answers_forgotten = True
        for stream in task.streams.values():
            stream.taken.discard(forgotten.seq)


def begins_none(task: Task, call: CallStarted, seq: int) -> None:
    """A message turns out to begin no turn of ``task``: it was refused, or answered with another task."""
    for answer in task.answers:
        if answer.seq == call.seq and not answer.taken_seq:
            answer.taken_seq = seq
            if answer is task.answers[-1]:
                task.settled = answer.settled | task.settled


def note_question(task: Task, call: CallStarted | None, state: str, seq: int) -> None:
    """The task was shown in ``state``: does it wait for an answer? ``call`` is None for a webhook."""
    if state in INTERRUPTED:
        alone = not task.interrupted_seq or bool(task.resumed_seq)
        told_in = call.seq if call is not None and (alone or task.interrupted_in == call.seq) else 0
        task.interrupted_seq, task.interrupted_in, task.resumed_seq = seq, told_in, 0
    elif call is not None and task.interrupted_seq and not task.resumed_seq:
        is_later = call.seq > task.interrupted_seq or call.seq == task.interrupted_in
        task.resumed_seq = seq if is_later else 0


def is_waiting(task: Task, call: CallStarted) -> bool:
    """Whether the task waited for an answer when ``call`` left, as far as was known then."""
    return 0 < task.interrupted_seq < call.seq and not 0 < task.resumed_seq < call.seq


def shown_in(task: Task, call: CallStarted) -> str:
    """The state that the stream of ``call`` has shown last, or with which it has ended; empty where it has none."""
    stream = task.streams.get(call.seq)
    return stream.state if stream is not None else ""


def plays_again(task: Task, seen: TaskSeen, clock_skew: float) -> bool:
    """Whether ``seen`` may tell what was before its stream.

    0.3 leaves it to the agent which of the missed events a subscription begins with, so that may be any.
    """
    call = seen.call
    if call is None or call.method != Method.SUBSCRIBE_TO_TASK or seen.form != Form.UPDATE:
        return False
    stream = task.streams.get(call.seq)
    if stream is not None and not stream.plays_again:
        return False
    newest = task.newest_timestamp
    return seen.timestamp is None or newest is None or seen.timestamp <= newest + clock_skew


def may_be_explained(task: Task, seen: TaskSeen, clock_skew: float) -> bool:
    """Whether some answer may have begun a turn since the stream of ``seen`` showed what it has shown last."""
    if _may_be_forgotten(task, seen, clock_skew):
        return True
    return any(not _is_taken_before(task, answer, seen, clock_skew) for answer in task.answers)


def begins(task: Task, seen: TaskSeen, clock_skew: float) -> bool:
    """Whether ``seen`` is the first to show that the agent has taken an answer."""
    return any(not answer.taken_seq for answer in _taken_at(task, seen, clock_skew))


def is_current(task: Task, seen: TaskSeen, clock_skew: float) -> bool:
    """Whether ``seen`` certainly tells of the newest turn that is known of.

    What does not may be of an earlier one: it says nothing about order.
    """
    return _are_taken([answer for answer in task.answers if answer.taken_seq], task, seen, clock_skew)


def is_settled(task: Task, seen: TaskSeen, clock_skew: float) -> bool:
    """Whether the agent had certainly taken every answer when the task was as ``seen`` shows it: from then on no
    answer explains a task that is submitted again."""
    return _are_taken(task.answers, task, seen, clock_skew)


def remember(task: Task, seen: TaskSeen, clock_skew: float, *, is_old: bool) -> None:
    """Keep what ``seen`` shows about answers, and where its stream has got to. ``is_old``: it is no news of the
    task."""
    call, state = seen.call, seen.state
    if call is None or state is None or (is_old and seen.channel != Channel.STREAM):
        return
    taken = _taken_at(task, seen, clock_skew)
    for answer in taken:
        answer.taken_seq = answer.taken_seq or seen.seq
    if seen.channel != Channel.STREAM:
        return
    stream = task.streams.get(call.seq)
    if stream is None:
        stream = StreamSeen(plays_again=is_old or plays_again(task, seen, clock_skew))
        task.streams[call.seq] = stream
        if len(task.streams) > STREAMS:
            has_ended = (each for each in task.streams if each not in task.open_streams)
            del task.streams[next(has_ended, next(iter(task.streams)))]
    stream.taken.update(answer.seq for answer in taken)
    if stream.state not in TERMINAL:
        stream.state = state


def _are_taken(answers: list[Answer], task: Task, seen: TaskSeen, clock_skew: float) -> bool:
    """Whether the agent had certainly taken all of ``answers`` when the task was as ``seen`` shows it."""
    if _may_be_forgotten(task, seen, clock_skew):
        return False
    taken = _taken_at(task, seen, clock_skew)
    return all(answer in taken or _is_taken_before(task, answer, seen, clock_skew) for answer in answers)


def _may_be_forgotten(task: Task, seen: TaskSeen, clock_skew: float) -> bool:
    """Whether ``seen`` may tell of a turn whose answer is no longer remembered."""
    return task.answers_forgotten and plays_again(task, seen, clock_skew)


def _taken_at(task: Task, seen: TaskSeen, clock_skew: float) -> list[Answer]:
    """The answers that ``seen`` itself shows to be taken."""
    call = seen.call
    if not task.answers or call is None or seen.state is None or seen.state in INTERRUPTED:
        # An agent may say first how it found the task: waiting.
        return []
    is_new = not _may_be_old(task, seen, call, clock_skew)
    taken = [each for each in task.answers if each.seq == call.seq or (is_new and each.seq < call.seq)]
    if seen.channel == Channel.STREAM and seen.state == TaskState.SUBMITTED and shown_in(task, call) in INTERRUPTED:
        # One answer, one turn: a stream tells of them in their order.
        begun = next((each for each in task.answers if not _is_taken_before(task, each, seen, clock_skew)), None)
        if begun is not None and begun not in taken:
            taken.append(begun)
    return taken


def _may_be_old(task: Task, seen: TaskSeen, call: CallStarted, clock_skew: float) -> bool:
    """Whether the task may have been like this before ``call`` left."""
    if call.is_send:
        return False
    if seen.channel == Channel.STREAM:
        return plays_again(task, seen, clock_skew)
    # A push may be ahead of the store from which reads are answered.
    return task.delivered_at > 0 and call.at - task.delivered_at <= clock_skew


def _is_taken_before(task: Task, answer: Answer, seen: TaskSeen, clock_skew: float) -> bool:
    """Whether the agent had certainly taken ``answer`` before the task was as ``seen`` shows it, by what was known
    before."""
    assert seen.call is not None
    stream = task.streams.get(seen.call.seq)
    if stream is not None and answer.seq in stream.taken:
        return True
    return 0 < answer.taken_seq < seen.call.seq and not plays_again(task, seen, clock_skew)
