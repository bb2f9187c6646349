# SPDX-License-Identifier: Apache-2.0
"""From a rule's hit to a finding, and from findings to what is done: annotated, logged, or raised."""

from __future__ import annotations

from dataclasses import dataclass, field

from otel_a2a.config import Settings
from otel_a2a.engine.apply import CardChange, Transition
from otel_a2a.engine.background import background
from otel_a2a.engine.card_records import CardDocument, CardVersion
from otel_a2a.engine.findings import Finding, Level, Phase, Strictness
from otel_a2a.engine.records import Task
from otel_a2a.engine.rules import Hit, Rule, View
from otel_a2a.engine.strictness import Policy
from otel_a2a.errors import A2APolicyError, AgentCardDivergenceError
from otel_a2a.observations import (
    READS,
    ArtifactSeen,
    CallFailed,
    CallStarted,
    CardFetched,
    CardFetchFailed,
    CardRequested,
    Channel,
    DeadlineReached,
    LocalDecision,
    MessageSeen,
    Observation,
    SpanRef,
    StateExpected,
    TaskSeen,
)


@dataclass(slots=True)
class Verdict:
    """What the engine makes of one observation.

    ``error`` is set where the application is to be stopped; whoever observed raises it, after its span has ended.
    ``task``, ``document``, ``held`` and ``card`` are the records concerned, to be read at once and not kept.
    """

    findings: tuple[Finding, ...] = ()
    error: A2APolicyError | None = None
    transition: Transition | None = None
    task: Task | None = None
    document: CardDocument | None = None
    """The card in force."""
    held: CardVersion | None = None
    """What the application's card says."""
    card: CardChange | None = None


@dataclass(slots=True)
class Judged:
    """A finding with its rule and its hit, while it is being decided upon."""

    finding: Finding
    rule: Rule
    hit: Hit
    fresh: bool = field(default=True)
    """Not a repeat of an incident that is already reported."""


def place(observation: Observation, view: View) -> tuple[str, str]:
    """Host, and ``host:port``, that lines of policy are matched with: where the call goes, else where the agent is."""
    asked: CallStarted | CardRequested | None = getattr(observation, "request", None) or view.call
    if isinstance(observation, CardRequested):
        asked = observation
    address, port = (asked.server_address, asked.server_port) if asked is not None else ("", None)
    if not address and view.agent is not None:
        address, port = view.agent.address, view.agent.port
    return address, f"{address}:{port}" if port else address


def effective_level(rule: Rule, hit: Hit, policy: Policy, host: str, label: str) -> Level:
    """The policy's level, else the rule's; a hit may lower it."""
    level = policy.level(rule.name, host, label) or rule.level
    return min(level, hit.level, key=lambda each: each.severity) if hit.level is not None else level


def may_raise(rule: Rule, hit: Hit, observation: Observation, view: View, settings: Settings) -> bool:
    """Whether an exception may stop the application here at all (design §4, rules.md G10)."""
    if isinstance(observation, LocalDecision):
        return observation.declared
    if isinstance(observation, CardRequested):
        return rule.phase is Phase.REQUEST
    if rule.phase is Phase.LOCAL and not isinstance(observation, CallStarted):
        return False
    if isinstance(observation, CallStarted):
        # Reads and cancels stay free, so that there always is a way to find out, and a way out.
        return rule.boundary != "identity" or observation.is_send or observation.push is not None
    if isinstance(observation, TaskSeen | ArtifactSeen | MessageSeen):
        call = observation.call
        if call is None or (observation.channel == Channel.STREAM and not settings.raise_in_stream):
            return False
        return call.method in READS or (call.is_send and (hit.tells_created or not _created(call, observation, view)))
    if isinstance(observation, CallFailed):
        if observation.channel == Channel.STREAM and not settings.raise_in_stream:
            return False
        return observation.call.method in READS or bool(observation.call.is_send and observation.call.task_id)
    return False


def _created(call: CallStarted, observation: TaskSeen | ArtifactSeen | MessageSeen, view: View) -> bool:
    """Whether the answer created a task: its id must reach the application, or nobody can ever cancel it."""
    return call.creates or view.task is None or observation.task_id != call.task_id


