# SPDX-License-Identifier: Apache-2.0
"""Fixtures for hooks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.telemetry import Telemetry


@pytest.fixture
def telemetry() -> Iterator[Telemetry]:
    """Real providers that export to memory."""
    yield Telemetry()
