# SPDX-License-Identifier: Apache-2.0
"""The revision of an Agent Card: one short text that changes exactly when a task has reason to care (design §3).

Two values. The *revision* covers what a task depends on: interfaces in their order, capabilities without prose, the set
of skill ids. The *digest* covers the whole card without its signatures. Both are ``sha256:`` over RFC 8785 JSON.

In the revision, absent, ``false``, ``null`` and empty are one value. Where ``supportedInterfaces`` is there, the 0.x
fields are mirrors and do not count. Of protocol versions the patch number does not count (A2A 1.0, section 3.6).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

import rfc8785

from otel_a2a.wire.reading import field

_PATCH: Final = re.compile(r"(\d+\.\d+)\.\d+\Z")
_SNAKE: Final = {
    "push_notifications": "pushNotifications",
    "state_transition_history": "stateTransitionHistory",
    "extended_agent_card": "extendedAgentCard",
}


def card_revision(card: Mapping[str, Any] | str | bytes) -> str:
    """``sha256:…`` over what a task depends on in an Agent Card of any version.

    Takes a card as an object, or as JSON. Never raises: a document that is no card is hashed as a whole, and what
    RFC 8785 refuses (no JSON, numbers beyond 2**53, NaN, lone surrogates, bottomless nesting) as it came.
    """
    return revision_and_digest(card)[0]


def revision_and_digest(card: Any, raw: bytes | None = None) -> tuple[str, str, bool]:
    """Revision, digest, and whether both are canonical.

    Args:
        card: the parsed document, or JSON.
        raw: the bytes that it was parsed from, which are hashed where there is no canonical form.
    """
    if isinstance(card, (str, bytes, bytearray)):
        raw = _bytes(card)
        try:
            card = json.loads(raw)
        except (ValueError, RecursionError):
            whole = _sha256(raw)
            return whole, whole, False
    digest = _canonical_hash(_unsigned(card))
    projection = _projection(card)
    revision = _canonical_hash(projection) if projection else digest
    canonical = bool(revision and digest)
    if not canonical:
        fallback = _sha256(raw if raw is not None else _as_it_came(card))
        revision, digest = revision or fallback, digest or fallback
    return revision, digest, canonical


def _projection(card: Any) -> dict[str, Any]:
    """What the revision covers; empty where the document says nothing of it."""
    if not isinstance(card, Mapping):
        return {}
    try:
        members = {
            "interfaces": interfaces(card),
            "capabilities": _capabilities(card),
            "skills": _skills(card.get("skills")),
        }
    except (RecursionError, TypeError, ValueError):
        return {}
    return {name: value for name, value in members.items() if not _is_empty(value)}


def interfaces(card: Mapping[str, Any]) -> list[Any]:
    """The entries of ``supportedInterfaces``, or of a 0.x card's url fields in the same shape, pruned, each once.

    Entries of unexpected type stay as they are: they are hashed, not ignored.
    """
    supported = field(card, "supportedInterfaces")
    entries = _entries(supported) if not _is_empty(_pruned(supported)) else _legacy_interfaces(card)
    shaped = [_interface(entry) for entry in entries]
    return list({json.dumps(entry, sort_keys=True, default=repr): entry for entry in shaped}.values())


def _legacy_interfaces(card: Mapping[str, Any]) -> list[Any]:
    """The url fields of a 0.x card as entries of ``supportedInterfaces``; many list the main url among the others."""
    entries: list[Any] = []
    if not _is_empty(card.get("url")):
        entries.append({"url": card["url"], "transport": field(card, "preferredTransport") or "JSONRPC"})
    additional = field(card, "additionalInterfaces")
    if not _is_empty(additional):
        entries += _entries(additional)
    version = field(card, "protocolVersion")
    return [_renamed(entry, version) for entry in entries]


def _renamed(entry: Any, version: Any) -> Any:
    if not isinstance(entry, Mapping) or "transport" not in entry:
        return entry
    rest = {key: value for key, value in entry.items() if key != "transport"}
    return {"protocolVersion": version, **rest, "protocolBinding": entry["transport"]}


def _entries(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _interface(entry: Any) -> Any:
    if not isinstance(entry, Mapping):
        return _pruned(entry)
    shaped = {
        "url": entry.get("url"),
        "protocolBinding": field(entry, "protocolBinding"),
        "protocolVersion": _without_patch(field(entry, "protocolVersion")),
        "tenant": entry.get("tenant"),
    }
    known = {*shaped, "protocol_binding", "protocol_version", "description"}
    return _pruned({**shaped, **{key: value for key, value in entry.items() if key not in known}})


def _without_patch(version: Any) -> Any:
    return _PATCH.sub(r"\1", version) if isinstance(version, str) else version


def _capabilities(card: Mapping[str, Any]) -> Any:
    """Capabilities without descriptions; the 0.x flag of the extended card is moved to where 1.0 has it."""
    capabilities = _pruned(card.get("capabilities"), prose=False)
    if isinstance(capabilities, dict):
        for old in [key for key in capabilities if key in _SNAKE]:
            capabilities.setdefault(_SNAKE[old], capabilities.pop(old))
    legacy = _is_empty(_pruned(field(card, "supportedInterfaces")))
    if legacy and field(card, "supportsAuthenticatedExtendedCard") is True:
        if _is_empty(capabilities):
            return {"extendedAgentCard": True}
        if isinstance(capabilities, dict):
            return {"extendedAgentCard": True, **capabilities}
    return capabilities


def _skills(skills: Any) -> Any:
    """Sorted ids, each once; a skill without an id counts as a whole."""
    if not isinstance(skills, (list, tuple)):
        return _pruned(skills)
    named = [skill["id"] if isinstance(skill, Mapping) and skill.get("id") else _pruned(skill) for skill in skills]
    by_text = {json.dumps(skill, sort_keys=True, default=repr): skill for skill in named}
    return [by_text[key] for key in sorted(by_text)]


def _pruned(value: Any, *, prose: bool = True) -> Any:
    """The value without members that say nothing (and, on demand, without descriptions), inside out."""
    if isinstance(value, Mapping):
        members = (
            (key, _pruned(member, prose=prose)) for key, member in value.items() if prose or key != "description"
        )
        return {key: member for key, member in members if not _is_empty(member)}
    if isinstance(value, (list, tuple)):
        return [_pruned(element, prose=prose) for element in value]
    return value


def _is_empty(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, (str, list, tuple, dict)) and not value)


def _unsigned(card: Any) -> Any:
    return {key: value for key, value in card.items() if key != "signatures"} if isinstance(card, Mapping) else card


def _canonical_hash(value: Any) -> str:
    """Empty where RFC 8785 refuses the value."""
    try:
        return _sha256(rfc8785.dumps(value))
    except (ValueError, TypeError, AssertionError, RecursionError, AttributeError):
        return ""


def _sha256(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _bytes(text: str | bytes | bytearray) -> bytes:
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)


def _as_it_came(value: Any) -> bytes:
    """Stable bytes for a value of which there are none: JSON where that is possible, else Python's own text."""
    try:
        return json.dumps(value, sort_keys=True, default=repr).encode("utf-8", "surrogatepass")
    except (ValueError, TypeError, RecursionError):
        pass
    try:
        return repr(value).encode("utf-8", "surrogatepass")
    except (ValueError, TypeError, RecursionError):
        return repr(type(value)).encode()
