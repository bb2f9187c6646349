# SPDX-License-Identifier: Apache-2.0
"""Policy files: the built-in ones, and a user's own."""

from __future__ import annotations

import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from otel_a2a import profiles
from otel_a2a.config import ActionRule, AgentSettings
from otel_a2a.engine.findings import Level, Strictness
from otel_a2a.engine.strictness import Policy
from otel_a2a.sources import effective

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FULL = """
extends = "fenced"
only = ["task-*"]

[settings]
strictness = "log"
clock_skew = 2

[rules."task-lost"]
level = "improvement"
action = "raise"

[rules."*"]
action = "inherit"

[[agents]]
host = "*.partner.example"
action = "off"
[agents.rules."task-lost"]
action = "annotate"
"""


def _write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, "utf-8")
    return str(path)


@pytest.mark.parametrize("name", profiles.BUILT_IN)
def test_the_built_in_profiles_are_valid(name: str) -> None:
    """Built-in files are not checked at start-up, so they are here, as strictly as a user's own."""
    from otel_a2a.profile_schema import check

    file = resources.files("otel_a2a_policies") / "profiles" / f"{name}.toml"
    check(tomllib.loads(file.read_text("utf-8")), name)
    assert profiles.load(name).name == name


def test_the_default_profile_holds_nothing() -> None:
    """It is not even read at start-up, so nothing may be in it."""
    file = resources.files("otel_a2a_policies") / "profiles" / "default.toml"
    assert tomllib.loads(file.read_text("utf-8")) == {}


def test_what_the_built_in_profiles_say() -> None:
    """``fenced`` fences, ``authority`` only informs about revisions, ``spec`` keeps to the specification."""
    assert profiles.load("fenced").settings == {"fenced": True}
    assert profiles.load("authority").lines == (
        ActionRule(None, rule="continued-across-revisions", level=Level.INFORMATION),
    )
    assert {"terminal-state-changed", "terminal-task-reused"} <= set(profiles.load("spec").only or ())
    assert "task-lost" not in (profiles.load("spec").only or ())


@pytest.mark.parametrize("name", profiles.BUILT_IN)
def test_the_built_in_profiles_say_what_they_are_for(name: str) -> None:
    """Whoever opens one reads what it is for before what it sets."""
    file = resources.files("otel_a2a_policies") / "profiles" / f"{name}.toml"
    lines = file.read_text("utf-8").splitlines()
    assert lines[0].startswith("# SPDX")
    assert len(lines[1]) > 60 and lines[1].startswith("# ")


def test_version_fenced_makes_staleness_a_violation() -> None:
    """Every rule about old cards is a violation there, and the windows are seed 004's."""
    settings = effective({}, profile="version-fenced").settings
    assert (settings.card_age_limit, settings.webhook_card_window, settings.stale_is_violation) == (120, 10, True)
    policy = Policy(settings)
    for rule in ("created-without-card", "created-from-stale-card", "stale-after-rejection", "webhook-from-stale-card"):
        assert policy.level(rule, "h") is Level.VIOLATION


def test_what_the_letter_of_a_seed_takes() -> None:
    """The settings by which the other profiles differ from ``default``."""
    assert profiles.load("authority").settings == {"stale_is_violation": True, "canceled_is_closed": True}
    assert profiles.load("declared-history").settings == {"history_declared": True}
    assert profiles.load("spec").settings == {"continuation_is_binding": True, "resubmission_is_legal": True}


@pytest.mark.parametrize("name", profiles.BUILT_IN)
def test_the_built_in_profiles_name_rules_that_exist(name: str) -> None:
    """A profile whose rule is misspelt would do nothing, and nobody would know."""
    from otel_a2a.packs import load_rules

    rules = {rule.name for rule in load_rules()}
    profile = profiles.load(name)
    assert {line.rule for line in profile.lines} <= rules
    assert set(profile.only or ()) <= rules


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    """All parts of a file arrive: what it extends, settings, levels, actions, agents."""
    profile = profiles.load(_write(tmp_path, "mine.toml", FULL))
    assert profile.settings == {"fenced": True, "strictness": Strictness.LOG, "clock_skew": 2.0}
    assert profile.only == ("task-*",)
    assert profile.lines == (
        ActionRule(Strictness.OFF, agent="*.partner.example"),
        ActionRule(Strictness.RAISE, rule="task-lost", level=Level.IMPROVEMENT),
        ActionRule(Strictness.ANNOTATE, rule="task-lost", agent="*.partner.example"),
    )


