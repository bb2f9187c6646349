# SPDX-License-Identifier: Apache-2.0
"""The arrows between the rooms: the contracts of pyproject.toml hold, and would be seen to be broken."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = {
    "otel_a2a": ROOT / "otel_a2a",
    "otel_a2a_policies": ROOT / "policies" / "otel_a2a_policies",
    "otel_a2a_exporters": ROOT / "exporters" / "otel_a2a_exporters",
}
LINT = "import sys, importlinter.cli as cli; sys.exit(cli.lint_imports('pyproject.toml', no_cache=True))"

pytestmark = pytest.mark.skipif(not PACKAGES["otel_a2a"].is_dir(), reason="needs the sources")


def _lint(folder: Path, *paths: Path) -> subprocess.CompletedProcess[str]:
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths)), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-c", LINT], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )


def test_the_arrows_hold() -> None:
    """No room imports what it is not to know."""
    result = _lint(ROOT, ROOT, ROOT / "policies", ROOT / "exporters")
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("room", "stranger"),
    [
        ("otel_a2a/wire", "otel_a2a.clients"),
        ("otel_a2a/wire", "opentelemetry"),
        ("otel_a2a/engine", "otel_a2a.wire"),
        ("otel_a2a/engine", "otel_a2a_exporters"),
        ("otel_a2a/clients", "otel_a2a.wire"),
        ("otel_a2a/clients", "httpx"),
        ("otel_a2a_policies", "otel_a2a.operation"),
        ("otel_a2a_exporters", "otel_a2a.clients"),
    ],
)
def test_a_wrong_arrow_is_seen(tmp_path: Path, room: str, stranger: str) -> None:
    """Each contract breaks when a room imports what it must not: the test above can fail."""
    for name, source in PACKAGES.items():
        shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / room / "intruder.py").write_text(f"import {stranger}\n", "utf-8")
    result = _lint(tmp_path, tmp_path)
    assert result.returncode == 1, result.stdout
    assert "1 broken" in result.stdout
    assert f"intruder -> {stranger}" in result.stdout


def _strangers(room: str, allowed: tuple[str, ...]) -> set[str]:
    """What the modules of ``room`` import of ours, beside ``room`` itself and what is ``allowed``."""
    graph = grimp.build_graph("otel_a2a", "otel_a2a_policies", "otel_a2a_exporters", exclude_type_checking_imports=True)
    imported = {
        target
        for module in graph.modules
        if module == room or module.startswith(f"{room}.")
        for target in graph.find_modules_directly_imported_by(module)
    }
    known = (room, *allowed)
    return {name for name in imported if not any(name == each or name.startswith(f"{each}.") for each in known)}


def test_clients_import_the_seam_and_nothing_else_of_ours() -> None:
    """A client module knows one HTTP library, ``operation``, the form of an exchange, and how to patch."""
    seam = ("otel_a2a.operation", "otel_a2a.message_operation", "otel_a2a.exchange")
    assert _strangers("otel_a2a.clients", (*seam, "otel_a2a.arrivals", "otel_a2a.patching")) == set()
    assert "otel_a2a.operation" in _strangers("otel_a2a.clients", ())


def test_rules_import_the_engine_and_its_words() -> None:
    """A rule is made of the engine's types, observations, settings and exceptions, as a third party's rule is."""
    words = ("otel_a2a.engine", "otel_a2a.observations", "otel_a2a.config", "otel_a2a.errors")
    assert _strangers("otel_a2a_policies", words) == set()
