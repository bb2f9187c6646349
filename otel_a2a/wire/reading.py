# SPDX-License-Identifier: Apache-2.0
"""Lenient reading of JSON: wrong types read as absent, camelCase and snake_case are one name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

Headers = Callable[[str], "str | None"]
"""Gives the value of a header by its lower-case name, or None."""

UNREADABLE: Final[Any] = object()
"""What ``load`` returns for bytes that are no JSON; JSON itself can be ``null``."""

_HUMP: Final = re.compile(r"(?<=[a-z0-9])([A-Z])")
_EMPTY: Final[dict[str, Any]] = {}


def load(body: bytes | str) -> Any:
    """The JSON document, or ``UNREADABLE``."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return UNREADABLE


@lru_cache(maxsize=256)
def snake(name: str) -> str:
    """``taskId`` as ``task_id``: ProtoJSON parsers accept both, and one SDK writes the second."""
    return _HUMP.sub(r"_\1", name).lower()


def field(value: Mapping[str, Any], name: str) -> Any:
    """The member ``name`` (given in camelCase) in either spelling, or None."""
    found = value.get(name)
    return value.get(snake(name)) if found is None else found


def text(value: Mapping[str, Any], name: str) -> str:
    """The member as text, empty where it is absent or no string."""
    found = field(value, name)
    return found if isinstance(found, str) else ""


def mapping(value: Any, name: str) -> dict[str, Any]:
    """The member as an object, empty where it is absent or something else."""
    found = field(value, name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else _EMPTY


def items(value: Mapping[str, Any], name: str) -> list[Any]:
    """The member as a list, empty where it is absent or something else."""
    found = field(value, name)
    return found if isinstance(found, list) else []


def flag(value: Mapping[str, Any], name: str) -> bool | None:
    """The member as a boolean, also where it is written as text (lenient parsers take it); None where it is absent or
    something else."""
    found = field(value, name)
    if isinstance(found, str):
        return {"true": True, "false": False}.get(found.lower())
    return found if isinstance(found, bool) else None


def integer(value: Any) -> int | None:
    """An integer, also where ProtoJSON writes an int64 as text; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) <= 20 and value.isascii() and value.isdigit():
        return int(value)
    return None


def media_type(content_type: str | None) -> str:
    """``application/json; charset=utf-8`` as ``application/json``; empty for None."""
    return content_type.partition(";")[0].strip().lower() if content_type else ""