def test_rule_at_agent_over_rule_over_agent_over_all(tmp_path: Path) -> None:
    """The order of the lines of a file is the one that people expect of it."""
    policy = Policy(effective({}, profile=_write(tmp_path, "mine.toml", FULL)).settings)
    assert policy.action("task-lost", "a.partner.example") is Strictness.ANNOTATE
    assert policy.action("task-lost", "elsewhere") is Strictness.RAISE
    assert policy.action("backward-transition", "a.partner.example") is Strictness.OFF
    assert policy.action("backward-transition", "elsewhere") is Strictness.LOG
    assert policy.level("task-lost", "elsewhere") is Level.IMPROVEMENT


def test_a_file_adds_to_what_it_extends(tmp_path: Path) -> None:
    """Paths are beside the file, single values are replaced, and ``inherit`` takes an action back."""
    _write(
        tmp_path,
        "base.toml",
        '[settings]\nmax_tasks = 1\nmax_agents = 1\n[rules.task-lost]\naction = "off"\nlevel = "violation"\n',
    )
    mine = _write(
        tmp_path,
        "mine.toml",
        'extends = "base.toml"\n[settings]\nmax_tasks = 2\n[rules.task-lost]\naction = "inherit"\n',
    )
    profile = profiles.load(mine)
    assert profile.settings == {"max_tasks": 2, "max_agents": 1}
    assert profile.lines == (ActionRule(None, rule="task-lost", level=Level.VIOLATION),)


@pytest.mark.parametrize(
    ("text", "key", "allowed"),
    [
        ('[settings]\nstrictness = "riase"', "settings.strictness", "off, annotate, log, raise"),
        ("[settings]\nmax_taks = 1", "settings.max_taks", "max_tasks"),
        ('[rules.task-lost]\nlevel = "error"', "rules.task-lost.level", "'information', 'improvement' or 'violation'"),
        ('[rules.task-lost]\nacton = "log"', "rules.task-lost.acton", "level, action"),
        ('[[agents]]\naction = "log"', "agents.0.host", "is required"),
        ('[agents]\nhost = "h"', "agents", "[[agents]]"),
        ('only = "task-*"', "only", "must be a list"),
        ('[rules]\ntask-lost = "raise"', "rules.task-lost", "a table of level, action"),
        ('agents = ["h"]', "agents.0", "a table of host, action, settings, rules"),
        ('[[agents]]\nhost = "h"\nrules.x = 1', "agents.0.rules.x", "a table of level, action"),
        ('[[agents]]\nhost = "h"\nrule = 1', "agents.0.rule", "host, action, settings, rules"),
        ("[rule.x]", "rule", "extends, only, requires, settings, rules, agents"),
        ('settings = "x"', "settings", "must be a table"),
        ("extends = 1", "extends", "string"),
        ('requires = ["deadline"]', "requires", "task_deadline"),
        ('[[agents]]\nhost = "h"\nsettings = { pinned = 1 }', "agents.0.settings.pinned", "true, false"),
        ('[[agents]]\nhost = "h"\n[agents.settings]\nmax_tasks = 1', "agents.0.settings.max_tasks", "task_deadline"),
        ('[[agents]]\nhost = "h"\nsettings = 1', "agents.0.settings", "must be a table"),
        ("[settings]\npinned = true", "settings.pinned", "pinned_cards"),
        ('[settings]\npropagate = ["yes"]', "settings.propagate", "true, false, or a list of hosts"),
    ],
)
def test_an_error_names_file_key_and_choices(tmp_path: Path, text: str, key: str, allowed: str) -> None:
    """Whoever reads the message knows where to look and what to write."""
    path = _write(tmp_path, "mine.toml", text)
    with pytest.raises(ValueError, match=r"mine\.toml") as caught:
        profiles.load(path)
    assert f"{key}: " in str(caught.value)
    assert allowed in str(caught.value)


