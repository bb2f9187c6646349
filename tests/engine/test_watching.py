# SPDX-License-Identifier: Apache-2.0
"""Watching an engine: what a program hears of its findings while a block runs."""

from __future__ import annotations

import threading

import pytest

from otel_a2a import local
from otel_a2a.engine import set_current
from otel_a2a.engine.watching import watched
from tests.support.world import SUBMITTED, WORKING, World


def test_a_watcher_hears_of_repeats_and_of_nothing_else() -> None:
    """It gets what is found within its block, each repeat with its count, as the caller's verdict has it."""
    world = World()
    world.send(WORKING)
    world.get("t1", SUBMITTED)
    with watched(world.engine) as found:
        world.get("t1", SUBMITTED)
        world.get("t1", SUBMITTED)
    world.get("t1", SUBMITTED)
    assert [(each.rule, each.count) for each in found] == [("backward-transition", 2), ("backward-transition", 3)]


def test_watchers_come_and_go_by_themselves() -> None:
    """Blocks may overlap in any order, and one that fails leaves nothing behind."""
    world = World()
    world.send(WORKING)
    outer, inner = watched(world.engine), watched(world.engine)
    first, second = outer.__enter__(), inner.__enter__()
    outer.__exit__(None, None, None)
    world.get("t1", SUBMITTED)
    inner.__exit__(None, None, None)
    assert (len(first), len(second)) == (0, 1)
    with pytest.raises(ZeroDivisionError), watched(world.engine):
        _ = 1 / 0
    assert world.engine.watchers == ()


def test_a_watcher_hears_of_other_threads() -> None:
    """What a timer or another thread finds is found in this process too."""
    world = World()
    world.send(WORKING)
    with watched(world.engine) as found:
        thread = threading.Thread(target=world.get, args=("t1", SUBMITTED))
        thread.start()
        thread.join()
    assert [each.rule for each in found] == ["backward-transition"]


def test_the_application_watches_by_local() -> None:
    """``local.findings`` watches the engine of the process; what ``check`` asks is not found."""
    world = World()
    set_current(world.engine)
    try:
        with local.findings() as found:
            world.send(WORKING)
            world.get("t1", SUBMITTED)
            before = list(found)
            assert local.check("send", task_id="t1") == ()
    finally:
        set_current(None)
    assert [each.rule for each in before] == ["backward-transition"]
    assert found == before


def test_nothing_is_heard_where_nothing_is_instrumented() -> None:
    """The list is there, and stays empty."""
    with local.findings() as found:
        assert local.task_state("t-1", "failed", reason="capability") == ()
    assert found == []
