# SPDX-License-Identifier: Apache-2.0
"""The world of the engine's tests with every rule on, and with all that may happen in it.

    world = Whole()
    world.card(max_age=60)                        the agent's card is fetched
    world.card_fails(503)                         it is asked for again, in vain
    world.records(FAILED, "transport")            the application books task t1 as failed
    world.waits(300)                              time passes, and what is due by then is judged

Nothing here decides anything.
"""

from __future__ import annotations

from typing import Any, Final

from otel_a2a.engine.findings import Finding, Phase
from otel_a2a.engine.verdict import Verdict
from otel_a2a.observations import (
    ArtifactFacts,
    ArtifactSeen,
    CallAnswered,
    CallFailed,
    CallStarted,
    CardFacts,
    CardFetched,
    CardFetchFailed,
    CardRequested,
    Channel,
    Decision,
    Delivery,
    Form,
    Interface,
    LocalDecision,
    PushBinding,
    SpanRef,
    StateExpected,
    TaskSeen,
)
from otel_a2a_policies import RULES
from tests.support.world import CARD_URL, ENDPOINT, World, artifacts

OLD_CARD_URL: Final = CARD_URL.replace("agent-card.json", "agent.json")
TOKEN: Final = "digest(token)"
WEBHOOK: Final = PushBinding(url="digest(webhook)", token=TOKEN)


