# SPDX-License-Identifier: Apache-2.0
"""Snapshots: a test compares a whole text with a file that people have read. ``make snapshots`` writes them anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Snapshot = Callable[[str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--update-snapshots``: write what is compared. Read the difference before you commit it."""
    parser.addoption("--update-snapshots", action="store_true", help="write the files of tests/*/snapshots anew")


@pytest.fixture
def snapshot(request: pytest.FixtureRequest) -> Snapshot:
    """``snapshot(name, text)`` compares the text with ``snapshots/name.txt`` beside the test."""
    folder = Path(str(request.path)).parent / "snapshots"

    def compare(name: str, text: str) -> None:
        path = folder / f"{name}.txt"
        if request.config.getoption("--update-snapshots"):
            folder.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
        assert text == path.read_text("utf-8")

    return compare
