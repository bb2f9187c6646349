# SPDX-License-Identifier: Apache-2.0
"""The variables' module: read by OpenTelemetry's launcher, and by people."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest
from opentelemetry.util._importlib_metadata import entry_points

from otel_a2a import environment_variables
from otel_a2a.parsing import AT_AGENTS, FILE_ONLY, READERS
from otel_a2a.sources import DEFAULTS, PREFIX, as_text

README = Path(__file__).parent.parent / "README.md"
NAMES = {name for name in dir(environment_variables) if name.startswith("OTEL_")}


def test_there_is_one_variable_for_each_setting() -> None:
    """What can be set is what the reader reads: no variable without effect, no setting without variable."""
    expected = {f"OTEL_PYTHON_A2A_{field.upper()}" for field in (*READERS, "rules", "agents", "profile")}
    assert expected == NAMES


def test_each_constant_is_its_own_name() -> None:
    """The launcher takes the constant's name for the variable's."""
    assert {name: getattr(environment_variables, name) for name in NAMES} == {name: name for name in NAMES}


def test_each_constant_has_a_docstring() -> None:
    """Each variable is explained below its constant."""
    body = ast.parse(inspect.getsource(environment_variables)).body
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.Assign):
            assert isinstance(following, ast.Expr), ast.unparse(statement)
            assert isinstance(following.value, ast.Constant), ast.unparse(statement)


def test_no_name_is_shared_with_another_package() -> None:
    """Two modules with one name would make two flags of it, and the launcher would not start."""
    flags: dict[str, str] = {}
    for entry in entry_points(group="opentelemetry_environment_variables"):
        for name in dir(entry.load()):
            if name.startswith("OTEL_"):
                flag = name.removeprefix("OTEL_").removeprefix("PYTHON_").lower()
                assert flag not in flags, f"{entry.name} and {flags[flag]} both have --{flag}"
                flags[flag] = entry.name
    assert flags["a2a_strictness"] == "otel_a2a"


@pytest.mark.skipif(not README.is_file(), reason="needs the sources")
def test_the_readme_has_each_variable_with_its_default() -> None:
    """The table that people read is the code's: the same variables, in the same order, with the same defaults."""
    rows = re.findall(r"^\| `(OTEL_PYTHON_A2A_\w+)` \| (?:`(.+?)`)? ?\|", README.read_text("utf-8"), re.MULTILINE)
    defaults = {**DEFAULTS, "rules": (), "agents": ()}
    names = re.findall(r"^(OTEL_\w+) = ", inspect.getsource(environment_variables), re.MULTILINE)
    shown = {name: as_text(defaults[name.removeprefix(PREFIX).lower()]) for name in names}
    table = {name: text or "nothing" for name, text in rows if name in NAMES}
    assert table == {name: text.removesuffix(".0") for name, text in shown.items()}
    assert [name for name, _ in rows] == names


@pytest.mark.skipif(not README.is_file(), reason="needs the sources")
def test_the_readme_has_what_only_a_policy_file_can_set() -> None:
    """The second table is the code's too, and below it stands what else can be set at single agents."""
    text = README.read_text("utf-8")
    rows = re.findall(r"^\| `([a-z_]+)`(?: \(only at agents\))? \| (?:`(.+?)`)? ?\|", text, re.MULTILINE)
    table = {name: default or "nothing" for name, default in rows if name in FILE_ONLY | AT_AGENTS}
    assert table == {"pinned": "false", **{name: as_text(DEFAULTS[name]) for name in FILE_ONLY}}
    at_agents = re.findall(
        r"`([a-z_]+)`", text.partition("At single agents these can be set, and ")[2].partition("\n\n")[0]
    )
    assert set(at_agents) == AT_AGENTS.keys() - table.keys()
