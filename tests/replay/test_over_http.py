# SPDX-License-Identifier: Apache-2.0
"""The field cases over real sockets and the instrumented client: the same verdicts as in the replay."""

from __future__ import annotations

import logging

import pytest
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, Sampler

from otel_a2a.replay.compare import differences
from otel_a2a.replay.player import Observer, Played, play
from otel_a2a.replay.profiles import settings_for
from otel_a2a_policies import RULES
from tests.replay import cases, loopback
from tests.replay.cases import Judged
from tests.support.telemetry import Telemetry


def verdicts(played: Played) -> list[tuple[int, str, str, str]]:
    return sorted(
        (each.step, each.finding.rule, each.finding.level.value, each.finding.task_id) for each in played.found
    )


@pytest.mark.parametrize(
    ("application", "whole", "sampler"),
    [
        pytest.param(loopback.AsyncApplication, True, ALWAYS_ON, id="async"),
        pytest.param(loopback.SyncApplication, False, ALWAYS_OFF, id="sync-streamed-unsampled"),
    ],
)
@pytest.mark.parametrize("case", cases.judged(), ids=str)
async def test_a_case_over_http_gives_what_its_replay_gives(
    case: Judged,
    application: type[loopback.Application],
    whole: bool,
    sampler: Sampler,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """An agent's bytes on a socket, read by an instrumented httpx, give the findings of the replay at its steps."""
    if not case.can_be_judged:
        pytest.skip(f"there is no profile {case.expectation.profile}")
    caplog.set_level(logging.WARNING, "otel_a2a")
    settings = settings_for(case.script, case.expectation.profile, RULES).settings
    observer = Observer(settings, RULES)
    with Telemetry(sampler).instrumented(engine=observer.engine):
        await loopback.perform(case.script, observer, application(), whole=whole)
    assert list(differences(case.expectation, observer.played)) == []
    assert verdicts(observer.played) == verdicts(play(case.script, settings, RULES))
    assert not caplog.records
