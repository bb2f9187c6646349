# SPDX-License-Identifier: Apache-2.0
"""The judge: lets the rules look at an observation, and decides what each hit is: its level, its action, its count."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from otel_a2a.config import Settings
from otel_a2a.engine.findings import Level, Strictness
from otel_a2a.engine.places import Places
from otel_a2a.engine.rules import Hit, Rule, View, dispatch
from otel_a2a.engine.strictness import Policy, is_suppressed
from otel_a2a.engine.verdict import Judged, action_taken, effective_level, make_finding, may_raise, place
from otel_a2a.observations import Observation

INCIDENTS = 10_000
"""Incidents remembered, so that a repeat is counted and not reported again."""


class Judge:
    """Called under the engine's lock. Knows the rules, the policy, and the incidents that are already reported.

    Args:
        report: told of a rule that fails, by the rule's name; the others are asked all the same.
    """

    def __init__(
        self, settings: Settings, places: Places, rules: Sequence[Rule], report: Callable[[str, Exception], None]
    ) -> None:
        self._settings = settings
        self._places = places
        self._policy = Policy(settings)
        self._rules = dispatch(rules)
        self._report = report
        self._is_silent = settings.strictness is Strictness.OFF and not any(line.action for line in settings.policy)
        self._incidents: OrderedDict[tuple[Any, ...], int] = OrderedDict()

    def __call__(
        self, observation: Observation, view: View, now_ns: int, *, enforce: bool, counts: bool = True
    ) -> list[Judged]:
        """What the rules find.

        Args:
            now_ns: the time that findings carry, in nanoseconds since the epoch.
            enforce: False where nothing can be stopped, so that no finding raises.
            counts: False to ask without remembering that an incident has happened.
        """
        if self._is_silent:
            return []
        judged: list[Judged] = []
        # Where no setting is an agent's own, whose it is need not be known until something is found.
        settings = self._places.at(*place(observation, view)) if self._settings.agents else self._settings
        for rule in self._rules.get(type(observation), ()):
            try:
                for hit in rule.function(observation, view, settings):
                    raisable = enforce and may_raise(rule, hit, observation, view, settings)
                    decided = self._decide(rule, hit, observation, view, settings, now_ns, raisable, counts)
                    if decided is not None:
                        judged.append(decided)
            except Exception as error:
                self._report(f"rule {rule.name}", error)
        return judged

    def _decide(
        self,
        rule: Rule,
        hit: Hit,
        observation: Observation,
        view: View,
        settings: Settings,
        now_ns: int,
        raisable: bool,
        counts: bool,
    ) -> Judged | None:
        host, label = place(observation, view)
        configured = self._policy.action(rule.name, host, label)
        if configured is Strictness.OFF or is_suppressed(rule.name):
            return None
        level = effective_level(rule, hit, self._policy, host, label)
        action, would_raise = action_taken(configured, level, settings, raisable)
        count = self._count(rule, hit, view, level) if counts else 1
        finding = make_finding(
            rule,
            hit,
            observation,
            view,
            level=level,
            action=action,
            would_raise=would_raise,
            count=count,
            now_ns=now_ns,
        )
        return Judged(finding, rule, hit, fresh=count == 1)

    def _count(self, rule: Rule, hit: Hit, view: View, level: Level) -> int:
        task = hit.task or view.task
        agent = view.agent or (task.agent if task else None)
        of_task = (task.tenant, task.task_id) if task is not None and not hit.per_agent else ("", "")
        which = (agent.id if agent else 0, *of_task)
        # The level tells incidents apart too: an information must not hide the violation that follows it.
        key = (rule.name, which, hit.discriminator, level)
        count = self._incidents.get(key, 0) + 1
        self._incidents[key] = count
        self._incidents.move_to_end(key)
        if len(self._incidents) > INCIDENTS:
            self._incidents.popitem(last=False)
        return count
