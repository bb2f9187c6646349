# SPDX-License-Identifier: Apache-2.0
"""The settings that a script is judged by: those of a profile, and the script's own on top.

Scripts and ``--profile`` may say a little more than a profile's name or path:

    default+pinned-card      the application relies on cards that its operator has pinned, at every agent
    default+whole-life       the observer sees every call about its tasks, from their beginning
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

from otel_a2a import profiles, sources
from otel_a2a.engine.findings import Strictness
from otel_a2a.engine.rules import Rule
from otel_a2a.replay.script import Script
from otel_a2a.replay.traces import Recording
from otel_a2a.sources import Effective

DEFAULT: Final = "default"
ADDITIONS: Final[dict[str, dict[str, Any]]] = {
    "pinned-card": {"pinned_cards": ("*",)},
    "whole-life": {"sees_whole_life": True},
}
"""What may stand after a profile's name, and the settings that it stands for."""


def settings_for(script: Script | Recording, profile: str, rules: Sequence[Rule]) -> Effective:
    """The settings in force when ``script`` is judged by ``profile``, where ``rules`` are loaded.

    A script tells what has happened, and nothing can be stopped any more: where the settings say ``raise``, findings
    are only annotated, and marked with ``would_raise``. The environment of this process plays no part.

    Raises:
        ValueError: there is no such profile, or it cannot be used.
    """
    name, changes = _divided(profile)
    changes |= script.settings.values()
    keywords = {field: value for field, value in changes.items() if field in sources.KEYWORDS}
    chosen = sources.effective(script.settings.env, profile=name, **keywords)
    chosen = sources.for_rules(chosen, [rule.name for rule in rules])
    settings = chosen.settings
    settings = dataclasses.replace(
        settings,
        # The rest can otherwise only be said in a policy file.
        **{field: value for field, value in changes.items() if field not in keywords},
        strictness=_watching(settings.strictness),
        policy=tuple(
            line if line.action is None else dataclasses.replace(line, action=_watching(line.action))
            for line in settings.policy
        ),
    )
    return dataclasses.replace(chosen, settings=settings)


def check_name(profile: str) -> None:
    """Make sure that there is such a profile.

    Raises:
        ValueError: there is none, or it cannot be used.
    """
    profiles.load(_divided(profile)[0])


def _watching(action: Strictness) -> Strictness:
    return Strictness.ANNOTATE if action is Strictness.RAISE else action


def _divided(profile: str) -> tuple[str, dict[str, Any]]:
    """Name or path, and the settings that its additions stand for. A path may hold a ``+`` of its own."""
    changes: dict[str, Any] = {}
    name, plus, addition = profile.rpartition("+")
    while plus and addition in ADDITIONS:
        changes |= ADDITIONS[addition]
        profile = name
        name, plus, addition = profile.rpartition("+")
    return profile, changes
