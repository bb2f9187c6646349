# SPDX-License-Identifier: Apache-2.0
"""What a policy file may hold. Imported only when a user's own file is read, because pydantic is slow to import."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from otel_a2a.parsing import AT_AGENTS, FILE_ONLY, READERS, Reader, Refused

Glob = Annotated[str, Field(min_length=1)]
Action = Literal["off", "annotate", "log", "raise", "inherit"]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RuleEntry(_Entry):
    """What a rule, or a glob of rules, is changed to."""

    level: Literal["information", "improvement", "violation"] | None = None
    action: Action | None = None


class AgentEntry(_Entry):
    """What holds at one agent, or at a glob of agents."""

    host: Glob
    action: Action | None = None
    settings: dict[str, Any] = {}
    rules: dict[Glob, RuleEntry] = {}


class PolicyFile(_Entry):
    """A whole file."""

    extends: Glob | None = None
    only: list[Glob] | None = None
    requires: list[str] = []
    settings: dict[str, Any] = {}
    rules: dict[Glob, RuleEntry] = {}
    agents: list[AgentEntry] = []


def check(document: Mapping[str, Any], where: str) -> None:
    """Check a document that was read from ``where``.

    Raises:
        ValueError: naming the file, every key that is wrong, and what is allowed there.
    """
    wrong: list[str] = []
    try:
        PolicyFile.model_validate(document)
    except ValidationError as error:
        wrong += [_sentence(each) for each in error.errors(include_url=False)]
    readers = READERS | FILE_ONLY
    wrong += _wrong_settings("settings", document.get("settings"), readers)
    agents = document.get("agents")
    for index, agent in enumerate(agents if isinstance(agents, list) else ()):
        if isinstance(agent, dict):
            wrong += _wrong_settings(f"agents.{index}.settings", agent.get("settings"), AT_AGENTS)
    requires = document.get("requires")
    for name in requires if isinstance(requires, list) else ():
        if name not in readers:
            wrong.append(f"requires: {name!r} is not a setting; settings are {', '.join(readers)}")
    if wrong:
        raise ValueError(f"{where}: " + "; ".join(wrong))


def _wrong_settings(where: str, settings: object, readers: Mapping[str, Reader]) -> Iterator[str]:
    for key, value in settings.items() if isinstance(settings, dict) else ():
        if key not in readers:
            yield f"{where}.{key}: is not known; known are {', '.join(readers)}"
            continue
        try:
            readers[key](value)
        except Refused as error:
            yield f"{where}.{key}: {value!r} {error}"


def _sentence(error: Any) -> str:
    path = [str(part) for part in error["loc"]]
    place, kind, given = ".".join(path), error["type"], error["input"]
    if kind == "extra_forbidden":
        return f"{place}: is not known; known are {', '.join(_fields_beside(path))}"
    if kind == "missing":
        return f"{place}: is required, and missing"
    if kind == "model_type":
        return f"{place}: must be a table of {', '.join(_fields_beside([*path, '']))}, not {given!r}"
    if kind == "dict_type":
        return f"{place}: must be a table, not {given!r}"
    if kind == "list_type":
        tables = " of tables, [[agents]]" if path == ["agents"] else ""
        return f"{place}: must be a list{tables}, not {given!r}"
    return f"{place}: {error['msg']}, not {given!r}"


def _fields_beside(path: list[str]) -> list[str]:
    if len(path) == 1:
        return list(PolicyFile.model_fields)
    if path[0] == "agents" and len(path) == 3:
        return list(AgentEntry.model_fields)
    return list(RuleEntry.model_fields)
