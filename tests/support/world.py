# SPDX-License-Identifier: Apache-2.0
"""A small world for the engine's tests: an application, its agents, and an engine that sees what passes between them.

    world = World()
    world.card()                                  the agent's card is fetched
    world.send(state=WORKING)                     a message creates task t1, and is answered
    world.get("t1", SUBMITTED)                    a read that leaves now is answered so
    assert world.rules() == ["backward-transition"]

``leaves`` and ``answers`` are the two halves of a call, for what overlaps. Nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from otel_a2a import sources
from otel_a2a.engine.engine import Engine, FindingExporter
from otel_a2a.engine.findings import Finding
from otel_a2a.engine.records import Task
from otel_a2a.engine.rules import Rule
from otel_a2a.engine.verdict import Verdict
from otel_a2a.observations import (
    SENDS,
    A2AError,
    ArtifactFacts,
    ArtifactSeen,
    CallFailed,
    CallRedirected,
    CallStarted,
    CardFacts,
    CardFetched,
    CardRequested,
    Channel,
    Form,
    Hints,
    Interface,
    MessageSeen,
    Method,
    Observation,
    PushBinding,
    SentMessage,
    SpanRef,
    StreamEnded,
    TaskSeen,
    TaskState,
)
from otel_a2a.parsing import FILE_ONLY
from otel_a2a_policies import RULES

FIRST: Final = tuple(
    rule
    for rule in RULES
    if rule.name
    in (
        "backward-transition",
        "terminal-state-changed",
        "task-lost",
        "continued-across-revisions",
        "message-resent-after-regression",
        "terminal-task-reused",
    )
)
"""The rules about one task's states and messages: a test of these says nothing about the others, which may agree
with them."""

SUBMITTED: Final = TaskState.SUBMITTED
WORKING: Final = TaskState.WORKING
INPUT: Final = TaskState.INPUT_REQUIRED
AUTH: Final = TaskState.AUTH_REQUIRED
COMPLETED: Final = TaskState.COMPLETED
FAILED: Final = TaskState.FAILED
CANCELED: Final = TaskState.CANCELED
REJECTED: Final = TaskState.REJECTED

HOST: Final = "agent.example"
ENDPOINT: Final = f"https://{HOST}/a2a"
CARD_URL: Final = f"https://{HOST}/.well-known/agent-card.json"
GRAVE: Final = ("violation", "improvement")


class VirtualClock:
    """Time passes only when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now

    def time_ns(self) -> int:
        return int((1_700_000_000 + self.now) * 1e9)


def message(text: str = "charge", message_id: str = "m1", references: tuple[str, ...] = ()) -> SentMessage:
    """A message as the ledger knows it: an id, and a digest that stands for its words."""
    return SentMessage(message_id=message_id, parts=f"digest({text})" if text else "", reference_task_ids=references)


def artifacts(*ids: str) -> tuple[ArtifactFacts, ...]:
    return tuple(ArtifactFacts(artifact_id=each, digest=f"digest({each})", length=1) for each in ids)


