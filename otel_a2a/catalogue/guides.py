# SPDX-License-Identifier: Apache-2.0
"""Where a rule's guide is: in its declaration, else beside its module in ``guides/<boundary>.toml``.

    ["terminal-task-reused"]
    why = "An ended task takes no message. …"
    look_alike = "To read or cancel an ended task. …"
    remedy = "Send without a task id, in the same context. …"

The keys are the fields of ``otel_a2a.engine.rules.Guide``. Line breaks in a text do not count.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, Final

from otel_a2a.engine.rules import Guide, Rule
from otel_a2a.packs import BUILT_IN_PACK

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER: Final = "guides"

_logger = logging.getLogger("otel_a2a")


@dataclass(slots=True, frozen=True)
class Definition:
    """A term that docstrings of the built-in rules refer to by ``name``, such as ``G2``."""

    name: str
    title: str
    text: str


def guide_of(rule: Rule) -> Guide | None:
    """The guide of a rule, or None where nobody wrote one. A file that cannot be read is logged, and is none."""
    if rule.guide is not None:
        return rule.guide
    package = rule.function.__module__.partition(".")[0]
    return _guides(package, rule.boundary).get(rule.name)


@lru_cache(maxsize=1)
def definitions() -> dict[str, Definition]:
    """The terms of the built-in rules, by name."""
    return {
        name: Definition(name, each["title"], _flow(each["text"]))
        for name, each in _document(BUILT_IN_PACK, "definitions").items()
    }


@lru_cache(maxsize=128)
def _guides(package: str, boundary: str) -> Mapping[str, Guide]:
    try:
        return {name: _guide(fields) for name, fields in _document(package, boundary).items()}
    except (AttributeError, TypeError, ValueError) as error:
        _logger.warning("the guides of %s about %s cannot be used: %s", package, boundary, error)
        return {}


def _document(package: str, name: str) -> Mapping[str, Any]:
    try:
        text = (resources.files(package) / FOLDER / f"{name}.toml").read_text("utf-8")
    except (ImportError, OSError, TypeError):  # a pack may be one module, or bring no guides
        return {}
    return tomllib.loads(text)


def _guide(fields: Mapping[str, Any]) -> Guide:
    texts = {key: _flow(value) for key, value in fields.items() if key != "settings"}
    return Guide(**texts, settings=tuple(fields.get("settings", ())))


def _flow(text: str) -> str:
    return " ".join(text.split())
