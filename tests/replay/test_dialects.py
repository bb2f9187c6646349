# SPDX-License-Identifier: Apache-2.0
"""One verdict in every dialect: scripts are translated, played, and compared with their originals."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import pytest

from otel_a2a.observations import ArtifactSeen, CallStarted, CardFetched, MessageSeen, Method, TaskSeen
from otel_a2a.replay.player import play
from otel_a2a.replay.profiles import settings_for
from otel_a2a.replay.script import Script
from otel_a2a_policies import RULES
from tests.replay import cases, situations
from tests.replay.dialects import DIALECTS, Dialect, Shape, Untranslatable, dialect_of, translated
from tests.replay.reasons import ADDITIONS, CHANGES, Document, Translation, Verdict, expected
from tests.replay.scripts import Witness

TELL = (TaskSeen, ArtifactSeen, MessageSeen, CallStarted, CardFetched)


@dataclass(frozen=True)
class Original:
    """A script in the dialect in which it was written, and a profile to judge it by."""

    name: str
    document: Document
    profile: str
    dialects: tuple[Dialect, ...] = DIALECTS

    def __str__(self) -> str:
        return self.name

    def into(self, target: Dialect) -> Translation:
        return Translation(self.document, dialect_of(self.document) or target, target, self.profile)


def originals() -> list[Original]:
    found = [
        Original(str(case), json.loads(case.path.read_bytes()), case.expectation.profile) for case in cases.judged()
    ]
    only_1_0 = tuple(dialect for dialect in DIALECTS if dialect.is_1_0)
    for documents, dialects in ((situations.SITUATIONS, DIALECTS), (situations.ONLY_IN_1_0, only_1_0)):
        found += [
            Original(name, document, document.get("profile", "default"), dialects)
            for name, document in documents.items()
        ]
    return found


ORIGINALS = originals()


def verdicts(document: Document, profile: str, *witnesses: Witness) -> Counter[Verdict]:
    """What is found in a script."""
    script = Script.model_validate(document)
    rules = (*RULES, *(rule for witness in witnesses for rule in witness.rules))
    played = play(script, settings_for(script, profile, RULES).settings, rules)
    assert played.faults == []
    return Counter(
        Verdict(each.step, each.finding.rule, each.finding.level.value, each.finding.task_id) for each in played.found
    )


@pytest.mark.parametrize("original", ORIGINALS, ids=str)
def test_a_translation_gives_the_verdicts_of_its_original(original: Original) -> None:
    """Rule, step, level and task are equal in every dialect, but for what has a reason in the rules."""
    found = verdicts(original.document, original.profile)
    differences = {}
    for dialect in original.dialects:
        wanted = expected(found, original.into(dialect))
        got = verdicts(translated(original.document, dialect), original.profile)
        if got != wanted:
            differences[str(dialect)] = {"missing": wanted - got, "not expected": got - wanted}
    assert differences == {}


def told(document: Document, profile: str) -> list[tuple[Any, ...]]:
    """What the engine is shown of calls, tasks, artifacts, messages and cards, in terms that all dialects share.

    A request for the extended card is a call only over JSON-RPC, and a tenant is a segment of the URL over HTTP+JSON.
    """
    witness = Witness(*TELL)
    verdicts(document, profile, witness)
    return [_told(seen) for seen in witness.seen if getattr(seen, "method", "") != Method.GET_EXTENDED_CARD]


def _told(seen: Any) -> tuple[Any, ...]:
    kind, at = type(seen).__name__, seen.at
    if isinstance(seen, CardFetched):
        card = seen.card
        says = (card.name, card.streaming, card.push_notifications, card.skills, card.modes) if card else ()
        return kind, at, says, [each.url for each in card.interfaces] if card else []
    if isinstance(seen, CallStarted):
        push = (seen.push.url, seen.push.token) if seen.push else ()
        place = f"{seen.endpoint}/{seen.tenant}".rstrip("/")
        return kind, at, seen.method, place, seen.task_id, seen.context_id, _words(seen), push
    if isinstance(seen, ArtifactSeen):
        return kind, at, seen.task_id, seen.context_id, seen.artifact, seen.append, seen.last_chunk
    if isinstance(seen, TaskSeen):
        return kind, at, seen.task_id, seen.context_id, seen.state, seen.artifacts, seen.has_message
    return kind, at, seen.message_id, seen.task_id, seen.context_id


def _words(call: CallStarted) -> tuple[Any, ...]:
    """The message that is sent."""
    sent = call.message
    return (sent.message_id, sent.parts, sent.reference_task_ids, sent.media_types) if sent is not None else ()


def common(facts: list[tuple[Any, ...]], into: Translation) -> list[tuple[Any, ...]]:
    """What both dialects can say: 0.1 gives messages no ids, and 0.3 over HTTP+JSON has no references."""
    ids, references = into.origin.version != "0.1", into.target.shape != Shape.PROTO_0_3
    found = []
    for fact in facts:
        if fact[0] == "CallStarted" and fact[6]:
            message_id, content, referenced, media_types = fact[6]
            words = (ids and message_id, content, references and referenced, media_types)
            fact = (*fact[:6], words, *fact[7:])
        found.append(fact)
    return found


@pytest.mark.parametrize("original", ORIGINALS, ids=str)
def test_a_translation_tells_the_same(original: Original) -> None:
    """Ids, states, contents, webhooks and cards reach the engine as equals: no verdict is equal by being blind."""
    facts = told(original.document, original.profile)
    differences = {}
    for into in map(original.into, original.dialects):
        wanted = common(facts, into)
        got = common(told(translated(original.document, into.target), original.profile), into)
        if got != wanted:
            differences[str(into.target)] = [each for each in zip_longest(got, wanted) if each[0] != each[1]]
    assert differences == {}


def test_every_reason_is_needed() -> None:
    """What no script differs by is no reason."""
    used: Counter[str] = Counter()
    for original in ORIGINALS:
        found = verdicts(original.document, original.profile)
        for into in map(original.into, original.dialects):
            for change in CHANGES:
                used[change.why] += any(
                    verdict.rule in change.rules and change.becomes(verdict, into) != verdict.level for verdict in found
                )
            for addition in ADDITIONS:
                used[addition.why] += any(True for _ in addition.finds(into))
    assert [why for why, times in used.items() if not times] == []


def test_there_is_something_to_compare() -> None:
    """Most rules that the wire shows are found somewhere, in every dialect."""
    rules = {verdict.rule for original in ORIGINALS for verdict in verdicts(original.document, original.profile)}
    assert len(rules) >= 30
    for original in ORIGINALS:
        for dialect in original.dialects:
            translated(original.document, dialect)


@pytest.mark.parametrize("name", situations.ONLY_IN_1_0)
def test_what_0_3_has_no_words_for(name: str) -> None:
    """Lists and tenants are of 1.0."""
    for dialect in DIALECTS:
        if not dialect.is_1_0:
            with pytest.raises(Untranslatable):
                translated(situations.ONLY_IN_1_0[name], dialect)
