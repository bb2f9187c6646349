# SPDX-License-Identifier: Apache-2.0
"""Tests with libraries that fit into no common environment: ``make test-hooks`` and ``make test-crewai`` run them.

Elsewhere they are not collected.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def _has(distribution: str, major: str) -> bool:
    try:
        return version(distribution).startswith(major)
    except PackageNotFoundError:
        return False


collect_ignore = [
    file
    for file, distribution, major in (
        ("test_a2a_sdk_0_3.py", "a2a-sdk", "0.3."),
        ("test_a2a_sdk_0_3_cards.py", "a2a-sdk", "0.3."),
        ("test_python_a2a.py", "python-a2a", ""),
        ("test_crewai.py", "crewai", ""),
    )
    if not _has(distribution, major)
]