@pytest.mark.parametrize("content", [b"[settings", b"\xff\xfe", b"a = 1\na = 2", b"a = " + b"[" * 3000 + b"]" * 3000])
def test_what_is_not_toml_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    """A broken file is named, whatever is broken about it."""
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"mine\.toml: is not TOML"):
        profiles.load(str(path))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file and a folder are errors that say so."""
    with pytest.raises(ValueError, match="there is no such file"):
        profiles.load(str(tmp_path / "none.toml"))
    with pytest.raises(ValueError, match="cannot be read"):
        profiles.load(str(tmp_path))
    with pytest.raises(ValueError, match=r"~nobody-of-that-name/mine\.toml: cannot be read"):
        profiles.load("~nobody-of-that-name/mine.toml")


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    """Some editors begin every text with one."""
    (tmp_path / "mine.toml").write_text("[settings]\nfenced = true", "utf-8-sig")
    assert profiles.load(str(tmp_path / "mine.toml")).settings == {"fenced": True}


def test_what_a_profile_requires_is_asked_for() -> None:
    """``declared-history`` means little without a deadline, and says so until there is one."""
    [problem] = effective({}, profile="declared-history").problems
    assert "OTEL_PYTHON_A2A_TASK_DEADLINE" in problem
    assert not effective({}, profile="declared-history", task_deadline=60).problems


def test_what_a_profile_requires_may_be_set_at_some_agents(tmp_path: Path) -> None:
    """A deadline for one agent is a deadline."""
    path = _write(
        tmp_path, "mine.toml", 'extends = "declared-history"\n[[agents]]\nhost = "h"\nsettings = { task_deadline = 5 }'
    )
    assert not effective({}, profile=path).problems


def test_settings_at_agents(tmp_path: Path) -> None:
    """Both ways of writing them are read, in the order of the files; an agent without any is no entry."""
    _write(tmp_path, "base.toml", '[[agents]]\nhost = "*"\nsettings = { task_deadline = 5, pinned = true }\n')
    mine = _write(
        tmp_path,
        "mine.toml",
        'extends = "base.toml"\n[[agents]]\nhost = "quiet"\naction = "off"\n'
        '[[agents]]\nhost = "h:1"\n[agents.settings]\nwatched_elsewhere = true\n',
    )
    chosen = effective({"OTEL_PYTHON_A2A_TASK_DEADLINE": "9"}, profile=mine)
    assert chosen.settings.agents == (
        AgentSettings("*", (("task_deadline", 5.0), ("pinned", True))),
        AgentSettings("h:1", (("watched_elsewhere", True),)),
    )
    assert chosen.origins["agents"] == f"profile {mine}"
    assert chosen.settings.task_deadline == 9.0
    assert Policy(chosen.settings).action("task-lost", "quiet") is Strictness.OFF


@pytest.mark.parametrize(
    ("base", "told"), [("", "there is no such file"), ("[rules", "is not TOML"), ("mood = 1", "mood: is not known")]
)
def test_what_is_wrong_with_a_file_that_is_extended(tmp_path: Path, base: str, told: str) -> None:
    """The message names the file that extends it, by which key, and the file that is wrong."""
    if base:
        _write(tmp_path, "base.toml", base)
    mine = _write(tmp_path, "mine.toml", 'extends = "base.toml"')
    with pytest.raises(ValueError, match=r"mine\.toml: extends: \S+base\.toml: ") as caught:
        profiles.load(mine)
    assert told in str(caught.value)


def test_a_circle_is_an_error(tmp_path: Path) -> None:
    """Two files that extend each other are told, not followed for ever."""
    _write(tmp_path, "a.toml", 'extends = "b.toml"')
    _write(tmp_path, "b.toml", 'extends = "a.toml"')
    with pytest.raises(ValueError, match="goes in a circle"):
        profiles.load(str(tmp_path / "a.toml"))


def test_a_circle_on_a_roundabout_way_is_one(tmp_path: Path) -> None:
    """A file is the same by whatever path it is named."""
    (tmp_path / "sub").mkdir()
    _write(tmp_path, "a.toml", 'extends = "sub/../a.toml"')
    with pytest.raises(ValueError, match=r"goes in a circle: \S+ → \S+\Z"):
        profiles.load(str(tmp_path / "a.toml"))


@pytest.mark.parametrize("name", profiles.BUILT_IN)
def test_built_in_profiles_cost_no_validator(name: str) -> None:
    """Start-up is measured: pydantic is imported for a user's own file and for nothing else."""
    program = (
        "import sys, otel_a2a.sources as sources; "
        f"sources.effective({{}}, profile={name!r}); sys.exit('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
