# SPDX-License-Identifier: Apache-2.0
"""Fixtures for runs over real sockets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.names import complaints, of_telemetry
from tests.support.telemetry import Telemetry


@pytest.fixture
def telemetry() -> Iterator[Telemetry]:
    """Real providers that export to memory. What a test made them export has the names that it may have."""
    made = Telemetry()
    yield made
    assert complaints(of_telemetry(made)) == []