class _Deadlines:
    """Collects what time alone has found: no call returns that."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def export(self, finding: Finding, context: Any) -> None:
        if finding.phase is Phase.DEADLINE:
            self.findings.append(finding)


class Whole(World):
    """Every rule is on. Keyword arguments are settings, those of policy files included."""

    def __init__(self, **settings: Any) -> None:
        due = _Deadlines()
        super().__init__(rule_set=RULES, exporters=(due,), **settings)
        self.findings = due.findings

    def information(self) -> list[str]:
        """Names of the new findings at level information, in order."""
        return self.rules("information")

    def waits(self, seconds: float) -> None:
        """Time passes, and the timer wakes up."""
        self.passes(seconds)
        self.engine.pass_time()

    # --- cards

    def asks_for_card(
        self, *, url: str = CARD_URL, extended: bool = False, credential: str = "", trace: int = 0
    ) -> CardRequested:
        """A card's fetch leaves."""
        request = CardRequested(
            url=url,
            server_address=url.split("/")[2],
            extended=extended,
            credential=credential,
            span=SpanRef(trace, 2) if trace else None,
            is_traced=bool(trace),
        )
        self.observe(request)
        return request

    def card(
        self,
        *,
        skills: tuple[str, ...] = ("pay", "refund"),
        streaming: bool | None = True,
        push: bool | None = True,
        extended_card: bool | None = None,
        history: bool | None = None,
        has_capabilities: bool = True,
        interfaces: tuple[str, ...] = (ENDPOINT,),
        tenant: str = "",
        name: str = "Pay",
        version: str = "1",
        input_modes: tuple[str, ...] = (),
        modes: str = "",
        durations: tuple[tuple[str, float], ...] = (),
        description: str = "",
        url: str = CARD_URL,
        extended: bool = False,
        credential: str = "",
        trace: int = 0,
        request: CardRequested | None = None,
        age: float = 0.0,
        max_age: float | None = None,
        from_cache: bool = False,
    ) -> Verdict:
        """The card is fetched; ``request``: by one that has already left. ``None`` is what the card does not say."""
        asked = request or self.asks_for_card(url=url, extended=extended, credential=credential, trace=trace)
        counts = (
            f"{interfaces} {tenant} {streaming} {push} {extended_card} {history} {has_capabilities} {sorted(skills)}"
        )
        facts = CardFacts(
            name=name,
            version=version,
            interfaces=tuple(Interface(each, "JSONRPC", "1.0", tenant) for each in interfaces),
            streaming=streaming,
            push_notifications=push,
            extended_card=extended_card,
            state_transition_history=history,
            has_capabilities=has_capabilities,
            skills=frozenset(skills),
            is_legacy=False,
            input_modes=frozenset(input_modes),
            modes=modes or f"digest({sorted(input_modes)})",
            durations=durations,
        )
        return self.observe(
            CardFetched(
                request=asked,
                status=200,
                revision=f"sha256:{counts}",
                digest=f"sha256:{counts} {name} {version} {input_modes} {durations} {description}",
                card=facts,
                age=age,
                max_age=max_age,
                from_cache=from_cache,
            )
        )

    def no_card(self) -> Verdict:
        """What is fetched is no Agent Card."""
        return self.observe(CardFetched(request=self.asks_for_card(), status=200, revision="sha256:other"))

    def card_confirmed(self, *, max_age: float | None = None) -> Verdict:
        """The card is asked for again, and has not changed (304)."""
        return self.observe(CardFetched(request=self.asks_for_card(), status=304, confirmed=True, max_age=max_age))

    def card_fails(self, status: int | str = 503, *, request: CardRequested | None = None, **asked: Any) -> Verdict:
        """A card's fetch is answered with ``status``, or ends with an exception of that name."""
        return self.observe(
            CardFetchFailed(
                request=request or self.asks_for_card(**asked),
                reason=str(status),
                status=status if isinstance(status, int) else None,
            )
        )

    # --- calls

    def breaks(self, call: CallStarted, error: int | str = "ReadTimeout") -> Verdict:
        """A call is answered with an HTTP status that is nobody's A2A error, or ends with an exception of that name."""
        status = error if isinstance(error, int) else None
        return self.observe(CallFailed(call=call, error=str(error), from_agent=False, status=status))

    def done(self, call: CallStarted) -> Verdict:
        """An answer was read to its end, whatever is in it."""
        return self.observe(CallAnswered(call=call))

    def chunk(
        self,
        call: CallStarted | None,
        artifact_id: str = "a1",
        content: str = "some",
        *,
        task: str = "t1",
        context: str = "c1",
        append: bool = False,
        last: bool = False,
        token: str = "",
    ) -> Verdict:
        """An artifact event arrives in a stream, or, without a call, by a webhook with ``token``."""
        return self.observe(
            ArtifactSeen(
                call=call,
                channel=Channel.WEBHOOK if call is None else Channel.STREAM,
                task_id=task,
                context_id=context,
                artifact=artifact(artifact_id, content),
                append=append,
                last_chunk=last,
                delivery=Delivery(token=token) if call is None else None,
            )
        )

    def shows(
        self,
        call: CallStarted | None,
        state: str | None,
        *held: ArtifactFacts | str,
        **told: Any,
    ) -> Verdict:
        """An answer arrives that shows a whole task with artifacts. Further arguments are members of ``TaskSeen``."""
        facts = [artifacts(each)[0] if isinstance(each, str) else each for each in held]
        told = {"channel": Channel.RESPONSE, "form": Form.SNAPSHOT, "context_id": "c1"} | told
        told.setdefault("task_id", (call.task_id if call is not None else "") or "t1")
        told.setdefault("raw_state", state or "")
        return self.observe(TaskSeen(call=call, state=state, artifacts=tuple(facts), **told))

    def delivers(
        self,
        state: str | None,
        *,
        task: str = "t1",
        token: str = TOKEN,
        verified: bool = False,
        timestamp: float | None = None,
        form: str = Form.SNAPSHOT,
    ) -> Verdict:
        """A webhook brings the state of a task."""
        return self.observe(
            TaskSeen(
                call=None,
                channel=Channel.WEBHOOK,
                form=form,
                task_id=task,
                state=state,
                raw_state=state or "TASK_STATE_DREAMING",
                timestamp=timestamp,
                delivery=Delivery(token=token, verified=verified),
            )
        )

    # --- what the application decides

    def decides(self, decision: str, *, task: str = "t1", trace: int = 0, **told: Any) -> Verdict:
        """The application decides something by itself."""
        return self.observe(
            LocalDecision(
                decision=decision,
                task_id=task,
                span=SpanRef(trace, 3) if trace else None,
                is_traced=bool(trace),
                **told,
            )
        )

    def records(self, state: str, reason: str = "", **told: Any) -> Verdict:
        """The application books a state of a task."""
        return self.decides(Decision.STATE, state=state, reason=reason, **told)

    def drops(self, artifact_id: str = "a1", reason: str = "", **told: Any) -> Verdict:
        return self.decides(Decision.ARTIFACT_DROPPED, artifact_id=artifact_id, reason=reason, **told)

    def merges(self, artifact_id: str, source: str, into: str = "t1") -> Verdict:
        return self.decides(Decision.ARTIFACT_MERGED, task=into, artifact_id=artifact_id, source_task_id=source)

    def abandons(self, task: str = "t1") -> Verdict:
        return self.decides(Decision.ABANDONED, task=task)

    def rejects_card(self, url: str = CARD_URL) -> Verdict:
        return self.decides(Decision.CARD_REJECTED, task="", card_url=url)

    def expects(self, state: str, within: float, task: str = "t1") -> Verdict:
        return self.observe(StateExpected(task_id=task, state=state, within=within))


def artifact(artifact_id: str, content: str = "some") -> ArtifactFacts:
    """An artifact as the ledger knows it: its content is in its digest and its length."""
    return ArtifactFacts(artifact_id=artifact_id, digest=f"digest({content})" if content else "", length=len(content))
