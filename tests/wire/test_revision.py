# SPDX-License-Identifier: Apache-2.0
"""The revision changes exactly when a task has reason to care."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_a2a.wire import revision
from otel_a2a.wire.revision import card_revision, revision_and_digest
from tests.wire.recorded import SHARED

CARD_1_0: dict[str, Any] = {
    "name": "Weaver",
    "description": "Weaves.",
    "version": "1.4.0",
    "supportedInterfaces": [
        {"url": "https://weaver.example/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        {"url": "https://weaver.example/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
    ],
    "capabilities": {
        "streaming": True,
        "pushNotifications": False,
        "extensions": [{"uri": "urn:x", "description": "prose", "params": {"n": 1, "deep": [{"description": "p"}]}}],
    },
    "skills": [
        {"id": "weave", "name": "Weave", "tags": ["t"]},
        {"id": "spin", "name": "Spin", "description": "Spins."},
    ],
    "signatures": [{"protected": "x", "signature": "y"}],
}
CARD_0_3: dict[str, Any] = {
    "name": "Weaver",
    "version": "1.4.0",
    "protocolVersion": "0.3.0",
    "url": "https://weaver.example/rpc",
    "additionalInterfaces": [{"url": "https://weaver.example/rest", "transport": "HTTP+JSON"}],
    "capabilities": {"streaming": True},
    "skills": [{"id": "weave", "name": "Weave"}, {"id": "spin", "name": "Spin"}],
}


def card_digest(card: Any) -> str:
    return revision_and_digest(card)[1]


def changed(card: dict[str, Any], *path: Any, to: Any = ..., **members: Any) -> dict[str, Any]:
    """A copy with one member set (or, without ``to``, with ``members`` set in the object at ``path``)."""
    new = copy.deepcopy(card)
    target: Any = new
    for step in path[:-1] if to is not ... else path:
        target = target[step]
    if to is not ...:
        target[path[-1]] = to
    else:
        target.update(members)
    return new


def without(card: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in card.items() if name not in names}


SAME = {
    "key order": (CARD_1_0, dict(reversed(list(CARD_1_0.items())))),
    "prose": (CARD_1_0, changed(CARD_1_0, description="other", documentationUrl="https://x.example")),
    "version and counters": (CARD_1_0, changed(CARD_1_0, version="9", requestCount=7)),
    "signature": (CARD_1_0, without(CARD_1_0, "signatures")),
    "skill prose": (CARD_1_0, changed(CARD_1_0, "skills", 0, name="Other", description="other")),
    "skill order": (CARD_1_0, changed(CARD_1_0, "skills", to=CARD_1_0["skills"][::-1])),
    "skill twice": (CARD_1_0, changed(CARD_1_0, "skills", to=CARD_1_0["skills"] * 2)),
    "false and absent": (CARD_1_0, changed(CARD_1_0, "capabilities", pushNotifications=None, extendedAgentCard=False)),
    "empty and absent": (CARD_1_0, changed(CARD_1_0, "supportedInterfaces", 0, tenant="")),
    "no capabilities": (changed(CARD_0_3, "capabilities", to={}), without(CARD_0_3, "capabilities")),
    "extension prose": (CARD_1_0, changed(CARD_1_0, "capabilities", "extensions", 0, description="other")),
    "extension prose, deep": (
        CARD_1_0,
        changed(CARD_1_0, "capabilities", "extensions", 0, "params", "deep", 0, description="other"),
    ),
    "number format": (CARD_1_0, changed(CARD_1_0, "capabilities", "extensions", 0, "params", n=1.0)),
    "legacy mirrors": (
        CARD_1_0,
        changed(CARD_1_0, url="https://other.example", preferredTransport="GRPC", protocolVersion="0.3"),
    ),
    "legacy extended flag beside interfaces": (CARD_1_0, changed(CARD_1_0, supportsAuthenticatedExtendedCard=True)),
    "extended flag in its old and new place": (
        changed(CARD_0_3, supportsAuthenticatedExtendedCard=True),
        changed(CARD_0_3, "capabilities", extendedAgentCard=True),
    ),
    "extended flag without capabilities": (
        {**without(CARD_0_3, "capabilities"), "supportsAuthenticatedExtendedCard": True},
        changed(CARD_0_3, "capabilities", to={"extendedAgentCard": True}),
    ),
    "default transport": (CARD_0_3, changed(CARD_0_3, preferredTransport="JSONRPC")),
    "main interface listed again": (
        CARD_0_3,
        changed(
            CARD_0_3,
            "additionalInterfaces",
            to=[{"url": CARD_0_3["url"], "transport": "JSONRPC"}, *CARD_0_3["additionalInterfaces"]],
        ),
    ),
    "interface twice": (
        CARD_1_0,
        changed(
            CARD_1_0, "supportedInterfaces", to=[CARD_1_0["supportedInterfaces"][0], *CARD_1_0["supportedInterfaces"]]
        ),
    ),
    "protocol patch number": (CARD_0_3, changed(CARD_0_3, protocolVersion="0.3.1")),
    "snake_case": (
        CARD_1_0,
        {
            **without(CARD_1_0, "supportedInterfaces"),
            "supported_interfaces": [
                {"url": i["url"], "protocol_binding": i["protocolBinding"], "protocol_version": i["protocolVersion"]}
                for i in CARD_1_0["supportedInterfaces"]
            ],
        },
    ),
}
DIFFERENT = {
    "capability gone": (CARD_1_0, changed(CARD_1_0, "capabilities", streaming=False)),
    "capability new": (CARD_1_0, changed(CARD_1_0, "capabilities", pushNotifications=True)),
    "0.x capability": (CARD_0_3, changed(CARD_0_3, "capabilities", stateTransitionHistory=True)),
    "skill gone": (CARD_1_0, changed(CARD_1_0, "skills", to=CARD_1_0["skills"][:1])),
    "skill new": (CARD_1_0, changed(CARD_1_0, "skills", to=[*CARD_1_0["skills"], {"id": "new"}])),
    "interface order": (CARD_1_0, changed(CARD_1_0, "supportedInterfaces", to=CARD_1_0["supportedInterfaces"][::-1])),
    "interface moved": (CARD_1_0, changed(CARD_1_0, "supportedInterfaces", 0, url="https://b.example")),
    "interface version": (CARD_1_0, changed(CARD_1_0, "supportedInterfaces", 0, protocolVersion="1.1")),
    "tenant": (CARD_1_0, changed(CARD_1_0, "supportedInterfaces", 0, tenant="acme")),
    "legacy url": (CARD_0_3, changed(CARD_0_3, url="https://b.example/rpc")),
    "legacy transport": (CARD_0_3, changed(CARD_0_3, preferredTransport="GRPC")),
    "legacy interface": (CARD_0_3, without(CARD_0_3, "additionalInterfaces")),
    "extension parameter": (CARD_1_0, changed(CARD_1_0, "capabilities", "extensions", 0, "params", n=2)),
    "capabilities as a list": ({"capabilities": ["a"]}, {"capabilities": ["a", "b"]}),
    "skills as names": ({"skills": ["a"]}, {"skills": ["b"]}),
    "skills without ids": ({"skills": [{"name": "a"}]}, {"skills": [{"name": "b"}]}),
    "skills as an object": ({"skills": {"a": 1}}, {"skills": {"b": 1}}),
    "documents that are no cards": ({"hello": 1}, {"hello": 2}),
    "documents that are no objects": ([1], [2]),
}


@pytest.mark.parametrize(("a", "b"), SAME.values(), ids=SAME)
def test_what_no_task_depends_on_is_the_same_revision(a: Any, b: Any) -> None:
    """Prose, order of keys, defaults, mirrors and signatures."""
    assert card_revision(a) == card_revision(b)


@pytest.mark.parametrize(("a", "b"), DIFFERENT.values(), ids=DIFFERENT)
def test_what_a_task_depends_on_is_another_revision(a: Any, b: Any) -> None:
    """Interfaces in their order, capabilities, skill ids; unusual types are hashed, not ignored."""
    assert card_revision(a) != card_revision(b)


@pytest.mark.skipif(not (SHARED / "cards").is_dir(), reason="the collection of real cards is not here")
def test_pairs_of_real_cards_have_the_known_verdicts() -> None:
    """The collection's own verdict on every pair."""
    pairs = json.loads((SHARED / "cards" / "pairs.json").read_bytes())
    assert len(pairs) >= 17
    for pair in pairs:
        same = card_revision(pair["a"]) == card_revision(pair["b"])
        assert same == (pair["expect"] == "same revision"), pair["name"]


