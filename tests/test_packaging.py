# SPDX-License-Identifier: Apache-2.0
"""What is shipped: three packages in one distribution, and nothing that belongs to one machine."""

from __future__ import annotations

import importlib
from importlib import resources

import pytest


@pytest.mark.parametrize("package", ["otel_a2a", "otel_a2a_policies", "otel_a2a_exporters"])
def test_every_package_is_typed(package: str) -> None:
    """Type checkers read our annotations, because each package says that it has some."""
    importlib.import_module(package)
    assert resources.files(package).joinpath("py.typed").is_file()
