# SPDX-License-Identifier: Apache-2.0
"""Where settings come from: keyword arguments over the environment, that over the policy file, that over the defaults.

Nothing here logs or patches. What cannot be used is returned as sentences for the caller to log, save that a bad
keyword argument is the programmer's own and raises at once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from otel_a2a.config import ActionRule, Settings
from otel_a2a.engine.findings import Strictness
from otel_a2a.parsing import FILE_ONLY, READERS, Refused, read_lines

if TYPE_CHECKING:
    from otel_a2a.profiles import Profile

PREFIX: Final = "OTEL_PYTHON_A2A_"
GENERAL_EXCLUDED_URLS: Final = "OTEL_PYTHON_EXCLUDED_URLS"
SDK_DISABLED: Final = "OTEL_SDK_DISABLED"

KEYWORDS: Final = (*READERS, "rules", "agents", "profile")
"""The keyword arguments that are settings."""

DEFAULTS: Final = {field.name: field.default for field in dataclasses.fields(Settings)}
DEFAULT: Final = "default"
KEYWORD: Final = "keyword argument"


@dataclass(slots=True, frozen=True)
class Effective:
    """The settings in force, and where each comes from."""

    settings: Settings
    origins: Mapping[str, str]
    """By field of ``Settings``: ``keyword argument``, the name of a variable, ``profile …`` or ``default``."""
    line_origins: tuple[str, ...] = ()
    """The same for each line of ``settings.policy``, in its order."""
    problems: tuple[str, ...] = ()
    """What could not be used, one sentence each."""
    only: tuple[str, ...] | None = None
    """Globs of the rules that the profile judges by; None: by all."""

    @property
    def is_enforcing(self) -> bool:
        """Somebody asked for ``raise``: protection then works even where OpenTelemetry itself is switched off."""
        return self.settings.strictness is Strictness.RAISE


def effective(environ: Mapping[str, str], **keywords: object) -> Effective:
    """The settings in force.

    Args:
        environ: the environment; empty values count as unset.
        keywords: any of ``KEYWORDS``; None counts as not given.

    Raises:
        ValueError: a keyword argument has a value that cannot be used. The text names it, the value and the choices.
    """
    problems: list[str] = []
    given = {name: value for name, value in keywords.items() if value is not None}
    present = {name: text for name, text in environ.items() if text.strip()}
    for name in given.keys() - set(KEYWORDS):
        problems.append(f"the argument {name!r} is not known and is passed over; known are {', '.join(KEYWORDS)}")
    problems += _unknown_variables(present)

    profile, profile_origin = _profile(given, present, problems)
    values: dict[str, Any] = {"profile": profile.name}
    origins = dict.fromkeys(DEFAULTS, DEFAULT) | {"profile": profile_origin}
    for name in (*READERS, *FILE_ONLY):
        if name in profile.settings:
            values[name], origins[name] = profile.settings[name], f"profile {profile.name}"
    for name in READERS:
        found = _value(name, given, present, values.get(name, DEFAULTS[name]), problems)
        if found is not None:
            values[name], origins[name] = found

    if profile.agents:
        values["agents"], origins["agents"] = profile.agents, f"profile {profile.name}"
    at_agents = {name for entry in profile.agents for name, _ in entry.changes}
    for name in profile.requires:
        if values.get(name, DEFAULTS[name]) is None and name not in at_agents:
            problems.append(f"the profile {profile.name} needs {name}, which {variable(name)} sets; it is not set")

    lines = [(line, f"profile {profile.name}") for line in profile.lines]
    lines += _lines(given, present, problems)
    origins["policy"] = ", ".join(dict.fromkeys(origin for _, origin in lines)) or DEFAULT
    return Effective(
        settings=Settings(**values, policy=tuple(line for line, _ in lines)),
        origins=origins,
        line_origins=tuple(origin for _, origin in lines),
        problems=tuple(problems),
        only=profile.only,
    )


def for_rules(chosen: Effective, names: Collection[str]) -> Effective:
    """The same, fitted to the rules that are loaded: ``names``.

    Rules that the profile does not judge by are switched off one by one, and a glob that names no rule is a problem: it
    is most likely misspelt.
    """
    problems = list(chosen.problems)
    origin = f"profile {chosen.settings.profile}"
    globs = dict.fromkeys(chosen.only or (), f"only, {origin}")
    globs |= {line.rule: origin for line, origin in zip(chosen.settings.policy, chosen.line_origins, strict=True)}
    for glob, source in globs.items():
        if glob != "*" and not any(fnmatchcase(name, glob) for name in names):
            problems.append(f"{glob!r} ({source}) names no rule; loaded are {', '.join(sorted(names)) or 'none'}")
    others: list[ActionRule] = []
    if chosen.only is not None:
        others = [
            ActionRule(action=Strictness.OFF, rule=name)
            for name in names
            if not any(fnmatchcase(name, glob) for glob in chosen.only)
        ]
    return dataclasses.replace(
        chosen,
        settings=dataclasses.replace(chosen.settings, policy=(*others, *chosen.settings.policy)),
        line_origins=(origin,) * len(others) + chosen.line_origins,
        problems=tuple(problems),
    )


def unknown_names(chosen: Effective, field: str, known: Iterable[str]) -> list[str]:
    """A sentence for each name in the list setting ``field`` that is not among ``known``."""
    choices = tuple(known)
    return [
        f"{chosen.origins[field]}: {name!r} is not one of {', '.join(choices)}, and is passed over"
        for name in getattr(chosen.settings, field)
        if name not in choices
    ]


def with_problems(chosen: Effective, problems: Iterable[str]) -> Effective:
    """The same, with more that could not be used."""
    return dataclasses.replace(chosen, problems=(*chosen.problems, *problems))


def sdk_is_disabled(environ: Mapping[str, str]) -> bool:
    """Whether OpenTelemetry as a whole is switched off."""
    return environ.get(SDK_DISABLED, "").strip().lower() == "true"


def as_text(value: object) -> str:
    """A setting's value as it is written in a variable; ``nothing`` where it is empty."""
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple | frozenset):
        return ",".join(sorted(value) if isinstance(value, frozenset) else value) or "nothing"
    if value is None or value == "":
        return "nothing"
    return str(value).lower() if isinstance(value, bool) else str(value)


