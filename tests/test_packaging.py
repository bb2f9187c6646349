# SPDX-License-Identifier: Apache-2.0
"""What is shipped: three packages in one distribution, and nothing that belongs to one machine."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tarfile
import zipfile
from importlib import metadata, resources
from pathlib import Path

import pytest

from otel_a2a.clients import CLIENTS, DISTRIBUTIONS

ROOT = Path(__file__).parent.parent
PACKAGES = ("otel_a2a", "otel_a2a_policies", "otel_a2a_exporters")

needs_sources = pytest.mark.skipif(not (ROOT / "otel_a2a").is_dir(), reason="needs the sources")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_is_typed(package: str) -> None:
    """Type checkers read our annotations, because each package says that it has some."""
    importlib.import_module(package)
    assert resources.files(package).joinpath("py.typed").is_file()


def test_the_entry_points_lead_somewhere() -> None:
    """What OpenTelemetry and the shell look for can be loaded."""
    found = {(entry.group, entry.name): entry for entry in metadata.distribution("otel-a2a").entry_points}
    assert set(found) == {
        ("opentelemetry_instrumentor", "otel_a2a"),
        ("opentelemetry_environment_variables", "otel_a2a"),
        ("opentelemetry_traces_sampler", "a2a_policy"),
        ("console_scripts", "otel-a2a"),
    }
    for entry in found.values():
        assert entry.load() is not None


def test_the_launcher_asks_for_the_clients_that_we_know() -> None:
    """The launcher leaves us out where no library is installed that we can see through, so it has to know them all."""
    required = metadata.requires("otel-a2a") or []
    named = {re.split(r"[^a-z0-9]", line)[0] for line in required if line.endswith('extra == "instruments-any"')}
    named |= {re.split(r"[^a-z0-9]", line)[0] for line in required if line.endswith("extra == 'instruments-any'")}
    assert named == {DISTRIBUTIONS.get(name, name) for name in CLIENTS}


@needs_sources
def test_wheel_and_source_distribution(tmp_path: Path) -> None:
    """The wheel holds the three packages with their data and nothing else; it is built from the source distribution."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    [wheel], [sdist] = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")

    names = set(zipfile.ZipFile(wheel).namelist())
    roots = {name.split("/")[0] for name in names}
    assert {root for root in roots if not root.endswith(".dist-info")} == set(PACKAGES)
    sources = [ROOT / "otel_a2a", ROOT / "policies" / "otel_a2a_policies", ROOT / "exporters" / "otel_a2a_exporters"]
    for source in sources:
        for path in source.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert path.relative_to(source.parent).as_posix() in names
    assert {"otel_a2a_policies/profiles/fenced.toml", "otel_a2a_policies/guides/identity.toml"} <= names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)

    with tarfile.open(sdist) as archive:
        shipped = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "tests/test_packaging.py"} <= shipped
    assert {"policies/README.md", "docs/seeds.md", "examples/custom_policy/pyproject.toml"} <= shipped


@needs_sources
def test_no_file_names_a_package_index_or_a_machine() -> None:
    """Where packages come from and where files lie is each user's own; a project file says neither."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("needs the repository")
    index = re.compile(r"pypi\.org|pythonhosted\.org|--(extra-)?index-url|--find-links")
    machine = re.compile(r"/root/|/home/|/Users/|/work/|C:\\")
    for name in filter(None, listing.stdout.split("\0")):
        path = ROOT / name
        if not path.is_file() or path == Path(__file__):
            continue
        text = path.read_text("utf-8", errors="replace")
        assert not index.search(text), f"{name} names a package index"
        assert not machine.search(text), f"{name} names a folder of one machine"
