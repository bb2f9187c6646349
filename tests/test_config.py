# SPDX-License-Identifier: Apache-2.0
"""Where settings come from, and what happens to values that cannot be used."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import otel_a2a_policies
from otel_a2a import environment_variables
from otel_a2a.config import ActionRule, Settings
from otel_a2a.engine.findings import Level, Strictness
from otel_a2a.engine.strictness import Policy
from otel_a2a.parsing import AT_AGENTS, FILE_ONLY, READERS, Refused, read_boolean, read_seconds
from otel_a2a.sources import KEYWORD, KEYWORDS, effective, for_rules, sdk_is_disabled, unknown_names

RULES = ("backward-transition", "task-lost", "terminal-task-reused")
ALL_RULES = tuple(rule.name for rule in otel_a2a_policies.RULES)
GOOD: dict[str, tuple[str, object]] = {
    "strictness": ("log", Strictness.LOG),
    "raise_on": ("information", Level.INFORMATION),
    "exporters": ("log, mine", ("log", "mine")),
    "violations_file": ("findings.jsonl", "findings.jsonl"),
    "disabled_clients": ("httpx,httpx2", frozenset({"httpx", "httpx2"})),
    "excluded_urls": ("/health,internal\\..*", ("/health", "internal\\..*")),
    "card_urls": ("https://a.example/card", ("https://a.example/card",)),
    "max_tasks": ("5", 5),
    "max_agents": ("6", 6),
    "max_body": ("7", 7),
    "pinned_cards": ("*.example,h:1", ("*.example", "h:1")),
    "task_deadline": ("90", 90.0),
    "max_card_age": ("120", 120.0),
    "webhook_card_window": ("10", 10.0),
    "card_failure_window": ("1e1", 10.0),
    "gateway_rewrites_ids": ("true", True),
    "correlation_key": ("X-Conversation", "X-Conversation"),
    "clock_skew": ("0.5", 0.5),
    "raise_in_stream": ("TRUE", True),
    "state_spans": ("False", False),
    "transition_events": ("true", True),
    "propagate": ("false", False),
    "suppress_sdk_spans": ("true", True),
}
BAD: dict[str, str] = {
    "strictness": "riase",
    "raise_on": "error",
    "violations_file": "a\0b",
    "excluded_urls": "((",
    "card_urls": "card.json",
    "max_tasks": "0",
    "max_agents": "-1",
    "max_body": "1.5",
    "task_deadline": "-1",
    "max_card_age": "nan",
    "webhook_card_window": "inf",
    "card_failure_window": "soon",
    "gateway_rewrites_ids": "y",
    "correlation_key": "two words",
    "clock_skew": "5s",
    "raise_in_stream": "yes",
    "state_spans": "1",
    "transition_events": "on",
    "propagate": "*.example,yes",
    "suppress_sdk_spans": "2",
}


def _variable(field: str) -> str:
    return f"OTEL_PYTHON_A2A_{field.upper()}"


def test_nothing_set_means_the_defaults() -> None:
    """An empty environment gives the defaults, and says so of every setting."""
    chosen = effective({})
    assert chosen.settings == Settings()
    assert set(chosen.origins) == {field.name for field in dataclasses.fields(Settings)}
    assert set(chosen.origins.values()) == {"default"}
    assert not chosen.problems


def test_every_plain_setting_is_tried_here() -> None:
    """The tables of this file leave no setting out."""
    assert set(GOOD) == set(READERS)


@pytest.mark.parametrize("field", GOOD)
def test_the_environment_is_read(field: str) -> None:
    """Each variable sets its setting, and is named as its source."""
    text, value = GOOD[field]
    chosen = effective({_variable(field): text})
    assert getattr(chosen.settings, field) == value
    assert chosen.origins[field] == _variable(field)
    assert not chosen.problems


@pytest.mark.parametrize("field", BAD)
def test_a_bad_variable_is_named_with_its_value_and_the_default_is_used(field: str) -> None:
    """A value that cannot be used is one problem that names variable and value; the setting keeps its default."""
    chosen = effective({_variable(field): BAD[field]})
    assert getattr(chosen.settings, field) == getattr(Settings(), field)
    [problem] = chosen.problems
    assert problem.startswith(f"{_variable(field)}={BAD[field]!r} ")


def test_a_bad_strictness_names_the_choices_and_what_is_used() -> None:
    """The warning is enough to mend the variable without looking anything up."""
    [problem] = effective({"OTEL_PYTHON_A2A_STRICTNESS": "riase"}).problems
    assert problem == (
        "OTEL_PYTHON_A2A_STRICTNESS='riase' is not one of off, annotate, log, raise; annotate is used instead"
    )


@pytest.mark.parametrize("field", BAD)
def test_a_bad_keyword_raises(field: str) -> None:
    """A keyword argument that cannot be used raises at once, naming argument and value."""
    with pytest.raises(ValueError, match=field) as caught:
        effective({}, **{field: BAD[field]})
    assert repr(BAD[field]) in str(caught.value)


def test_keyword_over_environment_over_profile_over_default(tmp_path: Path) -> None:
    """The four sources are asked in this order, for each setting on its own."""
    profile = tmp_path / "mine.toml"
    profile.write_text('[settings]\nstrictness = "log"\nmax_tasks = 1\nmax_agents = 1\n')
    environ = {"OTEL_PYTHON_A2A_MAX_TASKS": "2", "OTEL_PYTHON_A2A_MAX_AGENTS": "2"}
    chosen = effective(environ, profile=str(profile), max_agents=3)
    assert (chosen.settings.strictness, chosen.settings.max_tasks, chosen.settings.max_agents) == ("log", 2, 3)
    assert chosen.settings.max_body == Settings().max_body
    assert chosen.origins["strictness"] == f"profile {profile}"
    assert chosen.origins["max_tasks"] == "OTEL_PYTHON_A2A_MAX_TASKS"
    assert chosen.origins["max_agents"] == KEYWORD


def test_a_bad_variable_falls_back_to_the_policy_file(tmp_path: Path) -> None:
    """What stands behind a variable is the next source, not always the default."""
    profile = tmp_path / "mine.toml"
    profile.write_text('[settings]\nstrictness = "raise"\n')
    chosen = effective({"OTEL_PYTHON_A2A_STRICTNESS": "x", "OTEL_PYTHON_A2A_PROFILE": str(profile)})
    assert chosen.settings.strictness is Strictness.RAISE
    assert chosen.problems[0].endswith("; raise is used instead")


def test_empty_counts_as_unset() -> None:
    """An empty or blank variable is no value, as everywhere in OpenTelemetry."""
    chosen = effective({"OTEL_PYTHON_A2A_STRICTNESS": "", "OTEL_PYTHON_A2A_MAX_TASKS": "  "})
    assert chosen.settings == Settings()
    assert not chosen.problems


def test_lists_keep_their_good_items() -> None:
    """One broken pattern does not bring back the traffic that the others exclude."""
    chosen = effective({"OTEL_PYTHON_A2A_EXCLUDED_URLS": "/health,(("})
    assert chosen.settings.excluded_urls == ("/health",)
    assert "'(('" in chosen.problems[0]


def test_the_general_variable_for_excluded_urls_counts_where_ours_is_unset() -> None:
    """One variable excludes URLs from all instrumentations; ours replaces it."""
    general = {"OTEL_PYTHON_EXCLUDED_URLS": "/all"}
    assert effective(general).settings.excluded_urls == ("/all",)
    assert effective(general | {"OTEL_PYTHON_A2A_EXCLUDED_URLS": "/ours"}).settings.excluded_urls == ("/ours",)


def test_rules_and_agents_become_lines_of_policy() -> None:
    """Every good item is a line in its order; every bad one is one problem of its own."""
    chosen = effective(
        {
            "OTEL_PYTHON_A2A_RULES": "task-*=raise, =log, terminal-task-reused=of ,backward-transition=off,loose",
            "OTEL_PYTHON_A2A_AGENTS": "*.example:8080=log,[::1]=off",
        }
    )
    assert chosen.settings.policy == (
        ActionRule(Strictness.LOG, agent="*.example:8080"),
        ActionRule(Strictness.OFF, agent="[::1]"),
        ActionRule(Strictness.RAISE, rule="task-*"),
        ActionRule(Strictness.OFF, rule="backward-transition"),
    )
    assert len(chosen.problems) == 3
    assert any(
        "terminal-task-reused=of" in problem and "off, annotate, log, raise" in problem for problem in chosen.problems
    )


def test_rules_as_a_mapping_and_a_bad_one_raises() -> None:
    """A program may give rules as a mapping; one bad action raises and names the choices."""
    chosen = effective({}, rules={"task-lost": Strictness.LOG}, agents={"h": "raise"})
    assert chosen.line_origins == (KEYWORD, KEYWORD)
    with pytest.raises(ValueError, match=r"rules: task-lost=riase: .* off, annotate, log, raise"):
        effective({}, rules="task-lost=riase")


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("TRUE", True),
        (False, False),
        ("*.example, h:1", ("*.example", "h:1")),
        (["a.example"], ("a.example",)),
    ],
)
def test_trace_context_goes_to_all_to_none_or_to_some(value: object, meant: object) -> None:
    """``propagate`` is a boolean or the hosts that get it."""
    assert effective({}, propagate=value).settings.propagate == meant


@pytest.mark.parametrize("value", ["1", "no", "off", "true,h", ",", 5, []])
def test_what_was_meant_for_a_boolean_is_no_host(value: object) -> None:
    """A misspelt boolean would otherwise switch propagation off in silence, but for a host of that name."""
    with pytest.raises(ValueError, match="is not true, false, or a list of hosts"):
        effective({}, propagate=value)


@pytest.mark.parametrize(
    ("name", "written", "value"),
    [(name, "true", True) for name, reader in FILE_ONLY.items() if reader is read_boolean]
    + [(name, "7", 7.0) for name, reader in FILE_ONLY.items() if reader is read_seconds],
)
def test_what_only_a_file_can_set(name: str, written: str, value: object, tmp_path: Path) -> None:
    """It is read from a policy file, and is neither a variable nor a keyword argument."""
    path = tmp_path / "mine.toml"
    path.write_text(f"[settings]\n{name} = {written}\n", "utf-8")
    chosen = effective({}, profile=str(path))
    assert getattr(chosen.settings, name) == value
    assert chosen.origins[name] == f"profile {path}"
    assert getattr(effective({_variable(name): written}).settings, name) == getattr(Settings(), name)
    assert f"'{name}'" in effective({}, **{name: value}).problems[0]


def test_every_setting_can_be_set() -> None:
    """There is no field that nothing sets, and none is set in two ways."""
    fields = {field.name for field in dataclasses.fields(Settings)}
    assert fields == {*READERS, *FILE_ONLY, "policy", "agents", "profile"}
    assert not READERS.keys() & FILE_ONLY.keys()


def test_what_can_be_set_at_agents_is_a_setting() -> None:
    """Every name there is a field of ``Settings``, save ``pinned``, which puts an agent among ``pinned_cards``."""
    assert AT_AGENTS.keys() - {"pinned"} <= {field.name for field in dataclasses.fields(Settings)}


def test_yaml_false_is_off() -> None:
    """YAML reads an unquoted ``off`` as false, and a configuration file means what it shows."""
    chosen = effective({}, strictness=False, rules={"task-lost": False})
    assert chosen.settings.strictness is Strictness.OFF
    assert chosen.settings.policy[0].action is Strictness.OFF


def test_an_unknown_keyword_is_a_problem_and_no_error() -> None:
    """Distributions pass arguments of their own to all instrumentors; an exception would end auto-instrumentation."""
    [problem] = effective({}, strictnes="raise").problems
    assert "'strictnes'" in problem
    assert all(name in problem for name in KEYWORDS)


def test_an_unknown_variable_is_a_problem() -> None:
    """A misspelt variable of ours is told with the ones that there are; one of somebody else's is not ours to tell."""
    chosen = effective({"OTEL_PYTHON_A2A_STRICTNES": "raise", "OTEL_PYTHON_A2B_X": "1", "OTEL_SERVICE_NAME": "x"})
    [problem] = chosen.problems
    assert problem.startswith("OTEL_PYTHON_A2A_STRICTNES is not known and is passed over; known are ")
    assert all(_variable(name) in problem for name in KEYWORDS)


