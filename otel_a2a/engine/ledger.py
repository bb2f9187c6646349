# SPDX-License-Identifier: Apache-2.0
"""The ledger: who the agents are and what is known of their tasks; look-up, merging and bounds.

Only dictionary work happens here, under the engine's lock. How an observation changes the records is in ``apply``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from otel_a2a.engine.card_records import CardDocument, Discovery
from otel_a2a.engine.cards import is_above
from otel_a2a.engine.records import Agent, Task, TaskKey
from otel_a2a.observations import ArtifactSeen, CallStarted, CardFacts, CardRequested, TaskSeen

TROUBLED = 256
"""Troubled tasks remembered per agent."""
DOCUMENTS = 256
"""Card documents remembered per agent: one per URL, kind and credential. Credentialed ones leave first."""
ENDPOINTS = 256
"""Endpoints remembered per agent; beyond it, a new one is another agent."""


class Ledger:
    """Agents by endpoint, tasks by agent. ``max_tasks`` and ``max_agents`` bound it; ended tasks leave first.

    ``clock_skew``: seconds within which two timestamps of an agent say nothing about order. ``rewrites_ids``: whether a
    declared gateway gives the tasks of an agent other ids.
    """

    def __init__(
        self,
        max_tasks: int,
        max_agents: int,
        clock_skew: Callable[[Agent], float] = lambda agent: 5.0,
        rewrites_ids: Callable[[Agent], bool] = lambda agent: False,
    ) -> None:
        self.clock_skew = clock_skew
        self.rewrites_ids = rewrites_ids
        self._max_tasks = max_tasks
        self._max_agents = max_agents
        self._next_agent = 0
        self.by_endpoint: dict[str, Agent] = {}
        self._agents: OrderedDict[int, Agent] = OrderedDict()
        self._by_document: dict[tuple[str, bool, str], Agent] = {}
        self._live: OrderedDict[Task, None] = OrderedDict()
        self._ended: OrderedDict[Task, None] = OrderedDict()
        self._tombstones: OrderedDict[tuple[int, str, str], tuple[str, int]] = OrderedDict()
        self._by_id: dict[str, list[Task]] = {}
        self.discoveries: OrderedDict[str, Discovery] = OrderedDict()
        """By the address whose card is sought."""

    # --- agents

    def agent(self, endpoint: str) -> Agent | None:
        return self.by_endpoint.get(endpoint)

    def agent_of_call(self, call: CallStarted) -> Agent:
        """The agent that a call goes to; the first call makes it."""
        agent = self.by_endpoint.get(call.endpoint)
        if agent is None:
            agent = self._new_agent(call.server_address, call.server_port)
            self.add_endpoint(agent, call.endpoint)
        else:
            self._agents.move_to_end(agent.id)
        return agent

    def document(self, request: CardRequested) -> tuple[Agent, CardDocument] | None:
        key = (request.url, request.extended, request.credential)
        agent = self._by_document.get(key)
        return (agent, agent.documents[key]) if agent else None

    def agent_of_card(self, request: CardRequested, card: CardFacts) -> Agent:
        """The agent that a card describes: the one that serves any of its interfaces; several become one."""
        known = {
            agent.id: agent
            for interface in card.interfaces
            if (agent := self.by_endpoint.get(interface.url)) is not None
        }
        held = self.document(request)
        if held is not None:
            known[held[0].id] = held[0]
        agents = [known[agent_id] for agent_id in sorted(known)]
        agent = agents[0] if agents else self._new_agent(request.server_address, request.server_port)
        for other in agents[1:]:
            self._merge(agent, other)
        for interface in card.interfaces:
            self.add_endpoint(agent, interface.url)
        return agent

    def discovery(self, base: str) -> Discovery:
        """The discovery at an address; the first attempt makes it."""
        held = self.discoveries.get(base)
        if held is None:
            held = self.discoveries[base] = Discovery(base)
            if len(self.discoveries) > self._max_agents:
                self.discoveries.popitem(last=False)
        return held

    def documents_at(self, url: str) -> list[CardDocument]:
        """The documents fetched from ``url``, of every kind and credential."""
        return [agent.documents[key] for key, agent in self._by_document.items() if key[0] == url]

    def attach(self, agent: Agent, document: CardDocument) -> None:
        # Again at the end: a rotating credential makes a new document each time, and the oldest of those leave first.
        agent.documents.pop(document.key, None)
        agent.documents[document.key] = document
        self._by_document[document.key] = agent
        if len(agent.documents) > DOCUMENTS:
            oldest = next((key for key in agent.documents if key[2]), next(iter(agent.documents)))
            del agent.documents[oldest], self._by_document[oldest]

    def add_endpoint(self, agent: Agent, endpoint: str) -> None:
        if len(agent.endpoints) >= ENDPOINTS and self.by_endpoint.get(endpoint) is None:
            return
        agent.endpoints.add(endpoint)
        self.by_endpoint[endpoint] = agent

    def same_agent(self, agent: Agent, endpoint: str) -> None:
        """``endpoint`` is served by ``agent`` too, whoever it was held for so far."""
        other = self.by_endpoint.get(endpoint)
        if other is not None and other is not agent:
            self._merge(agent, other)
        self.add_endpoint(agent, endpoint)

    def forget_agent(self, agent: Agent) -> None:
        """Drop an agent and all that is known of it: another one answers at its address now, or space is needed."""
        self._agents.pop(agent.id, None)
        for endpoint in agent.endpoints:
            if self.by_endpoint.get(endpoint) is agent:
                del self.by_endpoint[endpoint]
        for key in agent.documents:
            self._by_document.pop(key, None)
        for task in agent.tasks.values():
            self._live.pop(task, None)
            self._ended.pop(task, None)
            self._forget_id(task)

    def _new_agent(self, address: str, port: int | None) -> Agent:
        while len(self._agents) >= self._max_agents:
            oldest = next(iter(self._agents.values()))
            self._forget_discoveries(oldest)
            self.forget_agent(oldest)
        self._next_agent += 1
        agent = Agent(self._next_agent, address, port)
        self._agents[agent.id] = agent
        return agent

    def _forget_discoveries(self, agent: Agent) -> None:
        """Drop what became of the discovery of an agent: alone, a failure would accuse whoever calls it again."""
        for base in list(self.discoveries):
            if any(is_above(base, endpoint) for endpoint in agent.endpoints):
                del self.discoveries[base]

    def _merge(self, agent: Agent, other: Agent) -> None:
        for endpoint in other.endpoints:
            self.add_endpoint(agent, endpoint)
        for document in other.documents.values():
            self.attach(agent, document)
        for key, task in other.tasks.items():
            if agent.tasks.setdefault(key, task) is task:
                task.agent = agent
                if task.context_id:
                    agent.contexts.setdefault(task.context_id, {})[key] = task
            else:
                self._live.pop(task, None)
                self._ended.pop(task, None)
                self._forget_id(task)
        for key, task in other.troubled.items():
            agent.troubled.setdefault(key, task)
        self._agents.pop(other.id, None)

    # --- tasks

    def task(self, agent: Agent | None, tenant: str, task_id: str) -> Task | None:
        """What is known of a task. An ended task that had to leave is known by its terminal state alone."""
        if agent is None or not task_id:
            return None
        task = agent.tasks.get((tenant, task_id))
        if task is not None:
            return task
        stone = self._tombstones.pop((agent.id, tenant, task_id), None) if self._tombstones else None
        if stone is None:
            return None
        state, seq = stone
        task = Task(agent, tenant, task_id, created_seq=seq, created_at=0.0, created_ns=0)
        task.state = task.terminal = state
        task.state_seq = task.terminal_seq = seq
        self.add_task(task)
        return task

    def find(self, task_id: str, endpoint: str = "", tenant: str = "") -> Task | None:
        """The task of this id, whichever agent's, if it is the only one; or that of the agent at ``endpoint``."""
        if endpoint:
            return self.task(self.by_endpoint.get(endpoint), tenant, task_id)
        held = self._by_id.get(task_id, ())
        return held[0] if len(held) == 1 else None

    def delivered_to(self, seen: TaskSeen | ArtifactSeen) -> Task | None:
        """The task that a webhook tells of, where the delivery may be believed: its token is the one that was
        registered, or the application vouches for it."""
        delivery = seen.delivery
        if delivery is None:
            return None
        held = self._by_id.get(seen.task_id, ())
        named = [task for task in held if delivery.token and delivery.token in task.webhooks.values()]
        if not named and delivery.verified:
            named = [task for task in held if delivery.url in task.webhooks] or [
                task for task in held if seen.context_id in ("", task.context_id)
            ]
        return named[0] if len(named) == 1 else None

    def may_be_of(self, seen: TaskSeen | ArtifactSeen) -> Task | None:
        """The task that a delivery may tell of, where nobody can know: its webhook was registered without a token."""
        held = [task for task in self._by_id.get(seen.task_id, ()) if "" in task.webhooks.values()]
        return held[0] if len(held) == 1 else None

    def set_context(self, task: Task, context_id: str) -> None:
        """Note the context of a task."""
        task.context_id = context_id
        task.agent.contexts.setdefault(context_id, {})[(task.tenant, task.task_id)] = task

    def leave_context(self, task: Task) -> None:
        """Take a task out of its context: it leaves, or in 0.1 it may begin anew in another one."""
        in_context = task.agent.contexts.get(task.context_id)
        if in_context is not None:
            in_context.pop((task.tenant, task.task_id), None)
            if not in_context:
                del task.agent.contexts[task.context_id]

    def _forget_id(self, task: Task) -> None:
        held = self._by_id.get(task.task_id)
        if held is not None and task in held:
            held.remove(task)
            if not held:
                del self._by_id[task.task_id]
        self.leave_context(task)

    def add_task(self, task: Task) -> None:
        task.agent.tasks[(task.tenant, task.task_id)] = task
        self._by_id.setdefault(task.task_id, []).append(task)
        (self._ended if task.terminal else self._live)[task] = None
        if len(self._live) + len(self._ended) > self._max_tasks:
            self._evict()

    def touch(self, task: Task) -> None:
        """Mark a task as used just now, and as ended where it is."""
        if task.terminal:
            self._live.pop(task, None)
            self._ended[task] = None
        else:
            self._ended.pop(task, None)
            self._live[task] = None
            self._live.move_to_end(task)

    def trouble(self, task: Task) -> None:
        """Remember that a task went back, was lost, or that its answer was withheld."""
        troubled = task.agent.troubled
        troubled[(task.tenant, task.task_id)] = task
        if len(troubled) > TROUBLED:
            troubled.popitem(last=False)

    def settle(self, task: Task) -> None:
        """Forget the trouble: the task was shown intact again."""
        task.agent.troubled.pop((task.tenant, task.task_id), None)

    def tasks(self) -> list[Task]:
        return [*self._live, *self._ended]

    @property
    def live_count(self) -> int:
        return len(self._live)

    def live_tasks(self) -> list[Task]:
        """Those not known to have ended."""
        return list(self._live)

    def _evict(self) -> None:
        task = next(iter(self._ended or self._live))
        self._ended.pop(task, None)
        self._live.pop(task, None)
        key: TaskKey = (task.tenant, task.task_id)
        task.agent.tasks.pop(key, None)
        task.agent.troubled.pop(key, None)
        self._forget_id(task)
        if task.terminal and task.protocol_version != "0.1" and not task.reused:
            # In 0.1 a task that has ended may begin anew, which its end alone would make a crime.
            self._tombstones[(task.agent.id, task.tenant, task.task_id)] = (task.terminal, task.terminal_seq)
            if len(self._tombstones) > self._max_tasks:
                self._tombstones.popitem(last=False)
