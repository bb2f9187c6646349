# SPDX-License-Identifier: Apache-2.0
"""Versions of a library that are too old to be patched: those that the extra ``instruments-any`` leaves out.

The launcher asks the same extra, so that there is one place where a version is named.
"""

from __future__ import annotations

import functools
import importlib.metadata

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

EXTRA = "instruments-any"


class TooOld(Exception):
    """The library is of a version that nobody has tried."""


def check(distribution: str, version: str | None) -> None:
    """Nothing where ``version`` will do, or cannot be told.

    Raises:
        TooOld: it is below what is supported.
    """
    wanted = _supported().get(distribution)
    try:
        found = Version(version or "")
    except InvalidVersion:
        return
    if wanted is not None and not wanted.contains(found, prereleases=True):
        raise TooOld(f"{distribution}{wanted} is needed")


@functools.cache
def _supported() -> dict[str, SpecifierSet]:
    try:
        lines = importlib.metadata.requires("otel-a2a") or ()
    except importlib.metadata.PackageNotFoundError:  # run from its sources
        return {}
    named = [Requirement(line) for line in lines]
    return {each.name: each.specifier for each in named if each.marker and each.marker.evaluate({"extra": EXTRA})}
