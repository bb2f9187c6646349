# SPDX-License-Identifier: Apache-2.0
"""The settings in force at an agent: those of all, with what a policy file sets otherwise for its host on top.

Among the entries that name a host the more exact glob wins, then the later entry; each setting on its own.
"""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, Final

from otel_a2a.config import Settings, host_glob
from otel_a2a.engine.strictness import CACHE, exactness

PINNED: Final = "pinned"
"""The one setting that exists only at agents: whether this is one of ``Settings.pinned_cards``."""


class Places:
    """Settings by ``host`` or ``host:port``, resolved once and remembered."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        named = [replace(entry, host=host_glob(entry.host)) for entry in settings.agents]
        self._entries = sorted(named, key=lambda entry: exactness(entry.host))
        self._held: dict[str, Settings] = {}

    def at(self, host: str, label: str = "") -> Settings:
        """The settings at ``host``; ``label`` is the same with its port. The global ones where nothing is set
        otherwise."""
        if not self._entries:
            return self._settings
        key = label or host
        held = self._held.get(key)
        if held is None:
            held = self._resolve(host, label)
            if len(self._held) < CACHE:
                self._held[key] = held
        return held

    def _resolve(self, host: str, label: str) -> Settings:
        changes: dict[str, Any] = {}
        for entry in self._entries:
            if fnmatchcase(host, entry.host) or (bool(label) and fnmatchcase(label, entry.host)):
                changes.update(entry.changes)
        if PINNED in changes:
            changes["pinned_cards"] = ("*",) if changes.pop(PINNED) else ()
        return replace(self._settings, **changes) if changes else self._settings