def variable(field: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + field.upper()


def _unknown_variables(present: Iterable[str]) -> list[str]:
    """A sentence for each of our variables that there is not: a ``raise`` that is misspelt would protect nobody."""
    known = [variable(name) for name in KEYWORDS]
    in_files = {variable(name): name for name in FILE_ONLY}
    return [
        f"{name} is not known and is passed over; "
        + (f"only a policy file sets {in_files[name]}" if name in in_files else f"known are {', '.join(known)}")
        for name in present
        if name.startswith(PREFIX) and name not in known
    ]


def _value(
    name: str, given: Mapping[str, object], present: Mapping[str, str], fallback: object, problems: list[str]
) -> tuple[object, str] | None:
    if name in given:
        try:
            return READERS[name](given[name]), KEYWORD
        except Refused as error:
            raise ValueError(f"{name}={given[name]!r} {error}") from None
    source = variable(name)
    if name == "excluded_urls" and source not in present:
        source = GENERAL_EXCLUDED_URLS
    if source not in present:
        return None
    try:
        return READERS[name](present[source]), source
    except Refused as error:
        if error.kept is not None:
            problems.append(f"{source}={present[source]!r} {error}; the others are used")
            return error.kept, source
        problems.append(f"{source}={present[source]!r} {error}; {as_text(fallback)} is used instead")
        return None


def _lines(
    given: Mapping[str, object], present: Mapping[str, str], problems: list[str]
) -> list[tuple[ActionRule, str]]:
    lines: list[tuple[ActionRule, str]] = []
    for name, at_agents in (("agents", True), ("rules", False)):
        source = variable(name)
        if name in given:
            try:
                found, complaints = read_lines(given[name], at_agents=at_agents)
            except Refused as error:
                raise ValueError(f"{name}={given[name]!r} {error}") from None
            if complaints:
                raise ValueError(f"{name}: {complaints[0]}")
            lines += [(line, KEYWORD) for line in found]
        elif source in present:
            found, complaints = read_lines(present[source], at_agents=at_agents)
            lines += [(line, source) for line in found]
            problems += [f"{source}: {complaint}; the item is passed over" for complaint in complaints]
    return lines


def _profile(given: Mapping[str, object], present: Mapping[str, str], problems: list[str]) -> tuple[Profile, str]:
    from otel_a2a import profiles

    if "profile" in given:
        return profiles.load(str(given["profile"])), KEYWORD
    source = variable("profile")
    if source in present:
        try:
            return profiles.load(present[source]), source
        except ValueError as error:
            problems.append(f"{source}: {error}; the profile default is used")
    return profiles.load(DEFAULT), DEFAULT