def action_taken(configured: Strictness, level: Level, settings: Settings, raisable: bool) -> tuple[Strictness, bool]:
    """The action in effect, and whether mode ``raise`` would have stopped what was only annotated or logged."""
    stops = raisable and level.severity >= settings.raise_on.severity
    if configured is Strictness.RAISE:
        return (Strictness.RAISE if stops else Strictness.LOG), False
    return configured, stops


def make_finding(
    rule: Rule,
    hit: Hit,
    observation: Observation,
    view: View,
    *,
    level: Level,
    action: Strictness,
    would_raise: bool,
    count: int,
    now_ns: int,
) -> Finding:
    """Put what is known about a hit into the words of a finding."""
    call, span = _subject(observation)
    task = hit.task or view.task
    agent = view.agent or (task.agent if task else None)
    address = call.server_address if call else (agent.address if agent else "")
    port = call.server_port if call else (agent.port if agent else None)
    before = background(hit, observation, task, agent, now_ns)
    return Finding(
        rule=rule.name,
        boundary=rule.boundary,
        level=level,
        action=action,
        phase=_phase(observation),
        party=hit.party or rule.party,
        message=hit.message,
        agent=f"{address}:{port}" if port else address,
        server_address=address,
        server_port=port,
        task_id=task.task_id if task else (call.task_id if call else ""),
        context_id=(task.context_id if task else "") or (call.context_id if call else ""),
        message_id=call.message.message_id if call and call.message else "",
        state=hit.state,
        previous_state=hit.previous_state,
        card_revision=before.card_revision,
        task_card_revision=before.task_card_revision,
        card_since_ns=before.card_since_ns,
        card_span=before.card_span,
        task_span=before.task_span,
        would_raise=would_raise,
        count=count,
        trace_id=span.trace_id if span else 0,
        span_id=span.span_id if span else 0,
        trace_flags=span.trace_flags if span else 1,
        time_unix_nano=now_ns,
        ruleset=rule.ruleset,
        reference=rule.reference,
    )


def _phase(observation: Observation) -> Phase:
    """When the finding was made: a rule may look at more than one kind of moment."""
    if isinstance(observation, CallStarted | CardRequested):
        return Phase.REQUEST
    if isinstance(observation, LocalDecision | StateExpected):
        return Phase.LOCAL
    return Phase.DEADLINE if isinstance(observation, DeadlineReached) else Phase.RESPONSE


def _subject(observation: Observation) -> tuple[CallStarted | None, SpanRef | None]:
    if isinstance(observation, CallStarted):
        return observation, observation.span
    if isinstance(observation, CardRequested):
        return None, observation.span
    if isinstance(observation, CardFetched | CardFetchFailed):
        return None, observation.request.span
    if isinstance(observation, LocalDecision):
        return None, observation.span
    if isinstance(observation, DeadlineReached):
        return None, observation.task.origin
    call: CallStarted | None = getattr(observation, "call", None)
    if call is None and isinstance(observation, TaskSeen | ArtifactSeen) and observation.delivery is not None:
        return None, observation.delivery.span
    return call, call.span if call else None


def policy_error(judged: list[Judged], *, request_sent: bool) -> A2APolicyError | None:
    """The one exception for a step: the class of the gravest finding that raises; ``.findings`` has all."""
    raising = [each for each in judged if each.finding.action is Strictness.RAISE]
    if not raising:
        return None
    gravest = max(raising, key=lambda each: each.finding.level.severity)
    others = [each.finding for each in judged if each is not gravest]
    message = f"{gravest.finding.rule}: {gravest.finding.message}"
    if others:
        message += f" (also: {', '.join(finding.rule for finding in others)})"
    findings = (gravest.finding, *others)
    if issubclass(gravest.rule.exception, AgentCardDivergenceError):
        hit = gravest.hit
        return gravest.rule.exception(
            message,
            findings,
            request_sent=request_sent,
            declared=hit.declared,
            observed=hit.observed,
            detail=hit.message,
        )
    return gravest.rule.exception(message, findings, request_sent=request_sent)


def request_sent(observation: Observation) -> bool:
    """Whether the agent already has the request when this observation is judged."""
    return not isinstance(observation, CallStarted | CardRequested | LocalDecision)
