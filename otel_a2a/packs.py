# SPDX-License-Identifier: Apache-2.0
"""Rule packs: the built-in one, and those of third parties from the entry-point group ``otel_a2a_rules``."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from typing import Any

from opentelemetry.util._importlib_metadata import entry_points

from otel_a2a.engine.rules import Rule

BUILT_IN_PACK = "otel_a2a_policies"
ENTRY_POINT_GROUP = "otel_a2a_rules"

_logger = logging.getLogger("otel_a2a")


def load_rules() -> tuple[Rule, ...]:
    """The built-in rules and those of third parties. A pack that fails to load is logged, and the others still are."""
    rules: dict[str, Rule] = {}
    sources: list[tuple[str, Callable[[], Any]]] = [(BUILT_IN_PACK, lambda: importlib.import_module(BUILT_IN_PACK))]
    sources += [(entry.name, entry.load) for entry in entry_points(group=ENTRY_POINT_GROUP)]
    for name, load in sources:
        try:
            pack: tuple[Rule, ...] = tuple(load().RULES)
        except Exception as error:
            _logger.warning("rule pack %r could not be loaded and is left out: %r", name, error)
            continue
        for rule in pack:
            if rules.setdefault(rule.name, rule) is not rule:
                _logger.warning("rule %r of pack %r is left out: the name is taken", rule.name, name)
    if not rules:
        _logger.warning("no rules are loaded: traffic is shown, but nothing is judged")
    return tuple(rules.values())