class World:
    """An engine on a virtual clock. Further keyword arguments are settings, those of policy files included."""

    def __init__(
        self,
        *,
        profile: str = "default",
        rule_set: Sequence[Rule] = FIRST,
        exporters: Sequence[FindingExporter] = (),
        clock: Any = None,
        on_internal_error: Callable[[str, Exception], None] | None = None,
        **settings: object,
    ) -> None:
        file_only: dict[str, Any] = {name: settings.pop(name) for name in FILE_ONLY if name in settings}
        chosen = sources.effective({}, profile=profile, **settings)
        chosen = sources.for_rules(chosen, {rule.name for rule in rule_set})
        self.clock = clock or VirtualClock()
        self.internal_errors: list[str] = []
        self.engine = Engine(
            replace(chosen.settings, **file_only),
            rule_set,
            exporters,
            self.clock,
            on_internal_error or (lambda where, error: self.internal_errors.append(f"{where}: {error!r}")),
        )
        self.findings: list[Finding] = []
        """All findings, repeats included."""
        self.last = Verdict()

    # --- what was found

    def rules(self, *levels: str) -> list[str]:
        """Names of the new findings at ``levels``, in order; by default of all that accuse somebody."""
        return [each.rule for each in self.findings if each.count == 1 and each.level.value in (levels or GRAVE)]

    def levels(self, rule: str) -> list[str]:
        """Levels of all that ``rule`` found, in order, repeats included."""
        return [each.level.value for each in self.findings if each.rule == rule]

    def task(self, task_id: str = "t1", tenant: str = "") -> Task:
        """The ledger's record of a task."""
        found = [task for task in self.engine.ledger.tasks() if (task.task_id, task.tenant) == (task_id, tenant)]
        assert found, f"nothing is known of {task_id}"
        return found[0]

    # --- the parts

    def observe(self, observation: Observation, *, enforce: bool = True) -> Verdict:
        self.last = self.engine.observe(observation, enforce=enforce)
        self.findings += self.last.findings
        return self.last

    def passes(self, seconds: float) -> None:
        self.clock.now += seconds

    def leaves(
        self,
        method: str,
        task: str = "",
        *,
        sent: SentMessage | None = None,
        context: str = "",
        endpoint: str = ENDPOINT,
        version: str = "1.0",
        tenant: str = "",
        credential: str = "",
        push: bool | PushBinding = False,
        hints: Hints | None = None,
        trace: int = 0,
        trimmed: bool = False,
    ) -> CallStarted:
        """A request leaves. ``trace``: the id of a trace of the application's own around it."""
        webhook = PushBinding(url="digest(webhook)") if push is True else push or None
        call = CallStarted(
            method=method,
            binding="JSONRPC",
            protocol_version=version,
            endpoint=endpoint,
            server_address=endpoint.split("/")[2],
            server_port=None,
            tenant=tenant,
            task_id=task,
            context_id=context,
            message=(sent or message()) if method in SENDS else None,
            push=webhook,
            credential=credential,
            hints=hints,
            span=SpanRef(trace, 1) if trace else None,
            is_traced=bool(trace),
            trimmed=trimmed,
        )
        self.observe(call)
        return call

    def answers(
        self,
        call: CallStarted,
        state: str | None,
        *,
        task: str = "",
        context: str = "c1",
        holds: tuple[str, ...] = (),
        form: str = Form.SNAPSHOT,
        channel: str = Channel.RESPONSE,
        timestamp: float | None = None,
    ) -> Verdict:
        """An answer arrives: the whole task, with the artifacts that it ``holds``."""
        return self.observe(
            TaskSeen(
                call=call,
                channel=channel,
                form=form,
                task_id=task or call.task_id or "t1",
                context_id=context,
                state=state,
                raw_state=state or "TASK_STATE_DREAMING",
                timestamp=timestamp,
                artifacts=artifacts(*holds),
            )
        )

    def streams(
        self,
        call: CallStarted,
        *states: str,
        task: str = "",
        context: str = "c1",
        timestamp: float | None = None,
        form: str = Form.UPDATE,
    ) -> Verdict:
        """Status events arrive in the stream that answers ``call``."""
        for state in states:
            self.answers(
                call, state, task=task, context=context, form=form, channel=Channel.STREAM, timestamp=timestamp
            )
        return self.last

    def fails(
        self,
        call: CallStarted,
        error: str = A2AError.TASK_NOT_FOUND,
        *,
        from_agent: bool = True,
        channel: str = Channel.RESPONSE,
    ) -> Verdict:
        return self.observe(CallFailed(call=call, error=error, from_agent=from_agent, channel=channel))

    def artifact(self, call: CallStarted, artifact_id: str, *, task: str = "t1") -> Verdict:
        """An artifact event arrives in a stream."""
        return self.observe(
            ArtifactSeen(call=call, channel=Channel.STREAM, task_id=task, artifact=artifacts(artifact_id)[0])
        )

    def ends(self, call: CallStarted, reason: str = "eof") -> Verdict:
        return self.observe(StreamEnded(call=call, reason=reason))

    def says(self, call: CallStarted) -> Verdict:
        """The agent answers with a message and no task."""
        return self.observe(MessageSeen(call=call, channel=Channel.RESPONSE, message_id="reply"))

    def redirected(self, call: CallStarted, endpoint: str) -> Verdict:
        return self.observe(CallRedirected(call=call, endpoint=endpoint))

    # --- whole calls

    def send(self, state: str | None = WORKING, task: str = "t1", **request: Any) -> CallStarted:
        """A message without a task id leaves and is answered with a new task."""
        call = self.leaves(Method.SEND_MESSAGE, **request)
        self.answers(call, state, task=task)
        return call

    def message(self, task: str, state: str | None = WORKING, **request: Any) -> CallStarted:
        """A message into a task leaves and is answered."""
        request.setdefault("sent", message("more", "m2"))
        call = self.leaves(Method.SEND_MESSAGE, task, **request)
        self.answers(call, state)
        return call

    def get(
        self, task: str, state: str | None, *, holds: tuple[str, ...] = (), context: str = "c1", **request: Any
    ) -> Verdict:
        """A read leaves and is answered."""
        return self.answers(self.leaves(Method.GET_TASK, task, **request), state, holds=holds, context=context)

    def not_found(self, task: str = "t1", method: str = Method.GET_TASK, **request: Any) -> Verdict:
        """A request about a task leaves, and the agent says that there is none."""
        return self.fails(self.leaves(method, task, **request))

    def cancel(self, task: str, state: str | None = CANCELED, **request: Any) -> CallStarted:
        call = self.leaves(Method.CANCEL_TASK, task, **request)
        if state is not None:
            self.answers(call, state)
        return call

    def card(
        self,
        *,
        skills: tuple[str, ...] = ("pay", "refund"),
        streaming: bool = True,
        push: bool = True,
        interfaces: tuple[str, ...] = (ENDPOINT,),
        name: str = "Pay",
        url: str = CARD_URL,
        extended: bool = False,
        credential: str = "",
        description: str = "",
    ) -> Verdict:
        """The card is fetched. Its revision is made of what counts, its digest of all."""
        request = CardRequested(url=url, server_address=url.split("/")[2], extended=extended, credential=credential)
        self.observe(request)
        counts = f"{interfaces} {streaming} {push} {sorted(skills)}"
        facts = CardFacts(
            name=name,
            version="1",
            interfaces=tuple(Interface(url=each, binding="JSONRPC", version="1.0") for each in interfaces),
            streaming=streaming,
            push_notifications=push,
            extended_card=None,
            state_transition_history=None,
            has_capabilities=True,
            skills=frozenset(skills),
            is_legacy=False,
        )
        return self.observe(
            CardFetched(
                request=request,
                status=200,
                revision=f"sha256:{counts}",
                digest=f"sha256:{counts} {name} {description}",
                card=facts,
            )
        )

    def card_confirmed(self) -> Verdict:
        """The card is asked for again, and the agent says that nothing has changed (304)."""
        return self.observe(CardFetched(request=CardRequested(url=CARD_URL), status=304, confirmed=True))
