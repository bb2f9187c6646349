# SPDX-License-Identifier: Apache-2.0
"""``AgentCardDivergenceError``: it says what was promised and what came, and no id is lost with a withheld answer."""

from __future__ import annotations

import pickle

import pytest

from otel_a2a import AgentCardDivergenceError
from otel_a2a.engine.verdict import Verdict
from otel_a2a.observations import Channel, Method
from otel_a2a_policies import RULES
from tests.support.world import INPUT, WORKING, World, message


def _diverge(world: World, *, stream: bool = False) -> Verdict:
    """A message into t1, which asked a question, is answered with t2."""
    world.send(INPUT)
    method = Method.SEND_STREAMING_MESSAGE if stream else Method.SEND_MESSAGE
    call = world.leaves(method, "t1", sent=message("more", "m2"))
    return world.answers(call, WORKING, task="t2", channel=Channel.STREAM if stream else Channel.RESPONSE)


def test_the_new_id_is_in_the_exception() -> None:
    """The answer is withheld although it created a task, because the exception says which."""
    error = _diverge(World(rule_set=RULES, strictness="raise")).error
    assert isinstance(error, AgentCardDivergenceError)
    assert (error.task_id, error.declared, error.observed) == ("t1", "t1", "t2")
    assert error.request_sent and "t2" in error.detail
    again = pickle.loads(pickle.dumps(error))
    assert (again.declared, again.observed, again.detail) == (error.declared, error.observed, error.detail)


def test_the_ledger_knows_both_tasks_after_that() -> None:
    """The first one is diverged and the new one can be read, so that the program may follow or cancel it."""
    world = World(rule_set=RULES, strictness="raise")
    _diverge(world)
    assert world.task("t1").diverged
    assert world.get("t2", WORKING).findings == ()


@pytest.mark.parametrize(("setting", "raises"), [(False, False), (True, True)])
def test_a_stream_is_not_broken_off_unasked(setting: bool, raises: bool) -> None:
    """In a stream the same finding raises only by RAISE_IN_STREAM."""
    world = World(rule_set=RULES, strictness="raise", raise_in_stream=setting)
    verdict = _diverge(world, stream=True)
    assert [each.rule for each in verdict.findings] == ["continuation-diverged"]
    assert (verdict.error is not None) is raises