def test_the_digest_covers_all_but_signatures() -> None:
    """Prose counts there, key order and signatures do not."""
    assert card_digest(CARD_1_0) == card_digest(without(CARD_1_0, "signatures"))
    assert card_digest(CARD_1_0) == card_digest(dict(reversed(list(CARD_1_0.items()))))
    assert card_digest(CARD_1_0) != card_digest(changed(CARD_1_0, description="other"))
    canonical = json.dumps(without(CARD_1_0, "signatures"), sort_keys=True, separators=(",", ":")).encode()
    assert card_digest(CARD_1_0) == f"sha256:{hashlib.sha256(canonical).hexdigest()}"


def test_object_text_and_bytes_are_one_card() -> None:
    """The public function takes a card as it comes."""
    written = json.dumps(CARD_1_0, indent=2)
    assert card_revision(CARD_1_0) == card_revision(written) == card_revision(written.encode())
    assert card_revision(CARD_1_0).startswith("sha256:") and len(card_revision(CARD_1_0)) == 71


def test_a_document_without_anything_to_depend_on_is_hashed_as_a_whole() -> None:
    """Else all of them would be one revision."""
    assert card_revision({"hello": 1}) == card_digest({"hello": 1})
    assert card_revision("[1, 2]") == card_digest("[1,2]")


