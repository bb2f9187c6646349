# SPDX-License-Identifier: Apache-2.0
"""A virtual environment for each client, made once and kept until what it is made from changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.compat.matrix import Row

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PLACE = ROOT / ".compat"
ALWAYS = ("opentelemetry-exporter-otlp-proto-http", "opentelemetry-distro")
INSTALL_TIMEOUT = 900


class CannotInstall(Exception):
    """The packages of a row do not fit together, or cannot be had. The message is pip's."""


def python_of(row: Row) -> Path:
    """The interpreter of the row's environment, which is made where it is missing.

    Raises:
        CannotInstall: see there.
    """
    folder = PLACE / "environments" / row.key
    python = folder / "bin" / "python"
    wanted = _made_from(row)
    stamp = folder / "made-from"
    if stamp.exists() and stamp.read_text("utf-8") == wanted:
        return python
    _run([sys.executable, "-m", "venv", "--clear", str(folder)])
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, "-e", str(ROOT), *ALWAYS, *row.requires])
    if row.no_dependencies:
        _run([*pip, "--no-deps", *row.no_dependencies])
    stamp.write_text(wanted, "utf-8")
    return python


def _made_from(row: Row) -> str:
    """What an environment has to be made anew for; of pyproject.toml only what an installation reads."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    ours = {name: project[name] for name in ("dependencies", "entry-points")}
    return json.dumps({"requires": row.requires, "no_dependencies": row.no_dependencies, "otel-a2a": ours})


def _run(command: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=INSTALL_TIMEOUT, env=environment
    )
    if result.returncode:
        raise CannotInstall(result.stderr.strip()[-1500:])