def test_a_variable_for_what_only_a_file_sets_is_a_problem() -> None:
    """The message says where it can be set."""
    [problem] = effective({"OTEL_PYTHON_A2A_FENCED": "true"}).problems
    assert problem == "OTEL_PYTHON_A2A_FENCED is not known and is passed over; only a policy file sets fenced"


def test_a_glob_that_names_no_rule_is_a_problem() -> None:
    """A misspelt rule is told, with the rules that there are; one that is spelt right is not."""
    chosen = for_rules(effective({"OTEL_PYTHON_A2A_RULES": "task-*=log,bckward=raise"}), RULES)
    [problem] = chosen.problems
    assert "'bckward' (OTEL_PYTHON_A2A_RULES)" in problem
    assert all(name in problem for name in RULES)


def test_only_what_is_no_rule_is_a_problem(tmp_path: Path) -> None:
    """A file that judges by a misspelt rule alone would judge nothing, and nobody would know."""
    path = tmp_path / "mine.toml"
    path.write_text('only = ["terminall-*", "task-*"]', "utf-8")
    [problem] = for_rules(effective({}, profile=str(path)), RULES).problems
    assert problem.startswith(f"'terminall-*' (only, profile {path}) names no rule; ")


def test_a_profile_that_judges_by_few_rules_switches_the_others_off() -> None:
    """``only`` leaves its rules at the strictness in force, also one set by agent, and switches off the rest."""
    chosen = for_rules(effective({"OTEL_PYTHON_A2A_AGENTS": "h=raise"}, profile="spec"), ALL_RULES)
    policy = Policy(chosen.settings)
    assert policy.action("terminal-task-reused", "h") is Strictness.RAISE
    assert policy.action("terminal-task-reused", "other") is Strictness.ANNOTATE
    assert policy.action("task-lost", "h") is Strictness.OFF
    assert not chosen.problems


