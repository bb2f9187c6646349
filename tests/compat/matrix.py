# SPDX-License-Identifier: Apache-2.0
"""The rows of ``matrix.toml``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MATRIX = Path(__file__).with_name("matrix.toml")


@dataclass(slots=True, frozen=True, kw_only=True)
class Row:
    """One client in one version, as ``matrix.toml`` explains it."""

    name: str
    version: str
    program: str
    requires: tuple[str, ...] = ()
    no_dependencies: tuple[str, ...] = ()
    """Installed without what they ask for: the packages of model providers, say, which their client does not need."""
    transports: tuple[str, ...] = ("JSONRPC",)
    environment: tuple[str, ...] = ()
    """Variables, as ``NAME=value``."""
    faulty: tuple[str, ...] = ("backward-transition", "task-id-reused", "terminal-state-changed")
    card: bool = True
    seen: str = ""
    gaps: str = ""
    not_run: str = ""
    """Why the client cannot be run at all."""

    @property
    def key(self) -> str:
        """A name for files."""
        return f"{self.name}-{self.version}".replace(" ", "-").replace("/", "-")


def rows(chosen: list[str]) -> list[Row]:
    """The rows whose key contains one of ``chosen``, or all of them.

    Raises:
        SystemExit: no row is named so.
    """
    document = tomllib.loads(MATRIX.read_text("utf-8"))
    found = [_row(client) for client in document["client"]]
    if not chosen:
        return found
    named = [row for row in found if any(part in row.key for part in chosen)]
    if not named:
        raise SystemExit(f"no client is named {' or '.join(chosen)}; there are: {', '.join(row.key for row in found)}")
    return named


def _row(client: dict[str, Any]) -> Row:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in client.items()
    }
    return Row(**values)
