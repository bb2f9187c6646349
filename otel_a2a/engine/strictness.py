# SPDX-License-Identifier: Apache-2.0
"""What to do about a finding: from lines of policy to one action per rule and agent.

Global < per agent < per rule < rule at agent; among lines of one kind the more exact glob wins, then the later line.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from fnmatch import fnmatchcase

from otel_a2a.config import ActionRule, Settings, host_glob
from otel_a2a.engine.findings import Level, Strictness

CACHE = 4096

_suppressed: ContextVar[tuple[str, ...]] = ContextVar("otel_a2a_suppressed", default=())


@contextmanager
def suppress_policy(*globs: str) -> Iterator[None]:
    """Judge nothing by the rules that ``globs`` name (all where none is given) for calls made in this context.

    Calls are still observed and shown. For the exceptional place in an application whose owner knows better::

        with suppress_policy("terminal-task-reused"):
            client.send_message(...)
    """
    token = _suppressed.set(_suppressed.get() + (globs or ("*",)))
    try:
        yield
    finally:
        _suppressed.reset(token)


def is_suppressed(rule: str) -> bool:
    """Whether ``suppress_policy`` names this rule in the current context."""
    globs = _suppressed.get()
    return bool(globs) and any(fnmatchcase(rule, glob) for glob in globs)


class Policy:
    """The lines of policy, resolved per rule name and agent host (``host`` or ``host:port``) and remembered."""

    def __init__(self, settings: Settings) -> None:
        self._global = settings.strictness
        self._lines = [replace(line, agent=host_glob(line.agent)) for line in settings.policy]
        self._actions: dict[tuple[str, str], Strictness] = {}
        self._levels: dict[tuple[str, str], Level | None] = {}

    def action(self, rule: str, host: str, label: str = "") -> Strictness:
        """What to do about ``rule`` at the agent ``host``."""
        key = (rule, label or host)
        known = self._actions.get(key)
        if known is None:
            line = self._best(rule, host, label, [line for line in self._lines if line.action is not None])
            known = line.action if line is not None and line.action is not None else self._global
            if len(self._actions) < CACHE:
                self._actions[key] = known
        return known

    def level(self, rule: str, host: str, label: str = "") -> Level | None:
        """The level that policy gives to ``rule`` there, or None where it leaves the rule's own."""
        key = (rule, label or host)
        if key in self._levels:
            return self._levels[key]
        line = self._best(rule, host, label, [line for line in self._lines if line.level is not None])
        level = line.level if line is not None else None
        if len(self._levels) < CACHE:
            self._levels[key] = level
        return level

    @staticmethod
    def _best(rule: str, host: str, label: str, lines: list[ActionRule]) -> ActionRule | None:
        best: ActionRule | None = None
        best_rank: tuple[int, int, int] = (0, 0, -1)
        for index, line in enumerate(lines):
            at_agent = fnmatchcase(host, line.agent) or (bool(label) and fnmatchcase(label, line.agent))
            if not (at_agent and fnmatchcase(rule, line.rule)):
                continue
            kind = (line.rule != "*") * 2 + (line.agent != "*")
            rank = (kind, exactness(line.rule) + exactness(line.agent), index)
            if rank >= best_rank:
                best, best_rank = line, rank
        return best


def exactness(glob: str) -> int:
    """A name without wildcards beats every glob; otherwise the more literal characters, the more exact."""
    literal = sum(character not in "*?[]" for character in glob)
    return literal if literal < len(glob) else literal + 1000
