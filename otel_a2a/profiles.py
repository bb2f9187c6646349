# SPDX-License-Identifier: Apache-2.0
"""Profiles: policy files in TOML, built in or a user's own, and what they add to the settings.

    extends = "default"                       # a built-in name, or a path beside this file
    only = ["terminal-*"]                     # judge by these rules alone; absent: by all
    requires = ["task_deadline"]              # settings without which the file means little

    [settings]                                # as the variables are called, in lower case and without the prefix
    strictness = "log"

    [rules."task-lost"]                       # a glob of rule names
    level = "improvement"
    action = "raise"                          # off annotate log raise, or inherit: whatever else is in force

    [[agents]]
    host = "*.partner.example"                # a glob of host or host:port
    action = "log"
    settings = { pinned = true, task_deadline = 60 }   # any of ``parsing.AT_AGENTS``
    [agents.rules."task-lost"]
    action = "off"

A file that extends another adds to it: single values of one key replace those before, agents are appended. What is set
at an agent wins over what is set for all, by whomever.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from otel_a2a.config import ActionRule, AgentSettings
from otel_a2a.engine.findings import Level, Strictness
from otel_a2a.parsing import AT_AGENTS, FILE_ONLY, READERS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BUILT_IN = ("default", "authority", "fenced", "declared-history", "version-fenced", "spec")
INHERIT = "inherit"


@dataclass(slots=True, frozen=True)
class Profile:
    """A policy file and all that it extends, read and checked."""

    name: str
    settings: Mapping[str, object] = field(default_factory=dict)
    lines: tuple[ActionRule, ...] = ()
    agents: tuple[AgentSettings, ...] = ()
    only: tuple[str, ...] | None = None
    requires: tuple[str, ...] = ()


def load(name: str) -> Profile:
    """The profile of that name, or at that path.

    Raises:
        ValueError: there is none, or it cannot be used. The text names the file, the key and the allowed values.
    """
    name = name.strip()
    if name == "default":
        # It holds nothing but comments: the defaults are in the code.
        return Profile(name)
    merged: dict[str, Any] = {}
    for document in _chain(name):
        _merge(merged, document)
    readers = READERS | FILE_ONLY
    return Profile(
        name=name,
        settings={key: readers[key](value) for key, value in merged.get("settings", {}).items()},
        lines=tuple(_fold(merged)),
        agents=tuple(_at(agent) for agent in merged["agents"] if agent.get("settings")),
        only=tuple(merged["only"]) if "only" in merged else None,
        requires=tuple(merged["requires"]),
    )


def _chain(name: str) -> list[dict[str, Any]]:
    """The documents that make up a profile, the most general first."""
    documents: list[dict[str, Any]] = []
    seen: list[str] = []
    directory, extending = Path(), ""
    while name != "default":
        if name in BUILT_IN:
            where = name
            file = resources.files("otel_a2a_policies") / "profiles" / f"{name}.toml"
            # Ours are checked by the tests, so that starting with one does not cost the import of a validator.
            document: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
        else:
            path = directory / _expanded(name)
            where, directory = os.path.normpath(path), path.parent
            document = _read(path, extending)
        if where in seen:
            raise ValueError(f"{where}: extends: goes in a circle: {' → '.join((*seen, where))}")
        seen.append(where)
        documents.insert(0, document)
        extending = f"{where}: extends: "
        name = document.get("extends", "default")
    return documents


def _expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise ValueError(f"{name}: cannot be read: {error}") from None


def _read(path: Path, extending: str) -> dict[str, Any]:
    """The checked document at ``path``. ``extending``: who asks for it, to stand before what is wrong with it."""
    try:
        document: dict[str, Any] = tomllib.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        raise ValueError(f"{extending}{path}: there is no such file, and built in are {', '.join(BUILT_IN)}") from None
    except OSError as error:
        raise ValueError(f"{extending}{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        raise ValueError(f"{extending}{path}: is not TOML: {error}") from None
    from otel_a2a.profile_schema import check

    check(document, f"{extending}{path}")
    return document


def _merge(merged: dict[str, Any], document: Mapping[str, Any]) -> None:
    merged.setdefault("settings", {}).update(document.get("settings", {}))
    for glob, entry in document.get("rules", {}).items():
        merged.setdefault("rules", {}).setdefault(glob, {}).update(entry)
    merged.setdefault("agents", []).extend(document.get("agents", []))
    merged.setdefault("requires", []).extend(document.get("requires", []))
    if "only" in document:
        merged["only"] = document["only"]


def _fold(merged: Mapping[str, Any]) -> list[ActionRule]:
    agents = merged.get("agents", [])
    lines = [ActionRule(Strictness(agent["action"]), agent=agent["host"]) for agent in agents if _acts(agent)]
    lines += [_line(glob, entry) for glob, entry in merged.get("rules", {}).items()]
    lines += [_line(glob, entry, agent["host"]) for agent in agents for glob, entry in agent.get("rules", {}).items()]
    return [line for line in lines if line.action is not None or line.level is not None]


def _line(glob: str, entry: Mapping[str, Any], host: str = "*") -> ActionRule:
    action = Strictness(entry["action"]) if _acts(entry) else None
    level = Level(entry["level"]) if "level" in entry else None
    return ActionRule(action, rule=glob, agent=host, level=level)


def _at(agent: Mapping[str, Any]) -> AgentSettings:
    return AgentSettings(agent["host"], tuple((key, AT_AGENTS[key](value)) for key, value in agent["settings"].items()))


def _acts(entry: Mapping[str, Any]) -> bool:
    return bool(entry.get("action", INHERIT) != INHERIT)
