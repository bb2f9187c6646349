# SPDX-License-Identifier: Apache-2.0
"""The settings that a script is judged by."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_a2a.config import Settings
from otel_a2a.engine.findings import Strictness
from otel_a2a.replay.profiles import check_name, settings_for
from otel_a2a.replay.script import ScriptSettings
from otel_a2a_policies import RULES
from tests.replay.scripts import script, send


def settings(profile: str = "default", **members: object) -> Settings:
    return settings_for(script(send(), **members), profile, RULES).settings


def test_the_default() -> None:
    """A script that says nothing is judged by the defaults."""
    assert settings() == Settings()


def test_this_process_plays_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of whoever plays a script changes nothing; the script's own does."""
    monkeypatch.setenv("OTEL_PYTHON_A2A_CLOCK_SKEW", "7")
    assert settings().clock_skew == 5.0
    assert settings(settings={"env": {"OTEL_PYTHON_A2A_CLOCK_SKEW": "9"}}).clock_skew == 9.0


def test_a_script_s_thresholds_win(tmp_path: Path) -> None:
    """What the script states is in force, whatever the profile and the environment say."""
    path = tmp_path / "mine.toml"
    path.write_text("[settings]\nclock_skew = 1.0\n")
    assert settings(str(path)).clock_skew == 1.0
    stated = {"clock_skew_s": 2, "deadline_s": 300, "env": {"OTEL_PYTHON_A2A_CLOCK_SKEW": "3"}}
    assert settings(str(path), settings=stated).clock_skew == 2.0
    assert settings(str(path), settings=stated).task_deadline == 300.0


def test_what_else_a_script_may_state() -> None:
    """Every threshold of the format is one of the settings, also where only a policy file can set it."""
    stated = {
        "deadline_s": 1,
        "max_card_age_s": 2,
        "card_failure_window_s": 3,
        "webhook_card_window_s": 4,
        "webhook_silence_s": 5,
        "clock_skew_s": 6,
        "gateway_rewrites_ids": True,
    }
    read = script(send(), settings=stated)
    assert set(read.settings.model_fields_set) == set(ScriptSettings.model_fields) - {"env"}
    chosen = settings_for(read, "default", RULES).settings
    assert [getattr(chosen, name) for name in read.settings.values()] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, True]


def test_a_profile_that_needs_a_threshold_gets_it_from_the_script() -> None:
    """Nobody complains of a setting that is missing where the script states it."""
    with_deadline = settings_for(script(send(), settings={"deadline_s": 60}), "declared-history", RULES)
    without = settings_for(script(send()), "declared-history", RULES)
    assert with_deadline.problems == ()
    assert "task_deadline" in without.problems[0]


def test_nothing_is_stopped(tmp_path: Path) -> None:
    """A profile that raises only annotates in a replay; one that is off stays off."""
    path = tmp_path / "strict.toml"
    path.write_text(
        '[settings]\nstrictness = "raise"\n'
        '[rules."task-lost"]\naction = "raise"\n'
        '[rules."backward-*"]\naction = "off"\n'
    )
    strict = settings(str(path))
    assert strict.strictness is Strictness.ANNOTATE
    assert {line.rule: line.action for line in strict.policy} == {
        "task-lost": Strictness.ANNOTATE,
        "backward-*": Strictness.OFF,
    }


def test_additions_to_a_profile(tmp_path: Path) -> None:
    """``+pinned-card`` pins every agent's card, ``+whole-life`` vouches for the observer; the rest is a name."""
    assert settings("default+pinned-card").pinned_cards == ("*",)
    both = settings("fenced+whole-life+pinned-card")
    assert both == settings("fenced+pinned-card+whole-life")
    assert both.fenced and both.sees_whole_life and both.pinned_cards == ("*",)
    path = tmp_path / "a+b.toml"
    path.write_text('extends = "fenced"\n')
    assert settings(f"{path}+pinned-card").fenced


def test_a_profile_that_does_not_exist() -> None:
    """The error names the choices."""
    with pytest.raises(ValueError, match=r"fencd: there is no such file, and built in are default"):
        settings("fencd")
    with pytest.raises(ValueError, match="fencd"):
        check_name("fencd+pinned-card")
    check_name("fenced+pinned-card")
