# SPDX-License-Identifier: Apache-2.0
"""From what people write to the values of settings: one reader per setting, the same for all sources.

A reader takes text (environment) or a value (keyword, policy file) and returns the setting's value. What it cannot use
it refuses with a ``Refused`` whose text completes the sentence "NAME=VALUE …" and names the choices.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Final, TypeVar
from urllib.parse import urlsplit

from otel_a2a.config import ActionRule
from otel_a2a.engine.findings import Level, Strictness

Reader = Callable[[object], object]
_Choice = TypeVar("_Choice", bound=Enum)


class Refused(ValueError):
    """A value cannot be used. ``kept`` is what is left of a list without its bad items, None where nothing is."""

    def __init__(self, message: str, kept: object = None) -> None:
        super().__init__(message)
        self.kept = kept


def read_choice(value: object, choices: type[_Choice]) -> _Choice:
    """A member of ``choices``, by its value in any case."""
    if isinstance(value, choices):
        return value
    text = str(value).strip().lower()
    for member in choices:
        if member.value == text:
            return member
    raise Refused("is not one of " + ", ".join(member.value for member in choices))


def read_strictness(value: object) -> Strictness:
    """A ``Strictness``. False is ``off``, because that is how YAML reads an unquoted ``off``."""
    return Strictness.OFF if value is False else read_choice(value, Strictness)


def read_level(value: object) -> Level:
    return read_choice(value, Level)


def read_boolean(value: object) -> bool:
    """As OpenTelemetry reads booleans: ``true`` or ``false``, in any case."""
    text = str(value).strip().lower()
    if text not in ("true", "false"):
        raise Refused("is not one of true, false")
    return text == "true"


def read_hosts_or_boolean(value: object) -> bool | tuple[str, ...]:
    """``true``, ``false``, or a list of globs of ``host`` or ``host:port``."""
    with contextlib.suppress(Refused):
        return read_boolean(value)
    globs: tuple[str, ...] = ()
    with contextlib.suppress(Refused):
        globs = read_names(value)
    # What somebody may have meant for a boolean names no host.
    if not globs or any(glob.isdecimal() or glob.lower() in _NEARLY_BOOLEAN for glob in globs):
        raise Refused("is not true, false, or a list of hosts")
    return globs


_NEARLY_BOOLEAN: Final = ("true", "false", "yes", "no", "on", "off", "y", "n", "t", "f", "none")


def read_count(value: object) -> int:
    """A whole number above 0."""
    try:
        # By way of text: int() alone would take 1.5 and True.
        number = int(str(value))
    except ValueError:
        number = 0
    if number < 1:
        raise Refused("is not a whole number above 0")
    return number


def read_seconds(value: object) -> float:
    """Seconds: a finite number, 0 or more."""
    try:
        number = float(str(value))
    except ValueError:
        number = -1.0
    if not (math.isfinite(number) and number >= 0):
        raise Refused("is not a number of seconds, 0 or more")
    return number


def read_names(value: object) -> tuple[str, ...]:
    """A list: text with commas, or several texts. Order is kept, empty items and repeats are not."""
    if isinstance(value, str):
        items: Iterable[object] = value.split(",")
    elif isinstance(value, Iterable) and not isinstance(value, Mapping | bytes):
        items = value
    else:
        raise Refused("is not a list of names")
    return tuple(dict.fromkeys(text for item in items if (text := str(item).strip())))


def read_word(value: object) -> str:
    """One name without spaces."""
    text = str(value).strip()
    if not isinstance(value, str) or not text or any(character.isspace() for character in text):
        raise Refused("is not one name without spaces")
    return text


def read_path(value: object) -> str:
    """The path of a file."""
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise Refused("is not the path of a file")
    return text.strip()


def read_set(value: object) -> frozenset[str]:
    return frozenset(read_names(value))


def read_patterns(value: object) -> tuple[str, ...]:
    """Regular expressions."""
    return _all_that(value, _is_pattern, "is not a list of regular expressions")


def read_urls(value: object) -> tuple[str, ...]:
    """Absolute URLs of ``http`` or ``https``."""
    return _all_that(value, _is_url, "is not a list of http or https URLs")


def _all_that(value: object, fits: Callable[[str], bool], complaint: str) -> tuple[str, ...]:
    names = read_names(value)
    kept = tuple(name for name in names if fits(name))
    if kept != names:
        bad = ", ".join(repr(name) for name in names if name not in kept)
        raise Refused(f"{complaint}, because of {bad}", kept)
    return names


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


READERS: Final[dict[str, Reader]] = {
    "strictness": read_strictness,
    "raise_on": read_level,
    "exporters": read_names,
    "violations_file": read_path,
    "disabled_clients": read_set,
    "excluded_urls": read_patterns,
    "card_urls": read_urls,
    "pinned_cards": read_names,
    "max_tasks": read_count,
    "max_agents": read_count,
    "max_body": read_count,
    "task_deadline": read_seconds,
    "max_card_age": read_seconds,
    "webhook_card_window": read_seconds,
    "card_failure_window": read_seconds,
    "clock_skew": read_seconds,
    "gateway_rewrites_ids": read_boolean,
    "correlation_key": read_word,
    "raise_in_stream": read_boolean,
    "state_spans": read_boolean,
    "transition_events": read_boolean,
    "propagate": read_hosts_or_boolean,
    "suppress_sdk_spans": read_boolean,
}
"""The settings that are plain values, by the name of their field in ``Settings``."""

FILE_ONLY: Final[dict[str, Reader]] = {
    "fenced": read_boolean,
    "history_declared": read_boolean,
    "continuation_is_binding": read_boolean,
    "stale_is_violation": read_boolean,
    "canceled_is_closed": read_boolean,
    "resubmission_is_legal": read_boolean,
    "sees_whole_life": read_boolean,
    "card_per_turn": read_boolean,
    "immutable_per_version": read_boolean,
    "artifacts_keyed_by_skill": read_boolean,
    "watched_elsewhere": read_boolean,
    "webhook_silence": read_seconds,
    "card_age_limit": read_seconds,
}
"""Settings that only a policy file can change, because they say what a deployment has agreed on."""

AT_AGENTS: Final[dict[str, Reader]] = {
    "pinned": read_boolean,
    **{
        name: READERS[name]
        for name in (
            "raise_on",
            "raise_in_stream",
            "task_deadline",
            "max_card_age",
            "webhook_card_window",
            "card_failure_window",
            "clock_skew",
            "gateway_rewrites_ids",
            "correlation_key",
        )
    },
    **FILE_ONLY,
}
"""Settings that a policy file can change for single agents. ``pinned``: its card is one of ``pinned_cards``."""


def read_lines(value: object, *, at_agents: bool) -> tuple[list[ActionRule], list[str]]:
    """Lines of policy out of ``glob=action,…`` or a mapping, and a complaint for each item that is none.

    ``at_agents``: the globs name hosts, not rules.
    """
    lines: list[ActionRule] = []
    complaints: list[str] = []
    items: Iterable[tuple[str, object]]
    if isinstance(value, Mapping):
        items = [(str(glob), action) for glob, action in value.items()]
    else:
        # The last "=" divides, so that a glob may hold one.
        items = [(glob, action) for glob, _, action in (item.rpartition("=") for item in read_names(value))]
    for glob, action in items:
        try:
            strictness = read_strictness(action)
        except ValueError as error:
            complaints.append(f"{glob + '=' if glob else ''}{action}: the action {str(action)!r} {error}")
            continue
        if not glob.strip():
            complaints.append(f"{action}: names no {'agent' if at_agents else 'rule'}; write glob=action")
        elif at_agents:
            lines.append(ActionRule(action=strictness, agent=glob.strip()))
        else:
            lines.append(ActionRule(action=strictness, rule=glob.strip()))
    return lines, complaints
