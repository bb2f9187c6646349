# SPDX-License-Identifier: Apache-2.0
"""Every dialect, by every way in which a program calls: one verdict, that of the replay of what was written."""

from __future__ import annotations

from itertools import product
from typing import Final

import pytest
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, Sampler

from otel_a2a.replay.profiles import settings_for
from otel_a2a.replay.script import Script
from otel_a2a_policies import RULES
from tests.replay import loopback
from tests.replay.dialects import DIALECTS, Dialect, translated
from tests.replay.test_dialects import ORIGINALS, Original
from tests.replay.test_over_http import over_http

Way = tuple[type[loopback.Application], bool, Sampler]
WAYS: Final[list[Way]] = list(
    product((loopback.AsyncApplication, loopback.SyncApplication), (True, False), (ALWAYS_ON, ALWAYS_OFF))
)
"""Async or sync, whole answers or streams, sampled or not."""
NAMES: Final = {loopback.AsyncApplication: "async", loopback.SyncApplication: "sync", ALWAYS_ON: "sampled"}


def plays() -> list[tuple[Original, Dialect, Way]]:
    """Every script once, each in the next dialect and by the next way."""
    combinations = list(product(DIALECTS, WAYS))
    found = []
    for number, original in enumerate(ORIGINALS):
        dialect, way = combinations[number * 7 % len(combinations)]
        if dialect in original.dialects:
            found.append((original, dialect, way))
    return found


PLAYS: Final = plays()


def name_of(play: tuple[Original, Dialect, Way]) -> str:
    original, dialect, (application, whole, sampler) = play
    way = [NAMES[application], "whole" if whole else "streamed", NAMES.get(sampler, "unsampled")]
    return f"{original}-{dialect}-{'-'.join(way)}"


@pytest.mark.parametrize("play", PLAYS, ids=name_of)
async def test_a_dialect_over_http_gives_what_its_replay_gives(play: tuple[Original, Dialect, Way]) -> None:
    """The engine is shown the same over sockets as in a replay, and finds the same."""
    original, dialect, (application, whole, sampler) = play
    script = Script.model_validate(translated(original.document, dialect))
    settings = settings_for(script, original.profile, RULES).settings
    await over_http(script, settings, application, whole, sampler)


def test_all_ways_are_gone_in_every_dialect() -> None:
    """Each way is gone in each dialect at least once."""
    gone = {(dialect, way) for _, dialect, way in PLAYS}
    assert gone == set(product(DIALECTS, WAYS))
