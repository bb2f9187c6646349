# SPDX-License-Identifier: Apache-2.0
"""The format of exchange scripts (``docs/replay.md``), and reading one from a file.

Keys that are not known are passed over, so that a script may hold what only its readers want to know. The settings are
the exception: a threshold that is misspelt would change the verdict in silence.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, ValidationError, model_validator

from otel_a2a.replay.steps import KINDS, CallHints, Part, Seconds, Step

MOST_ERRORS: Final = 5
"""Errors of one file that are told; the rest is counted."""


class ScriptError(ValueError):
    """A file is no script. The text names the file, each place that is wrong, and what is allowed there."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path}: {what}")
        self.path = path


class ScriptSettings(Part):
    """The thresholds that a script needs, in seconds, and an environment."""

    model_config = ConfigDict(extra="forbid")

    deadline_s: Seconds | None = None
    max_card_age_s: Seconds | None = None
    card_failure_window_s: Seconds | None = None
    webhook_card_window_s: Seconds | None = None
    webhook_silence_s: Seconds | None = None
    clock_skew_s: Seconds | None = None
    gateway_rewrites_ids: bool | None = None
    env: dict[str, str] = Field(default_factory=dict)

    def values(self) -> dict[str, Any]:
        """What is set, by the name of the setting."""
        stated = self.model_dump(exclude={"env"}, exclude_none=True)
        return {_SETTINGS.get(name, name.removesuffix("_s")): value for name, value in stated.items()}


_SETTINGS: Final = {"deadline_s": "task_deadline"}


class Expected(Part):
    """A rule that must fire, and the first step at which it does. The rule's name alone stands for any step."""

    rule: str
    step: int | None = None

    @model_validator(mode="before")
    @classmethod
    def _may_be_a_name(cls, value: Any) -> Any:
        return {"rule": value} if isinstance(value, str) else value


class Script(Part):
    """A sequence of exchanges, and what is to be found in it."""

    id: str = ""
    title: str = ""
    settings: ScriptSettings = ScriptSettings()
    exchanges: Annotated[list[Step], Field(min_length=1)]
    expected: list[Expected] | None = None
    """What the profile ``default`` finds at violation or improvement; None where the script does not say."""
    expected_by_profile: dict[str, list[Expected]] = Field(default_factory=dict)
    """The same for other profiles, by name; see ``otel_a2a.replay.profiles``."""


def content_of(path: Path) -> bytes:
    """What is in a file.

    Raises:
        ScriptError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except IsADirectoryError:
        raise ScriptError(path, "is a folder without a script (*.json)") from None
    except OSError as error:
        raise ScriptError(path, f"cannot be read: {error.strerror}") from None


def load(path: Path) -> Script:
    """Read a script. One without an ``id`` is called after its file.

    Raises:
        ScriptError: the file cannot be read, is not JSON, or is no script.
    """
    return parse(path, content_of(path))


def parse(path: Path, content: bytes) -> Script:
    """The script that ``content`` of the file ``path`` is.

    Raises:
        ScriptError: it is not JSON, or is no script.
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ScriptError(path, f"is not JSON: {error}") from None
    try:
        script = Script.model_validate(document)
    except ValidationError as error:
        raise ScriptError(path, _sentence(error.errors(include_url=False))) from None
    script.id = script.id or path.stem
    return script


KEY: Final = "exchanges"
"""What makes a document a script."""
_QUOTE: Final = "'"


def _sentence(errors: Sequence[Any]) -> str:
    told = "; ".join(_of_error(error) for error in errors[:MOST_ERRORS])
    rest = f"; and {len(errors) - MOST_ERRORS} more" if len(errors) > MOST_ERRORS else ""
    return told + rest


def _of_error(error: Any) -> str:
    kind, context = error["type"], error.get("ctx", {})
    place = _place(error["loc"])
    if kind == "missing":
        spans = (
            "; nor are there spans: OTLP has resourceSpans, and what Jaeger answers has data" if place == KEY else ""
        )
        return f"{place}: is missing{spans}"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        key = context["discriminator"].strip(_QUOTE)
        allowed = ", ".join(KINDS[key])
        if kind == "union_tag_not_found":
            return f"{place}.{key}: is missing; it is one of {allowed}"
        return f"{place}.{key}: {context['tag']!r} is not one of {allowed}"
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return f"{place}: must be an object, not {_shown(error['input'])}"
    if kind == "extra_forbidden":
        model = CallHints if "hints" in error["loc"] else ScriptSettings
        return f"{place}: is not known; known are {', '.join(model.model_fields)}"
    message = error["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if kind == "value_error" else f"{place}: {message}, not {_shown(error['input'])}"


def _place(location: tuple[int | str, ...]) -> str:
    """``exchanges[3].response.events[0].t``. pydantic adds the kinds that it chose between, which no file contains."""
    pieces = [piece for index, piece in enumerate(location) if not _is_chosen_kind(location, index)]
    text = "".join(f"[{piece}]" if isinstance(piece, int) else f".{piece}" for piece in pieces)
    return text.removeprefix(".") or "the document"


def _is_chosen_kind(location: tuple[int | str, ...], index: int) -> bool:
    return location[0] == "exchanges" and (index == 2 or (index == 3 and location[2] == "local"))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