def test_what_jcs_refuses_is_hashed_as_it_came() -> None:
    """And marked; what can be told canonically still is."""
    for odd in (2**60, math.nan, math.inf, "\ud800"):
        card = {**CARD_1_0, "x": odd}
        raw = json.dumps(card).encode()
        found, digest, canonical = revision_and_digest(json.loads(raw), raw)
        assert (found, canonical) == (card_revision(CARD_1_0), False)
        assert digest == f"sha256:{hashlib.sha256(raw).hexdigest()}"
        inside = changed(CARD_1_0, "capabilities", "extensions", 0, "params", n=odd)
        raw = json.dumps(inside).encode()
        assert revision_and_digest(json.loads(raw), raw)[0] == f"sha256:{hashlib.sha256(raw).hexdigest()}"


def test_what_the_parser_refuses_is_hashed_as_it_came() -> None:
    """Bottomless nesting, endless numbers, no JSON, no UTF-8."""
    for raw in (b"[" * 200_000, b'{"a":' * 5_000, b"9" * 5_000, b"no json", b"\xff\xfe\xff", b""):
        expected = f"sha256:{hashlib.sha256(raw).hexdigest()}"
        assert revision_and_digest(raw) == (expected, expected, False)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
CARD_LIKE = st.fixed_dictionaries(
    {},
    optional={
        name: JSON
        for name in ("url", "supportedInterfaces", "additionalInterfaces", "capabilities", "skills", "protocolVersion")
    },
)


@given(JSON | CARD_LIKE)
def test_any_json_hashes_and_hashes_alike(document: Any) -> None:
    """Without an exception, and the same for the document and for its text."""
    found, digest, canonical = revision_and_digest(document)
    assert found.startswith("sha256:") and digest.startswith("sha256:")
    assert revision_and_digest(copy.deepcopy(document)) == (found, digest, canonical)
    written = json.dumps(document).encode()
    if canonical:
        assert revision_and_digest(written)[:2] == (found, digest)


@pytest.mark.parametrize(
    "odd",
    [
        object(),
        {1: 2, "a": 3},
        {"skills": [{1: 2, "a": {3, 4}}]},
        {"capabilities": {"x": object()}},
        {"supportedInterfaces": object()},
        {"supportedInterfaces": [object(), None, 7, "x", [1]]},
        {"url": object(), "additionalInterfaces": object()},
        {"skills": {1, 2}},
        (1, 2),
        "text",
    ],
)
def test_any_python_value_hashes(odd: Any) -> None:
    """The function is public: people will hand it what they have."""
    assert card_revision(odd).startswith("sha256:")
    assert card_digest(odd).startswith("sha256:")


def test_a_value_that_contains_itself_hashes() -> None:
    """There is no JSON of it, and no end."""
    loop: dict[str, Any] = {"skills": []}
    loop["skills"].append(loop)
    loop["capabilities"] = loop
    assert card_revision(loop).startswith("sha256:")


def test_interfaces_have_one_shape() -> None:
    """0.x fields come out as 1.0 would write them."""
    assert revision.interfaces(CARD_0_3) == [
        {"url": "https://weaver.example/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
        {"url": "https://weaver.example/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "0.3"},
    ]
    assert revision.interfaces(CARD_1_0) == CARD_1_0["supportedInterfaces"]
    assert revision.interfaces({}) == []