def test_unknown_client_names_are_told() -> None:
    """A misspelt client library is named with the choices."""
    chosen = effective({"OTEL_PYTHON_A2A_DISABLED_CLIENTS": "htpx,httpx"})
    [problem] = unknown_names(chosen, "disabled_clients", ("httpx", "httpx2"))
    assert "OTEL_PYTHON_A2A_DISABLED_CLIENTS: 'htpx' is not one of httpx, httpx2" in problem


def test_a_bad_profile_variable_falls_back_to_the_default_profile() -> None:
    """A profile that is not there is named with the built-in ones, and the default profile is used."""
    chosen = effective({"OTEL_PYTHON_A2A_PROFILE": "fencd"})
    assert chosen.settings.profile == "default"
    assert "fenced" in chosen.problems[0]
    with pytest.raises(ValueError, match="fencd"):
        effective({}, profile="fencd")


@pytest.mark.parametrize(("text", "disabled"), [("true", True), ("TRUE", True), ("1", False), ("", False)])
def test_sdk_disabled_is_read_as_the_sdk_reads_it(text: str, disabled: bool) -> None:
    """Only ``true``, in any case, switches OpenTelemetry off."""
    assert sdk_is_disabled({"OTEL_SDK_DISABLED": text}) is disabled


_names = [name for name in dir(environment_variables) if name.startswith("OTEL_")]


@given(st.dictionaries(st.sampled_from(_names), st.text(max_size=30)))
def test_no_environment_raises(environ: dict[str, str]) -> None:
    """Whatever the variables hold, there are settings."""
    assert isinstance(effective(environ).settings, Settings)


@given(
    st.sampled_from(sorted(READERS)), st.one_of(st.text(), st.binary(), st.floats(), st.lists(st.integers()), st.none())
)
def test_a_reader_gives_a_value_or_refuses(name: str, value: object) -> None:
    """No value makes a reader fail in any other way."""
    try:
        READERS[name](value)
    except Refused as error:
        assert str(error).startswith("is not ")
