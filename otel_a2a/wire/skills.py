# SPDX-License-Identifier: Apache-2.0
"""What a card says of its skills: ids, media types, and how long they take."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_ISO_8601: Final = re.compile(r"^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$")
_WITH_UNIT: Final = re.compile(r"^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def ids(card: Mapping[str, Any]) -> frozenset[str]:
    """The ids of the skills; a skill without one is passed over."""
    return frozenset(skill["id"] for skill in _skills(card) if isinstance(skill.get("id"), str))


def input_modes(card: Mapping[str, Any]) -> frozenset[str]:
    """The media types of ``defaultInputModes`` and of every skill."""
    return _modes(card, "defaultInputModes", "inputModes")


def all_modes(card: Mapping[str, Any]) -> str:
    """A digest over the media types that the agent takes and gives, in any order, through whichever skill."""
    taken, given = sorted(input_modes(card)), sorted(_modes(card, "defaultOutputModes", "outputModes"))
    return hashlib.sha256(f"{taken}>{given}".encode("utf-8", "surrogatepass")).hexdigest()


def durations(card: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """Skill id and ``estimatedDuration`` in seconds, for the skills that state one.

    No A2A version has the member; seed 001 does. Taken are seconds, ``30s``, ``5 m`` and ISO 8601 (``PT1M30S``).
    """
    found = [(skill.get("id"), _seconds(skill.get("estimatedDuration"))) for skill in _skills(card)]
    return tuple((skill, seconds) for skill, seconds in found if isinstance(skill, str) and seconds is not None)


def _skills(card: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    skills = card.get("skills")
    yield from (skill for skill in skills if isinstance(skill, dict)) if isinstance(skills, list) else ()


def _modes(card: Mapping[str, Any], of_card: str, of_skill: str) -> frozenset[str]:
    modes = set(_texts(card.get(of_card)))
    for skill in _skills(card):
        modes.update(_texts(skill.get(of_skill)))
    return frozenset(modes)


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _seconds(value: Any) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if 0 < value < 1e9 else None
    if not isinstance(value, str):
        return None
    plain = _WITH_UNIT.match(value.strip())
    if plain is not None:
        return float(plain[1]) * _UNITS[plain[2] or "s"] or None
    iso = _ISO_8601.match(value.strip())
    if iso is None:
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in iso.groups())
    return days * 86400 + hours * 3600 + minutes * 60 + seconds or None
